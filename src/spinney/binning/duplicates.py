"""Whether rows that have the same bins as others are duplicates of them, or alike because columns are few and coarse.

Duplicates have one target. Three things tell that rows which repeat others with one target were duplicated:

- *Some rows repeat no other.* Balancing classes leaves the rows of the largest class alone, and drawing with replacement leaves
  many. Rows of few, coarse columns nearly all repeat others.
- *All rows occur twice*, or three times: a table that was concatenated with itself.
- *Chance would not repeat so many.* Rows are taken for draws from as many cells as the columns tell apart, and so many draws are
  counted as would have given the distinct rows. Only columns that tell distinct rows apart count, so attributes of a product
  add nothing to its name. And rows must occur about equally often: those of a table whose columns depend on each other do not.

A table of products with a price each, of which every one was seen a few times, has none of these: its key says as many cells as
there are rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import exp, log1p, sqrt

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int64]

# Below this share of rows that have the bins of a row before, they tell each other. 3 000 rows with a column of 400 categories
# that say nothing: with .02 of the rows copied the statistics of the target cost .002 of AUC, with .05 .008, with .1 .012.
SOME = 0.01
# And below this one they are held out apart, which has a price either way. With .17 of 3 000 rows copies, "auto" went on for 62
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
LONE = 0.25
FREQUENT = 0.02  # of all rows has a target that counts as a class
LEAST = 5.0  # sets of several targets must be expected, or there is nothing to tell duplicates by
# So many rows of other bins must there be for each category, or rows of a category would all belong together and be told nothing;
# or the other columns alone must tell most rows apart, as where each category is the name of a row.
RICH = 2
# Most times that all rows occur which are not told by chance: 20 rows for each of 40 values are no duplicates.
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
FULL = 0.9  # of the cells that columns tell apart are taken: more draws would look the same
# So many more rows must a column tell apart, together with those before it, as a share. Rare categories share a bin: with .01 the
# attributes of 1 000 products that 4 000 rows name would count beside the name. In a sample fewer rows are alike by chance: with
# .1 of its rows, 500 000 rows of 28 columns in which each occurs four times were not found.
ADDS = 0.1
# Or it tells apart so many of the rows that were not told apart before. Where nearly all rows differ, as with .02 of 3 000 rows
# copied, the third of three columns of numbers adds .02 of the rows, but .5 of those that two leave.
PARTS = 0.3


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
        """Those of rows whose bins and targets are told apart by numbers."""
        _, number, sizes = np.unique(row_hashes, return_inverse=True, return_counts=True)
        return cls(share, number, sizes, np.unique(targets, return_inverse=True)[1])

    def reach(self, share: float) -> bool:
        """Whether such a share of the rows repeat others."""
        rows, sets = len(self.number), len(self.sizes)
        return rows > 0 and rows - sets >= share * rows

    def rich(self, others: Numbers, categories: int) -> bool:
        """Whether columns of categories leave rows to be told of; `others` are hashes by all other columns."""
        sets = len(self.sizes)
        return sets >= RICH * categories * self.share or len(np.unique(others)) * 2 >= sets

    @property
    def whole_table(self) -> bool:
        """Whether all rows, with their targets, occur twice, or a few times."""
        sizes = np.unique(self._kinds, return_counts=True)[1]
        return len(sizes) >= SEVERAL and 2 <= np.gcd.reduce(sizes) <= TIMES

    @property
    def likely(self) -> bool:
        """Whether many rows have the target of rows that they repeat, and occur as duplicates do: then columns must tell."""
        mean = float(self.sizes.mean())
        if (1.0 - self._mixed) * (len(self.number) - len(self.sizes)) < self._least:
            return False
        return self._lone or float(self.sizes.var()) - _variance(mean) <= UNEVEN * mean**2

    def beyond_chance(self, bins: NDArray[np.int32], rich: bool) -> bool:
        """Whether chance would not repeat so many rows, by bins of their columns, rows × columns.

        Where a column alone tells rows apart, as a name or a key does, only rows that repeat no other can say so.
        """
        rows, sets = len(self.number) / self.share, len(self.sizes) / self.share
        cells, needed = cells_of(bins, self.share)
        if needed == 1:
            return rich and self._lone and self._mixed <= MIXED
        if sets > FULL * cells:
            return False
        drawn = -cells * log1p(-sets / cells)
        by_chance = max(
            self.share * (drawn - sets), 1.0
        )  # rows of the sample, whose number has this variance
        return self.share * (rows - drawn) >= max(self._least, DEVIATIONS * sqrt(by_chance))

    @property
    def _least(self) -> float:
        """Rows that must be copies."""
        rows = len(self.number)
        return min(COPIED * rows, MOSTLY * (rows - len(self.sizes)))

    @cached_property
    def _lone(self) -> bool:
        """Whether many rows, of all or of a class, repeat no other."""
        of_target = np.bincount(self.target)
        alone = np.bincount(self.target[self.sizes[self.number] == 1], minlength=len(of_target))
        of_class = (alone / of_target)[of_target >= FREQUENT * len(self.target)]
        return bool(max(alone.sum() / len(self.target), of_class.max(initial=0.0)) >= LONE)

    @cached_property
    def _kinds(self) -> Numbers:
        """A number for each row that rows of the same bins and target share."""
        found: Numbers = self.number * (int(self.target.max()) + 1) + self.target
        return found

    @cached_property
    def _mixed(self) -> float:
        """Sets of rows that have several targets, as a share of those that would by chance; 1 where that says nothing."""
        chances = np.bincount(self.target) / len(self.target)
        expected = sum(
            int(count) * (1.0 - float((chances**size).sum()))
            for size, count in zip(*np.unique(self.sizes, return_counts=True), strict=True)
        )
        kinds = np.bincount(np.unique(self._kinds) // len(chances))
        return float((kinds > 1).sum()) / expected if expected >= LEAST else 1.0


def cells_of(bins: NDArray[np.int32], share: float) -> tuple[float, int]:
    """How many rows of other bins there could be, were columns independent: an effective number, of equal chances.

    Columns count, those of most values first, if they tell more rows apart than those before them. Gives also how many count.
    `share` is that of all rows that are at hand.

    Examples
    --------
    >>> shop, product = np.divmod(np.arange(60, dtype=np.int32), 10)
    >>> cells, needed = cells_of(np.column_stack([shop, product, product % 7]), share=1.0)
    >>> round(cells), needed
    (60, 2)
    """
    rows = len(bins)
    alike = np.array([((np.bincount(column) / rows) ** 2).sum() for column in bins.T])
    number, told, cells, needed = np.zeros(rows, np.int64), 1, 1.0, 0
    for place in np.argsort(alike, kind="stable"):
        column = bins[:, place].astype(np.int64)
        values, joined = np.unique(number * (column.max() + 1) + column, return_inverse=True)
        if len(values) - told >= min(ADDS * share * told, max(PARTS * (rows - told), 1)):
            number, told, cells, needed = joined, len(values), cells / alike[place], needed + 1
    return float(cells), needed


def _variance(mean: float) -> float:
    """Of how often rows occur that occur at all, so often in the mean, if all have the same chance."""
    rate = mean
    for _ in range(100):
        rate = mean * (1.0 - exp(-rate))
    return mean * (1.0 + rate - mean)
