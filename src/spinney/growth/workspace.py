"""What all growers of boosted trees are made of: the records that their kernels read and write.

Rules for trees and columns from the parameters (`rules_of`, `ColumnChoice`), the axis of the histograms of one tree
(`HistogramAxis`), the rows of a table that a data set has (`subset_of`), and memory for nodes, histograms and tasks.

Rows of a data set that are some rows of a table (a fold, a part of a split) have numbers of their own, from 0, in labels, scores,
gradients, bags and rows by leaf. Only what reads codes uses the table's row: entries of a growing tree name it, and `Subset`
leads from a number to the row and back.
"""

from __future__ import annotations

import math
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.binning.matrix import SPARSE, ColumnLayout
from spinney.data.kernels.records import Grown, LeafRows
from spinney.growth.kernels import records
from spinney.growth.kernels.histogram import SPAN
from spinney.growth.kernels.records import (
    Axis,
    CategoryRules,
    ColumnRules,
    Limits,
    NodeTable,
    PackedSums,
    PartialSums,
    Penalties,
    Subset,
    Sums,
    Tasks,
    TaskScratch,
    ThreadSplits,
    TreeArrays,
    TreeRules,
)
from spinney.jit import allocate
from spinney.params import Config, objective_info, resolve_columns
from spinney.sampling import Bag


class ColumnChoice:
    """Directions, groups and weights of the columns of one data set.

    Parameters
    ----------
    config : Config
        Parameters, with columns by position.
    columns : int
        Number of columns.

    Attributes
    ----------
    directions : int64[columns]
        Direction of each column, 0 for either.
    bounded : bool
        Whether any column has a direction.
    group_starts, group_members : int64 arrays
        Columns of each group of columns that may interact, ascending, one group after another.
    groups : int
        Number of groups; 0 means that all columns may interact.
    weights : float64[columns] or None
        Chances of being drawn, the largest 1; None where all are equal.
    """

    def __init__(self, config: Config, columns: int) -> None:
        if config.has_column_rules:
            config = resolve_columns(config, None, columns)
        groups = config.interaction_constraints or ()
        self.directions = np.zeros(columns, np.int64)
        if config.monotone_constraints is not None:
            self.directions[:] = config.monotone_constraints
        self.bounded = bool(self.directions.any())
        self.groups = len(groups)
        self.group_starts = np.array([0, *accumulate(map(len, groups))], np.int64)
        self.group_members = np.array([column for group in groups for column in group], np.int64)
        self.weights = None
        if config.feature_weights is not None:
            weights = np.array(config.feature_weights, np.float64)
            self.weights = weights / weights.max()

    def count_of(self, share: float, columns: int) -> int:
        """How many of some columns to draw for a share of them: at least one, and no more than have a weight above 0.

        Examples
        --------
        >>> ColumnChoice(Config(), 8).count_of(0.5, 8)
        4
        >>> ColumnChoice(Config(feature_weights=[0, 0, 0, 1]), 4).count_of(0.5, 4)
        1
        """
        wanted = max(1, round(share * columns))
        if self.weights is None or share == 1.0:
            return wanted
        return min(wanted, int(np.count_nonzero(self.weights)))

    def record(self, per_level: int, per_node: int) -> ColumnRules:
        """The record for kernels; `per_level` and `per_node` are numbers of columns to draw, 0 for all."""
        return ColumnRules(
            columns=len(self.directions),
            group_count=self.groups,
            grouped=len(self.group_members),
            weighted=int(self.weights is not None),
            per_level=per_level,
            per_node=per_node,
            directions=self.directions,
            group_starts=self.group_starts,
            group_members=self.group_members,
            weights=np.zeros(0) if self.weights is None else self.weights,
        )


