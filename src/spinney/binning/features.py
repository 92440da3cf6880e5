"""Where the bins of each column are kept."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

NO_DEFAULT = 1 << 30  # the column has a code for every bin
SPARSE = -1  # the column has no group: its entries are kept one by one
SHORTEST_ROW = 16  # bytes of codes; longer rows are multiples of it
RUN = 128  # most columns searched in one go; a run that no leaf can use any more is left alone

# One unit of search: columns whose codes stand side by side on the histogram's axis.
UNIT_GROUP = 0  # SPARSE for none
UNIT_BEGIN = 1  # first code of the unit, counted from the group's first; for sparse columns from the sparse axis' first
UNIT_END = 2
UNIT_MEMBER = 3  # position of its first column in `members`
UNIT_COLUMNS = 4  # 0: a single column of any kind; else a run of so many columns that have one code each
UNIT_WIDTH = 5


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
    def units(self) -> NDArray[np.int64]:
        """Units of search, (units, UNIT_WIDTH), in the order of their codes."""
        members = self.members
        single = ((self.codes == 1) & (self.default == 0) & (self.bins == 2))[members].tolist()
        group, low = self.group[members].tolist(), self.low[members].tolist()
        end = (self.low + self.codes)[members].tolist()
        found: list[list[int]] = []
        for place in range(len(members)):
            unit = found[-1] if found else None
            follows = unit is not None and unit[UNIT_GROUP] == group[place]
            if follows and unit is not None and single[place] and 0 < unit[UNIT_COLUMNS] < RUN:
                unit[UNIT_END] = end[place]
                unit[UNIT_COLUMNS] += 1
                continue
            # Code 0 of a bundle belongs to no column; the bundle's first unit clears it.
            begin = low[place] if follows else 0
            found.append([group[place], begin, end[place], place, int(single[place])])
        return np.array(found, np.int64).reshape(-1, UNIT_WIDTH)
