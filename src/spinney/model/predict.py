"""Running a forest on a table: dense (`Predictor`), or by the stored entries of a sparse one (`EntryWalker`).

Python serves a signal, such as that of Ctrl-C, only between two calls of a kernel. So a table is predicted some rows at a time
(`rows_per_call`), each call the work of a moment.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.data import Panel, Table, describe_column
from spinney.data.sparse import SparseBlock, SparseValues
from spinney.data.table import CONVERTED_ROWS, flat_view, whole_rows
from spinney.errors import DataError
from spinney.jit import Bound, allocate
from spinney.jit.records import of_thread
from spinney.jit.team import Team, most_for, run_alone, threads_for
from spinney.model.kernels.records import (
    LANES,
    EntryBatch,
    EntryOutput,
    PackedForest,
    Paths,
    StoredRows,
    ValueFlags,
    Values,
)
from spinney.model.kernels.sparse import find_paths, predict_entries
from spinney.model.kernels.walk import BLOCK, Trees, leaf_rows, pack_nodes, predict_rows
from spinney.tree import Forest


def no_flags(threads: int) -> ValueFlags:
    """Flags of each thread, none of which is set yet."""
    return allocate(ValueFlags, threads=threads)


def flags_of(team: Team, seen: ValueFlags) -> int:
    """The flags that some thread of a team has set.

    Examples
    --------
    >>> seen = no_flags(2)
    >>> of_thread(seen, 1).flags[0] = 2
    >>> flags_of(Team(2), seen)
    2
    """
    flags = 0
    for rank in range(team.size):
        flags |= int(of_thread(seen, rank).flags[0])
    return flags


# Steps of walks, and values looked at, of one thread in one call: 50 ms of predicting with 100 trees of 255 leaves, 110 where
# leaves are numbered. To call a kernel takes .05 ms, to meet the other threads .1.
WORK = 20_000_000
FEWEST_ROWS = 256  # for each thread: what kernels share out among threads


def rows_per_call(work: int, threads: int) -> int:
    """Rows that one call of a kernel predicts, given the work that one row takes at most.

    Examples
    --------
    >>> rows_per_call(1_000, 2), rows_per_call(10**9, 2)
    (40000, 512)
    """
    return threads * max(WORK // max(work, 1), FEWEST_ROWS)


def pack(forest: Forest) -> PackedForest:
    """Pack all trees of a forest.

    Examples
    --------
    >>> from spinney.tree import concatenate
    >>> pack(concatenate([])).depths.tolist()
    []
    """
    packed = np.empty(2 * forest.nodes, np.int64)
    depths, bits = np.empty(forest.trees, np.int64), forest.sets.bits
    trees = Trees(
        forest.trees, forest.nodes, len(forest.sets.node), forest.start, forest.feature, forest.threshold, forest.left,
        forest.default_left, forest.sets.node, forest.sets.start,
    )  # fmt: skip
    pack_nodes(trees, packed, depths, np.empty(forest.nodes, np.int32))
    return PackedForest(
        forest.trees, forest.nodes, len(bits), forest.start, depths, packed, bits, forest.value
    )


# What a batch may hold: values in its lines, and places of rows in trees. Both then stay in a thread's cache. With a quarter or
# four times as many of each, tables of 4 000 and 90 000 columns take as long.
LINE_VALUES = 32_768
PLACES = 8_192
MOST_ROWS = 256
NO_SCORES = np.empty((0, 1))
NO_LEAVES = np.empty((0, 1), np.int32)


class EntryWalker:
    """A forest over the columns that its nodes use, with the paths that rows of absent values take.

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
        used = np.unique(splits)
        self._place = np.full(columns, -1, np.int32)
        self._place[used] = np.arange(len(used), dtype=np.int32)
        feature = forest.feature.copy()
        feature[feature >= 0] = self._place[splits]
        self._used = max(len(used), 1)  # kernels want some
        self._packed = pack(replace(forest, feature=feature))
        self._paths = _paths_of(self._packed, self._used, absent)

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
        rows = min(MOST_ROWS, LINE_VALUES // self._used, PLACES // max(trees, 1))
        batch = self._batch(trees, max(rows // LANES, 1) * LANES, team.size)
        seen = no_flags(team.size)
        work = int(self._packed.depths[:trees].sum()) + table.stored // table.rows
        step = rows_per_call(work, team.size)
        for first, entries in table.row_blocks(step):
            last = first + entries.rows
            part = scores[first:last], leaves[first:last]
            team.run(self._bound(entries, batch, part, seen))
            if flags_of(team, seen):
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

    def _make_one_row(self, trees: int, outputs: int, most: int) -> _OneSparseRow:
        entries = SparseBlock(np.zeros(2, np.int64), np.zeros(most, np.int32), np.zeros(most))
        scores, seen = np.empty((1, outputs)), no_flags(1)
        job = self._bound(entries, self._batch(trees, 1, 1), (scores, NO_LEAVES), seen)
        return _OneSparseRow((trees, outputs), entries, scores, seen, job)

    def _batch(self, trees: int, rows: int, threads: int) -> EntryBatch:
        """Lines of absent values, leaves of rows without entries, and memory for rows that leave their path, for each thread."""
        lines = np.full(rows * self._used, self._absent)
        where = np.repeat(self._paths.rest[:trees], rows)
        return allocate(
            EntryBatch, threads=threads, batch=rows, trees=trees, used=self._used, lines=lines, node_at=where
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
            entries.rows, self.columns, self._used, len(entries.indices), len(values32), len(values64), self._absent,
            entries.starts, entries.indices, values32, values64, self._place,
        )  # fmt: skip
        scores, leaves = part
        wanted = EntryOutput(scores.shape[1], len(scores), len(leaves), scores, leaves)
        job: Bound = predict_entries.bind(self._packed, table, self._paths, batch, wanted, seen)
        return job


def _paths_of(forest: PackedForest, used: int, absent: float) -> Paths:
    """Follow a row of absent values down all trees."""
    rest, ends = np.empty(forest.trees, np.int32), np.empty(forest.trees + 1, np.int64)
    column, tree, node, onward = (np.empty(forest.nodes, np.int32) for _ in range(4))
    find_paths(forest, absent, rest, ends, column, tree, node, onward, np.empty(1))
    column = column[: int(ends[-1])]
    order = np.argsort(column, kind="stable")
    starts = np.zeros(used + 1, np.int64)
    np.cumsum(np.bincount(column, minlength=used), out=starts[1:])
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


# Walks (rows × trees) from which prediction is shared among threads. Time on one thread / on two: 40 000 walks .68,
# 100 000 .98, 200 000 1.36, 1 000 000 1.76.
SHARE_WALKS = 100_000


class Predictor:
    """A forest packed for walking.

    Parameters
    ----------
    forest : Forest
        The trees.
    absent : float, default=0.0
        What an entry that a sparse table does not store means.
    """

    def __init__(self, forest: Forest, absent: float = 0.0) -> None:
        self._forest, self._absent = forest, absent
        self._local = threading.local()
        self._packed = pack(forest)
        self._entries: EntryWalker | None = None

    def raw_scores(
        self, start: NDArray[np.float64], table: Table, trees: int, n_jobs: int | None
    ) -> NDArray[np.float64]:
        """Scores of every row, (rows, outputs): the start, (outputs,) or (rows, outputs), then the trees in order."""
        outputs = start.shape[-1]
        threads_for(n_jobs, 1)  # refuse nonsense, whether or not the work is shared
        if table.rows == 0:
            return np.empty((0, outputs))
        if table.rows == 1:
            found = self._one_row(start, table, trees)
            if found is not None:
                return found
        scores = np.empty((table.rows, outputs))
        scores[:] = start
        self._walk(table, trees, n_jobs, scores=scores)
        return scores

    def leaf_indices(self, table: Table, trees: int, n_jobs: int | None) -> NDArray[np.int32]:
        """Leaf of every row in the first `trees` trees, (rows, trees)."""
        leaves = np.empty((table.rows, trees), np.int32)
        threads_for(n_jobs, 1)
        if table.rows > 0:
            self._walk(table, trees, n_jobs, leaves=leaves)
        return leaves

    def _walk(
        self,
        table: Table,
        trees: int,
        n_jobs: int | None,
        *,
        scores: NDArray[np.float64] = NO_SCORES,
        leaves: NDArray[np.int32] = NO_LEAVES,
    ) -> None:
        """Add the first trees to the scores of all rows, or number their leaves."""
        with Team(self._threads(table.rows, trees, n_jobs)) as team:
            if table.sparse is not None:
                infinite = self._entry_walker(table).walk(
                    table.sparse, trees, team, scores=scores, leaves=leaves
                )
                refuse_infinite(table, infinite)
                return
            seen = no_flags(team.size)
            for first, block in self._blocks(table, trees, team.size):
                part = slice(first, first + len(block))
                if scores is not NO_SCORES:
                    team.run(self._bound(block, trees, scores[part], seen))
                if leaves is not NO_LEAVES:
                    team.run(leaf_rows.bind(trees, self._packed, dense_values(block), leaves[part], seen))
                refuse_infinite(table, flags_of(team, seen) != 0)

    def _bound(self, block: NDArray[Any], trees: int, scores: NDArray[np.float64], seen: ValueFlags) -> Bound:
        outputs = scores.shape[1]
        job: Bound = predict_rows.bind(trees, outputs, self._packed, dense_values(block), scores, seen)
        return job

    def _blocks(self, table: Table, trees: int, threads: int) -> Iterator[tuple[int, NDArray[Any]]]:
        """Stretches of rows; an interrupt is served between two of them."""
        rows = rows_per_call(int(self._packed.depths[:trees].sum()) + table.columns, threads)
        for first, block in whole_rows(table):
            for begin in range(0, len(block), rows):
                yield first + begin, block[begin : begin + rows]

    def _entry_walker(self, table: Table) -> EntryWalker:
        """The forest for sparse tables of so many columns, made at its first use."""
        mine = self._entries
        if mine is None or mine.columns != table.columns:
            mine = self._entries = EntryWalker(self._forest, self._absent, table.columns)
        return mine

    def _threads(self, rows: int, trees: int, n_jobs: int | None) -> int:
        # A thread takes a block of rows at a time.
        most = min(most_for(rows * trees, SHARE_WALKS), -(-rows // BLOCK))
        return threads_for(n_jobs, most)

    def _one_row(self, start: NDArray[np.float64], table: Table, trees: int) -> NDArray[np.float64] | None:
        """Scores of a table of one row, in memory that is kept; None for a table of several panels."""
        if table.sparse is not None:
            scores = self._entry_walker(table).one_row(table.sparse, start, trees)
        elif len(table.panels) == 1:
            scores = self._dense_row(trees, table.columns, start.shape[-1]).scores_of(start, table)
        else:
            return None
        refuse_infinite(table, scores is None)
        return scores

    def _dense_row(self, trees: int, columns: int, outputs: int) -> _OneRow:
        """The calling thread's memory for one row, made at its first use."""
        mine: _OneRow | None = getattr(self._local, "one_row", None)
        if mine is None or mine.shape != (trees, columns, outputs):
            row = np.empty((1, columns))
            scores, seen = np.empty((1, outputs)), no_flags(1)
            job = self._bound(row, trees, scores, seen)
            mine = self._local.one_row = _OneRow((trees, columns, outputs), row, scores, seen, job)
        return mine


@dataclass(frozen=True, eq=False)
class _OneRow:
    """A prediction of one row, bound once: checking a kernel's arguments takes longer than walking 100 trees."""

    shape: tuple[int, int, int]
    row: NDArray[np.float64]
    scores: NDArray[np.float64]
    seen: ValueFlags
    job: Bound

    def scores_of(self, start: NDArray[np.float64], table: Table) -> NDArray[np.float64] | None:
        """Scores of the one row of a table; None where a value is infinite."""
        self.row[:] = table.panels[0].values
        self.scores[:] = start
        self.seen.flags[0] = 0
        run_alone(self.job)
        return None if self.seen.flags[0] else self.scores.copy()


def dense_values(block: NDArray[Any]) -> Values:
    """A block of rows as the kernels take it."""
    values32, values64, row_step, column_step = flat_view(block)
    rows, columns = block.shape
    return Values(rows, columns, row_step, column_step, values32.size, values64.size, values32, values64)


def refuse_infinite(table: Table, infinite: bool) -> None:
    """Name the first infinite column of a table, where a kernel met one."""
    if infinite:
        column = describe_column(table, _first_infinite(table))
        raise DataError(
            f"{column} holds an infinite value; only finite numbers and NaN (missing) can be used"
        )


def _first_infinite(table: Table) -> int:
    if table.sparse is not None:
        return table.sparse.first_infinite()
    columns = [(panel, k) for panel in table.panels for k in range(panel.columns)]
    return next(panel.first + k for panel, k in columns if _has_infinite(panel, k))


def _has_infinite(panel: Panel, k: int) -> bool:
    column = replace(panel, values=panel.values[:, k : k + 1])
    return any(np.isinf(block).any() for _, block in column.blocks(CONVERTED_ROWS))
