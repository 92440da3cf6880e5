"""The histogram grower: memory for growing trees on one data set, and one call of a kernel per tree.

Besides the grower: how many histograms are kept (`kept_slots`), and memory for copies of the codes of a small bag, whose rows
are read faster when they stand side by side (`allocate_gathered`).
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from spinney.binning.binned import CodeStore
from spinney.binning.kernels.records import Codes
from spinney.binning.matrix import BinnedMatrix, split8
from spinney.data.kernels.records import Gradients, LeafRows
from spinney.growth.grown_tree import LatestTree, Thresholds, set_words
from spinney.growth.kernels.packing import PLANES
from spinney.growth.kernels.records import SPARE_SLOTS, CutSums, Gathered, HistBag, NodeRanges, NodeRows
from spinney.growth.kernels.tree import grow_tree
from spinney.growth.kernels.turns import SPECULATIVE_LEAVES
from spinney.growth.leaf_values import NEWTON, LeafFinisher, LeafValues
from spinney.growth.workspace import (
    ColumnChoice,
    HistogramAxis,
    allocate_control,
    allocate_splits,
    allocate_sums,
    allocate_table,
    allocate_tasks,
    rules_of,
    set_control,
    subset_of,
)
from spinney.jit import Bound, allocate
from spinney.jit.team import Team
from spinney.params import Config
from spinney.sampling import Bag, draw_columns
from spinney.tree import Tree


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
        self._column_count = self._choice.count_of(config.colsample_bytree, matrix.columns)
        self._axis = HistogramAxis(matrix.features, matrix.wide)
        self._rules = rules_of(
            config, gradients.rows, self._choice, self._column_count, gradients.unit, prune
        )
        self.control = allocate_control()
        leaves = self._rules.limits.max_leaves
        self.max_speculative = min(SPECULATIVE_LEAVES * team.size, leaves) if team.size > 1 else 0
        max_nodes = 2 * (leaves + self.max_speculative)
        kept = kept_slots(matrix.nbytes, matrix.from_sparse, self._axis.record.total, team.size)
        slots, words = min(leaves + self.max_speculative, kept), set_words(matrix.bins, cuts)
        self._table = allocate_table(max_nodes, slots, self.max_speculative, words)
        self._latest = LatestTree(matrix.bins, cuts, self._table, gradients, team)
        self.arrays, self._by_leaf = self._latest.arrays, self._latest.by_leaf
        self._job = self._bind(gradients, config)
        self._finisher = LeafFinisher(
            values, self.control, self._rules, self._table, self.arrays, self._by_leaf, gradients, team
        )
        self._scores = gradients.scores

    def grow(self, output: int, seed: int, rate: float) -> tuple[Tree, LeafRows | None]:
        """Grow one tree for an output on the bag's rows, with `rate` as factor on its leaf values.

        Returns the tree, and all rows by leaf, or None where the bag is not all of them. The next tree overwrites these rows.
        """
        matrix = self._matrix
        set_control(self.control, output, seed, self._bag, rate)
        if self._column_count < matrix.columns:
            self._axis.use_columns(
                draw_columns(matrix.columns, self._column_count, seed, self._choice.weights)
            )
        self._team.run(self._job)
        all_rows = self._bag.count is None
        if self._finisher.refits and not all_rows:
            self._team.run(self._walk)
            self._finisher.refit()
        self._finisher.refit_by_loss()
        return self._latest.copy(), self._by_leaf if all_rows else None

    def add(self, by_leaf: LeafRows | None) -> None:
        """Add the latest tree to the scores of the training rows; without rows by leaf, all rows walk the tree."""
        if by_leaf is None and not self._finisher.refits:
            self._team.run(self._walk)
        else:
            self._finisher.add(by_leaf)

    @cached_property
    def _walk(self) -> Bound:
        """A job that finds the leaves of the training rows, for trees that grew on some of them."""
        return self.walk(self._matrix, self._scores, self._rows, leaf_of_row=self._finisher.leaf_of_row)

    def walk(
        self,
        matrix: BinnedMatrix,
        scores: NDArray[np.float64],
        rows: NDArray[np.int32] | None = None,
        cut_bin: NDArray[np.int32] | None = None,
        leaf_of_row: NDArray[np.int32] | None = None,
    ) -> Bound:
        """A job that adds the latest tree to the scores of binned rows: all, or some of them, ascending.

        `cut_bin` is for rows with bins of their own. With `leaf_of_row` the job writes the leaf of every row to it instead.
        """
        subset = self.subset if rows is not None and rows is self._rows else subset_of(rows, matrix.rows)
        leaf_of_row = np.empty(0, np.int32) if leaf_of_row is None else leaf_of_row
        return self._latest.walk(matrix, scores, subset, leaf_of_row, cut_bin)

    def walk_blocks(
        self, blocks: CodeStore, scores: NDArray[np.float64], rows: NDArray[np.int32] | None = None
    ) -> Callable[[], None]:
        """A function that adds the latest tree to the scores of binned rows that come block by block."""
        return self._latest.walk_blocks(blocks, scores, rows, np.empty(0, np.int32))

    def _bind(self, gradients: Gradients, config: Config) -> Bound:
        matrix, table, threads = self._matrix, self._table, self._team.size
        features, axis, rules = matrix.features, self._axis.record, self._rules
        data = matrix.binned(self._cuts.categorical)
        goes_left_size = 1 + max(int(features.group_codes.max(initial=0)), int(features.codes.max()))
        bag = HistBag(
            rows=gradients.rows,
            control=self.control,
            chosen=self._bag.rows,
            subset=self.subset,
            row_words=matrix.by_row.view(np.int64),
            gathered=allocate_gathered(matrix, config, gradients.rows),
        )
        job: Bound = grow_tree.bind(
            bag,
            data,
            axis,
            gradients,
            rules,
            allocate(
                NodeRows,
                rows=gradients.rows,
                ranges=allocate(NodeRanges, threads=threads, table=table),
                by_leaf=self._by_leaf,
                data=data,
            ),
            allocate_sums(threads, table.slots, self._axis),
            allocate_splits(threads, matrix.columns, rules, table.words),
            allocate(CutSums, threads=threads, width=self._axis.width),
            allocate_tasks(threads, matrix.columns, axis.unit_count, goes_left_size, table.words),
            table,
            self.arrays,
        )
        return job


# Bytes of histograms kept so that a sibling can be found by subtraction. Beyond it both children are summed from their
# rows: the same tree, more slowly.
KEPT_HISTOGRAMS = 512 * 2**20
# Of a sparse table no more than its codes take, less what its cuts take, or this: training should not take much more memory than
# the table.
KEPT_FOR_SPARSE = 8 * 2**20
CUT = 8  # bytes
OF_THREAD = 20  # bytes that a thread has for each code: a cell and three sums


def kept_slots(nbytes: int, from_sparse: bool, total: int, threads: int) -> int:
    """How many histograms of `total` codes may be kept, for a table whose codes take `nbytes`."""
    kept = KEPT_HISTOGRAMS
    if from_sparse:
        kept = min(kept, max(nbytes - CUT * total, KEPT_FOR_SPARSE))
    # Besides the slots there are two histograms, and for each thread packed sums and flushed ones, which take about as much as
    # two more.
    others = SPARE_SLOTS + 2 * threads
    return int(max(1, kept // (PLANES * 4 * max(total, 1)) - others))


def most_threads(codes: CodeStore) -> int:
    """How many threads may grow trees, so that the sums of each take no more memory than the codes of a sparse table.

    On a dense table there is no limit.
    """
    if not codes.from_sparse:
        return sys.maxsize
    total = int(codes.features.group_codes.sum()) + codes.features.sparse_codes
    return max(1, max(codes.nbytes, 2 * KEPT_FOR_SPARSE) // (OF_THREAD * max(total, 1)))


# Share of the rows that a tree sees, times the groups of a row, up to which copying them pays: each group adds to its cost, but
# not to what it saves, and rows of a large share are close together anyway. Time of a tree with against without it, on one and
# two threads, best of a few: 262 000 rows of 12 groups, 255 leaves, 20 % by GOSS .90, .90, 35 % .96, .92, 50 % 1.03, 1.00;
# 500 000 rows of 28 groups, 31 leaves, 5 % .76, .90, 20 % 1.12, 1.00, 50 % 1.47, 1.02.
MOST_GATHERED = 4.5
LARGEST_SHARE = 0.4
PAIR = 8  # bytes of a row's gradients
WORD = 8  # codes of one group that are written together, at most


def drawn_share(config: Config) -> float:
    """Share of the rows that a tree sees, if they are drawn."""
    return config.top_rate + config.other_rate if config.sampling_method == "goss" else config.subsample


def allocate_gathered(matrix: BinnedMatrix, config: Config, drawn_from: int | None = None) -> Gathered:
    """Memory for a bag's codes and gradients. The rows of a bag that does not fit in are not gathered.

    The bag is drawn from `drawn_from` rows; None: from all.
    """
    share = drawn_share(config) * (1.0 if drawn_from is None else drawn_from / matrix.rows)
    pays = share <= LARGEST_SHARE and share * matrix.groups <= MOST_GATHERED and not matrix.sparse.entries
    # Training on a sparse table should not take much more memory than the table.
    each = matrix.stride * matrix.by_row.itemsize + matrix.groups * matrix.by_column.itemsize + PAIR
    pays = pays and (not matrix.from_sparse or share * matrix.rows * each <= matrix.nbytes / 2)
    # Some ways of drawing give a few rows more or less.
    wanted = share * matrix.rows + 4.0 * math.sqrt(matrix.rows) if pays else 0.0
    count, kind = math.ceil(wanted / WORD) * WORD, matrix.by_row.dtype
    rows, columns = np.empty(count * matrix.stride, kind), np.empty(count * matrix.groups, kind)
    codes = Codes(count, matrix.groups, matrix.stride, int(matrix.wide), *split8(rows), *split8(columns))
    return Gathered(codes, rows.view(np.int64), columns.view(np.int64), np.empty(2 * count, np.float32))
