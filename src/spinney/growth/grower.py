"""The histogram learner: memory for growing trees on one data set, and one call per tree."""

from __future__ import annotations

import sys
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from spinney.binning.matrix import BinnedMatrix
from spinney.growth.axis import TreeAxis
from spinney.growth.gather import gathered_room
from spinney.growth.kernels.records import PLANES, SPARE_SLOTS, HistBag, Lines, Rows, Sums
from spinney.growth.kernels.tree import grow_tree
from spinney.growth.kernels.turns import AHEAD
from spinney.growth.kernels.walk import BinTree, Goal, WalkRoom, add_tree
from spinney.growth.leaf_values import NEWTON, Finish, LeafValues
from spinney.growth.room import (
    control_room,
    found_room,
    leaf_rows_room,
    nodes_of,
    set_control,
    table_room,
    tasks_room,
    tree_parts,
    tree_room,
)
from spinney.growth.rules import ColumnChoice, rules_of
from spinney.growth.subset import subset_of
from spinney.jit import Bound, room
from spinney.jit.team import Team
from spinney.objectives.kernels.records import Gradients, LeafRows
from spinney.params import Config
from spinney.sampling import Bag, draw_columns
from spinney.tree import Sets, Tree

# Bytes of histograms kept so that a sibling can be found by subtraction. Beyond it both children are summed from their
# rows: the same tree, more slowly.
KEPT_HISTOGRAMS = 512 * 2**20
# Of a sparse table no more than its codes take, less what its cuts take, or this: training should not take much more memory than
# the table.
KEPT_FOR_SPARSE = 8 * 2**20
CUT = 8  # bytes
OF_THREAD = 20  # bytes that a thread has for each code: a cell and three sums


class Thresholds(Protocol):
    """What the bins of a matrix stand for."""

    @property
    def categorical(self) -> NDArray[np.uint8]:
        """1 for columns of categories."""

    def threshold(self, columns: NDArray[Any], bins: NDArray[Any]) -> NDArray[np.float64]:
        """Real values behind splits "bin <= b" of some columns."""


