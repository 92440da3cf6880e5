"""The latest tree of a grower: its memory, a copy of it, and walks of binned rows down it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from spinney.binning.blocks import Blocks
from spinney.binning.cuts import Threshold
from spinney.binning.matrix import BinnedMatrix
from spinney.growth.kernels.records import Subset, Table
from spinney.growth.kernels.walk import BinTree, Goal, WalkScratch, add_tree
from spinney.growth.room import leaf_rows_room, nodes_of, tree_parts, tree_room
from spinney.growth.subset import subset_of
from spinney.jit import Bound, allocate
from spinney.jit.team import Team
from spinney.objectives.kernels.records import Gradients, Grown
from spinney.tree import Sets, Tree


class Thresholds(Protocol):
    """What the bins of a matrix stand for."""

    @property
    def categorical(self) -> NDArray[np.uint8]:
        """1 for columns of categories."""

    def thresholds(self) -> Threshold:
        """What gives the real values behind splits "bin <= b" of some columns."""


def set_words(bins: NDArray[np.int64], cuts: Thresholds) -> int:
    """Words of 64 bits that hold a bit for every category of the column that has most of them."""
    return -(-int((bins * cuts.categorical).max()) // 64)


class GrownTree:
    """The latest tree of a grower.

    Parameters
    ----------
    bins : int64[columns]
        Bins of each column.
    cuts
        What they stand for.
    table : Table
        The grower's nodes.
    gradients : Gradients
        Of the training rows.
    team : Team
        The threads to walk with.

    Attributes
    ----------
    arrays : TreeArrays
        Its nodes.
    by_leaf : LeafRows
        The rows that grew it.
    """

    def __init__(
        self, bins: NDArray[np.int64], cuts: Thresholds, table: Table, gradients: Gradients, team: Team
    ) -> None:
        self._bins, self._cuts, self._table, self._unit, self._team = bins, cuts, table, gradients.unit, team
        self._threshold = cuts.thresholds()
        self.arrays = tree_room(table.max_nodes)
        self.by_leaf = leaf_rows_room(gradients.rows, table.max_nodes)
        self._walk_room = allocate(WalkScratch, threads=team.size, tree=self.arrays)

    def copy(self) -> Tree:
        """The tree, in memory of its own."""
        nodes = nodes_of(self.by_leaf)
        parts = tree_parts(self.arrays, nodes, self._unit)
        feature = parts["feature"]
        # A leaf has bin 0 of column -1, which is the last.
        threshold = self._threshold(feature, self.arrays.cut_bin[:nodes])
        threshold[feature < 0] = 0.0
        sets = self._copy_sets(feature, threshold)
        return Tree(threshold=threshold, **parts, sets=sets)

    def walk(
        self,
        matrix: BinnedMatrix,
        scores: NDArray[np.float64],
        subset: Subset,
        leaves: NDArray[np.int32],
        cut_bin: NDArray[np.int32] | None = None,
    ) -> Bound:
        """A job that adds the tree to the scores of binned rows, outputs × rows, or notes their leaves if there is room for them.

        `cut_bin` is for rows with bins of their own.
        """
        outputs = scores.size // subset.count
        goal = Goal(subset.count, outputs, int(len(leaves) > 0), subset, leaves, scores)
        return self._bind_walk(matrix, self._by_bin(self.by_leaf.grown, cut_bin), goal)

    def walk_blocks(
        self,
        blocks: Blocks,
        scores: NDArray[np.float64],
        rows: NDArray[np.int32] | None,
        leaves: NDArray[np.int32],
    ) -> Callable[[], None]:
        """The same for rows that come block by block: all, or some of them, ascending. To be called for each tree."""
        firsts = blocks.begins if rows is None else np.searchsorted(rows, blocks.begins)
        # Of each block the scores of one output are given, so that its number is 0.
        grown = np.zeros(1, Grown.dtype)
        by_bin = self._by_bin(grown, None)

        def add() -> None:
            grown["nodes"] = nodes_of(self.by_leaf)
            output = int(self.by_leaf.grown["output"][0])
            for block, matrix in blocks.scan(self._team):
                begin, end = firsts[block], firsts[block + 1]
                if begin == end:
                    continue
                own = None if rows is None else rows[begin:end] - np.int32(blocks.begins[block])
                subset, noted = subset_of(own, matrix.rows), leaves[begin:end]
                goal = Goal(subset.count, 1, int(len(noted) > 0), subset, noted, scores[output, begin:end])
                self._team.run(self._bind_walk(matrix, by_bin, goal))

        return add

    def _bind_walk(self, matrix: BinnedMatrix, by_bin: BinTree, goal: Goal) -> Bound:
        job: Bound = add_tree.bind(matrix.binned(self._cuts.categorical), by_bin, self._walk_room, goal)
        return job

    def _by_bin(self, grown: Any, cut_bin: NDArray[np.int32] | None) -> BinTree:
        tree = self.arrays
        return BinTree(
            max_nodes=tree.max_nodes,
            words=self._table.words,
            grown=grown,
            feature=tree.feature,
            cut_bin=tree.cut_bin if cut_bin is None else cut_bin,
            left=tree.left,
            default_left=tree.default_left,
            value=tree.value,
            count=tree.count,
            sets=self._table.sets,
            order=self._table.order,
        )

    def _copy_sets(self, feature: NDArray[np.int32], threshold: NDArray[np.float64]) -> Sets:
        """The sets of the tree, each with as many words as its column needs; their thresholds become 0."""
        if not self._table.words:
            return Sets.none()
        node = np.flatnonzero((feature >= 0) & (self._cuts.categorical[feature] != 0))
        threshold[node] = 0.0
        lengths = -(-self._bins[feature[node]] // 64)
        start = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
        words = self._table.sets.reshape(-1, self._table.words)[self._table.order[node]]
        return Sets(node, start, words[np.arange(self._table.words) < lengths[:, None]])
