"""Uniform subsampling without replacement."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from spinney.sampling.kernels import draw


def draw_rows(eligible: NDArray[np.int32], share: float, seed: int, bag: NDArray[np.int32]) -> int:
    """Draw a share of the eligible rows into the front of `bag`, ascending; returns how many (at least one).

    Examples
    --------
    >>> bag = np.zeros(10, np.int32)
    >>> count = draw_rows(np.arange(10, dtype=np.int32), 0.3, 7, bag)
    >>> count, bool(np.all(np.diff(bag[:count]) > 0))
    (3, True)
    """
    wanted = max(1, round(share * len(eligible)))
    numbers = bag[: len(eligible)]
    numbers[:] = eligible
    draw(len(eligible), wanted, seed, numbers)
    return wanted
