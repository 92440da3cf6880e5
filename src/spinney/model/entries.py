"""Running a forest on the stored entries of a sparse table."""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from spinney.data.sparse import SparseBlock, SparseValues
from spinney.jit import Bound, allocate
from spinney.jit.team import Team, run_alone
from spinney.model.kernels.records import (
    LANES,
    EntryBatch,
    EntryOutput,
    PackedForest,
    Paths,
    StoredRows,
    ValueFlags,
)
from spinney.model.kernels.sparse import find_paths, predict_entries
from spinney.model.packed import pack
from spinney.model.seen import met_by, nothing_seen
from spinney.model.stretches import stretch
from spinney.tree import Forest

# What a batch may hold: values in its lines, and places of rows in trees. Both then stay in a thread's cache. With a quarter or
# four times as many of each, tables of 4 000 and 90 000 columns take as long.
LINE_VALUES = 32_768
PLACES = 8_192
MOST_ROWS = 256
NO_SCORES = np.empty((0, 1))
NO_LEAVES = np.empty((0, 1), np.int32)


class EntryWalker:
    """A forest over the columns that its nodes ask for, with the paths that rows of absent values take.

    Parameters
    ----------
    forest : Forest
        The trees; none of them splits a categorical column.
    absent : float
        What an entry that is not stored means.
    columns : int
        Number of columns of the tables to come.
    """

    def __init__(self, forest: Forest, absent: float, columns: int) -> None:
        self._absent, self.columns = absent, columns
        self._local = threading.local()
        splits = forest.feature[forest.feature >= 0]
        asked = np.unique(splits)
        self._place = np.full(columns, -1, np.int32)
        self._place[asked] = np.arange(len(asked), dtype=np.int32)
        feature = forest.feature.copy()
        feature[feature >= 0] = self._place[splits]
        self._asked = max(len(asked), 1)  # kernels want some
        self._packed = pack(replace(forest, feature=feature))
        self._paths = _paths_of(self._packed, self._asked, absent)

    def walk(
        self,
        table: SparseValues,
        trees: int,
        team: Team,
        scores: NDArray[np.float64] = NO_SCORES,
        leaves: NDArray[np.int32] = NO_LEAVES,
    ) -> bool:
        """Add the first trees to the scores of all rows, and number their leaves; what is not wanted is left out.

        Returns whether some value is infinite. Then no more is done.
        """
        rows = min(MOST_ROWS, LINE_VALUES // self._asked, PLACES // max(trees, 1))
        batch = self._batch(trees, max(rows // LANES, 1) * LANES, team.size)
        seen = nothing_seen(team.size)
        work = int(self._packed.depths[:trees].sum()) + table.stored // table.rows
        step = stretch(work, team.size)
        for first, entries in table.row_blocks(step):
            last = first + entries.rows
            part = scores[first:last], leaves[first:last]
            team.run(self._bound(entries, batch, part, seen))
            if met_by(team, seen):
                return True
        return False

    def one_row(
        self, table: SparseValues, start: NDArray[np.float64], trees: int
    ) -> NDArray[np.float64] | None:
        """Scores of the one row of a table, shape (1, outputs); None where a value is infinite."""
        entries = next(table.row_blocks(1))[1]
        stored, outputs = len(entries.indices), start.shape[-1]
        mine: _OneSparseRow | None = getattr(self._local, "one_row", None)
        if mine is None or mine.shape != (trees, outputs) or len(mine.entries.indices) < stored:
            mine = self._local.one_row = self._make_one_row(trees, outputs, max(2 * stored, 64))
        return mine.scores_of(entries, start)

    def _make_one_row(self, trees: int, outputs: int, room: int) -> _OneSparseRow:
        entries = SparseBlock(np.zeros(2, np.int64), np.zeros(room, np.int32), np.zeros(room))
        scores, seen = np.empty((1, outputs)), nothing_seen(1)
        job = self._bound(entries, self._batch(trees, 1, 1), (scores, NO_LEAVES), seen)
        return _OneSparseRow((trees, outputs), entries, scores, seen, job)

    def _batch(self, trees: int, rows: int, threads: int) -> EntryBatch:
        """Lines of absent values, leaves of rows without entries, and memory for rows that leave their path, for each thread."""
        lines = np.full(rows * self._asked, self._absent)
        where = np.repeat(self._paths.rest[:trees], rows)
        return allocate(
            EntryBatch, threads=threads, batch=rows, trees=trees, used=self._asked, lines=lines, node_at=where
        )

    def _bound(
        self,
        entries: SparseBlock,
        batch: EntryBatch,
        part: tuple[NDArray[np.float64], NDArray[np.int32]],
        seen: ValueFlags,
    ) -> Bound:
        values32, values64 = entries.typed
        table = StoredRows(
            entries.rows, self.columns, self._asked, len(entries.indices), len(values32), len(values64), self._absent,
            entries.starts, entries.indices, values32, values64, self._place,
        )  # fmt: skip
        scores, leaves = part
        wanted = EntryOutput(scores.shape[1], len(scores), len(leaves), scores, leaves)
        job: Bound = predict_entries.bind(self._packed, table, self._paths, batch, wanted, seen)
        return job


def _paths_of(forest: PackedForest, asked: int, absent: float) -> Paths:
    """Follow a row of absent values down all trees."""
    rest, ends = np.empty(forest.trees, np.int32), np.empty(forest.trees + 1, np.int64)
    column, tree, node, onward = (np.empty(forest.nodes, np.int32) for _ in range(4))
    find_paths(forest, absent, rest, ends, column, tree, node, onward, np.empty(1))
    column = column[: int(ends[-1])]
    order = np.argsort(column, kind="stable")
    starts = np.zeros(asked + 1, np.int64)
    np.cumsum(np.bincount(column, minlength=asked), out=starts[1:])
    return Paths(len(order), rest, ends, starts, tree[order], node[order], onward[order])


@dataclass(frozen=True, eq=False)
class _OneSparseRow:
    """A prediction of one row, bound once: checking a kernel's arguments takes longer than walking 100 trees."""

    shape: tuple[int, int]
    entries: SparseBlock
    scores: NDArray[np.float64]
    seen: ValueFlags
    job: Bound

    def scores_of(self, entries: SparseBlock, start: NDArray[np.float64]) -> NDArray[np.float64] | None:
        stored = len(entries.indices)
        self.entries.starts[1] = stored
        self.entries.indices[:stored] = entries.indices
        self.entries.values[:stored] = entries.values
        self.scores[:] = start
        self.seen.flags[0] = 0
        run_alone(self.job)
        return None if self.seen.flags[0] else self.scores.copy()
