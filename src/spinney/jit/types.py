"""What kernels are declared with: types of their arguments and of the fields of records, and the functions that they call.

Each argument or field is declared by annotation: a scalar (`i64`, `f64`), or a flat array with the number of items it must
hold, written as an expression (`f64["rows * columns"]`). `out(...)` marks an array that the kernel writes to. A class
with the decorator `item` is a type of items with named fields: `Node["max_nodes"]` is an array of them. It is one pointer in a
kernel's signature, and as fast as a flat array with numbered places.

Kernels call functions that are declared by `inline`. A frame is a kernel or a function that calls holes, in whose place
`filled` and `framed` put functions.
"""

import ctypes
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import FunctionType
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

# Bytes that two threads should not both write to: processors fetch lines of 64 bytes in pairs. Before threads had lines of their
# own, forests lost up to half of their speed on two threads; how much depends on which cores these run on.
LINE = 128


def aligned_bytes(count: int) -> NDArray[np.uint8]:
    """So many bytes, all zeros, that begin on a cache line."""
    memory = np.zeros(count + LINE, np.uint8)
    begin = -memory.__array_interface__["data"][0] % LINE
    return memory[begin : begin + count]


@dataclass(frozen=True)
class Scalar:
    """A number passed by value."""

    name: str
    dtype: np.dtype[np.generic]
    ctype: type
    # Whole numbers that need no conversion. A float argument has none: an int given for it becomes a float first.
    lowest: float = math.inf
    highest: float = -math.inf

    def __getitem__(self, size: str) -> "ArrayOf":
        return ArrayOf(self, size, writable=False)

    def zeros(self, count: int) -> Any:
        """Memory for so many numbers."""
        return np.zeros(count, self.dtype)

    def view(self, memory: NDArray[np.uint8]) -> Any:
        """Bytes as numbers."""
        return memory.view(self.dtype)


@dataclass(frozen=True)
class Item:
    """Several numbers with names that stand together in memory. Only arrays of them are passed."""

    name: str
    dtype: np.dtype[np.generic]
    # Each begins on a cache line, so that threads that write to neighbours do not wait.
    own_line: bool = False

    def __getitem__(self, size: str) -> "ArrayOf":
        return ArrayOf(self, size, writable=False)

    def zeros(self, count: int) -> Any:
        """Memory for so many items, whose fields are read and written by name."""
        if self.own_line:
            return self.view(aligned_bytes(count * self.dtype.itemsize))
        return np.zeros(count, self.dtype).view(np.recarray)

    def view(self, memory: NDArray[np.uint8]) -> Any:
        """Bytes as items."""
        return memory.view(self.dtype).view(np.recarray)


@dataclass(frozen=True)
class ArrayOf:
    """A C-contiguous array of `item`, holding exactly `size` items, passed as a pointer."""

    item: Scalar | Item
    size: str
    writable: bool


@overload
def item(fields: type) -> Item: ...
@overload
def item(*, own_line: bool) -> Callable[[type], Item]: ...
def item(fields: type | None = None, *, own_line: bool = False) -> Any:
    """Declare a type of items by a class whose annotations are its fields, all scalars.

    With `own_line`, items that stand side by side share no cache line: for those that several threads write to.

    Examples
    --------
    >>> @item
    ... class Point:
    ...     x: f64
    ...     seen: i64
    >>> points = Point.zeros(3)
    >>> points[1].x = 0.5
    >>> points.x.tolist()
    [0.0, 0.5, 0.0]
    """
    if fields is None:
        return lambda fields: _item(fields, own_line)
    return _item(fields, own_line)


def _item(fields: type, own_line: bool) -> Item:
    # Aligned as in C, so that compiled code reads a field in one instruction.
    dtype = np.dtype([(name, kind.dtype) for name, kind in fields.__annotations__.items()], align=True)
    if own_line:
        places: Mapping[str, Any] = dtype.fields or {}
        dtype = np.dtype(
            {
                "names": list(places),
                "formats": [place[0] for place in places.values()],
                "offsets": [place[1] for place in places.values()],
                "itemsize": -(-dtype.itemsize // LINE) * LINE,
                "aligned": True,
            }
        )
    return Item(fields.__name__, dtype, own_line)


def out(array: ArrayOf) -> ArrayOf:
    """Mark an array argument as written by the kernel."""
    return ArrayOf(array.item, array.size, writable=True)


def _integer(name: str, ctype: type) -> Scalar:
    limits = np.iinfo(name)
    return Scalar(name, np.dtype(name), ctype, limits.min, limits.max)


i64 = _integer("int64", ctypes.c_int64)
i32 = _integer("int32", ctypes.c_int32)
u64 = _integer("uint64", ctypes.c_uint64)
u32 = _integer("uint32", ctypes.c_uint32)
u16 = _integer("uint16", ctypes.c_uint16)
u8 = _integer("uint8", ctypes.c_uint8)
f64 = Scalar("float64", np.dtype(np.float64), ctypes.c_double)
f32 = Scalar("float32", np.dtype(np.float32), ctypes.c_float)


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


def inline(function: Callable[..., Any]) -> Inline:
    """Declare a function that kernels call."""
    return Inline(function)


class Hole(Inline):
    """The name of a function that a frame calls and that is not known yet."""


def hole(what: str) -> Inline:
    """Declare a function that a frame calls: `filled` or `framed` puts another in its place."""

    def missing(*args: Any) -> Any:
        raise TypeError(f"a frame was not filled: {what}")

    missing.__doc__ = what
    return Hole(missing)


def filled(frame: Inline, **functions: Inline) -> Inline:
    """Make a function of a frame: one that calls holes, or other frames, which `functions` replace by name."""
    function = frame.function
    made = with_functions(function, function.__name__, functions)
    made.__module__ = function.__module__
    return Inline(made)


def with_functions(frame: Callable[..., Any], name: str, functions: Mapping[str, Inline]) -> FunctionType:
    """A copy of a frame that calls other functions by the names of its holes."""
    assert isinstance(frame, FunctionType)
    names = frame.__globals__
    for hole_name in functions:
        if not isinstance(names.get(hole_name), Inline):
            raise TypeError(f"{frame.__module__} declares no hole {hole_name}")
    made = FunctionType(frame.__code__, {**names, **functions}, name)
    made.__doc__ = frame.__doc__
    return made


def open_holes(function: Callable[..., Any]) -> list[str]:
    """Names of the holes that a function, or one that it calls, still has."""
    seen: set[int] = set()
    found: list[str] = []

    def look(function: Callable[..., Any]) -> None:
        if id(function) in seen or not isinstance(function, FunctionType):
            return
        seen.add(id(function))
        for name in function.__code__.co_names:
            value = function.__globals__.get(name)
            if isinstance(value, Hole):
                found.append(name)
            elif isinstance(value, Inline):
                look(value.function)

    look(function)
    return found
