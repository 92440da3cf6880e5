"""Arrays in the narrowest type that holds them, and arrays one after another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

LEAST_FLOAT32 = 1e-30  # of the largest number of an array: float32 has no numbers below 1e-45


def narrowest(array: NDArray[Any], kinds: Sequence[np.dtype[Any]]) -> NDArray[Any]:
    """An array in the first of some types that holds it, C-contiguous."""
    for kind in kinds[:-1]:
        if _fits(array, kind):
            return np.ascontiguousarray(array, kind)
    return np.ascontiguousarray(array, kinds[-1])


def _fits(array: NDArray[Any], kind: np.dtype[Any]) -> bool:
    """Whether a type of whole numbers of 0 or more, or one of fewer digits, holds all of an array."""
    if not len(array):
        return True
    if kind.kind == "f":
        # Digits may be lost, the largest number may not: it must neither overflow nor come near the smallest ones.
        largest = np.abs(array).max()
        return bool(largest == 0 or LEAST_FLOAT32 <= largest <= np.finfo(kind).max)
    if array.dtype.kind != "f":
        return bool(array.min() >= 0 and array.max() <= np.iinfo(kind).max)
    # Not by the sign: -0.0 is no whole number of 0 or more.
    if np.signbit(array).any() or not array.max() <= np.iinfo(kind).max:
        return False
    return bool((array == np.floor(array)).all())


def concatenated(arrays: Sequence[NDArray[Any]], dtype: Any) -> NDArray[Any]:
    """Arrays one after another, perhaps none, in one type."""
    return np.concatenate([np.zeros(0, dtype), *arrays], dtype=dtype)


def starts_of(lengths: Sequence[int] | NDArray[np.int64]) -> NDArray[np.int64]:
    """Where things of some lengths begin, one after another, and where the last one ends."""
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(np.asarray(lengths, np.int64))])
