"""The histogram's axis of one tree: the codes of its groups one after another, then those of the sparse columns."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from spinney.binning.features import (
    SPARSE,
    UNIT_BEGIN,
    UNIT_COLUMNS,
    UNIT_END,
    UNIT_GROUP,
    UNIT_MEMBER,
    Features,
)
from spinney.growth import layout
from spinney.growth.histogram_kernels import SPAN

# Searching a unit costs about as much as so many codes, before any of its own, and a code as so many additions to a cell.
COST_OF_UNIT = 16
COST_OF_CODE = 4


class Axis:
    """Arrays that tell kernels where things are; `use` rewrites them when a tree sees other columns.

    Parameters
    ----------
    features : Features
        The columns.
    wide : bool
        Whether cells stand one after another instead of SPAN apart.
    """

    def __init__(self, features: Features, wide: bool) -> None:
        self._features, self._wide = features, wide
        groups, columns = len(features.group_codes), features.columns
        codes = int(features.group_codes.sum())
        self.total = codes + features.sparse_codes
        self.cells = (codes if wide else groups * SPAN) + features.sparse_codes
        self.width = max(int(features.bins.max()), int(features.units[:, UNIT_COLUMNS].max(initial=1)))
        self.groups = np.zeros(groups, np.int64)
        self.starts = np.zeros(groups + 1, np.int64)
        self.group_units = np.zeros(groups + 1, np.int64)
        self.unit_costs = np.zeros(len(features.units), np.int64)
        self.columns = np.zeros(columns, np.int64)
        self.allowed = np.zeros(columns, np.uint8)
        self.low = np.zeros(columns, np.int64)
        self.units = np.zeros(len(features.units) * layout.AXIS_UNIT_WIDTH, np.int64)
        self.extent = np.zeros(layout.EXTENTS, np.int64)
        self.use(np.arange(columns, dtype=np.int64))

    def use(self, columns: NDArray[np.int64]) -> None:
        """Lay out the axis for a tree that may be split by these columns, ascending."""
        features, extent = self._features, self.extent
        self.columns[: len(columns)] = columns
        self.allowed[:] = 0
        self.allowed[columns] = 1
        groups = np.unique(features.group[columns])
        groups = groups[groups != SPARSE]
        count = len(groups)
        self.groups[:count] = groups
        np.cumsum(features.group_codes[groups], out=self.starts[1 : count + 1])
        extent[layout.GROUPS_USED], extent[layout.COLUMNS_USED] = count, len(columns)
        extent[layout.SPARSE_AT], extent[layout.SPARSE_CELLS] = self.starts[count], self._cells_of(count)
        place = np.full(len(features.group_codes) + 1, -1)  # the last item is that of SPARSE
        place[groups] = np.arange(count)
        self.low[:] = np.where(
            features.group == SPARSE, self.starts[count], self.starts[place[features.group]]
        )
        self.low += features.low
        self._lay_units(features.units, place, count)

    def _lay_units(self, units: NDArray[np.int64], place: NDArray[np.int64], count: int) -> None:
        sparse = units[:, UNIT_GROUP] == SPARSE
        kept = sparse | (place[units[:, UNIT_GROUP]] >= 0)
        units, sparse = units[kept], sparse[kept]
        at = np.where(sparse, count, place[units[:, UNIT_GROUP]])
        start = self.starts[at]
        cells = np.where(sparse, self._cells_of(count), start if self._wide else at * SPAN)
        laid = self.units[: len(units) * layout.AXIS_UNIT_WIDTH].reshape(-1, layout.AXIS_UNIT_WIDTH)
        laid[:, layout.AXIS_BEGIN] = start + units[:, UNIT_BEGIN]
        laid[:, layout.AXIS_END] = start + units[:, UNIT_END]
        laid[:, layout.AXIS_CELLS] = cells + units[:, UNIT_BEGIN]
        laid[:, layout.AXIS_MEMBER] = units[:, UNIT_MEMBER]
        laid[:, layout.AXIS_COLUMNS] = units[:, UNIT_COLUMNS]
        self.group_units[: count + 1] = np.searchsorted(at, np.arange(count + 1))
        codes = units[:, UNIT_END] - units[:, UNIT_BEGIN]
        self.unit_costs[: len(units)] = COST_OF_CODE * (codes + COST_OF_UNIT)
        self.extent[layout.UNITS_USED] = len(units)

    def _cells_of(self, groups: int) -> int:
        """Cells of the first `groups` used groups."""
        return int(self.starts[groups]) if self._wide else groups * SPAN
