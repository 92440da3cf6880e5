"""Copies of some rows of what was made of a table."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.binning.kernels.records import SparseCodes
from spinney.binning.matrix import BinnedMatrix, aligned
from spinney.binning.sorted import ROW_BITS, SortedTable
from spinney.data.table import starts_of

_ROW_MASK = (1 << ROW_BITS) - 1


def take_codes(matrix: BinnedMatrix, rows: NDArray[np.int32]) -> BinnedMatrix:
    """Codes of some rows, ascending."""
    by_row = aligned(len(rows), matrix.stride, matrix.by_row.dtype)
    np.take(matrix.by_row, rows, axis=0, out=by_row)
    by_column = np.ascontiguousarray(matrix.by_column[:, rows])
    sparse = _take_sparse(matrix.sparse, rows, matrix.rows)
    return BinnedMatrix(by_row, by_column, matrix.features, sparse, matrix.from_sparse)


def take_sorted(sorted_columns: SortedTable, rows: NDArray[np.int32]) -> SortedTable:
    """Sorted entries of some rows, ascending. Ranks stay those of the whole table's values."""
    record = sorted_columns.record
    number = _numbers(rows, sorted_columns.rows)
    own = number[record.entries & _ROW_MASK]
    kept = own >= 0
    entries = (record.entries[kept] & ~_ROW_MASK) | own[kept]
    taken: Any = replace(record, listed=len(entries), entries=entries, starts=_starts(record.starts, kept))
    return replace(sorted_columns, rows=len(rows), record=taken)


def _take_sparse(sparse: SparseCodes, rows: NDArray[np.int32], table_rows: int) -> SparseCodes:
    if not sparse.present:
        return sparse
    lengths = np.diff(sparse.row_starts)[rows]
    row_starts = starts_of(lengths)
    # Where each entry of these rows stands among those of all.
    shift = np.repeat(sparse.row_starts[rows] - row_starts[:-1], lengths)
    own = _numbers(rows, table_rows)[sparse.column_rows]
    kept = own >= 0
    taken: SparseCodes = replace(
        sparse,
        entries=int(row_starts[-1]),
        row_starts=row_starts,
        row_codes=sparse.row_codes[np.arange(row_starts[-1]) + shift],
        starts=_starts(sparse.starts, kept),
        column_rows=own[kept],
        column_codes=sparse.column_codes[kept],
    )
    return taken


def _numbers(rows: NDArray[np.int32], table_rows: int) -> NDArray[np.int32]:
    """Number of each of some rows among them, -1 for others."""
    number = np.full(table_rows, -1, np.int32)
    number[rows] = np.arange(len(rows), dtype=np.int32)
    return number


def _starts(starts: NDArray[np.int64], kept: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Where the kept items of each list begin."""
    before = np.concatenate([np.zeros(1, np.int64), np.cumsum(kept)])
    found: NDArray[np.int64] = before[starts]
    return found
