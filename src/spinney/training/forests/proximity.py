"""How alike a forest takes two rows to be."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from spinney.data import Table
from spinney.errors import DataError
from spinney.jit.team import Team, most_for, threads_for
from spinney.model.forest import ForestModel
from spinney.params.common import check_truth
from spinney.training.forests.bags import bags_of
from spinney.training.forests.kernels.proximity import count_shared
from spinney.training.forests.trees import CELLS

MOST_PAIRS = 2**28  # pairs of rows that are compared: 2 GB of float64
SHARE_PAIRS = 1_000_000  # comparisons of leaves from which they are shared among threads
CALL_PAIRS = 2**28  # comparisons of one thread between two moments in which an interrupt is served


def proximity(
    model: ForestModel,
    table: Table,
    other: Table | None = None,
    *,
    out_of_bag: bool = False,
    n_jobs: int | None = None,
) -> NDArray[np.float64]:
    """Share of the trees in which two rows reach the same leaf.

    Parameters
    ----------
    model : ForestModel
        The forest.
    table : Table
        Rows.
    other : Table, optional
        Rows to compare them with; without it with one another.
    out_of_bag : bool, default=False
        Count only trees that have seen neither of the two rows. The table must then be the training table, and `other` not given.
    n_jobs : int, optional
        Threads; the result does not depend on them.

    Returns
    -------
    float64 array of shape (rows, rows), or (rows, rows of other)
        From 0 to 1. Out of bag NaN for two rows of which every tree has seen one.
    """
    if check_truth("out_of_bag", out_of_bag) and other is not None:
        raise DataError("proximity out of bag is about the training table alone: give no other table")
    others = table.rows if other is None else other.rows
    _check_size(table.rows, others)
    bags = bags_of(model, table.rows, "proximity out of bag") if out_of_bag else None
    trees = model.forest.trees
    step = max(1, CELLS // max(table.rows, others, 1))
    shared = np.zeros((table.rows, others), np.int32)
    both = np.zeros((table.rows, others), np.int32) if out_of_bag else None
    with Team(threads_for(n_jobs, most_for(table.rows * others * min(step, trees), SHARE_PAIRS))) as team:
        for first in range(0, trees, step):
            last = min(first + step, trees)
            left = model.leaf_numbers(table, first, last, n_jobs=n_jobs)
            right = left if other is None else model.leaf_numbers(other, first, last, n_jobs=n_jobs)
            if bags is not None and both is not None:
                seen = np.stack([~bags.out(tree) for tree in range(first, last)], axis=1)
                # No leaf has a number below 0, and numbers below 0 differ between both sides.
                left, right = np.where(seen, np.int32(-1), left), np.where(seen, np.int32(-2), right)
                _count(
                    np.where(seen, np.int32(-1), np.int32(0)),
                    np.where(seen, np.int32(-2), np.int32(0)),
                    both,
                    team,
                )
            _count(left, right, shared, team)
    if both is None:
        return np.divide(shared, trees)
    shares = np.full(shared.shape, np.nan)
    np.divide(shared, both, out=shares, where=both > 0)
    return shares


def _count(left: NDArray[np.int32], right: NDArray[np.int32], shared: NDArray[np.int32], team: Team) -> None:
    others, trees = right.shape
    step = max(1, CALL_PAIRS * team.size // max(others * trees, 1))
    for first in range(0, len(left), step):
        some = left[first : first + step]
        team.run(count_shared.bind(len(some), others, trees, some, right, shared[first : first + step]))


def _check_size(rows: int, others: int) -> None:
    if rows * others > MOST_PAIRS:
        raise DataError(
            f"the proximities of {rows} and {others} rows would take {rows * others * 8 / 2**30:.1f} GiB, and "
            f"{MOST_PAIRS * 8 / 2**30:.0f} GiB are the most: compare fewer rows at a time"
        )
