"""Random bits for many positions at once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.sampling.kernels.random import GOLDEN, MIX_1, MIX_2

_WRAP = 2**64


def random_words(seed: int, purpose: int, positions: NDArray[Any]) -> NDArray[np.uint64]:
    """What `random_bits` of the kernels gives for each position of a purpose.

    Examples
    --------
    >>> int(random_words(0, 0, np.array([0]))[0]) == int(random_words(0, 0, np.arange(3))[0])
    True
    """
    start = _mixed(np.array([(seed + purpose * GOLDEN) % _WRAP], np.uint64))
    return _mixed(start + (positions.astype(np.uint64) + np.uint64(1)) * np.uint64(GOLDEN % _WRAP))


def _mixed(z: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Scramble 64 bits; products of arrays wrap around."""
    z = (z ^ (z >> np.uint64(30))) * np.uint64(MIX_1 % _WRAP)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(MIX_2 % _WRAP)
    return z ^ (z >> np.uint64(31))
