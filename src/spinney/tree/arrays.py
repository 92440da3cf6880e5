"""Arrays in the narrowest type that holds them, and arrays one after another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Types of whole numbers of 0 or more, narrowest first.
WHOLE = (np.dtype(np.uint8), np.dtype(np.uint16), np.dtype(np.uint32))
LEAST_FLOAT32 = 1e-30  # of the largest number of an array: float32 has no numbers below 1e-45


def narrowest(array: NDArray[Any], kinds: Sequence[np.dtype[Any]]) -> NDArray[Any]:
    """An array in the first of some types that holds it, C-contiguous."""
    return np.ascontiguousarray(array, _kind([array], kinds))


def packed(arrays: Sequence[NDArray[Any]], kinds: Sequence[np.dtype[Any]]) -> NDArray[Any]:
    """Arrays one after another, perhaps none, in the first of some types that holds them all."""
    return concatenated(arrays, _kind(arrays, kinds))


def _kind(arrays: Sequence[NDArray[Any]], kinds: Sequence[np.dtype[Any]]) -> np.dtype[Any]:
    """The first of some types that holds all of some arrays, else the last one."""
    some = [array for array in arrays if len(array)]
    for kind in kinds[:-1]:
        if kind.kind == "f":
            # Digits may be lost, the largest number may not: it must neither overflow nor come near the smallest ones.
            largest = max((np.abs(array).max() for array in some), default=0.0)
            if largest == 0 or LEAST_FLOAT32 <= largest <= np.finfo(kind).max:
                return kind
        elif all(_fits(array, kind) for array in some):
            return kind
    return kinds[-1]


def _fits(array: NDArray[Any], kind: np.dtype[Any]) -> bool:
    """Whether a type of whole numbers of 0 or more holds all of an array."""
    if array.dtype.kind != "f":
        return bool(array.max() <= np.iinfo(kind).max and array.min() >= 0)
    # Not by the sign: -0.0 is no whole number of 0 or more.
    if not array.max() <= np.iinfo(kind).max or np.signbit(array).any():
        return False
    return bool((array == np.floor(array)).all())


def concatenated(arrays: Sequence[NDArray[Any]], dtype: Any) -> NDArray[Any]:
    """Arrays one after another, perhaps none, in one type."""
    return np.concatenate([np.zeros(0, dtype), *arrays], dtype=dtype, casting="unsafe")
