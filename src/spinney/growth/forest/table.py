"""The table and the target of a forest in the forms that its kernels read.

`ForestTable` has the codes of the table, which are bins (`binned_table`) or ranks of values (`ranked_table`). `target_record`
turns the target into whole numbers.

For cuts that are drawn at random a table has the ends of the columns (`column_ends`), and thresholds in the gap between the two
values of the table around each cut (`gap_thresholds`). A threshold is one of `PLACES` in the gap, by chance, so that the mean of
many trees is smooth. These are so few places that the cuts of a column still have numbers of two bytes; and there are none for
tables of many rows, because between the bins of many rows the gaps close. The bins of such a table are not quantiles
(`spread_masses` in `binning/kernels/cut.py`): a cut is drawn uniformly between the ends of a node, so the bins of a long tail are
as narrow as the table can afford.

Weights and targets are whole numbers of *steps*, because parts of a tree may be summed by any thread, and sums of whole numbers
do not depend on their order. A step of a target is a power of two with which every number has `STEP_BITS` bits and a sign. Where
a product of target and weight would not fit, targets are shifted for that node (`node_facts` in `kernels/grow.py`). What rounding
left out is added back in finer steps when a leaf gets its value (`kernels/finish.py`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.binning.cuts import Cuts
from spinney.binning.kernels.records import Binned
from spinney.binning.matrix import SPARSE, BinnedMatrix
from spinney.binning.views import ROW_BITS, SortedTable
from spinney.data import Table
from spinney.data.sparse import SparseValues
from spinney.data.table import starts_of
from spinney.data.target import ForestTarget
from spinney.growth.forest.kernels.records import (
    BYTES,
    MOVED,
    PAIRS_OF_BYTES,
    PLACES,
    RANKS,
    SEARCHED,
    BinValues,
    RowCodes,
    Target,
)
from spinney.jit.team import parallel_map

Ends = tuple[NDArray[np.float64], NDArray[np.float64]]  # the least and the largest value of each column
MOST_RECORD_CODES = 128  # columns up to which records contain codes
ROWS = (1 << ROW_BITS) - 1
LARGEST = np.finfo(np.float64).max
COLUMNS_AT_ONCE = 8  # of a table of ranks, which a thread writes to every row
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
        A value for each code.
    access : int
        How kernels find the codes of a record's row: one of the forms in `kernels/records.py`.
    record_codes : int
        Bytes of codes in a record.
    cut_start, cuts : int64[columns + 1], float64
        The threshold behind each code of a bin: values up to it have that code or a lower one. Of ranks, their values.
    category_words : int
        Words with a bit for every category of a column and one for missing values, 0 without categories.
    gap_thresholds : float64[cuts, PLACES], optional
        The thresholds that each code of a bin may have, where cuts are drawn.
    """

    binned: Binned
    others: RowCodes
    values: BinValues
    access: int
    record_codes: int
    cut_start: NDArray[np.int64]
    cuts: NDArray[np.float64]
    category_words: int
    gap_thresholds: NDArray[np.float64] | None = None

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
    matrix: BinnedMatrix, cuts: Cuts, ends: Ends | None = None, gaps: NDArray[np.float64] | None = None
) -> ForestTable:
    """The table of a histogram forest: codes are bins.

    For cuts that are drawn there are `ends`, as `column_ends` gives them, between which they lie, and `gaps`, the gap thresholds
    of `cuts`.
    """
    binned = matrix.binned(cuts.categorical)
    record_codes = (
        matrix.groups
        if not matrix.wide and not matrix.sparse.present and matrix.groups <= MOST_RECORD_CODES
        else 0
    )
    access = MOVED if record_codes else PAIRS_OF_BYTES if matrix.wide else BYTES
    words: NDArray[Any] = matrix.by_row.reshape(-1).view(np.int64) if record_codes else np.zeros(0, np.int64)
    starts, values = bin_values(cuts)
    if ends is not None:
        _set_ends(values, starts, cuts, ends)
    cut_start, thresholds = _closed(cuts)
    values = np.append(values, np.zeros(SEARCHED))  # searches look behind a column's last value
    return ForestTable(
        binned,
        RowCodes(len(words), words, 0, matrix.columns, np.zeros(0, np.int32), *_entries_by_row(matrix)),
        BinValues(matrix.columns, len(values), starts, values, cuts.bins),
        access,
        record_codes,
        cut_start,
        thresholds,
        _category_words(cuts),
        None if gaps is None else _closed_gaps(cuts, cut_start, gaps),
    )


