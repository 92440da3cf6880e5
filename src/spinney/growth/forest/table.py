"""The table that a forest splits, as its kernels know it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.binning.cuts import Cuts
from spinney.binning.features import SPARSE
from spinney.binning.kernels.records import Binned
from spinney.binning.matrix import BinnedMatrix
from spinney.binning.sorted import ROW_BITS, SortedColumns
from spinney.data.lists import starts_of
from spinney.growth.forest.gaps import Ends
from spinney.growth.forest.kernels.records import (
    BYTES,
    MOVED,
    PAIRS_OF_BYTES,
    PLACES,
    RANKS,
    SEARCHED,
    BinValues,
    RowCodes,
)
from spinney.jit.spread import spread

MOST_HELD = 128  # columns up to which records hold their codes
ROWS = (1 << ROW_BITS) - 1
LARGEST = np.finfo(np.float64).max
COLUMNS_AT_ONCE = 8  # of a table of ranks, that a thread writes to every row
CLOSE = 1e-9  # rounding of a sum over the cuts of a column


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
    places : float64[cuts, PLACES], optional
        Where the threshold of each code of a bin may lie.
    """

    binned: Binned
    others: RowCodes
    values: BinValues
    access: int
    held: int
    cut_start: NDArray[np.int64]
    cuts: NDArray[np.float64]
    category_words: int
    places: NDArray[np.float64] | None = None

    @property
    def rows(self) -> int:
        """Number of rows."""
        return int(self.binned.codes.rows)

    @property
    def nbytes(self) -> int:
        """Bytes of its codes, in all their forms."""
        codes, sparse, others = self.binned.codes, self.binned.sparse, self.others
        arrays: tuple[NDArray[Any], ...] = (
            codes.by_row8, codes.by_row16, codes.by_column8, codes.by_column16, sparse.row_codes, sparse.column_rows,
            sparse.column_codes, others.ranks, others.entry_columns, others.entry_bins,
        )  # fmt: skip
        return sum(array.nbytes for array in arrays)

    @property
    def columns(self) -> int:
        """Number of columns."""
        return int(self.values.columns)


def binned_table(
    matrix: BinnedMatrix, cuts: Cuts, ends: Ends | None = None, places: NDArray[np.float64] | None = None
) -> ForestTable:
    """The table of a histogram forest: codes are bins.

    `ends` are the least and the largest value of each column, NaN where there is none; drawn cuts lie between them. `places` are
    those of the cuts in their gaps.
    """
    binned = matrix.binned(cuts.categorical)
    held = (
        matrix.groups if not matrix.wide and not matrix.sparse.present and matrix.groups <= MOST_HELD else 0
    )
    access = MOVED if held else PAIRS_OF_BYTES if matrix.wide else BYTES
    words: NDArray[Any] = matrix.by_row.reshape(-1).view(np.int64) if held else np.zeros(0, np.int64)
    starts, values = bin_values(cuts)
    if ends is not None:
        _stretch(values, starts, cuts, ends)
    cut_start, thresholds = _closed(cuts)
    values = np.append(values, np.zeros(SEARCHED))  # searches look behind a column's last value
    return ForestTable(
        binned,
        RowCodes(len(words), words, 0, matrix.columns, np.zeros(0, np.int32), *_entries_by_row(matrix)),
        BinValues(matrix.columns, len(values), starts, values, cuts.bins),
        access,
        held,
        cut_start,
        thresholds,
        _category_words(cuts),
        None if places is None else _closed_places(cuts, cut_start, places),
    )


def ranked_table(matrix: BinnedMatrix, cuts: Cuts, ranked: SortedColumns, threads: int = 1) -> ForestTable:
    """The table of an exact forest: codes are ranks of values, or numbers of categories."""
    binned = matrix.binned(cuts.categorical)
    counts = np.where(cuts.categorical != 0, cuts.bins, ranked.record.ranks)
    starts = starts_of(counts)
    values = np.zeros(int(starts[-1]))
    ranks = np.empty((ranked.rows, ranked.columns), np.int32)

    def fill(first: int) -> None:
        """Some columns: each is put in order by itself, where it is in cache, and all are written row by row."""
        columns = range(first, min(first + COLUMNS_AT_ONCE, ranked.columns))
        lines = np.empty((len(columns), ranked.rows), np.int32)
        for line, column in zip(lines, columns, strict=True):
            entries = ranked.record.entries[ranked.record.starts[column] : ranked.record.starts[column + 1]]
            own = ranked.values[ranked.value_starts[column] : ranked.value_starts[column + 1]]
            if cuts.categorical[column]:
                # A category's number is its code. The rows that are not listed are missing.
                numbers = np.append(own, counts[column]).astype(np.int32)
                line[:] = numbers[ranked.record.rest[column]]
                line[entries & ROWS] = numbers[entries >> ROW_BITS]
            else:
                line[:] = ranked.record.rest[column]
                line[entries & ROWS] = entries >> ROW_BITS
                values[starts[column] : starts[column + 1]] = own
        ranks[:, columns.start : columns.stop] = lines.T

    spread(fill, range(0, ranked.columns, COLUMNS_AT_ONCE), threads)
    return ForestTable(
        binned,
        RowCodes(
            0,
            np.zeros(0, np.int64),
            ranked.rows,
            ranked.columns,
            ranks.reshape(-1),
            0,
            np.zeros(0, np.int32),
            np.zeros(0, np.uint16),
        ),
        BinValues(ranked.columns, len(values), starts, values, counts),
        RANKS,
        0,
        starts,
        values,
        _category_words(cuts),
    )


