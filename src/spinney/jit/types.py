"""The types that a kernel's signature may use.

A kernel declares each argument by annotation: a scalar (`i64`, `f64`), or a flat array with the number of items it
must hold, written as an expression over the kernel's scalar arguments (`f64["rows * columns"]`). `out(...)` marks an
array that the kernel writes to.
"""

from __future__ import annotations

import ctypes
import math
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Scalar:
    """A number passed by value."""

    name: str
    dtype: np.dtype[np.generic]
    ctype: type
    # Whole numbers that need no conversion. A float argument has none: an int given for it becomes a float first.
    lowest: float = math.inf
    highest: float = -math.inf

    def __getitem__(self, size: str) -> ArrayOf:
        return ArrayOf(self, size, writable=False)


@dataclass(frozen=True)
class ArrayOf:
    """A C-contiguous array of `item`, holding exactly `size` items, passed as a pointer."""

    item: Scalar
    size: str
    writable: bool


def out(array: ArrayOf) -> ArrayOf:
    """Mark an array argument as written by the kernel."""
    return ArrayOf(array.item, array.size, writable=True)


def _integer(name: str, ctype: type) -> Scalar:
    limits = np.iinfo(name)
    return Scalar(name, np.dtype(name), ctype, limits.min, limits.max)


i64 = _integer("int64", ctypes.c_int64)
i32 = _integer("int32", ctypes.c_int32)
u64 = _integer("uint64", ctypes.c_uint64)
u16 = _integer("uint16", ctypes.c_uint16)
u8 = _integer("uint8", ctypes.c_uint8)
f64 = Scalar("float64", np.dtype(np.float64), ctypes.c_double)
f32 = Scalar("float32", np.dtype(np.float32), ctypes.c_float)