def rules_of(
    config: Config, rows: int, choice: ColumnChoice, by_tree: int, unit: float, prune: bool
) -> TreeRules:
    """The rules of a tree of so many rows and columns.

    Parameters
    ----------
    config, choice
        The parameters.
    rows, by_tree : int
        Rows of the data set, and columns of a tree.
    unit : float
        What penalties are divided by, because weights were.
    prune : bool
        Whether gamma prunes the finished tree from below, instead of holding back its growth.
    """
    by_level = choice.count_of(config.colsample_bylevel, by_tree)
    by_node = choice.count_of(config.colsample_bynode, by_level)
    gamma = config.gamma / unit
    min_count = max(1, min(config.min_child_samples, rows + 1))
    return TreeRules(
        Limits(
            max_depth=config.max_depth,
            max_leaves=most_leaves(config, rows, min_count),
            min_count=min_count,
            min_hessian=config.min_child_weight / unit,
            depthwise=int(config.grow_policy == "depthwise"),
            gamma=0.0 if prune else gamma,
            least_gain=gamma if prune else 0.0,
        ),
        Penalties(
            reg_lambda=config.reg_lambda / unit,
            reg_alpha=config.reg_alpha / unit,
            max_step=config.max_delta_step or objective_info(config.objective).longest_step,
            bounded=int(choice.bounded),
        ),
        CategoryRules(
            one_hot=config.max_cat_to_onehot,
            most_taken=config.max_cat_threshold,
            min_group=config.min_data_per_group,
            min_category=max(1, math.ceil(min(config.cat_smooth, 2.0**62))),
            smooth=config.cat_smooth / unit,
            l2=config.cat_l2 / unit,
            charge=config.cat_charge / max(rows, 1),
        ),
        choice.record(by_level if by_level < by_tree else 0, by_node if by_node < by_level else 0),
    )