class HistGrower:
    """Grows trees on binned rows.

    Parameters
    ----------
    matrix, cuts
        The training rows.
    config : Config
        Parameters of a tree.
    gradients : Gradients
        Gradients, rewritten by the objective before each tree, and scores.
    bag : Bag
        The rows that the next tree sees.
    team : Team
        The threads to grow with.
    values : LeafValues
        Where leaf values come from.
    prune : bool
        Whether gamma prunes the finished tree from below, instead of holding back its growth.
    rows : int32, optional
        Rows of the matrix that are the training rows, ascending; None for all. `gradients`, `bag` and rows by leaf number
        them from 0.
    """

    def __init__(
        self,
        matrix: BinnedMatrix,
        cuts: Thresholds,
        config: Config,
        gradients: Gradients,
        bag: Bag,
        team: Team,
        values: LeafValues = NEWTON,
        prune: bool = False,
        rows: NDArray[np.int32] | None = None,
    ) -> None:
        self._rows = rows
        self.subset = subset_of(rows, matrix.rows)
        self._matrix, self._cuts, self._team, self._bag = matrix, cuts, team, bag
        self._unit = gradients.unit
        self._choice = ColumnChoice(config, matrix.columns)
        self._column_count = self._choice.drawn(config.colsample_bytree, matrix.columns)
        self._axis = TreeAxis(matrix.features, matrix.wide)
        self._rules = rules_of(config, gradients.rows, self._choice, self._column_count, self._unit, prune)
        self.control = control_room()
        # Bits for every category of the column that has most of them.
        self._words = -(-int((matrix.bins * cuts.categorical).max()) // 64)
        leaves = self._rules.limits.max_leaves
        self.most_ahead = min(AHEAD * team.size, leaves) if team.size > 1 else 0
        max_nodes = 2 * (leaves + self.most_ahead)
        self._table = table_room(max_nodes, self._slots(), self.most_ahead, self._words)
        self.tree = tree_room(max_nodes)
        self._by_leaf = leaf_rows_room(gradients.rows, max_nodes)
        self._job = self._bind(gradients, config)
        self._walk_room = room(WalkRoom, threads=team.size, tree=self.tree)
        self._finish = Finish(
            values, self.control, self._rules, self._table, self.tree, self._by_leaf, gradients, team
        )
        self._scores = gradients.scores

    def _slots(self) -> int:
        """How many histograms are kept."""
        matrix, total = self._matrix, self._axis.record.total
        kept = KEPT_HISTOGRAMS
        if matrix.from_sparse:
            kept = min(kept, max(matrix.nbytes - CUT * total, KEPT_FOR_SPARSE))
        # Beside the slots there are two histograms, and for each thread packed sums and flushed ones, which take about as much as
        # two more.
        beside = SPARE_SLOTS + 2 * self._team.size
        slots = kept // (PLANES * 4 * max(total, 1)) - beside
        return int(max(1, min(self._rules.limits.max_leaves + self.most_ahead, slots)))

    def grow(self, output: int, seed: int, rate: float) -> tuple[Tree, LeafRows | None]:
        """Grow one tree for an output on the bag's rows: the tree, and all rows by leaf, None where they are not known.

        `rate` is the factor on leaf values. The rows by leaf stand in memory that the next tree uses again.
        """
        matrix = self._matrix
        set_control(self.control, output, seed, self._bag, rate)
        if self._column_count < matrix.columns:
            self._axis.use(draw_columns(matrix.columns, self._column_count, seed, self._choice.weights))
        self._team.run(self._job)
        all_rows = self._bag.count is None
        if self._finish.refits and not all_rows:
            self._team.run(self._walk)
            self._finish.refit()
        self._finish.renew()
        return self._copy_tree(nodes_of(self._by_leaf)), self._by_leaf if all_rows else None

    def add(self, by_leaf: LeafRows | None) -> None:
        """Move the scores by the latest tree: those of its rows by leaf or, where these are not known, of rows that walk it."""
        if by_leaf is None and not self._finish.refits:
            self._team.run(self._walk)
        else:
            self._finish.add(by_leaf)

    @cached_property
    def _walk(self) -> Bound:
        """A job that leads the training rows to their leaves, for trees that grew on some of them."""
        return self.walk(self._matrix, self._scores, self._rows, leaves=self._finish.leaves)

    def walk(
        self,
        matrix: BinnedMatrix,
        scores: NDArray[np.float64],
        rows: NDArray[np.int32] | None = None,
        cut_bin: NDArray[np.int32] | None = None,
        leaves: NDArray[np.int32] | None = None,
    ) -> Bound:
        """A job that adds the latest tree to the scores of binned rows: all, or some of them, ascending.

        `cut_bin` is for rows with bins of their own. With room in `leaves` their leaves are noted instead.
        """
        tree = self.tree
        if leaves is None:
            leaves = np.empty(0, np.int32)
        by_bin = BinTree(
            max_nodes=tree.max_nodes,
            words=self._words,
            grown=self._by_leaf.grown,
            feature=tree.feature,
            cut_bin=tree.cut_bin if cut_bin is None else cut_bin,
            left=tree.left,
            default_left=tree.default_left,
            value=tree.value,
            count=tree.count,
            sets=self._table.sets,
            order=self._table.order,
        )
        subset = self.subset if rows is not None and rows is self._rows else subset_of(rows, matrix.rows)
        outputs = scores.size // subset.count
        goal = Goal(subset.count, outputs, int(len(leaves) > 0), subset, leaves, scores)
        job: Bound = add_tree.bind(matrix.binned(self._cuts.categorical), by_bin, self._walk_room, goal)
        return job

    def _copy_tree(self, nodes: int) -> Tree:
        parts = tree_parts(self.tree, nodes, self._unit)
        feature, cut_bin = parts["feature"], self.tree.cut_bin[:nodes]
        inner = feature >= 0
        threshold = np.zeros(nodes)
        threshold[inner] = self._cuts.threshold(feature[inner], cut_bin[inner])
        sets = self._copy_sets(feature, threshold)
        return Tree(threshold=threshold, **parts, sets=sets)

    def _copy_sets(self, feature: NDArray[np.int32], threshold: NDArray[np.float64]) -> Sets:
        """The sets of the latest tree, each with as many words as its column needs; their thresholds become 0."""
        if not self._words:
            return Sets.none()
        node = np.flatnonzero((feature >= 0) & (self._cuts.categorical[feature] != 0))
        threshold[node] = 0.0
        lengths = -(-self._matrix.bins[feature[node]] // 64)
        start = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
        words = self._table.sets.reshape(-1, self._words)[self._table.order[node]]
        bits = [own[:length] for own, length in zip(words, lengths, strict=True)]
        return Sets(node, start, np.concatenate([np.zeros(0, np.int64), *bits]))

    def _bind(self, gradients: Gradients, config: Config) -> Bound:
        matrix, table, threads = self._matrix, self._table, self._team.size
        features, axis, rules = matrix.features, self._axis.record, self._rules
        data = matrix.binned(self._cuts.categorical)
        sides = 1 + max(int(features.group_codes.max(initial=0)), int(features.codes.max()))
        bag = HistBag(
            rows=gradients.rows,
            control=self.control,
            chosen=self._bag.rows,
            subset=self.subset,
            row_words=matrix.by_row.view(np.int64),
            gathered=gathered_room(matrix, config, gradients.rows),
        )
        found = found_room(threads, matrix.columns, rules, self._words)
        job: Bound = grow_tree.bind(
            bag,
            data,
            axis,
            gradients,
            rules,
            room(Rows, rows=gradients.rows, threads=threads, by_leaf=self._by_leaf, data=data, table=table),
            room(Sums, threads=threads, slots=table.slots, packed_size=self._axis.packed_size, axis=axis),
            found,
            room(Lines, width=self._axis.width, found=found),
            tasks_room(threads, matrix.columns, axis.unit_count, sides, self._words),
            table,
            self.tree,
        )
        return job


def most_threads(matrix: BinnedMatrix) -> int:
    """How many threads may grow trees on a sparse table, so that what each of them sums takes no more memory than its codes.

    Any number may on a dense one.
    """
    if not matrix.from_sparse:
        return sys.maxsize
    codes = int(matrix.features.group_codes.sum()) + matrix.features.sparse_codes
    return max(1, max(matrix.nbytes, 2 * KEPT_FOR_SPARSE) // (OF_THREAD * max(codes, 1)))
