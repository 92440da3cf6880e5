"""Bags that are drawn by weight."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from spinney.jit import allocate
from spinney.sampling.kernels.by_weight import Lottery, draw_by_weight


def counts_by_weight(seed: int, tree: int, weight: NDArray[np.float64], total: int) -> NDArray[np.float64]:
    """Draw as many rows as there are, with replacement, each by its weight, and count how often each one comes.

    Parameters
    ----------
    seed : int
        The ensemble's.
    tree : int
        Number of the tree that the bag is for, from 0.
    weight : float64[rows]
        Whole numbers of 0 or more.
    total : int
        Their sum, above 0 and below 2**53.

    Returns
    -------
    float64 array of shape (rows,)

    Examples
    --------
    >>> counts = counts_by_weight(7, 0, np.array([5.0, 0.0, 3.0]), 8)
    >>> float(counts.sum()), float(counts[1])
    (3.0, 0.0)
    """
    rows = len(weight)
    # About as many stretches as rows, so that a place is found in a step or two.
    shift = max((total - 1).bit_length() - rows.bit_length(), 0)
    lottery = allocate(
        Lottery, rows=rows, cells=((total - 1) >> shift) + 1, shift=shift, total=total, weight=weight
    )
    counts = np.empty(rows)
    draw_by_weight(seed, tree, rows, lottery, counts)
    return counts
