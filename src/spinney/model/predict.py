"""Running a forest on a table."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.data import Panel, Table, describe_column
from spinney.data.table import CONVERTED_ROWS, flat_view, whole_rows
from spinney.errors import DataError
from spinney.jit import Bound
from spinney.jit.team import Team, most_for, run_alone, threads_for
from spinney.model.entries import NO_LEAVES, NO_SCORES, EntryWalker
from spinney.model.kernels.records import ValueFlags, Values
from spinney.model.kernels.walk import BLOCK, leaf_rows, predict_rows
from spinney.model.packed import pack
from spinney.model.seen import met_by, nothing_seen
from spinney.model.stretches import stretch
from spinney.tree import Forest

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
            seen = nothing_seen(team.size)
            for first, block in self._blocks(table, trees, team.size):
                part = slice(first, first + len(block))
                if scores is not NO_SCORES:
                    team.run(self._bound(block, trees, scores[part], seen))
                if leaves is not NO_LEAVES:
                    team.run(leaf_rows.bind(trees, self._packed, given(block), leaves[part], seen))
                refuse_infinite(table, met_by(team, seen) != 0)

    def _bound(self, block: NDArray[Any], trees: int, scores: NDArray[np.float64], seen: ValueFlags) -> Bound:
        outputs = scores.shape[1]
        job: Bound = predict_rows.bind(trees, outputs, self._packed, given(block), scores, seen)
        return job

    def _blocks(self, table: Table, trees: int, threads: int) -> Iterator[tuple[int, NDArray[Any]]]:
        """Stretches of rows; an interrupt is served between two of them."""
        rows = stretch(int(self._packed.depths[:trees].sum()) + table.columns, threads)
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
            scores, seen = np.empty((1, outputs)), nothing_seen(1)
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


def given(block: NDArray[Any]) -> Values:
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
