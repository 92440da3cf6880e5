"""The table that a forest splits, as its kernels know it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.binning.cuts import Cuts
from spinney.binning.entries import starts_of
from spinney.binning.kernels.records import Binned
from spinney.binning.matrix import BinnedMatrix
from spinney.binning.sorted import ROW_BITS, SortedColumns
from spinney.data import Table
from spinney.data.sparse import SparseValues
from spinney.growth.forest.kernels.records import BYTES, MOVED, PAIRS_OF_BYTES, RANKS, BinValues, RowCodes

MOST_HELD = 128  # columns up to which records hold their codes
ROWS = (1 << ROW_BITS) - 1
LARGEST = np.finfo(np.float64).max
Ends = tuple[NDArray[np.float64], NDArray[np.float64]]


@dataclass(frozen=True, eq=False)
class ForestTable:
    """A table that a forest splits.

    Attributes
    ----------
    binned : Binned
        Codes by bin; every column stands alone or is sparse.
    others : RowCodes
        The same in other forms.
    values : BinValues
        A value that stands for each code.
    access : int
        How records know their codes.
    held : int
        Bytes of codes in a record.
    cut_start, cuts : int64[columns + 1], float64
        The threshold behind each code of a bin: values up to it have that code or a lower one. Of ranks, their values.
    category_words : int
        Words with a bit for every category of a column and one for missing values, 0 without categories.
    """

    binned: Binned
    others: RowCodes
    values: BinValues
    access: int
    held: int
    cut_start: NDArray[np.int64]
    cuts: NDArray[np.float64]
    category_words: int

    @property
    def rows(self) -> int:
        """Number of rows."""
        return int(self.binned.codes.rows)

    @property
    def columns(self) -> int:
        """Number of columns."""
        return int(self.values.columns)


def binned_table(matrix: BinnedMatrix, cuts: Cuts, ends: Ends | None = None) -> ForestTable:
    """The table of a histogram forest: codes are bins.

    `ends` are the least and the largest value of each column, NaN where there is none; drawn cuts lie between them.
    """
    binned = matrix.binned(cuts.categorical)
    held = (
        matrix.groups if not matrix.wide and not matrix.sparse.present and matrix.groups <= MOST_HELD else 0
    )
    access = MOVED if held else PAIRS_OF_BYTES if matrix.wide else BYTES
    words: NDArray[Any] = matrix.by_row.reshape(-1).view(np.int64) if held else np.zeros(0, np.int64)
    starts, values = bin_values(cuts)
    if ends is not None:
        _stretch(values, starts, ends)
    cut_start, thresholds = _closed(cuts)
    return ForestTable(
        binned,
        RowCodes(len(words), words, 0, matrix.columns, np.zeros(0, np.int32)),
        BinValues(matrix.columns, len(values), starts, values, cuts.bins),
        access,
        held,
        cut_start,
        thresholds,
        _category_words(cuts),
    )


def ranked_table(matrix: BinnedMatrix, cuts: Cuts, ranked: SortedColumns) -> ForestTable:
    """The table of an exact forest: codes are ranks of values, or numbers of categories."""
    binned = matrix.binned(cuts.categorical)
    counts = np.where(cuts.categorical != 0, cuts.bins, ranked.record.ranks)
    starts = starts_of(counts)
    values = np.zeros(int(starts[-1]))
    ranks = np.empty((ranked.rows, ranked.columns), np.int32)
    for column in range(ranked.columns):
        entries = ranked.record.entries[ranked.record.starts[column] : ranked.record.starts[column + 1]]
        own = ranked.values[ranked.value_starts[column] : ranked.value_starts[column + 1]]
        if cuts.categorical[column]:
            # A category's number is its code. The rows that are not listed are missing.
            numbers = np.append(own, counts[column]).astype(np.int32)
            ranks[:, column] = numbers[ranked.record.rest[column]]
            ranks[entries & ROWS, column] = numbers[entries >> ROW_BITS]
        else:
            ranks[:, column] = ranked.record.rest[column]
            ranks[entries & ROWS, column] = entries >> ROW_BITS
            values[starts[column] : starts[column + 1]] = own
    return ForestTable(
        binned,
        RowCodes(0, np.zeros(0, np.int64), ranked.rows, ranked.columns, ranks.reshape(-1)),
        BinValues(ranked.columns, len(values), starts, values, counts),
        RANKS,
        0,
        starts,
        values,
        _category_words(cuts),
    )


def _category_words(cuts: Cuts) -> int:
    """Words with a bit for every category of any column and one for missing values, 0 without categories."""
    categories = cuts.bins[cuts.categorical != 0]
    return int(categories.max()) // 64 + 1 if len(categories) else 0


def bin_values(cuts: Cuts) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """A value for every bin: the middle between its cuts. The first and last bin are taken to be as wide as their neighbours.

    Examples
    --------
    >>> starts, values = bin_values(Cuts(np.array([1.0, 3.0]), np.array([0, 2]), 255, np.zeros(1, np.uint8)))
    >>> values.tolist()
    [0.0, 2.0, 4.0]
    """
    starts = starts_of(cuts.bins)
    values = np.zeros(int(starts[-1]))
    for column in range(len(starts) - 1):
        own = cuts.values[cuts.starts[column] : cuts.starts[column + 1]]
        if len(own):
            first, last = (own[1] - own[0], own[-1] - own[-2]) if len(own) > 1 else (1.0, 1.0)
            edges = np.concatenate([[own[0] - first], own, [own[-1] + last]])
            values[starts[column] : starts[column + 1]] = edges[:-1] * 0.5 + edges[1:] * 0.5
    return starts, values


def column_ends(table: Table, absent: float) -> Ends:
    """The least and the largest value of each column, NaN where all are missing; `absent` is what a sparse table does not store.

    Examples
    --------
    >>> from spinney.data import read_table
    >>> [end.tolist() for end in column_ends(read_table(np.array([[3.0, np.nan], [1.0, 2.0]])), 0.0)]
    [[1.0, 2.0], [3.0, 2.0]]
    """
    if table.sparse is not None:
        return _stored_ends(table.sparse, table.rows, absent)
    low = [np.fmin.reduce(panel.values, axis=0).astype(np.float64) for panel in table.panels]
    high = [np.fmax.reduce(panel.values, axis=0).astype(np.float64) for panel in table.panels]
    return np.concatenate(low), np.concatenate(high)


def _stored_ends(sparse: SparseValues, rows: int, absent: float) -> Ends:
    """The same of a sparse table."""
    starts, _, values = sparse.by_column
    sparse.forget()
    counts = np.diff(starts)
    ends = []
    for least in (np.fmin, np.fmax):
        found = np.full(len(counts), np.nan)
        if len(values):
            found[counts > 0] = least.reduceat(values, starts[:-1][counts > 0])
        ends.append(np.where(counts < rows, least(found, absent), found))
    return ends[0], ends[1]


def _stretch(values: NDArray[np.float64], starts: NDArray[np.int64], ends: Ends) -> None:
    """Let the first and last bin of each column stand for its least and its largest value."""
    several = np.flatnonzero((np.diff(starts) > 1) & ~np.isnan(ends[0]))
    values[starts[several]] = np.minimum(ends[0][several], values[starts[several]])
    values[starts[several + 1] - 1] = np.maximum(ends[1][several], values[starts[several + 1] - 1])


def _closed(cuts: Cuts) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The cuts of columns of numbers, each list closed by the largest number: what every value is below."""
    columns = len(cuts.starts) - 1
    counts = np.where(cuts.categorical != 0, 0, cuts.bins)
    starts = starts_of(counts)
    values = np.full(int(starts[-1]), LARGEST)
    for column in range(columns):
        if counts[column]:
            own = cuts.values[cuts.starts[column] : cuts.starts[column + 1]]
            values[starts[column] : starts[column] + len(own)] = own
    return starts, values
