"""The types that a kernel's signature may use.

A kernel declares each argument by annotation: a scalar (`i64`, `f64`), or a flat array with the number of items it
must hold, written as an expression over the kernel's scalar arguments (`f64["rows * columns"]`). `out(...)` marks an
array that the kernel writes to.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Scalar:
    """A number passed by value."""

    name: str
    dtype: np.dtype[np.generic]
    ctype: type

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


i64 = Scalar("int64", np.dtype(np.int64), ctypes.c_int64)
i32 = Scalar("int32", np.dtype(np.int32), ctypes.c_int32)
u64 = Scalar("uint64", np.dtype(np.uint64), ctypes.c_uint64)
u16 = Scalar("uint16", np.dtype(np.uint16), ctypes.c_uint16)
u8 = Scalar("uint8", np.dtype(np.uint8), ctypes.c_uint8)
f64 = Scalar("float64", np.dtype(np.float64), ctypes.c_double)
f32 = Scalar("float32", np.dtype(np.float32), ctypes.c_float)
