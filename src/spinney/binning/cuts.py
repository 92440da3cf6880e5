"""Where the columns of a table are cut into bins, and fewer bins for columns of few entries.

Where bins would be very many, columns of few entries get fewer of them (`CutThinning`), so that histograms stay smaller than the
table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.binning.kernels.cut import Keys, SortBuffers, cut_columns, gather_keys
from spinney.binning.kernels.entry import cut_stored
from spinney.binning.kernels.records import CutLists
from spinney.binning.kernels.sketch import cut_points
from spinney.binning.matrix import block_of, stored_of
from spinney.binning.sketch import QuantileSketch
from spinney.data import Panel, Table
from spinney.data.sparse import SparseValues
from spinney.data.table import EMPTY64, kernel_blocks
from spinney.errors import DataError
from spinney.jit import allocate
from spinney.jit.team import Team

MANY_CUTS = 2**18  # of all columns: up to so many, a histogram takes a few megabytes
# Entries to a bin. While a tree grows, a bin takes 76 bytes on two threads: about as much as eight entries of a sparse matrix.
ENTRIES_OF_BIN = 8
FEW = 0.25  # of the rows: columns with fewer entries are kept sparse, or bundled


def may_thin(columns: int, max_bin: int) -> bool:
    """Whether a table may have so many bins that columns of few entries get fewer: entries are to be counted then."""
    return columns * max_bin > MANY_CUTS


class CutThinning:
    """Collects the cuts of a table's columns, and takes some away when they become very many.

    A column that is 0 or missing in most rows then keeps about one cut for every `ENTRIES_OF_BIN` entries that are neither, and
    always those next to 0. The same for dense and sparse tables. Nothing is taken away where `thin` is False. `count` gives the
    number of such entries in each column of the table; it is called only where cuts are very many.
    """

    def __init__(self, rows: int, count: Callable[[], NDArray[np.int64]], thin: bool) -> None:
        self._rows, self._count, self._thin = rows, count, thin
        self._parts: list[NDArray[np.float64]] = []
        self._total, self._thinned = 0, 0

    def add(self, parts: list[NDArray[np.float64]]) -> None:
        """Take the cuts of the next columns."""
        self._parts += parts
        self._total += sum(len(part) for part in parts)
        if self._total > MANY_CUTS and self._thin:
            for column in range(self._thinned, len(self._parts)):
                self._parts[column] = thinned(self._parts[column], int(self._most[column]))
            self._thinned = len(self._parts)

    def all(self) -> list[NDArray[np.float64]]:
        """The cuts of all columns."""
        return self._parts

    @cached_property
    def _most(self) -> NDArray[np.int64]:
        """How many cuts a column may keep."""
        entries = self._count()
        few = entries < FEW * self._rows
        return np.where(few, np.maximum(entries // ENTRIES_OF_BIN, 1), self._rows)


def thinned(cuts: NDArray[np.float64], most: int) -> NDArray[np.float64]:
    """Every so many cuts of a column, counted from 0 to either side.

    Examples
    --------
    >>> thinned(np.array([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5]), 3).tolist()
    [-2.5, -0.5, 0.5, 2.5]
    """
    if len(cuts) <= most:
        return cuts
    every = -(-len(cuts) // most)
    below = int(np.searchsorted(cuts, 0.0))
    return np.concatenate([cuts[:below][::-1][::every][::-1], cuts[below:][::every]])


def count_entries(table: Table) -> NDArray[np.int64]:
    """How many values of each column are neither 0 nor missing.

    Examples
    --------
    >>> from spinney.data import read_table
    >>> count_entries(read_table(np.array([[0.0, 1.0, 2.0], [np.nan, 3.0, 0.0]]))).tolist()
    [0, 2, 1]
    """
    if table.sparse is None:
        found = [_entries(panel.values[:, k]).sum() for panel in table.panels for k in range(panel.columns)]
        return np.array(found, np.int64)
    starts, _, data = table.sparse.by_column
    filled = _entries(data)
    return np.array([np.count_nonzero(filled[a:b]) for a, b in pairwise(starts.tolist())], np.int64)


def _entries(values: NDArray[np.generic]) -> NDArray[np.bool_]:
    found: NDArray[np.bool_] = values != 0
    found &= values == values
    return found


SAMPLE = 200_000  # rows that cuts are found from; LightGBM takes as many
COLUMNS_AT_ONCE = 32  # columns sorted in one go: bounds the memory for keys at 51 MB
CUTS_AT_ONCE = 500_000  # memory for cuts of sparse columns that are found in one go
WHOLE = (
    2.0**52
)  # masses of rows are whole numbers of at most this sum: float64 adds them exactly, in any order
EVERYTHING = np.finfo(np.float64).max  # what a split has all values below
LARGEST_BINS = 65_535  # one of 65 536 numbers is for missing values

Threshold = Callable[[NDArray[Any], NDArray[Any]], NDArray[np.float64]]  # columns, bins → real values


@dataclass(frozen=True, eq=False)
class Cuts:
    """Cuts of all columns: column j has values[starts[j]:starts[j + 1]], ascending; a value equal to a cut is below it.

    A categorical column is cut between the numbers of its categories: each has the bin of its own number.
    """

    values: NDArray[np.float64]
    starts: NDArray[np.int64]
    max_bin: int
    categorical: NDArray[np.uint8]  # 1 for a categorical column

    @property
    def bins(self) -> NDArray[np.int64]:
        """Bins of each column, without the one for missing values."""
        return np.diff(self.starts) + 1

    def bins_of(self, value: float) -> NDArray[np.int64]:
        """The bin of each column that a value is in; NaN is missing."""
        if np.isnan(value):
            return self.bins
        below = np.concatenate([np.zeros(1, np.int64), np.cumsum(self.values < value, dtype=np.int64)])
        found: NDArray[np.int64] = below[self.starts[1:]] - below[self.starts[:-1]]
        return found

    def record(self) -> CutLists:
        """The cuts for kernels."""
        return CutLists(len(self.starts) - 1, len(self.values), self.values, self.starts)

    def same(self, other: Cuts) -> bool:
        """Whether both cut every column alike."""
        return self is other or (
            np.array_equal(self.starts, other.starts)
            and np.array_equal(self.values, other.values)
            and np.array_equal(self.categorical, other.categorical)
        )

    def thresholds(self) -> Threshold:
        """What gives the real values behind splits "bin <= b" of some columns; the last bin has no cut, everything is below it.

        Examples
        --------
        >>> cuts = Cuts(np.array([1.0, 2.5, 0.5]), np.array([0, 2, 3]), 255, np.zeros(2, np.uint8))
        >>> cuts.thresholds()(np.array([0, 1, 1]), np.array([1, 0, 1])).tolist()
        [2.5, 0.5, 1.7976931348623157e+308]
        """
        # One table for all trees: a tree's thresholds take 2 µs, and 7 where the last bins are looked for in each.
        values = np.insert(self.values, self.starts[1:], EVERYTHING)
        begins = self.starts[:-1] + np.arange(len(self.starts) - 1)
        return lambda columns, bins: values[begins[columns] + bins]

    def bins_below(self, columns: NDArray[Any], thresholds: NDArray[np.float64]) -> NDArray[np.int64]:
        """The bins of splits "bin <= b" behind real values: the inverse of `thresholds`, whose values they must be.

        Examples
        --------
        >>> cuts = Cuts(np.array([1.0, 2.5, 0.5]), np.array([0, 2, 3]), 255, np.zeros(2, np.uint8))
        >>> cuts.bins_below(np.array([0, 0, 1]), cuts.thresholds()(np.array([0, 0, 1]), np.array([1, 2, 0]))).tolist()
        [1, 2, 0]
        """
        found = []
        for column, value in zip(columns, thresholds, strict=True):
            own = self.values[self.starts[column] : self.starts[column + 1]]
            place = int(np.searchsorted(own, value))
            if value != (own[place] if place < len(own) else EVERYTHING):
                raise DataError("the tree was not grown on these cuts: one of its thresholds is none of them")
            found.append(place)
        return np.array(found, np.int64)


def find_cuts(
    table: Table,
    weight: NDArray[np.float64] | None,
    max_bin: int,
    team: Team,
    absent: float = 0.0,
    categories: NDArray[np.int64] | None = None,
    thin: bool = True,
    spread: bool = False,
    thinning: CutThinning | None = None,
) -> Cuts:
    """Quantile cuts of every column, the same for any number of threads, for float32 and float64, dense and sparse input.

    Cuts that are spread are not quantiles: there are more of them where values lie far apart.

    `absent` is what an entry that a sparse table does not store means: 0, or NaN. Where cuts would be very many, columns of few
    entries get fewer if they may be thinned; see `CutThinning`.

    A table has the cuts of its sampled rows (`sample_rows`), given as a table of their own with their weights and the `thinner`
    of the whole.
    """
    thinning = thinning or CutThinning(table.rows, partial(count_entries, table), thin)
    picks = sample_rows(table.rows)
    most = min(max_bin, LARGEST_BINS, len(picks) + 1)
    sampled_weight = EMPTY64 if weight is None else whole_masses(weight[picks])
    if table.sparse is not None:
        mass = np.zeros(table.rows)
        mass[picks] = 1.0 if weight is None else sampled_weight
        _cut_stored(table.sparse, mass, weight is not None, most, spread, absent, team, thinning)
        return cuts_of(thinning.all(), max_bin)
    sorting = allocate(SortBuffers, threads=team.size, longest=len(picks), weighted=int(weight is not None))
    for panel in table.panels:
        for first in range(0, panel.columns, COLUMNS_AT_ONCE):
            some = Panel(panel.first + first, panel.values[:, first : first + COLUMNS_AT_ONCE])
            thinning.add(_cut_some(some, picks, sampled_weight, most, spread, sorting, team))
    return cuts_of(thinning.all(), max_bin, categories)


def cuts_from_sketches(
    sketches: Sequence[QuantileSketch],
    max_bin: int,
    categories: NDArray[np.int64] | None = None,
    thinning: CutThinning | None = None,
) -> Cuts:
    """Quantile cuts of columns that came in batches, one sketch a column; a column is cut as `find_cuts` cuts its values.

    As long as the sketches are exact, cuts of columns without weights are the same as from the whole table. The `thinner` takes
    some away where they are very many.

    Examples
    --------
    >>> cuts_from_sketches([QuantileSketch().update([1, 2]).update([2, 4])], 255).values.tolist()
    [1.5, 3.0]
    """
    parts = [_cut_one(*sketch.points(), max_bin) for sketch in sketches]
    if thinning is not None:
        thinning.add(parts)
        parts = thinning.all()
    return cuts_of(parts, max_bin, categories)


def cuts_from_masses(
    columns: Iterable[tuple[NDArray[np.float64], NDArray[np.float64]]], max_bin: int
) -> Cuts:
    """Quantile cuts of columns of which it is known how much each value weighs: those that `find_cuts` finds for such rows.

    Values may come several times. What weighs nothing does not count.

    Examples
    --------
    >>> cuts_from_masses([(np.array([4.0, 1.0, 2.0, 2.0]), np.array([1.0, 5.0, 1.0, 0.0]))], 255).values.tolist()
    [1.5, 3.0]
    """
    parts = []
    for values, masses in columns:
        points, place = np.unique(values[masses > 0.0], return_inverse=True)
        parts.append(_cut_one(points, np.bincount(place, masses[masses > 0.0]).astype(np.float64), max_bin))
    return cuts_of(parts, max_bin)


def _cut_one(points: NDArray[np.float64], masses: NDArray[np.float64], max_bin: int) -> NDArray[np.float64]:
    """Cuts of a column of distinct values, ascending."""
    most = min(max_bin, LARGEST_BINS, len(points) + 1)
    cuts, made = np.empty(most), np.empty(1, np.int64)
    keys = np.empty(len(points), np.int64)
    cut_points(len(points), most, points, whole_masses(masses), keys, cuts, made)
    return cuts[: int(made[0])].copy()


def cuts_of(
    parts: list[NDArray[np.float64]],
    max_bin: int = LARGEST_BINS,
    categories: NDArray[np.int64] | None = None,
) -> Cuts:
    """Cuts of columns, of each an array; those of categories follow from how many these are."""
    categorical = np.zeros(len(parts), np.uint8)
    if categories is not None:
        categorical[:] = categories > 0
        for column in np.flatnonzero(categories):
            parts[column] = np.arange(categories[column] - 1) + 0.5
    starts = np.zeros(len(parts) + 1, np.int64)
    np.cumsum([len(part) for part in parts], out=starts[1:])
    return Cuts(np.concatenate(parts), starts, max_bin, categorical)


def whole_masses(weight: NDArray[np.float64]) -> NDArray[np.float64]:
    """Weights as whole numbers in the same proportion; what weighs anything at all weighs at least 1."""
    total = float(weight.sum())
    if total <= 0.0:
        return np.zeros(len(weight))
    # The power of two is split, because it may be beyond float64 where weights are tiny.
    power = int(np.floor(np.log2(WHOLE) - np.log2(total)))
    masses = np.floor(np.ldexp(np.ldexp(weight, power // 2), power - power // 2))
    return np.maximum(masses, weight > 0.0)


def sample_rows(rows: int) -> NDArray[np.int64]:
    """Rows that cuts are found from: all, or one from each of SAMPLE equal stretches."""
    if rows <= SAMPLE:
        return np.arange(rows, dtype=np.int64)
    stretch = np.arange(SAMPLE, dtype=np.int64)
    begin = stretch * rows // SAMPLE
    length = (stretch + 1) * rows // SAMPLE - begin
    # A multiplicative hash, and not the same offset everywhere, so that periodic data are not seen at one phase only.
    offset = (stretch * 2654435761 >> 8) % length
    return begin + offset


def _cut_some(
    panel: Panel,
    picks: NDArray[np.int64],
    weight: NDArray[np.float64],
    most: int,
    spread: bool,
    sorting: SortBuffers,
    team: Team,
) -> list[NDArray[np.float64]]:
    columns, total = panel.columns, len(picks)
    keys = np.empty(columns * total, np.int64)
    for first, block in kernel_blocks(panel):
        low, high = np.searchsorted(picks, [first, first + len(block)])
        here = picks[low:high] - first
        team.run(gather_keys.bind(block_of(block), len(here), total, int(low), here, keys))
    cuts, made = np.empty(columns * most), np.empty(columns, np.int64)
    team.run(cut_columns.bind(columns, most, int(spread), sorting, weight, keys, cuts, made))
    return _pieces(cuts, made, most)


def _cut_stored(
    values: SparseValues,
    mass: NDArray[np.float64],
    weighted: bool,
    most: int,
    spread: bool,
    absent: float,
    team: Team,
    thinning: CutThinning,
) -> None:
    """Find the cuts of the columns of a sparse table."""
    stored = stored_of(values)
    longest = int(np.diff(stored.starts).max()) + 1
    most = min(most, longest + 1)
    sorting = allocate(SortBuffers, threads=team.size, longest=longest, weighted=int(weighted))
    keys = allocate(Keys, threads=team.size, buffers=sorting)
    step = max(1, CUTS_AT_ONCE // most)
    for first in range(0, stored.columns, step):
        starts = stored.starts[first : first + step + 1]
        columns = len(starts) - 1
        some = replace(stored, columns=columns, starts=starts)
        cuts, made = np.empty(columns * most), np.empty(columns, np.int64)
        team.run(
            cut_stored.bind(
                some, len(mass), most, int(spread), absent, float(mass.sum()), mass, sorting, keys, cuts, made
            )
        )
        thinning.add(_pieces(cuts, made, most))


def _pieces(cuts: NDArray[np.float64], made: NDArray[np.int64], most: int) -> list[NDArray[np.float64]]:
    """The cuts that were made of each column, side by side in one array: very many small ones would leave holes in memory."""
    kept = cuts.reshape(-1, most)[np.arange(most) < made[:, None]]
    return np.split(kept, np.cumsum(made)[:-1])
