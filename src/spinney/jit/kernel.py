"""Declaring kernels: plain Python functions with a signature that is known before they run.

`@kernel` marks an entry point that is compiled ahead of time, `@inline` a function that kernels call. Neither imports
Numba. A kernel sees flat arrays without a length; every size it needs is an argument of its own.
"""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable
from types import CodeType
from typing import Any

import numpy as np

from spinney.errors import KernelArgumentError
from spinney.jit.types import ArrayOf, Scalar

REGISTRY: dict[str, Kernel] = {}
_SIZE_NAMES: dict[str, Any] = {"__builtins__": {}, "max": max, "min": min}


class Inline:
    """A function that kernels call; compiled into each of them."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.__doc__ = function.__doc__
        self.__name__ = function.__name__
        self.__module__ = function.__module__

    def __call__(self, *args: Any) -> Any:
        """Run the function as plain Python."""
        return self.function(*args)


class Intrinsic(Inline):
    """A function with a machine instruction behind it; the Python body stands in where nothing is compiled."""


class Kernel:
    """An entry point with a declared signature.

    Calling it checks every argument, then runs the compiled code. `bind` does the checking once for many runs.
    """

    def __init__(self, function: Callable[..., None]) -> None:
        self.function = function
        self.name = function.__name__
        self.__name__ = self.name
        self.__doc__ = function.__doc__
        self.__module__ = function.__module__
        self.arguments: dict[str, Scalar | ArrayOf] = {
            argument: _checked(annotation) for argument, annotation in _annotations(function).items()
        }
        names = list(self.arguments)
        self.is_team = names[:3] == ["rank", "size", "sync"]
        # What `bind` looks at, in the order of its arguments: position, name, type; for an array also its size as code.
        bound = names[3 if self.is_team else 0 :]
        self._scalars: list[tuple[int, str, Scalar]] = []
        self._arrays: list[tuple[int, str, ArrayOf, CodeType]] = []
        for at, name in enumerate(bound):
            kind = self.arguments[name]
            if isinstance(kind, Scalar):
                self._scalars.append((at, name, kind))
            else:
                code = compile(kind.size, f"<size of {name}>", "eval")
                self._arrays.append((at, name, kind, code))
        self._bound = len(bound)
        self.symbol = f"spinney_{self.name}_{_digest(self.arguments)}"

    def __call__(self, *args: Any) -> None:
        """Check the arguments and run the kernel on the calling thread."""
        self.bind(*args)()

    def bind(self, *args: Any) -> Bound:
        """Check the arguments and return something that runs the kernel on them, any number of times.

        A team kernel is bound without its first three arguments (`rank`, `size`, `sync`): the team adds them.
        """
        if len(args) != self._bound:
            raise KernelArgumentError(f"kernel {self.name} takes {self._bound} arguments, got {len(args)}")
        ready = list(args)
        scalars: dict[str, Any] = {}
        for at, name, kind in self._scalars:
            value = args[at]
            if not (type(value) is int and kind.lowest <= value <= kind.highest):
                value = self._scalar(name, kind, value)
            ready[at] = scalars[name] = value
        for at, name, array, size in self._arrays:
            self._check_array(name, array, args[at], eval(size, _SIZE_NAMES, scalars))
        return Bound(self, ready)

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


class Bound:
    """A kernel with checked arguments. It keeps the arrays alive."""

    __slots__ = ("_prepared", "arguments", "kernel")

    def __init__(self, kernel: Kernel, arguments: list[Any]) -> None:
        self.kernel = kernel
        self.arguments = arguments
        self._prepared: Callable[..., None] | None = None

    def __call__(self, *leading: Any) -> None:
        """Run the kernel; a team gives rank, size and meeting place."""
        if self._prepared is None:
            from spinney.jit.library import prepare

            self._prepared = prepare(self.kernel, self.arguments)
        self._prepared(*leading)


def kernel(function: Callable[..., None]) -> Kernel:
    """Declare an entry point; its annotations are its signature."""
    return _register(Kernel(function))


def inline(function: Callable[..., Any]) -> Inline:
    """Declare a function that kernels call."""
    return Inline(function)


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


def _checked(annotation: Any) -> Scalar | ArrayOf:
    if isinstance(annotation, Scalar | ArrayOf):
        return annotation
    raise TypeError(f"not a kernel type: {annotation!r}")
