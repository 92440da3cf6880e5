"""Declaring kernels: plain Python functions with a signature that is known before they run.

`@kernel` marks an entry point that is compiled ahead of time, `@inline` a function that kernels call. Neither imports
Numba. A kernel sees flat arrays without a length; every size it needs is an argument, or a field of a record, of its own.
Types, sizes and layout of its arrays are checked once, in `Kernel.bind`; the kernel itself checks nothing.
"""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from spinney.errors import KernelArgumentError
from spinney.jit.records import entry, flat_fields, is_member, size_of
from spinney.jit.types import ArrayOf, Inline, Scalar, open_holes, with_functions

REGISTRY: dict[str, Kernel] = {}


class Kernel:
    """An entry point with a declared signature.

    Calling it checks every argument, then runs the compiled code. `bind` does the checking once for many runs. Records among
    its arguments are passed field by field: `function` takes scalars and flat arrays only.
    """

    def __init__(
        self, name: str, module: str, doc: str | None, make: Callable[[], Callable[..., None]]
    ) -> None:
        self.name = self.__name__ = name
        self.__module__ = module
        self.__doc__ = doc
        self._make = make

    # The rest is made at first use. An import of `train` declares a hundred kernels, and a training runs ten; to look at one
    # takes .1 to .4 ms.

    @cached_property
    def _body(self) -> Callable[..., None]:
        return self._make()

    @cached_property
    def _declared(self) -> dict[str, Any]:
        return _annotations(self._body)

    @cached_property
    def _bound(self) -> dict[str, Any]:
        return dict(list(self._declared.items())[_leading(self._declared) :])

    @cached_property
    def arguments(self) -> dict[str, Scalar | ArrayOf]:
        """Types of its arguments, records field by field."""
        return dict(flat_fields(self._declared))

    @cached_property
    def is_team(self) -> bool:
        """Whether a team of threads runs it."""
        return list(self.arguments)[:3] == ["rank", "size", "sync"]

    @cached_property
    def packed(self) -> dict[str, Scalar | ArrayOf]:
        """Arguments that machine code reads from one array: all but those that a team adds."""
        return dict(list(self.arguments.items())[3 if self.is_team else 0 :])

    @cached_property
    def function(self) -> Callable[..., None]:
        """The function that is compiled."""
        same = list(self.arguments) == list(self._declared)
        return self._body if same else entry(self._body, self._declared)

    @cached_property
    def symbol(self) -> str:
        """Its name in a library."""
        return f"spinney_{self.name}_{_digest(self.arguments)}"

    @property
    def in_package(self) -> bool:
        """Whether it is one of the package's own kernels, which stand in its library, and not a user's or a test's."""
        return self.__module__.startswith("spinney.")

    def __call__(self, *args: Any) -> None:
        """Check the arguments and run the kernel on the calling thread."""
        self.bind(*args)()

    def bind(self, *args: Any) -> Bound:
        """Check the arguments and return something that runs the kernel on them, any number of times.

        A team kernel is bound without its leading arguments (`rank`, `size` and `sync`, or the record of them): the team adds
        them.
        """
        if len(args) != len(self._bound):
            raise KernelArgumentError(
                f"kernel {self.name} takes {len(self._bound)} arguments, got {len(args)}"
            )
        is_team = self.is_team  # which also checks the type of every argument
        ready, threads = list[Any](), list[int]()
        given = dict(zip(self._bound, args, strict=True))
        self._check("", self._bound, given, given, self.__module__, ready, threads)
        return Bound(self, ready, min(threads, default=None) if is_team else None)

    def _check(
        self,
        path: str,
        fields: Mapping[str, Any],
        values: dict[str, Any],
        around: dict[str, Any],
        module: str,
        ready: list[Any],
        threads: list[int],
        arenas: Any = None,
    ) -> None:
        """Check the arguments, or the fields of a record among them, and append them to `ready` one by one.

        The number of threads that each per-thread record has memory for is appended to `threads`. Sizes are expressions of the
        numbers beside them, the arguments `around` them, and the constants of the module they are written in.
        `arenas` is the record itself where it is a per-thread one, whose arrays reach over the arenas of all threads.
        """
        for name, kind in fields.items():
            if isinstance(kind, Scalar):
                value = values[name]
                if not (type(value) is int and kind.lowest <= value <= kind.highest):
                    values[name] = self._scalar(path + name, kind, value)
        known = {**around, **values}
        for name, kind in fields.items():
            value = values[name]
            if isinstance(kind, Scalar):
                ready.append(value)
            elif isinstance(kind, ArrayOf):
                size = size_of(kind, module, known)
                if arenas is not None:
                    size += (arenas.threads - 1) * (arenas.thread_bytes // kind.item.dtype.itemsize)
                self._check_array(path + name, kind, value, size)
                ready.append(value)
            else:
                if not isinstance(value, kind):
                    raise KernelArgumentError(
                        f"kernel {self.name}: {path}{name} must be a {kind.__name__}, got {type(value).__name__}"
                    )
                if kind.per_thread:
                    threads.append(value.threads)
                inner, own = dict(vars(value)), value if kind.per_thread else None
                self._check(f"{path}{name}.", kind.fields, inner, known, kind.module, ready, threads, own)

    def _scalar(self, name: str, kind: Scalar, value: Any) -> Any:
        whole = kind.dtype.kind in "iu"
        allowed = (int, np.integer) if whole else (int, float, np.integer, np.floating)
        if not isinstance(value, allowed) or isinstance(value, bool):
            raise KernelArgumentError(
                f"kernel {self.name}: {name} must be {kind.name}, got {type(value).__name__}"
            )
        if not whole:
            try:
                return float(value)
            except OverflowError:
                raise KernelArgumentError(
                    f"kernel {self.name}: {name} is too large for {kind.name}"
                ) from None
        if not kind.lowest <= value <= kind.highest:
            raise KernelArgumentError(f"kernel {self.name}: {name} = {value} does not fit {kind.name}")
        return int(value)

    def _check_array(self, name: str, kind: ArrayOf, value: Any, size: int) -> None:
        if isinstance(value, np.ndarray) and value.dtype == kind.item.dtype and value.size == size:
            flags = value.flags
            if flags.c_contiguous and flags.aligned and (flags.writeable or not kind.writable):
                return
        where = f"kernel {self.name}: {name}"
        if not isinstance(value, np.ndarray):
            raise KernelArgumentError(f"{where} must be a NumPy array, got {type(value).__name__}")
        if value.dtype != kind.item.dtype:
            raise KernelArgumentError(f"{where} must hold {kind.item.name}, got {value.dtype}")
        if value.size != size:
            raise KernelArgumentError(f"{where} must hold {kind.size} = {size} items, got {value.size}")
        if kind.writable and not value.flags.writeable:
            raise KernelArgumentError(f"{where} is written by the kernel but read-only")
        raise KernelArgumentError(f"{where} must be C-contiguous and aligned")


class MachineCode(NamedTuple):
    """Where a kernel's machine code and its packed arguments stand in memory."""

    code: int
    words: int


class Bound:
    """A kernel with checked arguments. It keeps the arrays alive.

    `threads` is the number of threads that its per-thread records have memory for, None where it has none.
    """

    __slots__ = ("_prepared", "arguments", "kernel", "threads")

    def __init__(self, kernel: Kernel, arguments: list[Any], threads: int | None = None) -> None:
        self.kernel = kernel
        self.arguments = arguments
        self.threads = threads
        self._prepared: Callable[..., None] | None = None

    def __call__(self, *leading: Any) -> None:
        """Run the kernel; a team gives rank, size and meeting place."""
        if leading:
            self._check_threads(leading[1])
        self._prepare()(*leading)

    def machine_code(self, threads: int) -> MachineCode | None:
        """Machine code that so many threads can run without Python; None where the kernel is not from a library."""
        self._check_threads(threads)
        code: MachineCode | None = getattr(self._prepare(), "machine_code", None)
        return code

    def _prepare(self) -> Callable[..., None]:
        if self._prepared is None:
            from spinney.jit.library import prepare

            self._prepared = prepare(self.kernel, self.arguments)
        return self._prepared

    def _check_threads(self, threads: int) -> None:
        if self.threads is not None and threads > self.threads:
            raise KernelArgumentError(
                f"kernel {self.kernel.name} has memory for {self.threads} threads, and runs on {threads}"
            )


def kernel(function: Callable[..., None]) -> Kernel:
    """Declare an entry point; its annotations are its signature."""
    return _register(Kernel(function.__name__, function.__module__, function.__doc__, lambda: function))


def framed(name: str, frame: Callable[..., None], **functions: Inline) -> Kernel:
    """Declare a kernel made of a frame, whose holes are filled by the functions of these names.

    The kernel belongs to the module of the functions.
    """

    def make() -> Callable[..., None]:
        made = with_functions(frame, name, functions)
        made.__annotations__ = frame.__annotations__
        made.__module__ = module
        left = open_holes(made)
        if left:
            raise TypeError(f"kernel {name}: hole {left[0]} is not filled")
        return made

    module = next(iter(functions.values())).__module__
    return _register(Kernel(name, module, frame.__doc__, make))


def _register(entry: Kernel) -> Kernel:
    if entry.name in REGISTRY and REGISTRY[entry.name].__module__ != entry.__module__:
        raise ValueError(f"two kernels are called {entry.name}")
    REGISTRY[entry.name] = entry
    return entry


def _digest(arguments: dict[str, Scalar | ArrayOf]) -> str:
    """Short digest of a signature. As part of a symbol it keeps a call from reaching code with other arguments."""
    return hashlib.sha256(repr(arguments).encode()).hexdigest()[:8]


def _annotations(function: Callable[..., None]) -> dict[str, Any]:
    return {name: parameter.annotation for name, parameter in inspect.signature(function).parameters.items()}


def _leading(declared: Mapping[str, Any]) -> int:
    """How many of a kernel's arguments its team adds."""
    names = list(declared)
    if names[:3] == ["rank", "size", "sync"]:
        return 3
    return 1 if names and is_member(declared[names[0]]) else 0


def kernel_of(formula: str, result: str) -> Kernel:
    """The kernel of a formula that was declared by name, such as `huber_gradients`."""
    return REGISTRY[f"{formula}_{result}"]
