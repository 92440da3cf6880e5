"""Search for duplicate rows, which must be in one fold of a target encoding and on one side of a hold-out.

A table may hold rows several times: its classes were balanced, or rows were drawn with replacement. Were a duplicate in another
fold, a row would be encoded with its own target. Were a duplicate of a training row held out, early stopping would use a row that
was trained on. So where rows are duplicated, all rows of the same bins form a group.

Rows of the same bins need not be duplicates: where columns are few and coarse, other rows will have the same bins again, and no
row is a duplicate. Duplicates have one target. Three things show that rows which repeat others with one target were duplicated:

- *Some rows repeat no other.* Balancing classes leaves the rows of the largest class alone, and drawing with replacement leaves
  many. Rows of few, coarse columns nearly all repeat others.
- *All rows occur twice*, or three times: a table that was concatenated with itself.
- *Chance would not repeat so many.* Rows are taken for draws from as many cells as the columns separate, and so many draws are
  counted as would have given the distinct rows. Only columns that separate distinct rows count, so attributes of a product
  add nothing to its name. And rows must occur about equally often: those of a table whose columns depend on each other do not.

A table of products with a price each, of which every one was seen a few times, has none of these: its key makes as many cells as
there are rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import exp, log1p, sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spinney.binning.binned import BinnedData
from spinney.binning.kernels.records import NO_DEFAULT
from spinney.binning.matrix import SPARSE, BinnedMatrix, ColumnLayout
from spinney.collective import ALONE, Communicator
from spinney.data import Labels
from spinney.data.table import starts_of
from spinney.jit.team import Team
from spinney.sampling.kernels.random import PURPOSE_HASH
from spinney.sampling.orders import random_words
from spinney.target_encoding.sums import Floats, Numbers

Hashes = NDArray[np.uint64]

# Below this share of rows that have the bins of a row before, rows are encoded with the targets of others that have their bins.
# 3 000 rows with a column of 400 categories that do not predict: with .02 of the rows copied the target encoding cost .002 of
# AUC, with .05 .008, with .1 .012.
SOME = 0.01
# And below this one they are held out apart, which has a price either way. With .17 of 3 000 rows copied, "auto" went on for 62
# to 89 rounds in place of 22 to 30 and lost .009 to .014 of AUC on rows that are no copies, with .23 for 279 and .03. But a table
# of wines has .16 that were measured twice, and new ones will have as many: held out together, they cost 2 to 6 % of loss.
HELD_TOGETHER = 0.2
# Sets of rows of the same bins that have several targets, at most, as a share of those that would by chance: none where all are
# duplicates, but some rows have the same bins because bins are wide. 12 000 sales or none of 30 goods in 100 shops, each with a
# chance of its own, have .7.
MIXED = 0.25
# Rows that repeat no other, at least, as a share of all, or of those of one class. It estimates how many other rows have bins
# that were not seen: .37 for rows drawn with replacement, .5 for two balanced classes, .08 for prices that were seen 2.5 times
# each.
UNREPEATED = 0.25
FREQUENT = 0.02  # of all rows has a target that counts as a class
LEAST = 5.0  # sets of several targets must be expected, or targets do not show duplicates
# So many distinct rows must there be for each category, or all rows of a category would form one group, and none be left to
# encode it with; or the other columns alone must separate most rows, as where each category is the name of a row.
ROWS_PER_CATEGORY = 2
# Most times that all rows occur which are not explained by chance: 20 rows for each of 40 values are no duplicates.
TIMES = 4
SEVERAL = 20  # sets of rows of the same bins and target, at least: all have an even size by chance once in 2^20 tables
# Rows that neither the targets of rows of the same bins nor the columns explain by chance, as a share of all, or of those that
# repeat others. 5 000 rows with a column of 300 to 3 000 categories and two to four of 3 to 7 values, half of them copied, have
# .17 to .33 of all by columns and .29 to .34 by targets; without copies, though up to .4 of the rows repeat others, -.23 to -.02
# and up to .08.
COPIED = 0.15
MOSTLY = 0.5
DEVIATIONS = 4.0  # and so many standard deviations more than chance would repeat
# Variance of how often rows occur, over what draws of equal chances would give, in squares of the mean. Below 0 for rows that
# occur 1 to 4 times, .2 for 1 to 20 times, up to .26 for those of a coarse table; mostly .5 to 100 where some columns of a real
# table are all there is: these depend on each other, so that rows repeat others far more often than independent ones would.
UNEVEN = 0.4
FULL = 0.9  # of the cells that columns separate are taken: more draws would look the same
# So many more rows must a column separate, together with those before it, as a share. Rare categories share a bin: with .01 the
# attributes of 1 000 products that 4 000 rows name would count as well as the name. In a sample fewer rows are alike by chance:
# with .1 of its rows, 500 000 rows of 28 columns in which each occurs four times were not found.
ADDS = 0.1
# Or it separates so many of the rows that were not separated before. Where nearly all rows differ, as with .02 of 3 000 rows
# copied, the third of three columns of numbers adds .02 of the rows, but .5 of those that two leave.
PARTS = 0.3

ROWS = 50_000  # by which it is decided: a sample of larger tables
COLUMNS = 32  # of most bins, by which it is decided where rows alone are not enough
NO, YES, BY_COLUMNS = range(3)  # whether a sample holds duplicates, or its columns must decide


class Duplicates:
    """Finds duplicate rows among the rows of a fit, or among a part of them. Rows are hashed once for all searches.

    Whether rows are duplicates follows from their bins and targets. It must not follow from those of rows that a model may not
    see, such as test rows. So a search looks only at the rows that it is about.

    Parameters
    ----------
    data : BinnedData
        All local rows.
    columns : sequence of int
        Columns of categories that get a target encoding.
    communicator : Communicator
        Ranks that hold other rows; all of them call `of`.
    """

    def __init__(
        self, data: BinnedData, columns: Sequence[int] = (), communicator: Communicator = ALONE
    ) -> None:
        self._data, self._columns, self._communicator = data, columns, communicator
        self._hashes: Hashes | None = None
        self._among_all: RepeatCounts | None = None

    def of(
        self, data: BinnedData, labels: Labels, least: float = SOME, team: Team | None = None
    ) -> Numbers | None:
        """A number for each row of all or of a part of them, which its duplicates share, if these rows hold duplicates.

        Parameters
        ----------
        data : BinnedData
            The rows.
        labels : Labels
            Theirs. Rows of weight 0 do not count.
        least : float
            Share of these rows that must repeat others.
        team : Team, optional
            Threads that unpack codes.

        Returns
        -------
        int64[rows] or None
            Of the local rows. All ranks get numbers or none does.
        """
        all_rows = data is self._data
        counts = self._among_all if all_rows else None
        if counts is None:
            hashes, others = self._row_hashes(data, team)
            counts = self._search(data, labels, hashes, others, team)
        if all_rows:
            self._among_all = counts
        return self._row_hashes(data, team)[0].view(np.int64) if counts.reach(least) else None

    def forget(self) -> None:
        """Free the memory of the hashes, 16 bytes a row."""
        self._hashes = None

    def _row_hashes(self, data: BinnedData, team: Team | None) -> Hashes:
        """Hashes of rows by all columns, and by those that get no target encoding, 2 × rows; see `RowHasher`."""
        whole = self._data
        if self._hashes is None:
            hasher = RowHasher(whole.plan.features, self._columns)
            self._hashes = np.empty((2, whole.rows), np.uint64)
            for begin, end, matrix, rows in whole.scan(team):
                self._hashes[:, begin:end] = hasher.of(matrix, rows)
        if data is whole:
            return self._hashes
        selected = data.selected
        assert selected is not None
        assert data.codes is whole.codes
        return self._hashes[
            :, selected if whole.selected is None else np.searchsorted(whole.selected, selected)
        ]

    def _search(
        self, data: BinnedData, labels: Labels, hashes: Hashes, others: Hashes, team: Team | None
    ) -> RepeatCounts:
        """How many rows repeat others: none where these are no duplicates."""
        communicator = self._communicator
        category_counts = data.schema.category_counts
        categories = 0
        if category_counts is not None and len(self._columns):
            categories = int(category_counts[list(self._columns)].max())
        has_weight = np.ones(labels.rows, np.bool_) if labels.weight is None else labels.weight > 0.0
        rows = np.array([int(has_weight.sum())])
        communicator.allreduce_sum(rows)
        share = min(ROWS / max(int(rows[0]), 1), 1.0)
        # All rows of a hash are in the sample, or none.
        taken = has_weight & ((hashes >> np.uint64(32)) <= np.uint64(share * (2**32 - 1)))
        sample = [
            hashes[taken],
            others[taken],
            _target_hashes(labels.target.T.reshape(labels.targets, labels.rows)[:, taken]),
        ]
        gathered = communicator.gather(np.stack(sample, axis=1).view(np.int64))
        repeats, others_remain, verdict = None, False, NO
        if gathered is not None:
            of_all, other, target = np.concatenate(gathered).T
            repeats = Repeats.of(of_all, target, share)
            others_remain = repeats.others_remain(other, categories)
            verdict = _verdict(repeats, others_remain)
        verdict = int(communicator.broadcast(np.array([verdict]))[0])
        if verdict == BY_COLUMNS:
            bins = communicator.gather(_bins_of(data, taken, widest_columns(data.plan.features), team))
            found = (
                bins is not None
                and repeats is not None
                and repeats.beyond_chance(np.concatenate(bins), others_remain)
            )
            verdict = int(communicator.broadcast(np.array([YES if found else NO]))[0])
        if verdict == NO:
            return RepeatCounts(0, 0)
        sent = None if repeats is None else np.array([repeats.counts.rows, repeats.counts.repeats])
        return RepeatCounts(*communicator.broadcast(sent).tolist())


class RepeatCounts(NamedTuple):
    """How many rows a sample has, and how many of them have the bins of a row before."""

    rows: int
    repeats: int

    def reach(self, share: float) -> bool:
        """Whether such a share of the rows repeat others."""
        return self.rows > 0 and self.repeats >= share * self.rows


def _verdict(repeats: Repeats, others_remain: bool) -> int:
    """Whether a sample holds duplicates, or its columns must decide."""
    if not repeats.counts.reach(SOME):
        return NO
    if others_remain and repeats.whole_table:
        return YES
    return BY_COLUMNS if repeats.likely else NO


def _bins_of(
    data: BinnedData, taken: NDArray[np.bool_], columns: Numbers, team: Team | None
) -> NDArray[np.int32]:
    """Bins of some columns in some rows, rows × columns."""
    parts = [np.empty((0, len(columns)), np.int32)]
    for begin, end, matrix, rows in data.scan(team):
        own = np.flatnonzero(taken[begin:end])
        parts.append(column_bins(matrix, columns, own if rows is None else rows[own]))
    return np.concatenate(parts)


def column_bins(matrix: BinnedMatrix, columns: Numbers, rows: NDArray[np.integer[Any]]) -> NDArray[np.int32]:
    """Bins of some columns in some rows of a matrix, rows × columns, however columns are kept."""
    features, sparse = matrix.features, matrix.sparse
    found = np.empty((len(rows), len(columns)), np.int32)
    for place, column in enumerate(columns):
        low, codes, default = (int(one[column]) for one in (features.low, features.codes, features.default))
        if features.group[column] == SPARSE:
            entries = np.flatnonzero((sparse.row_codes >= low) & (sparse.row_codes < low + codes))
            of_rows = np.full(matrix.rows, low - 1, np.int64)
            of_rows[np.searchsorted(sparse.row_starts, entries, side="right") - 1] = sparse.row_codes[entries]
        else:
            of_rows = matrix.by_column[features.group[column]]
        k = of_rows[rows].astype(np.int64) - low
        found[:, place] = np.where((k >= 0) & (k < codes), k + (k >= default), default)
    return found


def _target_hashes(targets: Floats) -> Hashes:
    """A number for each row that rows of the same targets share; targets × rows."""
    hashes = np.zeros(targets.shape[1], np.uint64)
    for at, target in enumerate(targets):
        hashes += random_words(at, PURPOSE_HASH, (target + 0.0).view(np.uint64))
    return hashes


def widest_columns(features: ColumnLayout) -> Numbers:
    """The columns of most bins."""
    return np.argsort(-features.bins, kind="stable")[:COLUMNS]


class RowHasher:
    """Hashes of rows: rows of the same bins have the same, others do not but for a chance of 2^-64.

    A hash is a sum of random words, one for each bin of a row. So it does not depend on how columns are kept: alone, in bundles,
    or by their entries.

    Parameters
    ----------
    features : ColumnLayout
        Of the table.
    apart : sequence of int
        Columns in groups of their own, which only one of two hashes includes.
    """

    def __init__(self, features: ColumnLayout, apart: Sequence[int] = ()) -> None:
        self._features = features
        self._apart = {int(features.group[column]) for column in apart}

    @cached_property
    def _table(self) -> tuple[Hashes, Numbers, np.uint64]:
        """What each code adds to the hash of a row, where groups begin in that, and what all rows have.

        A default bin has no code: all rows are given it first, and any other code takes it back.
        """
        features = self._features
        words = random_words(0, PURPOSE_HASH, np.arange(int((features.bins + 1).sum())))
        first = starts_of(features.bins + 1)[:-1]
        has_default = features.default < NO_DEFAULT
        usual = np.where(has_default, words[first + np.where(has_default, features.default, 0)], np.uint64(0))
        column = np.repeat(np.arange(features.columns), features.codes)
        k = np.arange(len(column)) - starts_of(features.codes)[column]
        bins = k + (k >= features.default[column])
        begins = starts_of(features.group_codes)
        group = np.where(features.group == SPARSE, len(features.group_codes), features.group)
        table = np.zeros(int(begins[-1]) + features.sparse_codes, np.uint64)
        table[begins[group[column]] + features.low[column] + k] = words[first[column] + bins] - usual[column]
        return table, begins, usual.sum(dtype=np.uint64)

    def of(self, matrix: BinnedMatrix, rows: NDArray[np.int32] | None = None) -> tuple[Hashes, Hashes]:
        """Hashes of all rows of a matrix, or of some: by all columns, and by those that are not apart."""
        table, begins, usual = self._table
        count = matrix.rows if rows is None else len(rows)
        hashes = np.zeros((2, count), np.uint64)
        hashes[1] = usual
        for group, codes in enumerate(matrix.by_column):
            part = hashes[0 if group in self._apart else 1]
            part += table[begins[group] : begins[group + 1]][codes if rows is None else codes[rows]]
        sparse = matrix.sparse
        if sparse.present:
            # Sums of unsigned numbers wrap around, so differences of running sums are right.
            running = np.zeros(sparse.entries + 1, np.uint64)
            np.cumsum(table[begins[-1] :][sparse.row_codes], out=running[1:])
            ends = running[sparse.row_starts]
            listed = ends[1:] - ends[:-1]
            hashes[1] += listed if rows is None else listed[rows]
        hashes[0] += hashes[1]
        return hashes[0], hashes[1]


@dataclass(frozen=True, eq=False)
class Repeats:
    """How often rows occur in a sample of a table that holds all rows of the same bins, or none of them.

    Attributes
    ----------
    share : float
        Of the table's rows that the sample holds, about.
    number : int64[rows]
        Rows of the same bins have the same, from 0.
    sizes : int64[sets]
        How many rows have each number.
    target : int64[rows]
        Rows of the same target have the same number, from 0.
    """

    share: float
    number: Numbers
    sizes: Numbers
    target: Numbers

    @classmethod
    def of(cls, row_hashes: Numbers, targets: Numbers, share: float) -> Repeats:
        """Those of rows whose bins and targets are given by hashes."""
        _, number, sizes = np.unique(row_hashes, return_inverse=True, return_counts=True)
        return cls(share, number, sizes, np.unique(targets, return_inverse=True)[1])

    @property
    def counts(self) -> RepeatCounts:
        """How many rows there are, and how many repeat others."""
        return RepeatCounts(len(self.number), len(self.number) - len(self.sizes))

    def others_remain(self, others: Numbers, categories: int) -> bool:
        """Whether categories would have rows of several groups to be encoded with; `others` are hashes by all other columns."""
        sets = len(self.sizes)
        return sets >= ROWS_PER_CATEGORY * categories * self.share or len(np.unique(others)) * 2 >= sets

    @property
    def whole_table(self) -> bool:
        """Whether all rows, with their targets, occur twice, or a few times."""
        sizes = np.unique(self._kinds, return_counts=True)[1]
        return len(sizes) >= SEVERAL and 2 <= np.gcd.reduce(sizes) <= TIMES

    @property
    def likely(self) -> bool:
        """Whether many rows have the target of rows that they repeat, and occur as duplicates do: then columns must decide."""
        mean = float(self.sizes.mean())
        if (1.0 - self._mixed) * (len(self.number) - len(self.sizes)) < self._least:
            return False
        return self._many_unrepeated or float(self.sizes.var()) - _variance(mean) <= UNEVEN * mean**2

    def beyond_chance(self, bins: NDArray[np.int32], others_remain: bool) -> bool:
        """Whether chance would not repeat so many rows, by bins of their columns, rows × columns.

        Where a column alone separates rows, as a name or a key does, only rows that repeat no other can show it.
        """
        rows, sets = len(self.number) / self.share, len(self.sizes) / self.share
        cells, needed = cells_of(bins, self.share)
        if needed == 1:
            return others_remain and self._many_unrepeated and self._mixed <= MIXED
        if sets > FULL * cells:
            return False
        drawn = -cells * log1p(-sets / cells)
        # Rows of the sample, whose number has this variance.
        by_chance = max(self.share * (drawn - sets), 1.0)
        return self.share * (rows - drawn) >= max(self._least, DEVIATIONS * sqrt(by_chance))

    @property
    def _least(self) -> float:
        """Rows that must be copies."""
        rows = len(self.number)
        return min(COPIED * rows, MOSTLY * (rows - len(self.sizes)))

    @cached_property
    def _many_unrepeated(self) -> bool:
        """Whether many rows, of all or of a class, repeat no other."""
        of_target = np.bincount(self.target)
        alone = np.bincount(self.target[self.sizes[self.number] == 1], minlength=len(of_target))
        of_class = (alone / of_target)[of_target >= FREQUENT * len(self.target)]
        return bool(max(alone.sum() / len(self.target), of_class.max(initial=0.0)) >= UNREPEATED)

    @cached_property
    def _kinds(self) -> Numbers:
        """A number for each row that rows of the same bins and target share."""
        found: Numbers = self.number * (int(self.target.max()) + 1) + self.target
        return found

    @cached_property
    def _mixed(self) -> float:
        """Sets of rows that have several targets, as a share of those that would by chance; 1 where too few would."""
        chances = np.bincount(self.target) / len(self.target)
        expected = sum(
            int(count) * (1.0 - float((chances**size).sum()))
            for size, count in zip(*np.unique(self.sizes, return_counts=True), strict=True)
        )
        kinds = np.bincount(np.unique(self._kinds) // len(chances))
        return float((kinds > 1).sum()) / expected if expected >= LEAST else 1.0


def cells_of(bins: NDArray[np.int32], share: float) -> tuple[float, int]:
    """How many rows of other bins there could be, were columns independent: an effective number, of equal chances.

    Columns count, those of most values first, if they separate more rows than those before them. Gives also how many count.
    `share` is that of all rows that are given.

    Examples
    --------
    >>> shop, product = np.divmod(np.arange(60, dtype=np.int32), 10)
    >>> cells, needed = cells_of(np.column_stack([shop, product, product % 7]), share=1.0)
    >>> round(cells), needed
    (60, 2)
    """
    rows = len(bins)
    alike = np.array([((np.bincount(column) / rows) ** 2).sum() for column in bins.T])
    number, distinct, cells, needed = np.zeros(rows, np.int64), 1, 1.0, 0
    for place in np.argsort(alike, kind="stable"):
        column = bins[:, place].astype(np.int64)
        values, combined = np.unique(number * (column.max() + 1) + column, return_inverse=True)
        if len(values) - distinct >= min(ADDS * share * distinct, max(PARTS * (rows - distinct), 1)):
            number, distinct, cells, needed = combined, len(values), cells / alike[place], needed + 1
    return float(cells), needed


def _variance(mean: float) -> float:
    """Of how often rows occur that occur at all, so often in the mean, if all have the same chance."""
    rate = mean
    for _ in range(100):
        rate = mean * (1.0 - exp(-rate))
    return mean * (1.0 + rate - mean)
