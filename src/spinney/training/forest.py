"""Growing a forest: trees that do not depend on each other.

A histogram forest is grown on the bins of its data set, which has no bundles; an exact forest on the ranks of the table's values.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from spinney.binning.binned import BinnedData
from spinney.data.table import starts_of
from spinney.data.target import ForestTarget
from spinney.errors import DataError
from spinney.growth.forest.grower import ForestGrower
from spinney.growth.forest.table import binned_table, column_ends, gap_thresholds, ranked_table
from spinney.jit.team import Team, most_for, threads_for
from spinney.model.forest import ForestModel
from spinney.model.leaf_rows import TrainingRowsByLeaf
from spinney.params import ForestConfig
from spinney.sampling.bags import bag_counts
from spinney.training.growers import check_in_memory
from spinney.tree.compact import CompactForest, GrownTree

# Values (rows × columns × trees) from which growing is shared among threads.
SHARE_VALUES = 200_000
# Values of a table that an exact forest keeps the ranks of.
MOST_RANKS = 2**31


def train_forest(
    config: ForestConfig,
    data: BinnedData,
    target: ForestTarget,
    trees: int,
    *,
    first: int = 0,
    weight: NDArray[np.float64] | None = None,
    n_jobs: int | None = None,
) -> ForestModel:
    """Grow a forest.

    Parameters
    ----------
    config : ForestConfig
        Parameters.
    data : BinnedData
        The table, made with `bundle=False`. An exact forest, and one that draws its cuts, read the table itself again.
    target : ForestTarget
        Classes or numbers, one row for each of the table's.
    trees : int
        How many trees.
    first : int, default=0
        Number of the first one: trees 10 to 19 are those that a forest of 20 has after its first ten.
    weight : float64[rows], optional
        Weights of the rows, 0 or more.
    n_jobs : int, optional
        Number of threads; the forest does not depend on it.

    Returns
    -------
    ForestModel
    """
    check_in_memory(data, "a forest")
    if weight is not None and not weight.any():
        raise DataError("the weights of all rows are 0; a forest needs a row with a weight above 0")
    resolved = config.resolve_columns(data.schema.names, data.columns, data.schema.categorical)
    work = data.rows * data.columns * trees
    with Team(threads_for(n_jobs, most_for(work, SHARE_VALUES))) as team:
        if config.tree_method == "exact":
            if data.rows * data.columns > MOST_RANKS:
                raise DataError(
                    f"tree_method='exact' ranks every value of a table, and {data.rows} rows × {data.columns} columns are "
                    "too many; use tree_method='hist'"
                )
            table = ranked_table(data.matrix(), data.cuts, data.raw.sorted_columns(team.size), team.size)
        else:
            ends = gaps = None
            if config.splitter == "random":
                given = data.raw.table()
                ends = column_ends(given, config.absent_value)
                gaps = gap_thresholds(given, data.cuts, config.absent_value)
            table = binned_table(data.matrix(), data.cuts, ends, gaps)
        grower = ForestGrower(resolved, table, target, weight, team)
        grown, cut_start, cuts = grower.grow_forest(first, trees)
    forest = CompactForest.of(grown, cut_start, cuts, values=target.leaf_values)
    kept = _leaf_rows(grown, config, target, weight, first) if config.keep_leaf_rows else None
    return ForestModel(
        forest, config, data.schema, target.classes, target.outputs, data.rows, kept, grown=True
    )


def _leaf_rows(
    grown: list[GrownTree],
    config: ForestConfig,
    target: ForestTarget,
    weight: NDArray[np.float64] | None,
    first: int,
) -> TrainingRowsByLeaf:
    """The training rows behind each leaf."""
    rows, drawn = target.rows, config.rows_per_tree(target.rows)

    def bag(tree: int) -> NDArray[np.int32]:
        if not config.draws_rows:
            return np.ones(rows, np.int32)
        return bag_counts(config.random_state, tree, rows, drawn, config.bootstrap)

    lists = ((starts_of(tree.count), tree.leaf_rows) for tree in grown)
    return TrainingRowsByLeaf.of(lists, bag, target.values.astype(np.float64), weight, first)
