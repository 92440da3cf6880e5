"""What growers other than the histogram grower need of a table: fine bins, and columns whose values are sorted.

Fine bins are for `tree_method="approx"`. Of sorted columns each lists its entries, rank of the value and row, sorted once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.binning.cuts import Cuts, find_cuts
from spinney.binning.encode import plan_and_encode
from spinney.binning.kernels import records
from spinney.binning.matrix import BinnedMatrix, kept_starts, row_numbers
from spinney.data import Table
from spinney.data.sparse import SparseValues
from spinney.data.table import starts_of
from spinney.jit.team import Team, parallel_map

FINE_BINS = 65_536  # from which tree_method approx chooses


@dataclass(frozen=True, eq=False)
class FineBins:
    """A table in very many fine bins; columns stand alone or are sparse.

    Attributes
    ----------
    cuts : Cuts
        Where its columns are cut.
    zero : int64[columns]
        The bin of 0 in columns that have the value, else -1.
    matrix : BinnedMatrix
        The codes.
    """

    cuts: Cuts
    zero: NDArray[np.int64]
    matrix: BinnedMatrix


def fine_bins(
    table: Table,
    weight: NDArray[np.float64] | None,
    categories: NDArray[np.int64] | None,
    absent: float,
    team: Team,
) -> FineBins:
    """Cut a table finely and bin it."""
    cuts = find_cuts(table, weight, FINE_BINS, team, absent, categories, thin=False)
    zero = np.where(columns_with_zero(table, absent), cuts.bins_of(0.0), -1)
    _, matrix = plan_and_encode(table, cuts, team, absent=absent)
    return FineBins(cuts, zero, matrix)


def columns_with_zero(table: Table, absent: float) -> NDArray[np.bool_]:
    """Which columns of a table have the value 0, stored or not.

    Examples
    --------
    >>> from spinney.data import read_table
    >>> columns_with_zero(read_table(np.array([[0.0, 1.0], [2.0, 3.0]])), 0.0).tolist()
    [True, False]
    """
    if table.sparse is None:
        found = [(panel.values[:, j] == 0).any() for panel in table.panels for j in range(panel.columns)]
        return np.array(found, bool)
    starts, _, values = table.sparse.by_column
    table.sparse.forget()
    zeros = np.concatenate([np.zeros(1, np.int64), np.cumsum(values == 0)])
    has: NDArray[np.bool_] = zeros[starts[1:]] > zeros[starts[:-1]]
    return has if np.isnan(absent) else has | (np.diff(starts) < table.rows)


ROW_BITS = 32
_ROW_MASK = (1 << ROW_BITS) - 1

Listed = tuple[NDArray[np.int64], NDArray[np.float64], int]


@dataclass(frozen=True, eq=False)
class SortedTable:
    """Entries of all columns, column after column, each column's sorted by value.

    Attributes
    ----------
    rows : int
        Rows of the table.
    record : records.SortedColumns
        For kernels: the entries, by rank and row.
    values : float64
        The distinct values of all columns, ascending within a column.
    value_starts : int64[columns + 1]
        Where each column's distinct values begin.
    """

    rows: int
    record: records.SortedColumns
    values: NDArray[np.float64]
    value_starts: NDArray[np.int64]

    @property
    def columns(self) -> int:
        """Number of columns."""
        return len(self.value_starts) - 1

    def threshold(
        self, columns: NDArray[Any], below: NDArray[Any], above: NDArray[Any]
    ) -> NDArray[np.float64]:
        """Cuts halfway between two ranks of some columns; `above` -1 stands for nothing, so that every value is below."""
        first = self.value_starts[columns]
        low = self.values[first + below]
        high = self.values[first + np.maximum(above, 0)]
        # Halves are added, because a sum of huge values would overflow; the upper value itself must stay above the cut.
        middle = low * 0.5 + high * 0.5
        middle = np.where((middle >= high) | (middle < low), low, middle)
        return np.where(above < 0, np.finfo(np.float64).max, middle)


def sort_columns(table: Table, threads: int, absent: float = 0.0) -> SortedTable:
    """Sort the columns of a table of finite numbers.

    Parameters
    ----------
    table : Table
        Numbers; NaN is missing. Of a sparse table only stored entries are listed.
    threads : int
        Columns are shared out among so many.
    absent : float, default=0.0
        What an entry that a sparse table does not store means: 0, or NaN.

    Examples
    --------
    >>> import numpy as np
    >>> from spinney.data import read_table
    >>> found = sort_columns(read_table(np.array([[5.0], [np.nan], [2.0], [5.0]])), 1)
    >>> entries = found.record.entries
    >>> found.values.tolist(), (entries >> 32).tolist(), sorted((entries & 0xFFFF).tolist())
    ([2.0, 5.0], [0, 1, 1], [0, 2, 3])
    """
    if table.sparse is None:
        work: Iterator[tuple[Any, ...]] = ((panel, j) for panel in table.panels for j in range(panel.columns))
        sort: Any = _sort_dense
    else:
        sparse = table.sparse
        _ = sparse.by_column  # made once, before threads use it
        work = ((sparse, j, table.rows, absent) for j in range(table.columns))
        sort = _sort_stored
    found = parallel_map(lambda one: sort(*one), work, threads)
    if table.sparse is not None:
        table.sparse.forget()
    return _join(table.rows, found)


def _join(rows: int, found: list[Listed]) -> SortedTable:
    entries, values, rest = zip(*found, strict=True)
    value_starts = starts_of(np.array([len(one) for one in values], np.int64))
    listed = np.concatenate(entries)
    record = records.SortedColumns(
        columns=len(found),
        listed=len(listed),
        entries=listed,
        starts=starts_of(np.array([len(one) for one in entries], np.int64)),
        rest=np.array(rest, np.int64),
        ranks=np.diff(value_starts),
        zero=np.array([_rank_of_zero(one) for one in values], np.int64),
    )
    return SortedTable(rows, record, np.concatenate(values), value_starts)


def _rank_of_zero(values: NDArray[np.float64]) -> int:
    at = int(np.searchsorted(values, 0.0))
    return at if at < len(values) and values[at] == 0.0 else -1


def _sort_dense(panel: Any, column: int) -> Listed:
    values = panel.values[:, column]
    kind = np.float32 if values.dtype.kind == "f" and values.itemsize <= 4 else np.float64
    values = np.ascontiguousarray(values, dtype=kind)
    missing = np.isnan(values)
    rows = np.flatnonzero(~missing) if missing.any() else np.arange(len(values))
    entries, distinct = _ranked(values if len(rows) == len(values) else values[rows], rows)
    return entries, distinct, len(distinct)


def _sort_stored(sparse: SparseValues, column: int, rows: int, absent: float) -> Listed:
    starts, row_of, data = sparse.by_column
    mine = slice(int(starts[column]), int(starts[column + 1]))
    row, values = row_of[mine].astype(np.int64), data[mine]
    missing = np.isnan(values)
    if np.isnan(absent) or len(values) == rows:
        entries, distinct = _ranked(values[~missing], row[~missing])
        return entries, distinct, len(distinct)
    kept = ~missing & (values != 0)
    entries, distinct = _ranked(values[kept], row[kept])
    zero = int(np.searchsorted(distinct, 0.0))
    distinct = np.insert(distinct, zero, 0.0)
    entries += (entries >> ROW_BITS >= zero).astype(np.int64) << ROW_BITS
    return (
        np.concatenate([entries, (len(distinct) << ROW_BITS) | row[missing]]),
        distinct,
        zero,
    )


def _ranked(values: NDArray[Any], rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Entries of present values, sorted, and the distinct values."""
    order = np.argsort(values)  # the order of equal values shows nowhere
    ordered = values[order]
    new = np.ones(len(ordered), bool)
    new[1:] = ordered[1:] != ordered[:-1]
    rank = np.cumsum(new, dtype=np.int64) - 1
    return (rank << ROW_BITS) | rows[order], ordered[new].astype(np.float64)


def take_sorted(sorted_columns: SortedTable, rows: NDArray[np.int32]) -> SortedTable:
    """Sorted entries of some rows, ascending. Ranks stay those of the whole table's values."""
    record = sorted_columns.record
    number = row_numbers(rows, sorted_columns.rows)
    own = number[record.entries & _ROW_MASK]
    kept = own >= 0
    entries = (record.entries[kept] & ~_ROW_MASK) | own[kept]
    taken: Any = replace(
        record, listed=len(entries), entries=entries, starts=kept_starts(record.starts, kept)
    )
    return replace(sorted_columns, rows=len(rows), record=taken)
