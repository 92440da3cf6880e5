"""Records: arrays and numbers that belong together, passed to kernels under one name.

A record is a class that declares its fields by annotation: scalars, arrays with their sizes, other records. Python's side
makes an object of it with the memory in it. A kernel that names the class in its signature takes such an object; in
machine code it is a named tuple of numbers and pointers, which costs nothing: the names are gone when it is compiled. Kernels
may also make records of what they have, with the same class. A tuple's fields cannot be written to; what is written stands
in arrays.
"""

import sys
from collections import namedtuple
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from types import CodeType, FunctionType
from typing import Any, TypeVar, cast, dataclass_transform

from spinney.jit.inline import Inline
from spinney.jit.types import ArrayOf, Scalar

T = TypeVar("T")


@dataclass_transform(eq_default=False)
def record(declared: type[T]) -> type[T]:
    """Declare a record by a class whose annotations are its fields.

    Sizes of arrays may name the record's other fields, the other arguments of the kernel and their fields, and constants of the
    module.

    Examples
    --------
    >>> from spinney.jit import f64, i64
    >>> @record
    ... class Line:
    ...     count: i64
    ...     values: f64["count"]
    >>> Line(count=2, values=[0.5, 0.25]).values
    [0.5, 0.25]
    """
    made: Any = dataclass(eq=False)(declared)
    made.fields = dict(declared.__annotations__)
    for name, kind in made.fields.items():
        if not (isinstance(kind, Scalar | ArrayOf) or is_record(kind)):
            raise TypeError(f"{declared.__name__}.{name}: not a type that a kernel takes: {kind!r}")
    made.module = declared.__module__
    make: Any = namedtuple
    made.named = make(declared.__name__, list(made.fields))
    return cast(type[T], made)


def room(kind: type[T], **known: Any) -> T:
    """Make a record: fields that are given, and memory, all zeros, for the arrays that are not.

    What is given may also be another argument of the kernel that sizes name.

    Examples
    --------
    >>> from spinney.jit import f64, i64
    >>> @record
    ... class Line:
    ...     count: i64
    ...     values: f64["2 * count"]
    >>> room(Line, count=2).values.tolist()
    [0.0, 0.0, 0.0, 0.0]
    """
    declared: Any = kind
    for name, field in declared.fields.items():
        if name not in known:
            if not isinstance(field, ArrayOf):
                raise TypeError(f"{kind.__name__}.{name} must be given")
            known[name] = field.item.zeros(size_of(field, declared.module, known))
    return kind(**{name: known[name] for name in declared.fields})


def room_bytes(kind: type[T], **known: Any) -> int:
    """Bytes of the arrays that `room` would allocate.

    Examples
    --------
    >>> from spinney.jit import f64, i64
    >>> @record
    ... class Line:
    ...     count: i64
    ...     values: f64["2 * count"]
    >>> room_bytes(Line, count=2)
    32
    """
    declared: Any = kind
    arrays = [
        field for name, field in declared.fields.items() if name not in known and isinstance(field, ArrayOf)
    ]
    return sum(size_of(array, declared.module, known) * array.item.dtype.itemsize for array in arrays)


def size_of(array: ArrayOf, module: str, known: dict[str, Any]) -> int:
    """How many items an array must hold: an expression over numbers and records beside it, and constants of a module."""
    size: int = eval(_code(array.size), _constants(module), known)
    return size


@cache
def _code(size: str) -> CodeType:
    return compile(size, f"<size {size}>", "eval")


@cache
def _constants(module: str) -> dict[str, Any]:
    numbers = {name: value for name, value in vars(sys.modules[module]).items() if type(value) is int}
    return {**numbers, "__builtins__": {}, "max": max, "min": min}


def is_record(kind: object) -> bool:
    """Whether something is a record's class."""
    return isinstance(kind, type) and hasattr(kind, "named")


def is_member(kind: object) -> bool:
    """Whether something is the record of a thread's place in its team, which the team adds to a kernel's arguments."""
    return is_record(kind) and list(getattr(kind, "fields", ())) == ["rank", "size", "sync"]


def flat_fields(fields: Mapping[str, Any]) -> Iterator[tuple[str, Scalar | ArrayOf]]:
    """Scalars and arrays among some fields or arguments, those of records too."""
    for name, kind in fields.items():
        if isinstance(kind, Scalar | ArrayOf):
            yield name, kind
        elif is_record(kind):
            for inner, field in flat_fields(kind.fields):
                yield inner if is_member(kind) else f"{name}_{inner}", field
        else:
            raise TypeError(f"not a kernel type: {kind!r}")


def entry(function: Callable[..., None], arguments: Mapping[str, Any]) -> FunctionType:
    """A function of scalars and arrays that puts them together to the records that `function` takes, and calls it."""
    classes: dict[str, Any] = {}
    flat = [name for name, _ in flat_fields(arguments)]
    left = iter(flat)
    given = ", ".join(_assembled(kind, left, classes) for kind in arguments.values())
    text = f"def {function.__name__}({', '.join(flat)}):\n    body({given})\n"
    names: dict[str, Any] = {"body": Inline(function), **classes, "__name__": function.__module__}
    exec(compile(text, f"<entry of {function.__name__}>", "exec"), names)
    made: FunctionType = names[function.__name__]
    return made


def _assembled(kind: Any, left: Iterator[str], classes: dict[str, Any]) -> str:
    if not is_record(kind):
        return next(left)
    classes[kind.__name__] = kind
    inner = ", ".join(_assembled(field, left, classes) for field in kind.fields.values())
    return f"{kind.__name__}({inner})"
