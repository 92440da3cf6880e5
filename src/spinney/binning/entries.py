"""Columns as lists of entries: the rows that are not in a column's default bin."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.binning.cuts import Cuts
from spinney.binning.entry_kernels import (
    away_in_lines,
    bin_stored,
    count_in_lines,
    keep_away,
    lines_of_stored,
)
from spinney.data.spans import EMPTY32, EMPTY64
from spinney.data.sparse import SparseValues
from spinney.jit.team import Team

NONE8, NONE16 = np.empty(0, np.uint8), np.empty(0, np.uint16)


@dataclass(frozen=True, eq=False)
class Entries:
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
    def none(cls) -> Entries:
        """No columns."""
        whole = np.zeros(0, np.int64)
        return cls(whole, np.zeros(1, np.int64), np.zeros(0, np.int32), NONE16, whole)

    def last_bins(self) -> NDArray[np.int64]:
        """Largest bin of each column that an entry is in, -1 for a column without entries."""
        last = np.full(len(self.columns), -1, np.int64)
        some = self.counts > 0
        if some.any():
            last[some] = np.maximum.reduceat(self.bins, self.starts[:-1][some])
        return last

    def join(self, other: Entries) -> Entries:
        """Both, in the order of their columns; they have none in common."""
        if not len(other.columns):
            return self
        if not len(self.columns):
            return other
        columns = np.concatenate([self.columns, other.columns])
        order = np.argsort(columns)
        sources = [(part, place) for part in (self, other) for place in range(len(part.columns))]
        return _gathered([sources[k] for k in order])

    def take(self, places: NDArray[np.int64]) -> Entries:
        """Some of the columns, by ascending place."""
        if len(places) == len(self.columns):
            return self
        return _gathered([(self, place) for place in places.tolist()])


def _gathered(sources: list[tuple[Entries, int]]) -> Entries:
    """Columns from here and there, one slice each: what is copied needs no index beside it."""
    if not sources:
        return Entries.none()
    slices = [slice(int(part.starts[k]), int(part.starts[k + 1])) for part, k in sources]
    return Entries(
        np.array([part.columns[k] for part, k in sources], np.int64),
        starts_of(np.array([chosen.stop - chosen.start for chosen in slices], np.int64)),
        np.concatenate([part.rows[chosen] for (part, _), chosen in zip(sources, slices, strict=True)]),
        np.concatenate([part.bins[chosen] for (part, _), chosen in zip(sources, slices, strict=True)]),
        np.array([part.default[k] for part, k in sources], np.int64),
    )


@dataclass(frozen=True, eq=False)
class Lines:
    """Bins of some columns for all rows."""

    columns: NDArray[np.int64]  # their numbers in the table, ascending
    bins: NDArray[Any]  # columns × rows, uint8 or uint16

    @property
    def wide(self) -> bool:
        """Whether bins are uint16."""
        return bool(self.bins.dtype == np.uint16)


def starts_of(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where each of some lists starts when they stand one after another, and where the last one ends."""
    starts = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=starts[1:])
    return starts


def split8(array: NDArray[Any]) -> tuple[NDArray[np.uint8], NDArray[np.uint16]]:
    """An array of uint8 or uint16 as kernels take it: both types, the one not in use empty."""
    return (NONE8, array) if array.dtype == np.uint16 else (array, NONE16)


def read_stored(
    values: SparseValues, rows: int, cuts: Cuts, absent: NDArray[np.int64], team: Team
) -> tuple[Entries, Lines, NDArray[np.uint8]]:
    """Bins of a sparse table: entries of the columns that mostly are in the bin of absent ones, lines of the others.

    Also tells, for each column, whether it holds an infinite value.
    """
    starts, entry_rows, data = values.by_column
    columns, stored = len(starts) - 1, len(entry_rows)
    single = data.dtype == np.float32
    bins = np.empty(stored, np.uint16)
    away, infinite = np.zeros(columns, np.int64), np.zeros(columns, np.uint8)
    values32, values64 = (data, EMPTY64) if single else (EMPTY32, data)
    team.run(
        bin_stored.bind(
            columns, stored, int(single), len(cuts.values), starts, values32, values64, cuts.values, cuts.starts,
            absent, bins, away, infinite,
        )
    )  # fmt: skip
    # The values are not needed any more, and may be as large as all that follows.
    values.forget()
    del data, values32, values64
    few = np.flatnonzero(2 * away < rows)
    many = np.flatnonzero(2 * away >= rows)
    to_starts = starts_of(away[few])
    kept = int(to_starts[-1])
    lines = np.empty((len(many), rows), np.uint16 if cuts.bins.max(initial=0) > 255 else np.uint8)
    if kept == stored and not len(many):
        return Entries(few, starts, entry_rows, bins, absent), Lines(many, lines), infinite
    to_rows, to_bins = np.empty(kept, np.int32), np.empty(kept, np.uint16)
    team.run(
        keep_away.bind(
            columns, len(few), stored, kept, starts, entry_rows, bins, few, absent[few], to_starts, to_rows, to_bins
        )
    )  # fmt: skip
    team.run(
        lines_of_stored.bind(
            rows, columns, len(many), stored, int(lines.dtype == np.uint16), starts, entry_rows, bins, many,
            absent[many], *split8(lines),
        )
    )  # fmt: skip
    return Entries(few, to_starts, to_rows, to_bins, absent[few]), Lines(many, lines), infinite


def take_sparse_lines(lines: Lines, rows: int, cuts: Cuts, team: Team) -> tuple[Lines, Entries]:
    """Turn the lines that mostly are in one bin, that of zero or that of missing values, into entries."""
    count, wide = len(lines.columns), int(lines.wide)
    if not count:
        return lines, Entries.none()
    zero, missing = cuts.bins_of_zero()[lines.columns], cuts.bins[lines.columns]
    zeros, missings = np.zeros(count, np.int64), np.zeros(count, np.int64)
    lines8, lines16 = split8(lines.bins)
    team.run(count_in_lines.bind(rows, count, wide, lines8, lines16, zero, missing, zeros, missings))
    most = np.maximum(zeros, missings)
    numbers = cuts.categorical[lines.columns] == 0
    picks = np.flatnonzero((2 * (rows - most) < rows) & numbers)
    if not len(picks):
        return lines, Entries.none()
    default = np.where(zeros >= missings, zero, missing)[picks]
    starts = starts_of(rows - most[picks])
    kept = int(starts[-1])
    to_rows, to_bins = np.empty(kept, np.int32), np.empty(kept, np.uint16)
    team.run(
        away_in_lines.bind(
            rows, count, len(picks), kept, wide, lines8, lines16, picks, default, starts, to_rows, to_bins
        )
    )  # fmt: skip
    rest = np.setdiff1d(np.arange(count), picks)
    return Lines(lines.columns[rest], lines.bins[rest]), Entries(
        lines.columns[picks], starts, to_rows, to_bins, default
    )
