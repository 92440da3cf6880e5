"""Copies of rows, which must neither tell each other's target nor be held out apart.

A table may hold rows several times: someone balanced its classes, or drew rows with replacement. A copy in another fold would
tell a row its own target, and a copy of a row that is held out would let a training judge by what it learns from. So where rows
are copies, all rows of the same bins belong together.

Rows of the same bins need not be copies: where columns are few and coarse, other rows will have the same bins again, and those of
the table should tell each other. Copies have one target; and beside them stand rows that have no copy, since drawing with
replacement leaves many such rows, and balancing classes leaves those of the largest class. From a table of prices, of which each
was seen a few times, copies cannot be told otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from spinney.binning.dataset import Dataset
from spinney.binning.features import NO_DEFAULT, SPARSE, Features
from spinney.binning.matrix import BinnedMatrix
from spinney.binning.tallies import Floats, Numbers, matrices_of
from spinney.data import Labels
from spinney.data.lists import starts_of
from spinney.jit.team import Team
from spinney.joining import ALONE, Joining
from spinney.sampling.hashing import random_words
from spinney.sampling.kernels.purposes import PURPOSE_MARK

ROWS = 50_000  # by which it is decided: a sample of larger tables
# Below this share of rows that have the bins of a row before, they are left alone. Balancing two classes of which one has a tenth
# of the rows gives .44, drawing with replacement .37; a table of wines, many of which were measured twice, has .15.
SOME = 0.25
# Sets of rows of the same bins that have several targets, at most, as a share of those that would by chance: none where all are
# copies, but some rows have the same bins because bins are wide. 12 000 sales or none of 30 goods in 100 shops, each with a
# chance of its own, have .7.
MIXED = 0.25
# Rows without a copy, at least, as a share of all, or of those of one class. It estimates how many other rows have bins that were
# not seen: .37 for rows drawn with replacement, .5 for two balanced classes, .08 for prices that were seen 2.5 times each.
LONE = 0.25
FREQUENT = 0.02  # of all rows has a target that counts as a class
LEAST = 5.0  # sets of several targets must be expected, or there is nothing to tell copies by
# So many rows of other bins must there be for each category, or rows of a category would all belong together and be told nothing;
# or the other columns alone must tell most rows apart, as where each category is the name of a row.
RICH = 2

Marks = NDArray[np.uint64]


class RowMarks:
    """Numbers for rows that rows of the same bins share, and others do not but for a chance of 2^-64.

    They do not depend on how columns are kept: alone, in bundles, or by their entries.

    Parameters
    ----------
    features : Features
        Of the table.
    apart : sequence of int
        Columns that stand alone and are marked apart.
    """

    def __init__(self, features: Features, apart: Sequence[int] = ()) -> None:
        self._features = features
        self._apart = {int(features.group[column]) for column in apart}

    @cached_property
    def _table(self) -> tuple[Marks, Numbers, np.uint64]:
        """What each code adds to the mark of a row, where groups begin in that, and what all rows have.

        A default bin has no code: all rows are given it first, and any other code takes it back.
        """
        features = self._features
        words = random_words(0, PURPOSE_MARK, np.arange(int((features.bins + 1).sum())))
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

    def of(self, matrix: BinnedMatrix, rows: NDArray[np.int32] | None = None) -> tuple[Marks, Marks]:
        """Marks of all rows of a matrix, or of some: by all columns, and by those that are not apart."""
        table, begins, usual = self._table
        count = matrix.rows if rows is None else len(rows)
        marks = np.zeros((2, count), np.uint64)
        marks[1] = usual
        for group, line in enumerate(matrix.by_column):
            part = marks[0 if group in self._apart else 1]
            part += table[begins[group] : begins[group + 1]][line if rows is None else line[rows]]
        sparse = matrix.sparse
        if sparse.present:
            # Sums of unsigned numbers wrap around, so differences of running sums are right.
            running = np.zeros(sparse.entries + 1, np.uint64)
            np.cumsum(table[begins[-1] :][sparse.row_codes], out=running[1:])
            ends = running[sparse.row_starts]
            listed = ends[1:] - ends[:-1]
            marks[1] += listed if rows is None else listed[rows]
        marks[0] += marks[1]
        return marks[0], marks[1]


def copies_of(
    dataset: Dataset,
    labels: Labels,
    columns: Sequence[int] = (),
    team: Team | None = None,
    joining: Joining = ALONE,
) -> Numbers | None:
    """A number for each row that its copies share, if the table holds copies of rows.

    Parameters
    ----------
    dataset : Dataset
        The rows.
    labels : Labels
        Theirs. Rows of weight 0 do not count.
    columns : sequence of int
        Columns of categories that statistics of the target are made of.
    team, joining
        Threads that unpack codes, and ranks that hold other rows.

    Returns
    -------
    int64[rows] or None
        Of the rows at hand. All ranks get numbers or none does.
    """
    whole = dataset.whole
    row_marks = RowMarks((whole.matrix if whole.blocks is None else whole.blocks).features, columns)
    marks, others = np.empty((2, dataset.rows), np.uint64)
    for begin, end, matrix, rows in matrices_of(dataset, team):
        marks[begin:end], others[begin:end] = row_marks.of(matrix, rows)
    counts = dataset.schema.category_counts
    categories = 0 if counts is None or not len(columns) else int(counts[list(columns)].max())
    heavy = np.ones(labels.rows, np.bool_) if labels.weight is None else labels.weight > 0.0
    rows = np.array([int(heavy.sum())])
    joining.sum(rows)
    share = min(ROWS / max(int(rows[0]), 1), 1.0)
    # All rows of a mark are in the sample, or none.
    taken = heavy & ((marks >> np.uint64(32)) <= np.uint64(share * (2**32 - 1)))
    lines = [
        marks[taken],
        others[taken],
        _target_marks(labels.target.T.reshape(labels.targets, labels.rows)[:, taken]),
    ]
    gathered = joining.gather(np.stack(lines, axis=1).view(np.int64))
    found = (
        None
        if gathered is None
        else np.array([has_copies(np.concatenate(gathered), share, categories)], np.int64)
    )
    return marks.view(np.int64) if joining.spread(found)[0] else None


def _target_marks(lines: Floats) -> Marks:
    """A number for each row that rows of the same targets share."""
    marks = np.zeros(lines.shape[1], np.uint64)
    for at, line in enumerate(lines):
        marks += random_words(at, PURPOSE_MARK, (line + 0.0).view(np.uint64))
    return marks


def has_copies(sample: Numbers, share: float, categories: int) -> bool:
    """Whether so large a share of all rows has copies: rows × marks by all columns, by some of them, and of targets."""
    marks, others, targets = sample.T
    _, place, sizes = np.unique(marks, return_inverse=True, return_counts=True)
    sets, rows = len(sizes), len(marks)
    if rows - sets < SOME * rows or rows == 0:
        return False
    if sets < RICH * categories * share and len(np.unique(others)) * 2 < sets:
        return False
    _, target, of_target = np.unique(targets, return_inverse=True, return_counts=True)
    alone = np.bincount(target[sizes[place] == 1], minlength=len(of_target))
    of_class = (alone / of_target)[of_target >= FREQUENT * rows]
    if max(alone.sum() / rows, of_class.max(initial=0.0)) < LONE:
        return False
    kinds = np.bincount(np.unique(place * len(of_target) + target) // len(of_target))  # targets of each set
    chances = of_target / rows
    expected = sum(
        int(count) * (1.0 - float((chances**size).sum()))
        for size, count in zip(*np.unique(sizes, return_counts=True), strict=True)
    )
    return expected >= LEAST and int((kinds > 1).sum()) <= MIXED * expected
