"""The bags of a forest's trees."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from spinney.sampling.kernels.bootstrap import count_draws


def bag_counts(seed: int, tree: int, rows: int, drawn: int, replace: bool) -> NDArray[np.int32]:
    """How often the bag of a tree has each row; it depends on nothing else than what is given.

    Parameters
    ----------
    seed : int
        The forest's.
    tree : int
        Number of the tree, from 0.
    rows, drawn : int
        Rows of the table, and how many are drawn.
    replace : bool
        Whether a row may be drawn again. Without, `drawn` may be as many as `rows` at most.

    Returns
    -------
    int32 array of shape (rows,)

    Examples
    --------
    >>> int(bag_counts(7, 0, rows=10, drawn=10, replace=True).sum())
    10
    >>> int(bag_counts(7, 0, rows=10, drawn=4, replace=False).max())
    1
    """
    counts = np.empty(rows, np.int32)
    count_draws(seed, tree, rows, drawn, int(replace), counts)
    return counts
