"""The histogram learner for codes that come block by block: the same trees, in as few passes over the blocks as there can be."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from spinney.binning.blocks import Blocks
from spinney.binning.features import SPARSE
from spinney.binning.kernels.records import Columns
from spinney.binning.matrix import BinnedMatrix, columns_record
from spinney.growth.axis import TreeAxis
from spinney.growth.grower import kept_slots
from spinney.growth.grown import GrownTree, Thresholds, set_words
from spinney.growth.kernels.batch import Batch
from spinney.growth.kernels.blockwise import end_pass, end_tree, pass_block, start_passes
from spinney.growth.kernels.pieces import BlockBag, BlockRows
from spinney.growth.kernels.records import FINISHED, Lines, Sums
from spinney.growth.leaf_values import NEWTON, Finish, LeafValues
from spinney.growth.room import control_room, found_room, set_control, table_room, tasks_room
from spinney.growth.rules import ColumnChoice, rules_of
from spinney.growth.subset import subset_of
from spinney.jit import Bound, room
from spinney.jit.team import Team
from spinney.objectives.kernels.records import Gradients, LeafRows
from spinney.params import Config
from spinney.sampling import Bag, draw_columns
from spinney.tree import Tree

# Leaves that one pass splits, and splits whose turn has not come, at most.
MOST_TASKS = 1024


class BlockGrower:
    """Grows the trees of `HistGrower` on binned rows that come block by block.

    What is known of every row stays in memory: gradients, scores, rows by leaf. Codes are asked for in passes over the blocks.

    Parameters
    ----------
    blocks, cuts
        The training rows.
    config, gradients, bag, team, values, rows
        As for `HistGrower`.

    Attributes
    ----------
    passes : int
        Passes over the blocks so far, those of walks not counted.
    """

    def __init__(
        self,
        blocks: Blocks,
        cuts: Thresholds,
        config: Config,
        gradients: Gradients,
        bag: Bag,
        team: Team,
        values: LeafValues = NEWTON,
        rows: NDArray[np.int32] | None = None,
    ) -> None:
        self._blocks, self._cuts, self._team, self._bag, self._rows = blocks, cuts, team, bag, rows
        self._scores = gradients.scores
        self._choice = ColumnChoice(config, blocks.columns)
        self._column_count = self._choice.drawn(config.colsample_bytree, blocks.columns)
        self._axis = TreeAxis(blocks.features, blocks.wide)
        self._rules = rules_of(
            config, gradients.rows, self._choice, self._column_count, gradients.unit, prune=False
        )
        self.control = control_room()
        leaves = self._rules.limits.max_leaves
        ahead = min(leaves, MOST_TASKS)
        total = self._axis.record.total
        slots = min(leaves + ahead, kept_slots(blocks.nbytes, blocks.from_sparse, total, team.size))
        self._table = table_room(2 * (leaves + ahead), slots, ahead, set_words(blocks.bins, cuts))
        self._grown = GrownTree(blocks.bins, cuts, self._table, gradients, team)
        self._subset = subset_of(rows, blocks.rows)
        # The number in the data set that each block begins with.
        self._firsts = blocks.begins if rows is None else np.searchsorted(rows, blocks.begins)
        self._bind(gradients)
        self._finish = Finish(
            values, self.control, self._rules, self._table, self._grown.arrays, self._grown.by_leaf, gradients, team
        )  # fmt: skip
        self._jobs: WeakKeyDictionary[BinnedMatrix, Bound] = WeakKeyDictionary()
        self.passes = 0

    def grow(self, output: int, seed: int, rate: float) -> tuple[Tree, LeafRows | None]:
        """Grow one tree for an output on the bag's rows; see `HistGrower.grow`."""
        columns, bag, team = self._blocks.columns, self._bag, self._team
        set_control(self.control, output, seed, bag, rate)
        if self._column_count < columns:
            self._axis.use(draw_columns(columns, self._column_count, seed, self._choice.weights))
        all_rows = bag.count is None
        self._by_block.begins[:] = (
            self._firsts if all_rows else np.searchsorted(bag.rows[: bag.count], self._firsts)
        )
        team.run(self._start)
        while self._table.state["mode"][0] != FINISHED:
            self._pass()
            team.run(self._end_pass)
        team.run(self._end)
        if self._finish.refits and not all_rows:
            self._walk()
            self._finish.refit()
        self._finish.renew()
        return self._grown.copy(), self._grown.by_leaf if all_rows else None

    def add(self, by_leaf: LeafRows | None) -> None:
        """Move the scores by the latest tree; see `HistGrower.add`."""
        if by_leaf is None and not self._finish.refits:
            self._walk()
        else:
            self._finish.add(by_leaf)

    @cached_property
    def _walk(self) -> Callable[[], None]:
        """Leads the training rows to their leaves, for trees that grew on some of them."""
        return self._grown.walk_blocks(self._blocks, self._scores, self._rows, self._finish.leaves)

    def walk(
        self, matrix: BinnedMatrix, scores: NDArray[np.float64], rows: NDArray[np.int32] | None = None
    ) -> Bound:
        """A job that adds the latest tree to the scores of other binned rows; see `HistGrower.walk`."""
        return self._grown.walk(matrix, scores, subset_of(rows, matrix.rows), np.empty(0, np.int32))

    def walk_blocks(
        self, blocks: Blocks, scores: NDArray[np.float64], rows: NDArray[np.int32] | None = None
    ) -> Callable[[], None]:
        """What adds the latest tree to the scores of other rows that come block by block."""
        return self._grown.walk_blocks(blocks, scores, rows, np.empty(0, np.int32))

    def _pass(self) -> None:
        """Partition and sum the rows of the batch, block by block."""
        for block, matrix in self._blocks.scan():
            job = self._jobs.get(matrix)
            if job is None:
                job = self._jobs[matrix] = self._bind_block(matrix)
            self._by_block.current[0] = block
            self._team.run(job)
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
        bag = BlockBag(gradients.rows, self.control, self._bag.rows, self._subset)
        count = len(blocks.begins) - 1
        self._by_block = room(
            BlockRows, rows=gradients.rows, threads=threads, blocks=count,
            longest=int(np.diff(blocks.begins).max()), sparse=int((features.group == SPARSE).any()),
            firsts=blocks.begins, by_leaf=self._grown.by_leaf, table=table,
        )  # fmt: skip
        self._sums = room(
            Sums, threads=threads, slots=table.slots, packed_size=self._axis.packed_size, axis=axis
        )
        sides = 1 + max(int(features.group_codes.max(initial=0)), int(features.codes.max()))
        most = max(threads, table.most_ahead)
        self._tasks = tasks_room(most, blocks.columns, axis.unit_count, sides, table.words)
        self._batch = room(Batch, table=table)
        found = found_room(threads, blocks.columns, rules, table.words)
        lines = room(Lines, width=self._axis.width, found=found)
        rows, sums, tasks, batch = self._by_block, self._sums, self._tasks, self._batch
        self._start: Bound = start_passes.bind(
            bag, columns, axis, gradients, rules, rows, sums, tasks, table, batch
        )
        self._end_pass: Bound = end_pass.bind(
            self.control, columns, axis, rules, sums, found, lines, tasks, table, batch
        )
        self._end: Bound = end_tree.bind(bag, gradients, rules, rows, table, self._grown.arrays)
