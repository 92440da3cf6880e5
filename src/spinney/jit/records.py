"""Records: arrays and numbers that belong together, passed to kernels under one name.

A record is a class that declares its fields by annotation: scalars, arrays with their sizes, other records. Python's side
makes an object of it with the memory in it. A kernel that names the class in its signature takes such an object; in
machine code it is a named tuple of numbers and pointers, which costs nothing: the names are gone when it is compiled. Kernels
may also make records of what they have, with the same class. A tuple's fields cannot be written to; what is written stands
in arrays.

Memory that each thread of a team has for itself is a record declared by `@record(per_thread=True)`. Its sizes are those of
one thread. `allocate` gives every thread an arena of its own: a stretch of memory in which its arrays stand together, and
which shares no cache line with that of another thread: two threads that write to one line wait for each other. A kernel gets
its thread's record by `own(scratch, team.rank)`. What several threads write side by side is an array of items with a line each
(`@item(own_line=True)` in `jit.types`).
"""

import math
import sys
from collections import namedtuple
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from types import CodeType, FunctionType
from typing import Any, TypeVar, cast, dataclass_transform, overload

from spinney.jit.intrinsics import tail
from spinney.jit.types import LINE, ArrayOf, Inline, Intrinsic, Scalar, aligned_bytes, i64

T = TypeVar("T")

# The field of a per-thread record with the distance of the arenas of two threads.
THREAD_BYTES = "thread_bytes"
WIDE = 64  # bytes from which an array begins on a line of 64 bytes


@overload
def record(declared: type[T]) -> type[T]: ...
@overload
def record(*, per_thread: bool) -> Callable[[type[T]], type[T]]: ...
@dataclass_transform(eq_default=False)
def record(declared: type[Any] | None = None, *, per_thread: bool = False) -> Any:
    """Declare a record by a class whose annotations are its fields.

    Sizes of arrays may name the record's other fields, the other arguments of the kernel and their fields, and constants of the
    module. With `per_thread`, each thread of a team has arrays of its own, of these sizes; no field may be another record.

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
    if declared is None:
        return lambda declared: _declared(declared, per_thread)
    return _declared(declared, per_thread)


def _declared(declared: type[T], per_thread: bool) -> type[T]:
    if per_thread:
        declared.__annotations__[THREAD_BYTES] = i64
    made: Any = dataclass(eq=False, repr=False)(declared)
    made.fields = dict(declared.__annotations__)
    made.per_thread = per_thread
    for name, kind in made.fields.items():
        if not (isinstance(kind, Scalar | ArrayOf) or (is_record(kind) and not per_thread)):
            raise TypeError(f"{declared.__name__}.{name}: not a type that a kernel takes: {kind!r}")
    made.module = declared.__module__
    return cast(type[T], made)


@cache
def named(kind: Any) -> Any:
    """The type that a record has in compiled code, where it is a tuple."""
    make: Any = namedtuple
    return make(kind.__name__, list(kind.fields))


def allocate(kind: type[T], **known: Any) -> T:
    """Make a record: fields that are given, and memory, all zeros, for the arrays that are not.

    What is given may also be another argument of the kernel that sizes name. A per-thread record takes `threads`; an array that
    is given for it is copied for each of them.

    Examples
    --------
    >>> from spinney.jit import f64, i64
    >>> @record
    ... class Line:
    ...     count: i64
    ...     values: f64["2 * count"]
    >>> allocate(Line, count=2).values.tolist()
    [0.0, 0.0, 0.0, 0.0]
    >>> @record(per_thread=True)
    ... class Scratch:
    ...     count: i64
    ...     values: f64["2 * count"]
    >>> of_thread(allocate(Scratch, threads=3, count=2), 1).values.tolist()
    [0.0, 0.0, 0.0, 0.0]
    """
    declared: Any = kind
    if declared.per_thread:
        return _arenas(kind, **known)
    for name, field in declared.fields.items():
        if name not in known:
            if not isinstance(field, ArrayOf):
                raise TypeError(f"{kind.__name__}.{name} must be given")
            known[name] = field.item.zeros(size_of(field, declared.module, known))
    return kind(**{name: known[name] for name in declared.fields})


def _arenas(kind: type[T], *, threads: int, **known: Any) -> T:
    """Make a per-thread record: each array is that of the first thread and reaches into the last thread's arena."""
    places, length = _arena(kind, known)
    memory = aligned_bytes(threads * length)
    fields: dict[str, Any] = {THREAD_BYTES: length}
    for name, (begin, array, size) in places.items():
        whole = memory[begin : begin + (threads - 1) * length + size * array.item.dtype.itemsize]
        fields[name] = array.item.view(whole)
        if name in known:
            for rank in range(threads):
                fields[name][rank * length // array.item.dtype.itemsize :][:size] = known[name]
    declared: Any = kind
    missing = [name for name in declared.fields if name not in fields and name not in known]
    if missing:
        raise TypeError(f"{kind.__name__}.{missing[0]} must be given")
    made: Any = kind(**{name: fields[name] if name in fields else known[name] for name in declared.fields})
    made.threads = threads
    return cast(T, made)


def _arena(kind: Any, known: dict[str, Any]) -> tuple[dict[str, tuple[int, ArrayOf, int]], int]:
    """Where each array begins in a thread's arena, and how many items it has; the arena's length in bytes.

    The length is a multiple of two cache lines and of every item's size, so that the next thread's arrays are a whole number
    of items away.
    """
    places: dict[str, tuple[int, ArrayOf, int]] = {}
    end, multiple = 0, LINE
    for name, field in kind.fields.items():
        if isinstance(field, ArrayOf):
            size, step = size_of(field, kind.module, known), field.item.dtype.itemsize
            multiple = math.lcm(multiple, step)
            begin = _rounded(end, WIDE if size * step >= WIDE else 8)
            places[name] = begin, field, size
            end = begin + size * step
    return places, _rounded(end, multiple)


def _rounded(number: int, multiple: int) -> int:
    return -(-number // multiple) * multiple


def of_thread(scratch: T, rank: int) -> T:
    """One thread's record of a per-thread record, as Python's side sees it: its arrays have their sizes."""
    declared: Any = type(scratch)
    values, threads = vars(scratch), vars(scratch)["threads"]
    fields = {}
    for name, field in declared.fields.items():
        fields[name] = values[name]
        if isinstance(field, ArrayOf):
            apart = values[THREAD_BYTES] // field.item.dtype.itemsize
            size = len(values[name]) - (threads - 1) * apart
            fields[name] = values[name][rank * apart : rank * apart + size]
    return cast(T, declared(**fields))


def _own(scratch: Any, rank: int) -> Any:
    """The record of one thread of a per-thread record."""
    moved = []
    for name, field in type(scratch).fields.items():
        value = getattr(scratch, name)
        if isinstance(field, ArrayOf):
            value = tail(value, rank * scratch.thread_bytes // field.item.dtype.itemsize)
        moved.append(value)
    return type(scratch)(*moved)


own = Intrinsic(_own)


def allocated_bytes(kind: type[T], **known: Any) -> int:
    """Bytes of the arrays that `allocate` would make; of a per-thread record those of one thread.

    Examples
    --------
    >>> from spinney.jit import f64, i64
    >>> @record
    ... class Line:
    ...     count: i64
    ...     values: f64["2 * count"]
    >>> allocated_bytes(Line, count=2)
    32
    """
    declared: Any = kind
    if declared.per_thread:
        return _arena(kind, known)[1]
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
    return isinstance(kind, type) and hasattr(kind, "per_thread")


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
