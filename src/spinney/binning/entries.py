"""Bins of columns: for all rows, or as lists of entries, the rows that are not in a column's default bin."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.binning.kernels.records import BinLines, EntryLists
from spinney.data.table import starts_of

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

    def record(self) -> EntryLists:
        """What kernels know of the entries."""
        return EntryLists(len(self.columns), len(self.rows), self.starts, self.rows, self.bins, self.default)

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

    def record(self) -> BinLines:
        """What kernels know of the lines."""
        return lines_record(self.bins)


def split8(array: NDArray[Any]) -> tuple[NDArray[np.uint8], NDArray[np.uint16]]:
    """An array of uint8 or uint16 as kernels take it: both types, the one not in use empty."""
    return (NONE8, array) if array.dtype == np.uint16 else (array, NONE16)


def lines_record(lines: NDArray[Any]) -> BinLines:
    """Lines of uint8 or uint16, one below another, as kernels take them."""
    count, rows = lines.shape
    return BinLines(rows, count, int(lines.dtype == np.uint16), *split8(lines))
