"""The histogram learner: memory for growing trees on one data set, and one call per tree."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from spinney.binning.blocks import Blocks
from spinney.binning.matrix import BinnedMatrix
from spinney.growth.axis import TreeAxis
from spinney.growth.gather import gathered_room
from spinney.growth.grown import GrownTree, Thresholds, set_words
from spinney.growth.kernels.records import PLANES, SPARE_SLOTS, HistBag, Line, NodeRanges, Rows
from spinney.growth.kernels.tree import grow_tree
from spinney.growth.kernels.turns import AHEAD
from spinney.growth.leaf_values import NEWTON, Finish, LeafValues
from spinney.growth.room import control_room, found_room, set_control, sums_room, table_room, tasks_room
from spinney.growth.rules import ColumnChoice, rules_of
from spinney.growth.subset import subset_of
from spinney.jit import Bound, allocate
from spinney.jit.team import Team
from spinney.objectives.kernels.records import Gradients, LeafRows
from spinney.params import Config
from spinney.sampling import Bag, draw_columns
from spinney.tree import Tree

# Bytes of histograms kept so that a sibling can be found by subtraction. Beyond it both children are summed from their
# rows: the same tree, more slowly.
KEPT_HISTOGRAMS = 512 * 2**20
# Of a sparse table no more than its codes take, less what its cuts take, or this: training should not take much more memory than
# the table.
KEPT_FOR_SPARSE = 8 * 2**20
CUT = 8  # bytes
OF_THREAD = 20  # bytes that a thread has for each code: a cell and three sums


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
        self._choice = ColumnChoice(config, matrix.columns)
        self._column_count = self._choice.drawn(config.colsample_bytree, matrix.columns)
        self._axis = TreeAxis(matrix.features, matrix.wide)
        self._rules = rules_of(
            config, gradients.rows, self._choice, self._column_count, gradients.unit, prune
        )
        self.control = control_room()
        leaves = self._rules.limits.max_leaves
        self.most_ahead = min(AHEAD * team.size, leaves) if team.size > 1 else 0
        max_nodes = 2 * (leaves + self.most_ahead)
        kept = kept_slots(matrix.nbytes, matrix.from_sparse, self._axis.record.total, team.size)
        slots, words = min(leaves + self.most_ahead, kept), set_words(matrix.bins, cuts)
        self._table = table_room(max_nodes, slots, self.most_ahead, words)
        self._grown = GrownTree(matrix.bins, cuts, self._table, gradients, team)
        self.tree, self._by_leaf = self._grown.arrays, self._grown.by_leaf
        self._job = self._bind(gradients, config)
        self._finish = Finish(
            values, self.control, self._rules, self._table, self.tree, self._by_leaf, gradients, team
        )
        self._scores = gradients.scores

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
        return self._grown.copy(), self._by_leaf if all_rows else None

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
        subset = self.subset if rows is not None and rows is self._rows else subset_of(rows, matrix.rows)
        noted = np.empty(0, np.int32) if leaves is None else leaves
        return self._grown.walk(matrix, scores, subset, noted, cut_bin)

    def walk_blocks(
        self, blocks: Blocks, scores: NDArray[np.float64], rows: NDArray[np.int32] | None = None
    ) -> Callable[[], None]:
        """What adds the latest tree to the scores of binned rows that come block by block."""
        return self._grown.walk_blocks(blocks, scores, rows, np.empty(0, np.int32))

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
        job: Bound = grow_tree.bind(
            bag,
            data,
            axis,
            gradients,
            rules,
            allocate(
                Rows,
                rows=gradients.rows,
                ranges=allocate(NodeRanges, threads=threads, table=table),
                by_leaf=self._by_leaf,
                data=data,
            ),
            sums_room(threads, table.slots, self._axis),
            found_room(threads, matrix.columns, rules, table.words),
            allocate(Line, threads=threads, width=self._axis.width),
            tasks_room(threads, matrix.columns, axis.unit_count, sides, table.words),
            table,
            self.tree,
        )
        return job


def kept_slots(nbytes: int, from_sparse: bool, total: int, threads: int) -> int:
    """How many histograms of so many codes may be kept, for a table whose codes take so many bytes."""
    kept = KEPT_HISTOGRAMS
    if from_sparse:
        kept = min(kept, max(nbytes - CUT * total, KEPT_FOR_SPARSE))
    # Beside the slots there are two histograms, and for each thread packed sums and flushed ones, which take about as much as
    # two more.
    beside = SPARE_SLOTS + 2 * threads
    return int(max(1, kept // (PLANES * 4 * max(total, 1)) - beside))


def most_threads(codes: BinnedMatrix | Blocks) -> int:
    """How many threads may grow trees on a sparse table, so that what each of them sums takes no more memory than its codes.

    Any number may on a dense one.
    """
    if not codes.from_sparse:
        return sys.maxsize
    total = int(codes.features.group_codes.sum()) + codes.features.sparse_codes
    return max(1, max(codes.nbytes, 2 * KEPT_FOR_SPARSE) // (OF_THREAD * max(total, 1)))
