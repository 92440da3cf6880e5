"""Rows in a random order."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from spinney.sampling.kernels.order import draw_order


def random_order(rows: int, seed: int) -> NDArray[np.int64]:
    """The numbers from 0 to `rows` - 1 in a random order; the same seed gives the same.

    Examples
    --------
    >>> sorted(random_order(4, seed=7).tolist())
    [0, 1, 2, 3]
    """
    order = np.empty(rows, np.int64)
    draw_order(rows, seed, order)
    return order
