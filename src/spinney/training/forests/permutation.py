"""Importance of columns by shuffling them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.data import Table
from spinney.errors import DataError
from spinney.jit.team import Team, most_for, threads_for
from spinney.model.forest import ForestModel
from spinney.params import checked_seed
from spinney.params.parameter import SeedLike
from spinney.training.forests.bags import bags_of
from spinney.training.forests.scores import accuracy, r2
from spinney.training.forests.shuffle import Shuffler
from spinney.training.forests.trees import decided, leaf_predictions
from spinney.training.importances import PermutationImportance

SHARE_ROWS = 5_000  # from which the walks of a tree, some ten a row, are shared among threads


def permutation_importance(
    model: ForestModel, table: Table, target: NDArray[Any], seed: SeedLike = 0, n_jobs: int | None = None
) -> PermutationImportance:
    """Measure how much worse each tree predicts the rows it has not seen when a column is shuffled among them (Breiman, 2001).

    The score is the accuracy, the share of rows of which all outputs are right; or R2, the mean over outputs.

    Parameters
    ----------
    model : ForestModel
        The forest.
    table : Table
        Its training table.
    target : int64[rows, outputs] or float64[rows, outputs]
        Class numbers, or numbers.
    seed : int, RandomState, Generator or None, default=0
        The order of a column depends on it, on the number of the tree and on that of the column.
    n_jobs : int, optional
        Threads; the result does not depend on them.

    Returns
    -------
    PermutationImportance

    Raises
    ------
    DataError
        If no tree has rows to be judged by.
    """
    seed = checked_seed(seed, "random_state")
    bags = bags_of(model, table.rows, "permutation importance")
    losses = np.full((table.columns, model.forest.trees), np.nan)
    with Team(threads_for(n_jobs, most_for(table.rows, SHARE_ROWS))) as team:
        shuffler = Shuffler(model, table, seed, team)
        for tree in range(model.forest.trees):
            rows = np.flatnonzero(bags.out(tree))
            if len(rows) >= (1 if model.classes else 2):
                losses[:, tree] = _losses(model, tree, shuffler, rows, target[rows])
    judged = losses[:, ~np.isnan(losses).any(axis=0)]
    if not judged.size:
        raise DataError(
            "no tree has rows that it has not seen, by which it could be judged: draw fewer rows by max_samples"
        )
    names = model.feature_names or tuple(f"x{column}" for column in range(table.columns))
    metric = "accuracy out of bag" if model.classes else "r2 out of bag"
    return PermutationImportance(judged.mean(axis=1), judged.std(axis=1), losses, names, metric)


def _losses(
    model: ForestModel, tree: int, shuffler: Shuffler, rows: NDArray[np.int64], target: NDArray[Any]
) -> NDArray[np.float64]:
    """By how much a tree's score falls for each column; 0 for one that it does not split on."""
    forest = model.forest
    score = accuracy if model.classes else r2
    said = decided(model, leaf_predictions(model, tree))
    losses = np.zeros(forest.columns)
    splits = slice(int(forest.split_start[tree]), int(forest.split_start[tree + 1]))
    used = np.unique(forest.column[splits]).tolist()
    for columns, leaf, shuffled in shuffler.leaves(tree, rows, used):
        before = score(target, said[leaf])
        losses[columns] = [before - score(target, said[moved]) for moved in shuffled]
    return losses
