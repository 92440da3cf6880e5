"""Copies of rows, which must neither tell each other's target nor be held out apart.

A table may hold rows several times: someone balanced its classes, or drew rows with replacement. A copy in another fold would
tell a row its own target, and a copy of a row that is held out would let a training judge by what it learns from. So where rows
are copies, all rows of the same bins belong together.

Rows of the same bins need not be copies: where columns are few and coarse, other rows will have the same bins again, and those of
the table should tell each other. `duplicates.py` tells one from the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.binning.dataset import Dataset
from spinney.binning.duplicates import SOME, Repeats
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
COLUMNS = 32  # of most bins, by which it is decided where rows alone do not tell
NO, YES, BY_COLUMNS = range(3)  # whether a sample holds copies, or its columns must tell

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

    @property
    def widest(self) -> Numbers:
        """The columns of most bins."""
        return np.argsort(-self._features.bins, kind="stable")[:COLUMNS]

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
    least: float = SOME,
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
    least : float
        Share of rows that must repeat others.

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
    repeats, rich, verdict = None, False, NO
    if gathered is not None:
        of_all, other, target = np.concatenate(gathered).T
        repeats = Repeats.of(of_all, target, share)
        rich = repeats.rich(other, categories)
        verdict = _verdict(repeats, rich, least)
    verdict = int(joining.spread(np.array([verdict]))[0])
    if verdict == BY_COLUMNS:
        bins = joining.gather(_bins_of(dataset, taken, row_marks.widest, team))
        found = bins is not None and repeats is not None and repeats.beyond_chance(np.concatenate(bins), rich)
        verdict = int(joining.spread(np.array([YES if found else NO]))[0])
    return marks.view(np.int64) if verdict == YES else None


def _verdict(repeats: Repeats, rich: bool, least: float) -> int:
    """Whether a sample holds copies, or its columns must tell."""
    if not repeats.reach(least):
        return NO
    if rich and repeats.whole_table:
        return YES
    return BY_COLUMNS if repeats.likely else NO


def _bins_of(
    dataset: Dataset, taken: NDArray[np.bool_], columns: Numbers, team: Team | None
) -> NDArray[np.int32]:
    """Bins of some columns in some rows, rows × columns."""
    parts = [np.empty((0, len(columns)), np.int32)]
    for begin, end, matrix, rows in matrices_of(dataset, team):
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
            line = np.full(matrix.rows, low - 1, np.int64)
            line[np.searchsorted(sparse.row_starts, entries, side="right") - 1] = sparse.row_codes[entries]
        else:
            line = matrix.by_column[features.group[column]]
        k = line[rows].astype(np.int64) - low
        found[:, place] = np.where((k >= 0) & (k < codes), k + (k >= default), default)
    return found


def _target_marks(lines: Floats) -> Marks:
    """A number for each row that rows of the same targets share."""
    marks = np.zeros(lines.shape[1], np.uint64)
    for at, line in enumerate(lines):
        marks += random_words(at, PURPOSE_MARK, (line + 0.0).view(np.uint64))
    return marks
