"""Quantiles of the target by a regression forest."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spinney.data import Table
from spinney.errors import ParameterError, ParameterTypeError
from spinney.jit import allocate
from spinney.jit.team import Team, most_for, threads_for
from spinney.messages import shown
from spinney.model.forest import ForestModel
from spinney.model.leaf_rows import TrainingRowsByLeaf
from spinney.training.forests.kernels.quantiles import find_quantiles
from spinney.training.forests.kernels.records import LeafEntries, Masses, Ranked
from spinney.training.forests.trees import each_block

SHARE_LEAVES = 100_000  # leaves to look up (rows × trees) from which quantiles are shared among threads


def predict_quantiles(
    model: ForestModel, table: Table, quantiles: ArrayLike, n_jobs: int | None = None
) -> NDArray[np.float64]:
    """Predict quantiles of the target: a quantile regression forest (Meinshausen, JMLR 7, 2006).

    Every tree deals the same mass to the training rows in the leaf that a row reaches, in proportion to how often its bag has
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