def ranked_table(matrix: BinnedMatrix, cuts: Cuts, ranked: SortedTable, threads: int = 1) -> ForestTable:
    """The table of an exact forest: codes are ranks of values, or numbers of categories."""
    binned = matrix.binned(cuts.categorical)
    counts = np.where(cuts.categorical != 0, cuts.bins, ranked.record.ranks)
    starts = starts_of(counts)
    values = np.zeros(int(starts[-1]))
    ranks = np.empty((ranked.rows, ranked.columns), np.int32)

    def fill(first: int) -> None:
        """Fill some columns: each is put in the order of rows by itself, in cache, then all are written row by row."""
        columns = range(first, min(first + COLUMNS_AT_ONCE, ranked.columns))
        by_column = np.empty((len(columns), ranked.rows), np.int32)
        for codes, column in zip(by_column, columns, strict=True):
            entries = ranked.record.entries[ranked.record.starts[column] : ranked.record.starts[column + 1]]
            own = ranked.values[ranked.value_starts[column] : ranked.value_starts[column + 1]]
            if cuts.categorical[column]:
                # A category's number is its code. The rows that are not listed are missing.
                numbers = np.append(own, counts[column]).astype(np.int32)
                codes[:] = numbers[ranked.record.rest[column]]
                codes[entries & ROWS] = numbers[entries >> ROW_BITS]
            else:
                codes[:] = ranked.record.rest[column]
                codes[entries & ROWS] = entries >> ROW_BITS
                values[starts[column] : starts[column + 1]] = own
        ranks[:, columns.start : columns.stop] = by_column.T

    parallel_map(fill, range(0, ranked.columns, COLUMNS_AT_ONCE), threads)
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
    features, codes = matrix.features, matrix.sparse.row_codes
    sparse = np.flatnonzero(features.group == SPARSE)
    sparse = sparse[np.argsort(features.low[sparse], kind="stable")]
    columns = np.repeat(sparse.astype(np.int32), features.codes[sparse])[codes]
    bins = codes - features.low.astype(np.int32)[columns]
    # Codes leave out the default bin.
    bins += bins >= features.default.astype(np.int32)[columns]
    return len(codes), columns, bins.astype(np.uint16)


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
    at = _cut_places(cuts, starts)
    above[at] = cuts.values
    below[at + 1] = cuts.values
    with_cuts = np.flatnonzero(np.diff(cuts.starts))
    low, high = cuts.starts[with_cuts], cuts.starts[with_cuts + 1] - 1
    first = cuts.values[np.minimum(low + 1, high)] - cuts.values[low]
    last = cuts.values[high] - cuts.values[np.maximum(high - 1, low)]
    below[starts[with_cuts]] = cuts.values[low] - np.where(low < high, first, 1.0)
    above[starts[with_cuts + 1] - 1] = cuts.values[high] + np.where(low < high, last, 1.0)
    return starts, below * 0.5 + above * 0.5


