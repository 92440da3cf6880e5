"""What the arrays of a data set's folder must be like before kernels may follow them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from spinney.binning.cuts import LARGEST_BINS, Cuts
from spinney.binning.kernels.records import NO_DEFAULT
from spinney.binning.matrix import SPARSE, ColumnLayout
from spinney.data import Schema
from spinney.errors import DatasetFormatError

LARGEST_CODES = 65_536


def checked_cuts(
    values: NDArray[np.float64], starts: NDArray[np.int64], schema: Schema, max_bin: int
) -> Cuts:
    """The cuts of the columns of a schema."""
    columns, counts = schema.columns, schema.category_counts
    if len(starts) != columns + 1 or starts[0] != 0 or starts[-1] != len(values):
        raise DatasetFormatError(f"its cuts are not those of {columns} columns")
    made = np.diff(starts)
    if (made < 0).any() or (made >= LARGEST_BINS).any():
        raise DatasetFormatError("a column has less than no cuts, or too many")
    rises = np.diff(values) > 0.0
    inner = starts[1:-1]
    rises[inner[(inner > 0) & (inner < len(values))] - 1] = True
    if not (np.isfinite(values).all() and rises.all()):
        raise DatasetFormatError("the cuts of a column do not ascend, or are not finite")
    categorical = np.zeros(columns, np.uint8)
    if counts is not None:
        categorical[:] = counts > 0
        wrong = (counts > 0) & (made != counts - 1)
        if wrong.any():
            raise DatasetFormatError("a column of categories has other bins than categories")
    return Cuts(values, starts, max_bin, categorical)


def checked_features(arrays: Mapping[str, NDArray[np.int64]], cuts: Cuts) -> ColumnLayout:
    """Where the codes of each column are, if every code has one place."""
    group, low, codes, default = (arrays[name] for name in ("group", "low", "codes", "default"))
    bins = cuts.bins
    if not len(group) == len(low) == len(codes) == len(default) == len(bins):
        raise DatasetFormatError("its groups are not those of its columns")
    lone = default == NO_DEFAULT
    listed = (default >= 0) & (default <= bins) & ((codes == bins) | (codes == bins - 1)) & (codes >= 0)
    plain = lone & (low == 0) & (codes == bins + 1) & (group >= 0)
    if not (plain | (~lone & listed)).all() or (low < 0).any() or (group < SPARSE).any():
        raise DatasetFormatError("the codes of a column do not fit its bins")
    if (group >= len(bins)).any():
        raise DatasetFormatError("there are more groups than columns")
    groups = int(group.max()) + 1
    sizes = np.bincount(group[group >= 0], minlength=groups)
    if (sizes == 0).any() or (sizes[group[lone]] != 1).any():
        raise DatasetFormatError("a group has no column, or a lone column shares its group")
    for begin, chosen in ((1, ~lone & (group >= 0)), (0, group == SPARSE)):
        order = np.lexsort((codes[chosen], low[chosen], group[chosen]))  # columns without codes first
        owner, first, many = (values[chosen][order] for values in (group, low, codes))
        ends = first + many
        new = np.diff(owner, prepend=SPARSE - 1) != 0
        expected = np.where(new, begin, np.concatenate([np.zeros(1, np.int64), ends[:-1]]))
        if not np.array_equal(first, expected):
            raise DatasetFormatError("the codes of a bundle, or of sparse columns, overlap or leave a gap")
    features = ColumnLayout(group, low, codes, bins, default)
    if int(features.group_codes.max(initial=0)) > LARGEST_CODES:
        raise DatasetFormatError("a group has more codes than can be told apart")
    sparse = np.flatnonzero(group == SPARSE)
    if (np.diff(low[sparse]) < 0).any():
        raise DatasetFormatError("sparse columns are not in order")
    return features
