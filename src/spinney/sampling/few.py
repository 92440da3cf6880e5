"""The few rows that each tree of an isolation forest sees."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from spinney.jit import allocate
from spinney.sampling.columns import draw_columns
from spinney.sampling.kernels.few import Draws, draw_few


def few_rows(
    seed: int,
    first: int,
    trees: int,
    rows: int,
    wanted: int,
    replace: bool = False,
    weight: NDArray[np.float64] | None = None,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Draw the rows of trees first, first + 1, ...; they depend on seed and number of the tree alone.

    Parameters
    ----------
    seed : int
        The forest's.
    first, trees : int
        Number of the first tree, and how many trees.
    rows, wanted : int
        Rows of the table, and how many each tree sees.
    replace : bool, default=False
        Whether a row may be drawn again. Without, `wanted` may be as many as have a chance at most.
    weight : float64[rows], optional
        A row's chance is in proportion to it, at each draw.

    Returns
    -------
    chosen : int64 array of shape (trees, wanted)
        Ascending in each tree.
    seeds : int64 array of shape (trees,)
        Seed of everything else that is drawn for each tree.

    Examples
    --------
    >>> few_rows(7, 0, 2, rows=1_000_000, wanted=4)[0].shape
    (2, 4)
    >>> few_rows(7, 0, 1, rows=3, wanted=3)[0].tolist()
    [[0, 1, 2]]
    """
    # The heaviest weight becomes 1, which keeps sums in range.
    heavy = None if weight is None else weight / weight.max()
    draws = allocate(
        Draws,
        trees=trees,
        rows=rows,
        wanted=wanted,
        replace=int(replace),
        weights=0 if heavy is None else rows,
        slots=1 << (2 * wanted - 1).bit_length(),
        cumulative=np.empty(0) if heavy is None else np.cumsum(heavy),
    )
    draw_few(seed, first, draws)
    chosen: NDArray[np.int64] = draws.chosen.reshape(trees, wanted)
    for t in np.flatnonzero(draws.found < wanted):
        assert heavy is not None
        _finish(chosen[t], int(draws.found[t]), heavy, int(draws.keys[t]))
    chosen.sort(axis=1)
    return chosen, draws.keys


def _finish(chosen: NDArray[np.int64], found: int, weight: NDArray[np.float64], seed: int) -> None:
    """Draw the rows that are still wanted among those that were not drawn, each with a waiting time of its own."""
    rest = weight.copy()
    rest[chosen[:found]] = 0.0
    chosen[found:] = draw_columns(len(rest), len(chosen) - found, seed, rest)
