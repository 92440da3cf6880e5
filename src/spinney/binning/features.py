"""Where the bins of each column are kept."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.binning.kernels.records import NO_DEFAULT, SearchUnit

SPARSE = -1  # the column has no group: its entries are kept one by one
BYTE_CODES = 256  # that a byte can tell apart
RUN = 128  # most columns searched in one go; a run that no leaf can use any more is left alone


@dataclass(frozen=True, eq=False)
class Features:
    """Codes of the columns.

    A *code* is what is stored. A lone column is a group of its own and has a code for each bin and, after them, one for missing
    values. A bundled column shares a group with others: code 0 says that all of them are in their default bins, then the other
    bins of each column follow, column after column. A sparse column has codes for its other bins too, but only rows
    that are not in the default bin are kept.

    Attributes (one item a column)
    ------------------------------
    group : int64
        Group, or SPARSE.
    low : int64
        Its first code in the group, or its first place on the axis of sparse columns.
    codes : int64
        Number of codes.
    bins : int64
        Number of bins, without the one for missing values, whose number is `bins`.
    default : int64
        The bin without a code, or NO_DEFAULT.
    """

    group: NDArray[np.int64]
    low: NDArray[np.int64]
    codes: NDArray[np.int64]
    bins: NDArray[np.int64]
    default: NDArray[np.int64]

    @classmethod
    def lone(cls, bins: NDArray[np.int64]) -> Features:
        """Every column a group of its own."""
        columns = len(bins)
        return cls(
            np.arange(columns), np.zeros(columns, np.int64), bins + 1, bins, np.full(columns, NO_DEFAULT)
        )

    @property
    def columns(self) -> int:
        """Number of columns."""
        return len(self.group)

    @cached_property
    def group_codes(self) -> NDArray[np.int64]:
        """Codes of each group."""
        dense = self.group >= 0
        codes = np.zeros(int(self.group.max(initial=-1)) + 1, np.int64)
        np.maximum.at(codes, self.group[dense], (self.low + self.codes)[dense])
        return codes

    @cached_property
    def sparse_codes(self) -> int:
        """Codes of all sparse columns."""
        return int(self.codes[self.group == SPARSE].sum())

    @cached_property
    def members(self) -> NDArray[np.int64]:
        """The columns that have codes, in the order of these: group by group, sparse ones last."""
        place = np.where(self.group == SPARSE, len(self.group_codes), self.group)
        order = np.lexsort((self.low, place)).astype(np.int64)
        return order[self.codes[order] > 0]

    @cached_property
    def units(self) -> Any:
        """Units of search, a `SearchUnit` each, in the order of their codes."""
        members = self.members
        single = (self.codes == 1) & (self.default == 0) & (self.bins == 2)
        kinds, group = single[members].tolist(), self.group[members].tolist()
        starts: list[int] = []  # place of each unit's first column in `members`
        for place in range(len(members)):
            first = starts[-1] if starts else place
            runs = kinds[first] and kinds[place] and 0 < place - first < RUN
            if not (runs and group[first] == group[place]):
                starts.append(place)
        bounds = np.array([*starts, len(members)], np.int64)
        first_columns, last_columns = members[bounds[:-1]], members[bounds[1:] - 1]
        found = SearchUnit.zeros(len(starts))
        found.member = bounds[:-1]
        found.group = self.group[first_columns]
        # Code 0 of a bundle belongs to no column; the bundle's first unit clears it.
        follows = np.diff(found.group, prepend=SPARSE - 1) == 0
        found.begin = np.where(follows, self.low[first_columns], 0)
        found.end = (self.low + self.codes)[last_columns]
        found.columns = np.where(single[first_columns], np.diff(bounds), 0)
        return found


def code_type(codes: int) -> np.dtype[Any]:
    """The type of items that can tell so many codes, or bins, apart."""
    return np.dtype(np.uint8 if codes <= BYTE_CODES else np.uint16)
