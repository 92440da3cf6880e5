"""The histogram grower for codes that come block by block: the same trees, in as few passes over the blocks as possible.

A block's codes are gone when the scan of the blocks goes on. All else that belongs to a row stays in memory: labels, scores,
gradients, entries, rows by leaf. Rows that did not grow a tree walk down it block by block, too. `kernels/blockwise.py` has what
a pass over the blocks does.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from spinney.binning.binned import CodeStore
from spinney.binning.kernels.records import Columns
from spinney.binning.matrix import SPARSE, BinnedMatrix, columns_record
from spinney.collective import ALONE, Communicator
from spinney.data.kernels.records import Gradients, LeafRows
from spinney.growth.grown_tree import LatestTree, Thresholds, set_words
from spinney.growth.hist import kept_slots
from spinney.growth.kernels.blockwise import (
    end_pass,
    end_tree,
    gradient_sizes,
    list_leaves,
    open_root,
    pack_histograms,
    pass_block,
    take_rows,
    unpack_histograms,
)  # fmt: skip
from spinney.growth.kernels.pieces import BlockBag, BlockRows, ListedRows
from spinney.growth.kernels.records import FINISHED, CutSums, NodeRanges
from spinney.growth.kernels.turns import TaskBatch
from spinney.growth.leaf_values import (
    NEWTON,
    LeafFinisher,
    LeafValues,
    allocate_exchange,
    allreduce_min,
    allreduce_parts,
)
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

# Most leaves that one pass splits, speculative splits included.
MOST_TASKS = 1024
# Where ranks exchange histograms, a pass splits no more than this share of the leaves, best first: then fewer are split in vain.
# Of a tree of 255 leaves on 120 000 rows of 28 columns 377 histograms are exchanged in 21.0 collective calls without a limit,
# 347 in 20.2 with 64 a pass, 281 in 21.4 with 32, 268 in 28.0 with 16; of 1 023 leaves on 60 000 rows of 10 columns 1092 in 24.4,
# 1092 in 24.4 with 255, 946 in 24.2 with 127, 914 in 30.3 with 63; of 63 leaves 77 in 13.6, 66 in 14.4 with 15. Means of ten
# rounds, with the calls of the start.
SHARE_OF_LEAVES = 8
FEW_TASKS = 16


class BlockGrower:
    """Grows the trees of `HistGrower` on binned rows that come block by block.

    Gradients, scores and rows by leaf stay in memory. Codes are read in passes over the blocks. Where there is little memory for
    histograms, fewer leaves are split in a pass, and there are more passes.

    Where other ranks hold other rows of the table, each of them grows the same tree. It takes a collective call for the sizes of
    gradients, one for the sums of the root, one for the histograms of each pass, and one for the sums of leaves: three more than
    the tree is deep, and a fourth where its deepest leaves were searched for splits too, as long as there is memory for the
    histograms. Leaf values of all rows take two more, those of the loss five. The largest gradients must be those of all ranks.

    Parameters
    ----------
    blocks, cuts
        The training rows.
    config, gradients, bag, team, values, rows
        As for `HistGrower`.
    communicator, first
        The other ranks, and the number of this one's first row in the whole table.

    Attributes
    ----------
    passes : int
        Passes over the blocks so far, those of walks not counted.
    """

    def __init__(
        self,
        blocks: CodeStore,
        cuts: Thresholds,
        config: Config,
        gradients: Gradients,
        bag: Bag,
        team: Team,
        values: LeafValues = NEWTON,
        rows: NDArray[np.int32] | None = None,
        communicator: Communicator = ALONE,
        first: int = 0,
    ) -> None:
        self._blocks, self._cuts, self._team, self._bag, self._rows = blocks, cuts, team, bag, rows
        self._communicator, self._first = communicator, first
        totals = np.array([gradients.rows, blocks.nbytes])
        communicator.allreduce_sum(totals)
        table_rows, nbytes = int(totals[0]), int(totals[1]) // communicator.size
        self._scores = gradients.scores
        self._choice = ColumnChoice(config, blocks.columns)
        self._column_count = self._choice.count_of(config.colsample_bytree, blocks.columns)
        self._axis = HistogramAxis(blocks.features, blocks.wide)
        self._rules = rules_of(
            config, table_rows, self._choice, self._column_count, gradients.unit, prune=False
        )
        self.control = allocate_control()
        leaves = self._rules.limits.max_leaves
        max_speculative = min(leaves, MOST_TASKS)
        total = self._axis.record.total
        slots = min(leaves + max_speculative, kept_slots(nbytes, blocks.from_sparse, total, team.size))
        slots = allreduce_min(slots, communicator)  # which leaves are split in a pass follows from it
        self._table = allocate_table(
            2 * (leaves + max_speculative), slots, max_speculative, set_words(blocks.bins, cuts)
        )
        self._latest = LatestTree(blocks.bins, cuts, self._table, gradients, team)
        self._subset = subset_of(rows, blocks.rows)
        # The number in the data set that each block begins with.
        self._firsts = blocks.begins if rows is None else np.searchsorted(rows, blocks.begins)
        self._bind(gradients)
        self._finisher = LeafFinisher(
            values, self.control, self._rules, self._table, self._latest.arrays, self._latest.by_leaf, gradients, team,
            communicator, first,
        )  # fmt: skip
        self._jobs: WeakKeyDictionary[BinnedMatrix, Bound] = WeakKeyDictionary()
        self.passes = 0

    def grow(self, output: int, seed: int, rate: float) -> tuple[Tree, LeafRows | None]:
        """Grow one tree for an output on the bag's rows; see `HistGrower.grow`."""
        columns, bag, team = self._blocks.columns, self._bag, self._team
        set_control(self.control, output, seed, bag, rate)
        if self._column_count < columns:
            self._axis.use_columns(draw_columns(columns, self._column_count, seed, self._choice.weights))
        all_rows = bag.count is None
        self._by_block.begins[:] = (
            self._firsts if all_rows else np.searchsorted(bag.rows[: bag.count], self._firsts)
        )
        self._open_root()
        while self._table.state["mode"][0] != FINISHED:
            self._pass()
            team.run(self._end_pass)
        team.run(self._list_leaves)
        self._allreduce_leaves()
        self._end()
        if self._finisher.refits and not all_rows:
            self._walk()
            self._finisher.refit()
        self._finisher.refit_by_loss()
        return self._latest.copy(), self._latest.by_leaf if all_rows else None

    def add(self, by_leaf: LeafRows | None) -> None:
        """Add the latest tree to the scores of the training rows; see `HistGrower.add`."""
        if by_leaf is None and not self._finisher.refits:
            self._walk()
        else:
            self._finisher.add(by_leaf)

    @cached_property
    def _walk(self) -> Callable[[], None]:
        """A function that finds the leaves of the training rows, for trees that grew on some of them."""
        return self._latest.walk_blocks(self._blocks, self._scores, self._rows, self._finisher.leaf_of_row)

    def walk(
        self, matrix: BinnedMatrix, scores: NDArray[np.float64], rows: NDArray[np.int32] | None = None
    ) -> Bound:
        """A job that adds the latest tree to the scores of other binned rows; see `HistGrower.walk`."""
        return self._latest.walk(matrix, scores, subset_of(rows, matrix.rows), np.empty(0, np.int32))

    def walk_blocks(
        self, blocks: CodeStore, scores: NDArray[np.float64], rows: NDArray[np.int32] | None = None
    ) -> Callable[[], None]:
        """A function that adds the latest tree to the scores of other rows that come block by block."""
        return self._latest.walk_blocks(blocks, scores, rows, np.empty(0, np.int32))

    def _open_root(self) -> None:
        """Make entries of the bag's rows, and a task for the root of all ranks' rows."""
        team, parts = self._team, self._tasks.partial_sums
        team.run(self._gradient_sizes)
        if self._communicator.size > 1:
            in_bag = allreduce_parts(parts, int(self.control["in_bag"][0]), team.size, self._communicator)
            self.control["in_bag"] = in_bag
        team.run(self._take_rows)
        if self._communicator.size > 1:
            allreduce_parts(parts, 0, team.size, self._communicator)
        team.run(self._open)

    def _allreduce_histograms(self) -> None:
        """Replace the histograms of the children that were summed by their sums over all ranks."""
        count, axis = int(self._batch.count[0]), self._axis.record
        tasks = self._tasks.tasks[:count]
        subtracted = tasks["from_parent"] != 0
        small = tasks["small"][(tasks["search_small"] != 0) | subtracted]
        large = tasks["large"][(tasks["search_large"] != 0) & ~subtracted]
        if not len(small) + len(large):
            return
        # Only the codes of the columns that were drawn are summed.
        used = int(axis.extent["sparse_at"][0]) + self._blocks.features.sparse_codes
        exchange = allocate_exchange(np.concatenate([small, large]), used, self._table)
        self._team.run(pack_histograms.bind(exchange, axis, self._sums))
        self._communicator.allreduce_sum(exchange.cells)
        self._team.run(unpack_histograms.bind(exchange, axis, self._sums))

    def _allreduce_leaves(self) -> None:
        """Replace the sums of leaves by those over all ranks."""
        if self._communicator.size > 1:
            table = self._table
            nodes = table.order[: int(table.state["used"][0])]
            sums = np.stack([table.exact_g[nodes], table.exact_h[nodes]])
            self._communicator.allreduce_sum(sums)
            table.exact_g[nodes], table.exact_h[nodes] = sums

    def _pass(self) -> None:
        """Partition and sum the rows of the batch, block by block."""
        for block, matrix in self._blocks.scan(self._team):
            job = self._jobs.get(matrix)
            if job is None:
                job = self._jobs[matrix] = self._bind_block(matrix)
            self._by_block.current[0] = block
            self._team.run(job)
        if self._communicator.size > 1:
            self._allreduce_histograms()
        self.passes += 1

    def _bind_block(self, matrix: BinnedMatrix) -> Bound:
        data, axis = matrix.binned(self._cuts.categorical), self._axis.record
        job: Bound = pass_block.bind(
            data, axis, self._by_block, self._sums, self._tasks, self._table, self._batch
        )
        return job

    def _bind(self, gradients: Gradients) -> None:
        blocks, table, axis, rules = self._blocks, self._table, self._axis.record, self._rules
        threads, features = self._team.size, blocks.features
        columns: Columns = columns_record(features, self._cuts.categorical)
        bag = BlockBag(gradients.rows, self._first, self.control, self._bag.rows, self._subset)
        count = len(blocks.begins) - 1
        self._by_block = allocate(
            BlockRows, rows=gradients.rows, threads=threads, blocks=count,
            longest=int(np.diff(blocks.begins).max(initial=0)), sparse=int((features.group == SPARSE).any()),
            ranges=allocate(NodeRanges, threads=threads * max(count, 1), table=table),
            listed=allocate(ListedRows, threads=threads, table=table),
            firsts=blocks.begins, by_leaf=self._latest.by_leaf, table=table,
        )  # fmt: skip
        self._sums = allocate_sums(threads, table.slots, self._axis)
        goes_left_size = 1 + max(int(features.group_codes.max(initial=0)), int(features.codes.max()))
        most = max(threads, table.max_speculative)
        self._tasks = allocate_tasks(most, blocks.columns, axis.unit_count, goes_left_size, table.words)
        if self._communicator.size > 1:
            few = max(FEW_TASKS, rules.limits.max_leaves // SHARE_OF_LEAVES)
            most = table.max_speculative if rules.limits.depthwise else min(few, table.max_speculative)
        self._batch = allocate(TaskBatch, max_tasks=most, table=table)
        splits = allocate_splits(threads, blocks.columns, rules, table.words)
        lines = allocate(CutSums, threads=threads, width=self._axis.width)
        rows, sums, tasks, batch = self._by_block, self._sums, self._tasks, self._batch
        self._gradient_sizes: Bound = gradient_sizes.bind(self.control, gradients, tasks)
        self._take_rows: Bound = take_rows.bind(bag, gradients, rules, rows, tasks, table)
        self._open: Bound = open_root.bind(self.control, columns, axis, rules, sums, tasks, table, batch)
        self._end_pass: Bound = end_pass.bind(
            self.control, columns, axis, rules, sums, splits, lines, tasks, table, batch
        )
        self._list_leaves: Bound = list_leaves.bind(bag, gradients, rows, table)
        self._end: Bound = end_tree.bind(self.control, rules, rows, table, self._latest.arrays)
