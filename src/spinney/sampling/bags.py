"""Bags of ensembles: how often a tree of a forest or of AdaBoost has each row, and the small samples of isolation trees.

Every bag is a function of the seed and the number of the tree, so it can be drawn again from a finished model: no bag is kept.
Where few of the rows are wanted and all have the same chance, small samples take a time that does not depend on the number of
rows.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from spinney.jit import allocate
from spinney.sampling.kernels.bags import (
    SmallSamples,
    WeightTable,
    count_draws,
    draw_by_weight,
    draw_small_samples,
)
from spinney.sampling.orders import draw_columns


def bag_counts(seed: int, tree: int, rows: int, drawn: int, replace: bool) -> NDArray[np.int32]:
    """How often the bag of a tree has each row: a function of the arguments alone.

    Parameters
    ----------
    seed : int
        Seed of the forest.
    tree : int
        Number of the tree, from 0.
    rows, drawn : int
        Number of rows, and how many are drawn.
    replace : bool
        Whether a row may be drawn again. If not, `drawn` is at most `rows`.

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


def counts_by_weight(seed: int, tree: int, weight: NDArray[np.float64], total: int) -> NDArray[np.float64]:
    """Draw as many rows as there are, with replacement, in proportion to their weights, and count how often each is drawn.

    Parameters
    ----------
    seed : int
        Seed of the ensemble.
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
    # About as many cells as rows, so that a position is found in a step or two.
    shift = max((total - 1).bit_length() - rows.bit_length(), 0)
    table = allocate(
        WeightTable, rows=rows, cells=((total - 1) >> shift) + 1, shift=shift, total=total, weight=weight
    )
    counts = np.empty(rows)
    draw_by_weight(seed, tree, rows, table, counts)
    return counts


def small_samples(
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
        Seed of the forest.
    first, trees : int
        Number of the first tree, and how many trees.
    rows, wanted : int
        Number of rows, and how many are drawn for each tree.
    replace : bool, default=False
        Whether a row may be drawn again. If not, `wanted` is at most the number of rows of weight above 0.
    weight : float64[rows], optional
        A row's chance at each draw is in proportion to its weight.

    Returns
    -------
    chosen : int64 array of shape (trees, wanted)
        Ascending in each tree.
    seeds : int64 array of shape (trees,)
        Seed of all other draws for each tree.

    Examples
    --------
    >>> small_samples(7, 0, 2, rows=1_000_000, wanted=4)[0].shape
    (2, 4)
    >>> small_samples(7, 0, 1, rows=3, wanted=3)[0].tolist()
    [[0, 1, 2]]
    """
    # The largest weight becomes 1, which keeps sums in range.
    scaled = None if weight is None else weight / weight.max()
    samples = allocate(
        SmallSamples,
        trees=trees,
        rows=rows,
        wanted=wanted,
        replace=int(replace),
        weights=0 if scaled is None else rows,
        slots=1 << (2 * wanted - 1).bit_length(),
        cumulative=np.empty(0) if scaled is None else np.cumsum(scaled),
    )
    draw_small_samples(seed, first, samples)
    chosen: NDArray[np.int64] = samples.chosen.reshape(trees, wanted)
    for t in np.flatnonzero(samples.found < wanted):
        assert scaled is not None
        _finish(chosen[t], int(samples.found[t]), scaled, int(samples.keys[t]))
    chosen.sort(axis=1)
    return chosen, samples.keys


def _finish(chosen: NDArray[np.int64], found: int, weight: NDArray[np.float64], seed: int) -> None:
    """Draw the remaining rows, by weight, from those that were not drawn."""
    rest = weight.copy()
    rest[chosen[:found]] = 0.0
    chosen[found:] = draw_columns(len(rest), len(chosen) - found, seed, rest)
