"""Trees as binned rows walk them: the latest tree of a grower, and trees of a finished model.

A grower's tree is in memory that the next one uses again (`LatestTree`); it is copied, and rows that did not grow it walk it by
their bins. `replay` walks a tree of a model over bins: its thresholds become bins by the cuts that they came from, so a training
can continue a model on a data set whose table is gone. (Predicting by a model needs no bins: it compares values with thresholds.)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from spinney.binning.binned import CodeStore
from spinney.binning.cuts import Cuts, Threshold
from spinney.binning.matrix import BinnedMatrix
from spinney.data.kernels.records import Gradients, Grown
from spinney.growth.kernels.records import NodeTable, Subset
from spinney.growth.kernels.walk import BinTree, WalkOutput, WalkScratch, add_tree
from spinney.growth.workspace import allocate_leaf_rows, allocate_tree, nodes_of, subset_of, tree_parts
from spinney.jit import Bound, allocate
from spinney.jit.team import Team
from spinney.tree import Sets, Tree


class Thresholds(Protocol):
    """The values that the bins of a matrix stand for."""

    @property
    def categorical(self) -> NDArray[np.uint8]:
        """1 for columns of categories."""

    def thresholds(self) -> Threshold:
        """A function from splits "bin <= b" of some columns to their real thresholds."""


def set_words(bins: NDArray[np.int64], cuts: Thresholds) -> int:
    """Words of 64 bits that hold a bit for every category of the column that has most of them."""
    return -(-int((bins * cuts.categorical).max()) // 64)


class LatestTree:
    """The latest tree of a grower.

    Parameters
    ----------
    bins : int64[columns]
        Bins of each column.
    cuts
        What they stand for.
    table : NodeTable
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
        self, bins: NDArray[np.int64], cuts: Thresholds, table: NodeTable, gradients: Gradients, team: Team
    ) -> None:
        self._bins, self._cuts, self._table, self._unit, self._team = bins, cuts, table, gradients.unit, team
        self._threshold = cuts.thresholds()
        self.arrays = allocate_tree(table.max_nodes)
        self.by_leaf = allocate_leaf_rows(gradients.rows, table.max_nodes)
        self._walk_scratch = allocate(WalkScratch, threads=team.size, tree=self.arrays)

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
        leaf_of_row: NDArray[np.int32],
        cut_bin: NDArray[np.int32] | None = None,
    ) -> Bound:
        """A job that adds the tree to the scores of binned rows, outputs × rows, or writes their leaves to `leaf_of_row`.

        The scores are changed where `leaf_of_row` is empty. `cut_bin` is for rows with bins of their own.
        """
        outputs = scores.size // subset.count
        walk_output = WalkOutput(
            subset.count, outputs, int(len(leaf_of_row) > 0), subset, leaf_of_row, scores
        )
        return self._bind_walk(matrix, self._by_bin(self.by_leaf.grown, cut_bin), walk_output)

    def walk_blocks(
        self,
        blocks: CodeStore,
        scores: NDArray[np.float64],
        rows: NDArray[np.int32] | None,
        leaf_of_row: NDArray[np.int32],
    ) -> Callable[[], None]:
        """A function that does the same for rows that come block by block: all, or some of them, ascending."""
        firsts = blocks.begins if rows is None else np.searchsorted(rows, blocks.begins)
        # A walk gets the scores of one output of a block's rows, so the number of that output is 0.
        grown = Grown.zeros(1)
        by_bin = self._by_bin(grown, None)

        def add() -> None:
            grown["nodes"] = nodes_of(self.by_leaf)
            output = int(self.by_leaf.grown["output"][0])
            for block, matrix in blocks.scan(self._team):
                begin, end = firsts[block], firsts[block + 1]
                if begin == end:
                    continue
                block_rows = None if rows is None else rows[begin:end] - np.int32(blocks.begins[block])
                subset, block_leaves = subset_of(block_rows, matrix.rows), leaf_of_row[begin:end]
                walk_output = WalkOutput(
                    subset.count,
                    1,
                    int(len(block_leaves) > 0),
                    subset,
                    block_leaves,
                    scores[output, begin:end],
                )
                self._team.run(self._bind_walk(matrix, by_bin, walk_output))

        return add

    def _bind_walk(self, matrix: BinnedMatrix, by_bin: BinTree, walk_output: WalkOutput) -> Bound:
        job: Bound = add_tree.bind(
            matrix.binned(self._cuts.categorical), by_bin, self._walk_scratch, walk_output
        )
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


def replay(
    tree: Tree, output: int, matrix: BinnedMatrix, cuts: Cuts, scores: NDArray[np.float64], team: Team
) -> None:
    """Add a tree that was grown on these cuts to the scores of binned rows.

    Parameters
    ----------
    tree : Tree
        From a training with `tree_method="hist"`.
    output : int
        Which output the tree is for.
    matrix, cuts
        The rows, in the bins that the tree was grown on.
    scores : float64[outputs, rows]
        The values of the rows' leaves are added to them.
    team : Team
        The threads to work with.
    """
    by_bin = _by_bin(tree, output, cuts)
    walk_output = WalkOutput(
        matrix.rows, len(scores), 0, subset_of(None, matrix.rows), np.empty(0, np.int32), scores
    )
    scratch = allocate(WalkScratch, threads=team.size, tree=by_bin)
    team.run(add_tree.bind(matrix.binned(cuts.categorical), by_bin, scratch, walk_output))


def _by_bin(tree: Tree, output: int, cuts: Cuts) -> BinTree:
    """A tree whose splits are "bin <= b", and sets of bins."""
    numeric = (tree.feature >= 0) & (cuts.categorical[tree.feature] == 0)
    cut_bin = np.zeros(tree.nodes, np.int32)
    cut_bin[numeric] = cuts.bins_below(tree.feature[numeric], tree.threshold[numeric])
    lengths = np.diff(tree.sets.start)
    words = int(lengths.max(initial=0))
    sets = np.zeros((tree.nodes, words), np.int64)
    for node, start, length in zip(tree.sets.node, tree.sets.start, lengths, strict=False):
        sets[node, :length] = tree.sets.bits[start : start + length]
    grown = Grown.zeros(1)
    grown[0] = (output, tree.nodes)
    return BinTree(
        max_nodes=tree.nodes,
        words=words,
        grown=grown,
        feature=tree.feature,
        cut_bin=cut_bin,
        left=tree.left,
        default_left=tree.default_left,
        value=tree.value,
        count=tree.count,
        sets=sets,
        order=np.arange(tree.nodes),
    )
