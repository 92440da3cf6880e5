"""Running a forest on a table."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.data import Table, describe_column
from spinney.data.spans import spans, whole_rows
from spinney.errors import DataError
from spinney.jit import Bound
from spinney.jit.team import Team, most_for, run_alone, threads_for
from spinney.model import kernels
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
        nodes, trees = forest.nodes, forest.trees
        self._packed = np.empty(2 * nodes, np.int64)
        self._depths = np.empty(trees, np.int64)
        kernels.pack_nodes(
            trees, nodes, len(forest.sets.node), forest.start, forest.feature, forest.threshold, forest.left,
            forest.default_left, forest.sets.node, forest.sets.start, self._packed, self._depths,
            np.empty(nodes, np.int32),
        )  # fmt: skip

    def raw_scores(
        self, start: NDArray[np.float64], table: Table, trees: int, n_jobs: int | None
    ) -> NDArray[np.float64]:
        """Scores of every row, (rows, outputs): the start, (outputs,) or (rows, outputs), then the trees in order."""
        outputs = start.shape[-1]
        if n_jobs is not None:
            threads_for(n_jobs, 1)  # refuse nonsense, whether or not the work is shared
        if table.rows == 1 and len(table.panels) == 1:
            return self._one_row(trees, table.columns, outputs).scores_of(start, table)
        scores = np.empty((table.rows, outputs))
        scores[:] = start
        walker = self._walker(table)
        with Team(self._threads(table.rows, trees, n_jobs)) as team:
            for first, block in self._blocks(table):
                found = np.zeros(team.size, np.int64)
                team.run(
                    kernels.predict_rows.bind(
                        len(block), outputs, trees, self._forest.trees, self._forest.nodes, team.size,
                        *_given(block), self._forest.start, self._depths, *walker._nodes,
                        self._forest.value, scores[first : first + len(block)], found,
                    )
                )  # fmt: skip
                _refuse_infinite(table, found)
        return scores

    def leaf_indices(self, table: Table, trees: int, n_jobs: int | None) -> NDArray[np.int32]:
        """Leaf of every row in the first `trees` trees, (rows, trees)."""
        leaves = np.empty((table.rows, trees), np.int32)
        walker = self._walker(table)
        with Team(self._threads(table.rows, trees, n_jobs)) as team:
            for first, block in self._blocks(table):
                found = np.zeros(team.size, np.int64)
                team.run(
                    kernels.leaf_rows.bind(
                        len(block), trees, self._forest.trees, self._forest.nodes, team.size, *_given(block),
                        self._forest.start, *walker._nodes, leaves[first : first + len(block)], found,
                    )
                )  # fmt: skip
                _refuse_infinite(table, found)
        return leaves

    @property
    def _nodes(self) -> tuple[int, NDArray[np.int64], NDArray[np.int64]]:
        """Packed nodes and their sets, as kernels take them."""
        bits = self._forest.sets.bits
        return len(bits), self._packed, bits

    def _walker(self, table: Table) -> Predictor:
        """The predictor whose nodes know columns as `_blocks` gives them."""
        return self if table.sparse is None else self._compact

    def _blocks(self, table: Table) -> Iterator[tuple[int, NDArray[Any]]]:
        """Blocks of rows; of a sparse table only the columns that some node asks for."""
        if table.sparse is None:
            return whole_rows(table)
        _refuse_infinite_entries(table)
        return table.sparse.dense_blocks(self._asked, self._absent)

    @cached_property
    def _asked(self) -> NDArray[np.int64]:
        """Columns that some node asks for, ascending; one at least, because kernels want some."""
        feature = self._forest.feature
        asked: NDArray[np.int64] = np.unique(feature[feature >= 0]).astype(np.int64)
        return asked if len(asked) else np.zeros(1, np.int64)

    @cached_property
    def _compact(self) -> Predictor:
        """The same trees over the columns asked for alone."""
        feature = self._forest.feature
        place = np.searchsorted(self._asked, feature).astype(np.int32)
        return Predictor(replace(self._forest, feature=np.where(feature < 0, feature, place)))

    def _threads(self, rows: int, trees: int, n_jobs: int | None) -> int:
        # A thread takes a block of rows at a time.
        most = min(most_for(rows * trees, SHARE_WALKS), -(-rows // kernels.BLOCK))
        return 1 if n_jobs is None and most == 1 else threads_for(n_jobs, most)

    def _one_row(self, trees: int, columns: int, outputs: int) -> _OneRow:
        """The calling thread's memory for one row, made at its first use."""
        mine = getattr(self._local, "one_row", None)
        if mine is None or mine.shape != (trees, columns, outputs):
            row = np.empty((1, columns))
            scores, found = np.empty((1, outputs)), np.zeros(1, np.int64)
            job = kernels.predict_rows.bind(
                1, outputs, trees, self._forest.trees, self._forest.nodes, 1, *_given(row), self._forest.start,
                self._depths, *self._nodes, self._forest.value, scores, found,
            )  # fmt: skip
            mine = self._local.one_row = _OneRow((trees, columns, outputs), row, scores, found, job)
        return mine


@dataclass(frozen=True, eq=False)
class _OneRow:
    """A prediction of one row, bound once: checking a kernel's arguments takes longer than walking 100 trees."""

    shape: tuple[int, int, int]
    row: NDArray[np.float64]
    scores: NDArray[np.float64]
    found: NDArray[np.int64]
    job: Bound

    def scores_of(self, start: NDArray[np.float64], table: Table) -> NDArray[np.float64]:
        """Scores of the one row of a table."""
        self.row[:] = table.panels[0].values
        self.scores[:] = start
        run_alone(self.job)
        if self.found[0]:
            found = self.found.copy()
            self.found[0] = 0
            _refuse_infinite(table, found)
        return self.scores.copy()


def _given(block: NDArray[Any]) -> tuple[Any, ...]:
    """A block of rows as the kernels take it."""
    values32, values64, row_step, column_step = spans(block)
    return block.shape[1], row_step, column_step, values32.size, values64.size, values32, values64


def _refuse_infinite_entries(table: Table) -> None:
    if table.sparse is not None and np.isinf(table.sparse.matrix.data).any():
        matrix = table.sparse.matrix.tocsc()
        place = int(np.flatnonzero(np.isinf(matrix.data))[0])
        column = int(np.searchsorted(matrix.indptr, place, side="right")) - 1
        _refuse_infinite(table, np.array([column + 1]))


def _refuse_infinite(table: Table, found: NDArray[np.int64]) -> None:
    if found.any():
        column = describe_column(table, int(found[found > 0].min()) - 1)
        raise DataError(
            f"{column} holds an infinite value; only finite numbers and NaN (missing) can be used"
        )
