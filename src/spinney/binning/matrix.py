"""Bins of a table as small integers: which group a column is in, codes by rows and by columns, and entries of sparse columns."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.binning.kernels.records import (
    NO_DEFAULT,
    SHORTEST_ROW,
    BinLines,
    Binned,
    Block,
    Codes,
    Columns,
    EntryLists,
    SearchUnit,
    SparseCodes,
    StoredValues,
)
from spinney.data.sparse import SparseValues
from spinney.data.table import EMPTY32, EMPTY64, flat_view, starts_of

SPARSE = -1  # the column has no group: its entries are kept one by one
BYTE_CODES = 256  # of a byte
RUN = 128  # most columns searched in one go; a run that no leaf can use any more is left alone


@dataclass(frozen=True, eq=False)
class ColumnLayout:
    """Codes of the columns.

    A *code* is what is stored. A single column is a group of its own and has a code for each bin and, after them, one for missing
    values. A bundled column shares a group with others: code 0 stands for all of them in their default bins, then the other
    bins of each column follow, column after column. A sparse column has codes for its other bins too, but only rows
    that are not in the default bin are kept.

    Attributes (one item a column)
    ------------------------------
    group : int64
        Group, or SPARSE.
    low : int64
        Its first code in the group, or its first place on the axis of sparse columns.
    codes : int64
        Number of codes.
    bins : int64
        Number of bins, without the one for missing values, whose number is `bins`.
    default : int64
        The bin without a code, or NO_DEFAULT.
    """

    group: NDArray[np.int64]
    low: NDArray[np.int64]
    codes: NDArray[np.int64]
    bins: NDArray[np.int64]
    default: NDArray[np.int64]

    @classmethod
    def single_column(cls, bins: NDArray[np.int64]) -> ColumnLayout:
        """Every column a group of its own."""
        columns = len(bins)
        return cls(
            np.arange(columns), np.zeros(columns, np.int64), bins + 1, bins, np.full(columns, NO_DEFAULT)
        )

    @property
    def columns(self) -> int:
        """Number of columns."""
        return len(self.group)

    @cached_property
    def group_codes(self) -> NDArray[np.int64]:
        """Codes of each group."""
        dense = self.group >= 0
        codes = np.zeros(int(self.group.max(initial=-1)) + 1, np.int64)
        np.maximum.at(codes, self.group[dense], (self.low + self.codes)[dense])
        return codes

    @cached_property
    def sparse_codes(self) -> int:
        """Codes of all sparse columns."""
        return int(self.codes[self.group == SPARSE].sum())

    @cached_property
    def members(self) -> NDArray[np.int64]:
        """The columns that have codes, in the order of these: group by group, sparse ones last."""
        place = np.where(self.group == SPARSE, len(self.group_codes), self.group)
        order = np.lexsort((self.low, place)).astype(np.int64)
        return order[self.codes[order] > 0]

    @cached_property
    def units(self) -> Any:
        """Units of search, a `SearchUnit` each, in the order of their codes."""
        members = self.members
        single = (self.codes == 1) & (self.default == 0) & (self.bins == 2)
        kinds, group = single[members].tolist(), self.group[members].tolist()
        starts: list[int] = []  # place of each unit's first column in `members`
        for place in range(len(members)):
            first = starts[-1] if starts else place
            runs = kinds[first] and kinds[place] and 0 < place - first < RUN
            if not (runs and group[first] == group[place]):
                starts.append(place)
        bounds = np.array([*starts, len(members)], np.int64)
        first_columns, last_columns = members[bounds[:-1]], members[bounds[1:] - 1]
        found = SearchUnit.zeros(len(starts))
        found.member = bounds[:-1]
        found.group = self.group[first_columns]
        # Code 0 of a bundle belongs to no column; the bundle's first unit clears it.
        follows = np.diff(found.group, prepend=SPARSE - 1) == 0
        found.begin = np.where(follows, self.low[first_columns], 0)
        found.end = (self.low + self.codes)[last_columns]
        found.columns = np.where(single[first_columns], np.diff(bounds), 0)
        return found


def code_type(codes: int) -> np.dtype[Any]:
    """The type of items that so many codes, or bins, fit into."""
    return np.dtype(np.uint8 if codes <= BYTE_CODES else np.uint16)


NONE8, NONE16 = np.empty(0, np.uint8), np.empty(0, np.uint16)


@dataclass(frozen=True, eq=False)
class SparseEntries:
    """Entries of some columns, column after column, rows ascending."""

    columns: NDArray[np.int64]  # their numbers in the table, ascending
    starts: NDArray[np.int64]
    rows: NDArray[np.int32]
    bins: NDArray[np.uint16]
    default: NDArray[np.int64]  # the bin that is left out

    @property
    def counts(self) -> NDArray[np.int64]:
        """Number of entries of each column."""
        return np.diff(self.starts)

    @classmethod
    def none(cls) -> SparseEntries:
        """No columns."""
        whole = np.zeros(0, np.int64)
        return cls(whole, np.zeros(1, np.int64), np.zeros(0, np.int32), NONE16, whole)

    def record(self) -> EntryLists:
        """The entries for kernels."""
        return EntryLists(len(self.columns), len(self.rows), self.starts, self.rows, self.bins, self.default)

    def last_bins(self) -> NDArray[np.int64]:
        """Largest bin of each column that an entry is in, -1 for a column without entries."""
        last = np.full(len(self.columns), -1, np.int64)
        some = self.counts > 0
        if some.any():
            last[some] = np.maximum.reduceat(self.bins, self.starts[:-1][some])
        return last

    def join(self, other: SparseEntries) -> SparseEntries:
        """Both, in the order of their columns; they have none in common."""
        if not len(other.columns):
            return self
        if not len(self.columns):
            return other
        columns = np.concatenate([self.columns, other.columns])
        order = np.argsort(columns)
        sources = [(part, place) for part in (self, other) for place in range(len(part.columns))]
        return _gathered([sources[k] for k in order])

    def take(self, places: NDArray[np.int64]) -> SparseEntries:
        """Some of the columns, by ascending place."""
        if len(places) == len(self.columns):
            return self
        return _gathered([(self, place) for place in places.tolist()])


def _gathered(sources: list[tuple[SparseEntries, int]]) -> SparseEntries:
    """Columns from here and there, one slice each: what is copied needs no index beside it."""
    if not sources:
        return SparseEntries.none()
    slices = [slice(int(part.starts[k]), int(part.starts[k + 1])) for part, k in sources]
    return SparseEntries(
        np.array([part.columns[k] for part, k in sources], np.int64),
        starts_of(np.array([chosen.stop - chosen.start for chosen in slices], np.int64)),
        np.concatenate([part.rows[chosen] for (part, _), chosen in zip(sources, slices, strict=True)]),
        np.concatenate([part.bins[chosen] for (part, _), chosen in zip(sources, slices, strict=True)]),
        np.array([part.default[k] for part, k in sources], np.int64),
    )


@dataclass(frozen=True, eq=False)
class DenseColumns:
    """Bins of some columns for all rows."""

    columns: NDArray[np.int64]  # their numbers in the table, ascending
    bins: NDArray[Any]  # columns × rows, uint8 or uint16

    def record(self) -> BinLines:
        """The columns of bins for kernels."""
        return lines_record(self.bins)


def split8(array: NDArray[Any]) -> tuple[NDArray[np.uint8], NDArray[np.uint16]]:
    """An array of uint8 or uint16 as kernels take it: both types, the one not in use empty."""
    return (NONE8, array) if array.dtype == np.uint16 else (array, NONE16)


def lines_record(lines: NDArray[Any]) -> BinLines:
    """Lines of uint8 or uint16, one below another, as kernels take them."""
    count, rows = lines.shape
    return BinLines(rows, count, int(lines.dtype == np.uint16), *split8(lines))


LINE = 64  # bytes of a cache line


@dataclass(frozen=True, eq=False)
class BinnedMatrix:
    """Codes of a table, twice: by rows (padded, for histograms) and by columns (for partition).

    Columns stand in groups, see `ColumnLayout`. uint8 where every group has at most 256 codes, else uint16. Sparse columns are
    kept apart.
    """

    by_row: NDArray[Any]  # rows × stride
    by_column: NDArray[Any]  # groups × rows
    features: ColumnLayout
    sparse: SparseCodes
    from_sparse: bool = False  # whether the table was sparse

    @property
    def rows(self) -> int:
        """Number of rows."""
        return int(self.by_row.shape[0])

    @property
    def columns(self) -> int:
        """Number of columns of the table."""
        return self.features.columns

    @property
    def groups(self) -> int:
        """Number of groups."""
        return int(self.by_column.shape[0])

    @property
    def bins(self) -> NDArray[np.int64]:
        """Bins of each column, without the one for missing values."""
        return self.features.bins

    @property
    def stride(self) -> int:
        """Items from one row to the next."""
        return int(self.by_row.shape[1])

    @property
    def wide(self) -> bool:
        """Whether codes are uint16."""
        return bool(self.by_row.dtype == np.uint16)

    @property
    def values(self) -> int:
        """Codes that are kept, each counted once."""
        return self.rows * self.groups + int(self.sparse.entries)

    @property
    def nbytes(self) -> int:
        """Bytes of both copies."""
        sparse = self.sparse
        kept = (sparse.row_starts, sparse.row_codes, sparse.starts, sparse.column_rows, sparse.column_codes)
        return sum(array.nbytes for array in (self.by_row, self.by_column, *kept))

    def binned(self, categorical: NDArray[np.uint8]) -> Binned:
        """The codes for kernels; `categorical` is 1 for columns of categories."""
        return Binned(
            Codes(
                self.rows,
                self.groups,
                self.stride,
                int(self.wide),
                *split8(self.by_row),
                *split8(self.by_column),
            ),
            self.sparse,
            columns_record(self.features, categorical),
        )


def columns_record(features: ColumnLayout, categorical: NDArray[np.uint8]) -> Columns:
    """The columns for kernels; `categorical` is 1 for those of categories."""
    return Columns(
        columns=features.columns,
        groups=len(features.group_codes),
        group_of=features.group,
        low=features.low,
        codes=features.codes,
        bins=features.bins,
        default=features.default,
        group_codes=features.group_codes,
        categorical=categorical,
    )


def row_stride(columns: int, dtype: np.dtype[Any]) -> int:
    """Items of a padded row: a quarter of a cache line, half of it, or whole ones, so that it straddles no more than it must.

    Time of a tree of 255 leaves on 262 000 rows of 11 columns, quarters against halves: .89 to .97, on a fifth of the rows .87 to
    .92.
    """
    size = columns * dtype.itemsize
    unit = next((unit for unit in (SHORTEST_ROW, LINE // 2) if size <= unit), LINE)
    return -(-size // unit) * unit // dtype.itemsize


def aligned(rows: int, stride: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Memory for rows × stride items that starts on a cache line."""
    memory = np.empty(rows * stride * dtype.itemsize + LINE, np.uint8)
    skip = -memory.ctypes.data % LINE
    return memory[skip : skip + rows * stride * dtype.itemsize].view(dtype).reshape(rows, stride)