def _entries_by_row(matrix: BinnedMatrix) -> tuple[int, NDArray[np.int32], NDArray[np.uint16]]:
    """How many entries sparse columns have, and row after row the column and the bin of each."""
    features, places = matrix.features, matrix.sparse.row_codes
    sparse = np.flatnonzero(features.group == SPARSE)
    sparse = sparse[np.argsort(features.low[sparse], kind="stable")]
    columns = np.repeat(sparse.astype(np.int32), features.codes[sparse])[places]
    bins = places - features.low.astype(np.int32)[columns]
    # Codes leave out the default bin.
    bins += bins >= features.default.astype(np.int32)[columns]
    return len(places), columns, bins.astype(np.uint16)


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
    below, above = np.zeros((2, int(starts[-1])))
    place = _places(cuts, starts)
    above[place] = cuts.values
    below[place + 1] = cuts.values
    several = np.flatnonzero(np.diff(cuts.starts))
    low, high = cuts.starts[several], cuts.starts[several + 1] - 1
    first = cuts.values[np.minimum(low + 1, high)] - cuts.values[low]
    last = cuts.values[high] - cuts.values[np.maximum(high - 1, low)]
    below[starts[several]] = cuts.values[low] - np.where(low < high, first, 1.0)
    above[starts[several + 1] - 1] = cuts.values[high] + np.where(low < high, last, 1.0)
    return starts, below * 0.5 + above * 0.5


def _places(cuts: Cuts, starts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where the cuts of all columns go if those of each column are written from its start on."""
    return np.arange(len(cuts.values)) + np.repeat(starts[:-1] - cuts.starts[:-1], np.diff(cuts.starts))


def _stretch(values: NDArray[np.float64], starts: NDArray[np.int64], cuts: Cuts, ends: Ends) -> None:
    """Let the first and last bin of each column stand for its least and its largest value, and all bins for their one value if
    each has one.
    """
    for column in np.flatnonzero((np.diff(starts) > 1) & (cuts.categorical == 0) & ~np.isnan(ends[0])):
        low, high = float(ends[0][column]), float(ends[1][column])
        own = slice(int(starts[column]), int(starts[column + 1]))
        known = values_between(cuts.values[cuts.starts[column] : cuts.starts[column + 1]], low, high)
        if known is not None:
            values[own] = known
        values[own.start], values[own.stop - 1] = low, high


def values_between(cuts: NDArray[np.float64], low: float, high: float) -> NDArray[np.float64] | None:
    """The values of a column of which every bin has one: cuts lie halfway between them. None where bins have several.

    Examples
    --------
    >>> values_between(np.array([0.5, 50.5]), 0.0, 100.0).tolist()
    [0.0, 1.0, 100.0]
    >>> values_between(np.array([0.5, 50.5]), -3.0, 100.0) is None
    True
    """
    # A value is as far behind a cut as the one before it is in front: v[k + 1] = 2 * cuts[k] - v[k].
    sign = np.where(np.arange(len(cuts) + 1) % 2 == 0, 1.0, -1.0)
    with np.errstate(over="ignore", invalid="ignore"):
        found = sign * np.cumsum(np.concatenate([[low], -2.0 * cuts * sign[:-1]]))
        ends_there = abs(found[-1] - high) <= CLOSE * max(abs(low), abs(high))
    between = (found[:-1] <= cuts).all() and (cuts < found[1:]).all()
    return found if ends_there and between else None


def _closed(cuts: Cuts) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The cuts of columns of numbers, each list closed by the largest number: what every value is below."""
    starts = starts_of(np.where(cuts.categorical != 0, 0, cuts.bins))
    values = np.full(int(starts[-1]), LARGEST)
    numeric = np.repeat(cuts.categorical == 0, np.diff(cuts.starts))
    values[_places(cuts, starts)[numeric]] = cuts.values[numeric]
    return starts, values


def _closed_places(
    cuts: Cuts, cut_start: NDArray[np.int64], places: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The places of the cuts of `_closed`."""
    found = np.full((int(cut_start[-1]), PLACES), LARGEST)
    for column in np.flatnonzero(cuts.categorical == 0):
        own = places[cuts.starts[column] : cuts.starts[column + 1]]
        found[cut_start[column] : cut_start[column] + len(own)] = own
    return found