def most_leaves(config: Config, rows: int, min_count: int) -> int:
    """Most leaves that a tree of so many rows can have."""
    most = max(2, rows // min_count)
    leaves = min(config.max_leaves or most, most)
    if 0 < config.max_depth < 31:
        leaves = min(leaves, 2**config.max_depth)
    return leaves


# Searching a unit costs about as much as so many codes, before any of its own, and a code as so many additions to a packed sum.
COST_OF_UNIT = 16
COST_OF_CODE = 4


class HistogramAxis:
    """The axis of a tree's histograms: the codes of its groups one after another, then those of its sparse columns.

    Kernels read `record`; `use_columns` rewrites it when a tree sees other columns.

    Parameters
    ----------
    features : ColumnLayout
        The columns.
    wide : bool
        Whether packed sums stand one after another instead of SPAN apart.
    """

    def __init__(self, features: ColumnLayout, wide: bool) -> None:
        self._features, self._wide = features, wide
        groups, columns = len(features.group_codes), features.columns
        codes = int(features.group_codes.sum())
        self.packed_size = (codes if wide else groups * SPAN) + features.sparse_codes
        self.width = max(int(features.bins.max()), int(features.units.columns.max(initial=1)))
        self.record = allocate(
            Axis,
            groups=groups,
            columns=columns,
            member_count=len(features.members),
            unit_count=len(features.units),
            total=codes + features.sparse_codes,
            members=features.members,
        )
        self.use_columns(np.arange(columns, dtype=np.int64))

    def use_columns(self, columns: NDArray[np.int64]) -> None:
        """Lay out the axis for a tree that may be split by these columns, ascending."""
        features, axis, extent = self._features, self.record, self.record.extent
        axis.used_columns[: len(columns)] = columns
        axis.allowed[:] = 0
        axis.allowed[columns] = 1
        groups = np.unique(features.group[columns])
        groups = groups[groups != SPARSE]
        count = len(groups)
        axis.used_groups[:count] = groups
        np.cumsum(features.group_codes[groups], out=axis.starts[1 : count + 1])
        extent["groups"], extent["columns"] = count, len(columns)
        extent["sparse_at"], extent["sparse_packed"] = axis.starts[count], self._packed_before(count)
        place = np.full(len(features.group_codes) + 1, -1)  # the last item is that of SPARSE
        place[groups] = np.arange(count)
        axis.low[:] = np.where(
            features.group == SPARSE, axis.starts[count], axis.starts[place[features.group]]
        )
        axis.low[:] += features.low
        self._place_units(features.units, place, count)

    def _place_units(self, units: Any, place: NDArray[np.int64], count: int) -> None:
        """Write the units of the used groups; `place` has the number of each group among them."""
        axis = self.record
        sparse = units.group == SPARSE
        kept = sparse | (place[units.group] >= 0)
        units, sparse = units[kept], sparse[kept]
        at = np.where(sparse, count, place[units.group])
        start = axis.starts[at]
        packed = np.where(sparse, self._packed_before(count), start if self._wide else at * SPAN)
        placed_units = axis.units[: len(units)]
        placed_units["begin"] = start + units.begin
        placed_units["end"] = start + units.end
        placed_units["packed"] = packed + units.begin
        placed_units["member"] = units.member
        placed_units["columns"] = units.columns
        placed_units["cost"] = COST_OF_CODE * (units.end - units.begin + COST_OF_UNIT)
        axis.group_units[: count + 1] = np.searchsorted(at, np.arange(count + 1))
        axis.extent["units"] = len(units)

    def _packed_before(self, groups: int) -> int:
        """Packed sums of the first `groups` used groups."""
        return int(self.record.starts[groups]) if self._wide else groups * SPAN


def subset_of(rows: NDArray[np.int32] | None, table_rows: int) -> Subset:
    """The rows that a data set has of a table, ascending; None for all of them.

    Examples
    --------
    >>> subset_of(np.array([1, 3], np.int32), 4).number.tolist()
    [0, 0, 0, 1]
    """
    if rows is None:
        nothing = np.empty(0, np.int32)
        return Subset(0, table_rows, table_rows, nothing, nothing)
    number = np.zeros(table_rows, np.int32)
    number[rows] = np.arange(len(rows), dtype=np.int32)
    return Subset(1, len(rows), table_rows, rows, number)


Control = Any  # an array of one records.Control
_NODE_ARRAYS = ("feature", "left", "default_left", "value", "gain", "cover", "count")


def allocate_control() -> Control:
    """Memory for what changes from tree to tree."""
    # A plain array: the fields of NumPy's record arrays take microseconds to reach, and this is written for every tree.
    return np.zeros(1, records.Control.dtype)


def set_control(control: Control, output: int, seed: int, bag: Bag, rate: float) -> None:
    """Set the output and the seed of the next tree, the rows that it sees, and the factor on its leaf values."""
    control[0] = (output, seed, len(bag.rows) if bag.count is None else bag.count, bag.count is None, rate)


def allocate_leaf_rows(rows: int, max_nodes: int) -> LeafRows:
    """Memory for the rows of a tree by leaf."""
    return allocate(LeafRows, rows=rows, max_nodes=max_nodes, grown=np.zeros(1, Grown.dtype))


def nodes_of(by_leaf: LeafRows) -> int:
    """How many nodes the latest tree has."""
    return int(by_leaf.grown["nodes"][0])


def allocate_table(max_nodes: int, slots: int, max_speculative: int = 0, words: int = 0) -> NodeTable:
    """Memory for the nodes of a growing tree, with histogram slots for pending leaves and for speculative splits."""
    return allocate(NodeTable, max_nodes=max_nodes, slots=slots, max_speculative=max_speculative, words=words)


def allocate_splits(threads: int, columns: int, rules: TreeRules, words: int = 0) -> ThreadSplits:
    """Memory for the splits that threads find."""
    return allocate(ThreadSplits, threads=threads, columns=columns, words=words, rules=rules)


def allocate_sums(threads: int, slots: int, axis: HistogramAxis) -> Sums:
    """Memory for packed sums of each thread, and for `slots` histograms."""
    by_thread = allocate(PackedSums, threads=threads, size=axis.packed_size, axis=axis.record)
    return allocate(Sums, threads=threads, slots=slots, by_thread=by_thread, axis=axis.record)


def allocate_tasks(
    threads: int, columns: int, units: int = 0, goes_left_size: int = 0, words: int = 0
) -> Tasks:
    """Memory for the tasks of all threads."""
    of_task = allocate(
        TaskScratch, threads=threads, columns=columns, words=words, goes_left_size=goes_left_size
    )
    return allocate(
        Tasks,
        threads=threads,
        units=units,
        partial_sums=allocate(PartialSums, threads=threads),
        of_task=of_task,
    )


def allocate_tree(max_nodes: int) -> TreeArrays:
    """Memory for a finished tree."""
    return allocate(TreeArrays, max_nodes=max_nodes)


def tree_parts(tree: TreeArrays, nodes: int, unit: float) -> dict[str, NDArray[Any]]:
    """Copy the arrays of a finished tree; `unit` is the power of two that penalties were divided by, because weights were."""
    parts: dict[str, NDArray[Any]] = {name: getattr(tree, name)[:nodes].copy() for name in _NODE_ARRAYS}
    if unit != 1.0:
        with np.errstate(over="ignore"):
            parts["gain"] *= unit
            parts["cover"] *= unit
    return parts