def take_codes(matrix: BinnedMatrix, rows: NDArray[np.int32]) -> BinnedMatrix:
    """Codes of some rows, ascending."""
    by_row = aligned(len(rows), matrix.stride, matrix.by_row.dtype)
    np.take(matrix.by_row, rows, axis=0, out=by_row)
    by_column = np.ascontiguousarray(matrix.by_column[:, rows])
    sparse = _take_sparse(matrix.sparse, rows, matrix.rows)
    return BinnedMatrix(by_row, by_column, matrix.features, sparse, matrix.from_sparse)


def _take_sparse(sparse: SparseCodes, rows: NDArray[np.int32], table_rows: int) -> SparseCodes:
    if not sparse.present:
        return sparse
    lengths = np.diff(sparse.row_starts)[rows]
    row_starts = starts_of(lengths)
    # Where each entry of these rows stands among those of all.
    shift = np.repeat(sparse.row_starts[rows] - row_starts[:-1], lengths)
    own = row_numbers(rows, table_rows)[sparse.column_rows]
    kept = own >= 0
    taken: SparseCodes = replace(
        sparse,
        entries=int(row_starts[-1]),
        row_starts=row_starts,
        row_codes=sparse.row_codes[np.arange(row_starts[-1]) + shift],
        starts=kept_starts(sparse.starts, kept),
        column_rows=own[kept],
        column_codes=sparse.column_codes[kept],
    )
    return taken


def row_numbers(rows: NDArray[np.int32], table_rows: int) -> NDArray[np.int32]:
    """Number of each of some rows among them, -1 for others."""
    number = np.full(table_rows, -1, np.int32)
    number[rows] = np.arange(len(rows), dtype=np.int32)
    return number


def kept_starts(starts: NDArray[np.int64], kept: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Where the kept items of each list begin."""
    before = np.concatenate([np.zeros(1, np.int64), np.cumsum(kept)])
    found: NDArray[np.int64] = before[starts]
    return found


def block_of(values: NDArray[Any]) -> Block:
    """Some rows of a dense panel, as `kernel_blocks` gives them."""
    values32, values64, row_step, column_step = flat_view(values)
    rows, columns = values.shape
    return Block(rows, columns, row_step, column_step, values32.size, values64.size, values32, values64)


def stored_of(values: SparseValues) -> StoredValues:
    """What a sparse table stores."""
    starts, rows, data = values.by_column
    single = data.dtype == np.float32
    values32, values64 = (data, EMPTY64) if single else (EMPTY32, data)
    return StoredValues(len(starts) - 1, len(rows), int(single), starts, rows, values32, values64)
