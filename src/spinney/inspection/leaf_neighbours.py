"""Training rows that share leaves with a row: quantiles of their targets, and proximities of rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spinney.data import Table
from spinney.errors import DataError, ParameterError, ParameterTypeError
from spinney.inspection.forest_leaves import CELLS, each_block
from spinney.inspection.kernels.forests import LeafEntries, Masses, Ranked, count_shared, find_quantiles
from spinney.inspection.out_of_bag import bags_of
from spinney.jit import allocate
from spinney.jit.team import Team, most_for, threads_for
from spinney.messages import shown
from spinney.model.forest import ForestModel
from spinney.model.leaf_rows import TrainingRowsByLeaf
from spinney.params.common import check_truth

SHARE_LEAVES = 100_000  # leaves to look up (rows × trees) from which quantiles are shared among threads
MOST_PAIRS = 2**28  # pairs of rows that are compared: 2 GB of float64
SHARE_PAIRS = 1_000_000  # comparisons of leaves from which they are shared among threads
CALL_PAIRS = 2**28  # comparisons of one thread between two moments in which an interrupt is served


def predict_quantiles(
    model: ForestModel, table: Table, quantiles: ArrayLike, n_jobs: int | None = None
) -> NDArray[np.float64]:
    """Predict quantiles of the target: a quantile regression forest (Meinshausen, JMLR 7, 2006).

    Every tree gives the same mass to the training rows in the leaf that a row reaches, in proportion to how often its bag has
    them, and to their weights. A quantile is the least target up to which there is at least that share of the mass.

    Parameters
    ----------
    model : ForestModel
        A forest of numbers that was trained with `keep_leaf_rows`.
    table : Table
        Rows to predict.
    quantiles : array-like of float, or a float
        From 0 to 1, in any order.
    n_jobs : int, optional
        Threads; the result does not depend on them.

    Returns
    -------
    float64 array of shape (rows, quantiles), or (rows, outputs, quantiles) for several outputs
        For a single number without the last dimension.
    """
    wanted = _checked(quantiles)
    known = _leaf_rows(model)
    trees, rows = model.forest.trees, len(known.targets)
    ascending, back = np.unique(wanted, return_inverse=True)
    entries = LeafEntries(
        known.leaves, len(known.rows), len(known.weight), known.start, known.rows, known.counts, known.weight
    )
    ranked = [_ranked(known.targets[:, output]) for output in range(model.outputs)]
    found = np.empty((table.rows, model.outputs, len(ascending)))
    with Team(threads_for(n_jobs, most_for(table.rows * trees, SHARE_LEAVES))) as team:
        masses = allocate(Masses, threads=team.size, rows=rows)
        for first, numbers in each_block(model, table, n_jobs):
            count = len(numbers)
            leaves = numbers + model.forest.leaf_start[:-1]
            for output, targets in enumerate(ranked):
                part = np.empty((count, len(ascending)))
                team.run(
                    find_quantiles.bind(
                        count, trees, len(ascending), leaves, ascending, entries, targets, masses, part
                    )
                )
                found[first : first + count, output] = part
    shaped = found[..., back.reshape(np.shape(wanted))]
    return shaped[:, 0] if model.outputs == 1 else shaped


def _checked(quantiles: ArrayLike) -> NDArray[np.float64]:
    try:
        wanted: NDArray[Any] = np.asarray(quantiles)
        if wanted.dtype.kind not in "iuf":
            raise TypeError
    except (TypeError, ValueError):
        raise ParameterTypeError(
            f"quantiles must be a number or a list of numbers, got {shown(quantiles)}"
        ) from None
    if wanted.ndim > 1 or not wanted.size:
        raise ParameterError(
            f"quantiles must be a number or a list of one number at least, got an array of shape {wanted.shape}"
        )
    outside = ~((wanted >= 0) & (wanted <= 1))
    if outside.any():
        raise ParameterError(f"quantiles holds {wanted[outside][0]}; every one must be from 0 to 1")
    return wanted.astype(np.float64)


def _leaf_rows(model: ForestModel) -> TrainingRowsByLeaf:
    if model.classes:
        raise ParameterError("quantiles are those of numbers, but this forest predicts classes")
    if model.leaf_rows is None:
        raise ParameterError(
            "quantiles need the training rows of every leaf, which this forest did not keep: train with keep_leaf_rows=True"
        )
    return model.leaf_rows


def _ranked(target: NDArray[np.float64]) -> Ranked:
    order = np.argsort(target, kind="stable")
    rank = np.empty(len(target), np.int32)
    rank[order] = np.arange(len(target), dtype=np.int32)
    return Ranked(len(target), target[order], rank)


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
