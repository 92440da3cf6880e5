"""The histogram's axis of one tree: the codes of its groups one after another, then those of the sparse columns."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.binning.features import SPARSE, Features
from spinney.growth.kernels.histogram import SPAN
from spinney.growth.kernels.records import Axis
from spinney.jit import allocate

# Searching a unit costs about as much as so many codes, before any of its own, and a code as so many additions to a packed sum.
COST_OF_UNIT = 16
COST_OF_CODE = 4


class TreeAxis:
    """The record that tells kernels where things are; `use` rewrites it when a tree sees other columns.

    Parameters
    ----------
    features : Features
        The columns.
    wide : bool
        Whether packed sums stand one after another instead of SPAN apart.
    """

    def __init__(self, features: Features, wide: bool) -> None:
        self._features, self._wide = features, wide
        groups, columns = len(features.group_codes), features.columns
        codes = int(features.group_codes.sum())
        self.packed_size = (codes if wide else groups * SPAN) + features.sparse_codes
        self.width = max(int(features.bins.max()), int(features.units.columns.max(initial=1)))
        self.record = allocate(
            Axis,
            groups=groups,
            columns=columns,
            member_count=len(features.members),
            unit_count=len(features.units),
            total=codes + features.sparse_codes,
            members=features.members,
        )
        self.use(np.arange(columns, dtype=np.int64))

    def use(self, columns: NDArray[np.int64]) -> None:
        """Lay out the axis for a tree that may be split by these columns, ascending."""
        features, axis, extent = self._features, self.record, self.record.extent
        axis.used_columns[: len(columns)] = columns
        axis.allowed[:] = 0
        axis.allowed[columns] = 1
        groups = np.unique(features.group[columns])
        groups = groups[groups != SPARSE]
        count = len(groups)
        axis.used_groups[:count] = groups
        np.cumsum(features.group_codes[groups], out=axis.starts[1 : count + 1])
        extent["groups"], extent["columns"] = count, len(columns)
        extent["sparse_at"], extent["sparse_packed"] = axis.starts[count], self._packed_before(count)
        place = np.full(len(features.group_codes) + 1, -1)  # the last item is that of SPARSE
        place[groups] = np.arange(count)
        axis.low[:] = np.where(
            features.group == SPARSE, axis.starts[count], axis.starts[place[features.group]]
        )
        axis.low[:] += features.low
        self._lay_units(features.units, place, count)

    def _lay_units(self, units: Any, place: NDArray[np.int64], count: int) -> None:
        axis = self.record
        sparse = units.group == SPARSE
        kept = sparse | (place[units.group] >= 0)
        units, sparse = units[kept], sparse[kept]
        at = np.where(sparse, count, place[units.group])
        start = axis.starts[at]
        packed = np.where(sparse, self._packed_before(count), start if self._wide else at * SPAN)
        laid = axis.units[: len(units)]
        laid["begin"] = start + units.begin
        laid["end"] = start + units.end
        laid["packed"] = packed + units.begin
        laid["member"] = units.member
        laid["columns"] = units.columns
        laid["cost"] = COST_OF_CODE * (units.end - units.begin + COST_OF_UNIT)
        axis.group_units[: count + 1] = np.searchsorted(at, np.arange(count + 1))
        axis.extent["units"] = len(units)

    def _packed_before(self, groups: int) -> int:
        """Packed sums of the first `groups` used groups."""
        return int(self.record.starts[groups]) if self._wide else groups * SPAN
