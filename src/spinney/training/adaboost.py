"""AdaBoost: trees one after another, each on the rows weighed by the mistakes of those before."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from spinney.binning.binned import BinnedData
from spinney.data.target import ForestTarget
from spinney.errors import DataError
from spinney.growth.forest.grower import ForestGrower, leaf_of_rows
from spinney.growth.forest.table import ForestTable, binned_table
from spinney.jit.team import Team, most_for, threads_for
from spinney.model.adaboost_model import AdaBoostModel
from spinney.params import AdaBoostConfig
from spinney.sampling.bags import counts_by_weight
from spinney.training.adaboosting.rounds import ClassRounds, NumberRounds, Round
from spinney.training.adaboosting.weights import Weights
from spinney.training.sharing import check_in_memory
from spinney.tree.compact import CompactForest, GrownTree

# Values (rows × columns) of a tree from which growing is shared among threads.
SHARE_VALUES = 200_000


def train_adaboost(
    config: AdaBoostConfig,
    data: BinnedData,
    target: ForestTarget,
    rounds: int,
    *,
    weight: NDArray[np.float64] | None = None,
    n_jobs: int | None = None,
    told: Callable[[int], None] = lambda done: None,
) -> AdaBoostModel:
    """Boost trees by weights.

    Parameters
    ----------
    config : AdaBoostConfig
        Parameters.
    data : BinnedData
        The table, made with `bundle=False`; its bins are all that is read of it.
    target : ForestTarget
        Classes or numbers of one output, one for each of the table's rows.
    rounds : int
        Most trees.
    weight : float64[rows], optional
        Weights of the rows to start from, above 0.
    n_jobs : int, optional
        Number of threads; the model does not depend on it.
    told : callable, optional
        Called with the number of trees so far after each round.

    Returns
    -------
    AdaBoostModel

    Raises
    ------
    DataError
        If the first tree is no better than guessing, or, where rows are drawn, no tree is.
    """
    check_in_memory(data, "AdaBoost")
    with Team(threads_for(n_jobs, most_for(data.rows * data.columns, SHARE_VALUES))) as team:
        table = binned_table(data.matrix(), data.cuts)
        weights = Weights(weight, data.rows, team)
        grown, kept = [], []
        for tree, found in _boosted(config, table, target, weights, rounds, team):
            if found is not None:
                grown.append(tree)
                kept.append(found)
            told(len(grown))
    if not any(found.weight > 0 for found in kept):
        raise DataError(
            f"none of {rounds} trees on drawn rows is better than guessing: the columns of X tell nothing about y, or trees of "
            f"max_depth={config.max_depth} cannot tell it. Give other columns, or deeper trees"
        )
    forest = CompactForest.of(grown, table.cut_start, table.cuts, values=target.leaf_values)
    says, errors = np.array([found.weight for found in kept]), np.array([found.error for found in kept])
    return AdaBoostModel(forest, config, data.schema, target.classes, data.rows, says, errors)


def _boosted(
    config: AdaBoostConfig,
    table: ForestTable,
    target: ForestTarget,
    weights: Weights,
    rounds: int,
    team: Team,
) -> Iterator[tuple[GrownTree, Round | None]]:
    """Trees one after another, with what is made of each; None for one that is dropped."""
    grower = ForestGrower(config.of_trees(), table, target, weights.values, team, keep_memory=True)
    judge = (ClassRounds if config.of_classes else NumberRounds)(config, target, weights)
    for number in range(rounds):
        shown = weights.values
        if config.resample:
            shown = counts_by_weight(config.random_state, number, weights.values, weights.total)
        grower.set_weights(shown)
        tree = next(iter(grower.grow(number, 1)))
        if not config.resample:
            tree = _shared_out(tree, weights.total, config.of_classes)
        found = judge.judge(number, tree, leaf_of_rows(table, tree, team))
        yield tree, found
        if found is None or found.last:
            return


def _shared_out(tree: GrownTree, total: int, of_classes: bool) -> GrownTree:
    """The same tree with weights that sum up to 1."""
    value = tree.value / total if of_classes else tree.value
    return replace(tree, value=value, weight=tree.weight / total)
