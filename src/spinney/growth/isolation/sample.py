"""The values of the rows that trees see, gathered side by side."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.data import Table
from spinney.growth.isolation.kernels.records import Samples
from spinney.sampling.columns import draw_columns

NO_ENTRIES = np.empty(0, np.int32), np.empty(0)


class Gatherer:
    """A table from which the rows of trees are taken.

    Parameters
    ----------
    table : Table
        Categories stand in it as their numbers.
    columns : int
        How many columns are drawn for each tree.
    categories : int64[columns], optional
        How many categories each column has, 0 for a column of numbers.
    absent : float
        What an entry that a sparse table does not store means.
    """

    def __init__(
        self, table: Table, columns: int, categories: NDArray[np.int64] | None, absent: float
    ) -> None:
        self._table, self._columns, self._absent = table, columns, absent
        self._categories = np.zeros(table.columns, np.int64) if categories is None else categories

    def tree_bytes(self, rows: int) -> int:
        """Bytes that the sample of a tree of so many rows takes, about."""
        table = self._table
        if table.sparse is None:
            return 8 * rows * table.columns
        return 12 * self._columns + 32 * rows * (1 + table.sparse.stored // table.rows)

    def samples(self, rows: NDArray[np.int64], seeds: NDArray[np.int64]) -> Samples:
        """Values of the rows of some trees, (trees, rows of each)."""
        if self._table.sparse is None:
            return self._dense(rows, seeds)
        return self._sparse(rows, seeds)

    def _dense(self, rows: NDArray[np.int64], seeds: NDArray[np.int64]) -> Samples:
        trees, many = rows.shape
        columns = self._table.columns
        values = np.empty((rows.size, columns))
        for panel in self._table.panels:
            # A long double beyond float64 becomes infinite; such a table is refused before it is sampled.
            values[:, panel.first : panel.first + panel.columns] = panel.values[rows.ravel()]
        chosen = [self._drawn(int(seed)) for seed in seeds]
        starts = np.arange(trees + 1, dtype=np.int64) * self._columns
        return Samples(
            trees, many, columns, int(starts[-1]), 1, 0, self._absent, values.ravel(), starts, np.concatenate(chosen),
            np.empty(0, np.int64), *NO_ENTRIES, self._categories, seeds,
        )  # fmt: skip

    def _sparse(self, rows: NDArray[np.int64], seeds: NDArray[np.int64]) -> Samples:
        trees, many = rows.shape
        chosen = [self._drawn(int(seed)) for seed in seeds]
        parts = [
            self._lines[one].tocsc()[:, drawn]
            if self._columns < self._table.columns
            else self._lines[one].tocsc()
            for one, drawn in zip(rows, chosen, strict=True)
        ]
        # Entries by candidate, one tree after another.
        counts = np.concatenate([np.diff(part.indptr) for part in parts])
        entries = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts, dtype=np.int64)])
        starts = np.arange(trees + 1, dtype=np.int64) * self._columns
        return Samples(
            trees, many, self._table.columns, int(starts[-1]), 0, int(entries[-1]), self._absent, np.empty(0), starts,
            np.concatenate(chosen), entries, np.concatenate([part.indices for part in parts]).astype(np.int32),
            np.concatenate([part.data for part in parts]).astype(np.float64), self._categories, seeds,
        )  # fmt: skip

    def _drawn(self, seed: int) -> NDArray[np.int32]:
        """Columns of a tree."""
        if self._columns == self._table.columns:
            return self._all
        return draw_columns(self._table.columns, self._columns, seed).astype(np.int32)

    @cached_property
    def _all(self) -> NDArray[np.int32]:
        return np.arange(self._table.columns, dtype=np.int32)

    @cached_property
    def _lines(self) -> Any:
        """The entries of a sparse table by row, as SciPy's matrix."""
        assert self._table.sparse is not None
        return self._table.sparse.lines.matrix