def _cut_places(cuts: Cuts, starts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Positions of the cuts of all columns if those of each column are written from its start on."""
    return np.arange(len(cuts.values)) + np.repeat(starts[:-1] - cuts.starts[:-1], np.diff(cuts.starts))


def _set_ends(values: NDArray[np.float64], starts: NDArray[np.int64], cuts: Cuts, ends: Ends) -> None:
    """Make the least and the largest value of each column those of its first and last bin. Where every bin has one value, that is
    the bin's.
    """
    for column in np.flatnonzero((np.diff(starts) > 1) & (cuts.categorical == 0) & ~np.isnan(ends[0])):
        low, high = float(ends[0][column]), float(ends[1][column])
        own = slice(int(starts[column]), int(starts[column + 1]))
        of_bins = values_between(cuts.values[cuts.starts[column] : cuts.starts[column + 1]], low, high)
        if of_bins is not None:
            values[own] = of_bins
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
    """The cuts of columns of numbers, each list followed by the largest number, which no value is above."""
    starts = starts_of(np.where(cuts.categorical != 0, 0, cuts.bins))
    values = np.full(int(starts[-1]), LARGEST)
    numeric = np.repeat(cuts.categorical == 0, np.diff(cuts.starts))
    values[_cut_places(cuts, starts)[numeric]] = cuts.values[numeric]
    return starts, values


def _closed_gaps(cuts: Cuts, cut_start: NDArray[np.int64], gaps: NDArray[np.float64]) -> NDArray[np.float64]:
    """The gap thresholds of the cuts of `_closed`."""
    found = np.full((int(cut_start[-1]), PLACES), LARGEST)
    for column in np.flatnonzero(cuts.categorical == 0):
        own = gaps[cuts.starts[column] : cuts.starts[column + 1]]
        found[cut_start[column] : cut_start[column] + len(own)] = own
    return found


# With more rows the values of neighbouring bins are so near that it makes no difference where a threshold lies between them.
MOST_ROWS = 20_000
MOST_CUTS = 2**18  # of all columns, whose gap thresholds are kept while trees grow
NARROW = 0.125  # of the distance between two cuts: a gap that takes up less of it has one threshold


def column_ends(table: Table, absent: float) -> Ends:
    """The least and the largest value of each column, NaN where all are missing; `absent` is the value of entries not stored.

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


def gap_thresholds(table: Table, cuts: Cuts, absent: float) -> NDArray[np.float64] | None:
    """Thresholds that split the table's values as each cut does, at `PLACES` places of the gap around it; None for many rows.

    Returns
    -------
    float64[cuts, PLACES]
        Ascending for each cut; all the same where the gap is narrow.

    Examples
    --------
    >>> from spinney.data import read_table
    >>> cuts = Cuts(np.array([3.0]), np.array([0, 1]), 255, np.zeros(1, np.uint8))
    >>> gap_thresholds(read_table(np.array([[1.0], [5.0]])), cuts, 0.0)[0, :3].tolist()
    [1.125, 1.375, 1.625]
    """
    if table.rows > MOST_ROWS or len(cuts.values) > MOST_CUTS:
        return None
    share = (np.arange(PLACES) + 0.5) / PLACES
    thresholds = np.repeat(cuts.values[:, None], PLACES, axis=1)
    for column, values in enumerate(_columns(table, absent)):
        own = slice(int(cuts.starts[column]), int(cuts.starts[column + 1]))
        if cuts.categorical[column] or own.start == own.stop:
            continue
        present = np.sort(values[~np.isnan(values)])
        below = np.searchsorted(present, cuts.values[own], side="right")
        inside = (below > 0) & (below < len(present))
        low, high = present[np.maximum(below - 1, 0)], present[np.minimum(below, len(present) - 1)]
        edges = np.concatenate([present[:1], cuts.values[own], present[-1:]])
        near = np.minimum(edges[1:-1] * 0.5 - edges[:-2] * 0.5, edges[2:] * 0.5 - edges[1:-1] * 0.5)
        inner = low[:, None] * (1.0 - share) + high[:, None] * share
        wide = inside & (high * 0.5 - low * 0.5 > NARROW * near)
        # Between numbers that lie next to each other there are none.
        wide &= (np.diff(inner, axis=1) > 0.0).all(axis=1) & (inner[:, 0] >= low) & (inner[:, -1] < high)
        thresholds[own][wide] = inner[wide]
    return thresholds


def _columns(table: Table, absent: float) -> Iterator[NDArray[np.float64]]:
    """The values of each column, missing ones among them; the value of entries that a sparse table does not store comes once."""
    if table.sparse is None:
        for panel in table.panels:
            yield from panel.values.T.astype(np.float64)
        return
    starts, _, values = table.sparse.by_column
    table.sparse.forget()
    for first, end in pairwise(starts.tolist()):
        stored = values[first:end].astype(np.float64)
        yield np.append(stored, absent) if end - first < table.rows else stored


def _stored_ends(sparse: SparseValues, rows: int, absent: float) -> Ends:
    """The ends of a sparse table's columns."""
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


STEP_BITS = 30  # of a number in steps, besides its sign
LEAST_UNIT = -1022  # power of two of the smallest step: float64 has few digits below it


def target_record(
    target: ForestTarget, weight: NDArray[np.float64] | None, channels: int, centered: bool
) -> Target:
    """Turn a target into steps: whole numbers that classes are already.

    Parameters
    ----------
    target : ForestTarget
        Classes or numbers.
    weight : float64[rows], optional
        Weights of the rows.
    channels : int
        Sums that a node has besides its weight.
    centered : bool
        Whether 0 steps stand for the middle of the numbers, else for 0.
    """
    rows, outputs = target.values.shape
    weights = np.zeros(0) if weight is None else np.ascontiguousarray(weight, np.float64)
    centers, units = np.zeros(outputs), np.ones(outputs)
    if target.classes:
        steps, numbers = target.values.astype(np.int32), np.zeros(0)
        first = np.concatenate([[0], np.cumsum(target.classes)[:-1]]).astype(np.int64)
    else:
        numbers = np.ascontiguousarray(target.values, np.float64)
        first = np.arange(outputs, dtype=np.int64)
        if centered:
            centers = numbers.min(axis=0) * 0.5 + numbers.max(axis=0) * 0.5
        largest = float(np.abs(numbers - centers).max())
        # The smallest power of two with which every number has STEP_BITS bits or fewer. All outputs have the same, because
        # their squares are added.
        if largest > 0:
            units[:] = 2.0 ** max(math.ceil(math.log2(largest)) - STEP_BITS, LEAST_UNIT)
        steps = np.rint((numbers - centers) / units).astype(np.int32)
    return Target(
        rows=rows,
        outputs=outputs,
        channels=channels,
        classes=int(bool(target.classes)),
        weighted=int(weight is not None),
        values=target.leaf_values,
        steps=np.ascontiguousarray(steps).ravel(),
        first=first,
        numbers=numbers.ravel(),
        centers=centers,
        units=units,
        weights=weights,
    )
