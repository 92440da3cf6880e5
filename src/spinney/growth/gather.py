"""Room for the rows of a small bag, side by side."""

from __future__ import annotations

import math

import numpy as np

from spinney.binning.entries import split8
from spinney.binning.kernels.records import Codes
from spinney.binning.matrix import BinnedMatrix
from spinney.growth.kernels.records import Gathered
from spinney.params import Config

# Share of the rows that a tree sees, times the groups of a row, up to which copying them pays: each group adds to its cost, but
# not to what it saves, and rows of a large share are close together anyway. Time of a tree with against without it, on one and
# two threads, best of a few: 262 000 rows of 12 groups, 255 leaves, 20 % by GOSS .90, .90, 35 % .96, .92, 50 % 1.03, 1.00;
# 500 000 rows of 28 groups, 31 leaves, 5 % .76, .90, 20 % 1.12, 1.00, 50 % 1.47, 1.02.
MOST_GATHERED = 4.5
LARGEST_SHARE = 0.4
PAIR = 8  # bytes of a row's gradients
WORD = 8  # codes of one group that are written together, at most


def drawn_share(config: Config) -> float:
    """Share of the rows that a tree sees, if they are drawn."""
    return config.top_rate + config.other_rate if config.sampling_method == "goss" else config.subsample


def gathered_room(matrix: BinnedMatrix, config: Config, drawn_from: int | None = None) -> Gathered:
    """Memory for a bag's codes and gradients. A bag that has more rows than there is room for is not gathered.

    The bag is drawn from so many rows; None: from all.
    """
    share = drawn_share(config) * (1.0 if drawn_from is None else drawn_from / matrix.rows)
    pays = share <= LARGEST_SHARE and share * matrix.groups <= MOST_GATHERED and not matrix.sparse.entries
    # Training on a sparse table should not take much more memory than the table.
    each = matrix.stride * matrix.by_row.itemsize + matrix.groups * matrix.by_column.itemsize + PAIR
    pays = pays and (not matrix.from_sparse or share * matrix.rows * each <= matrix.nbytes / 2)
    # Some ways of drawing give a few rows more or less.
    wanted = share * matrix.rows + 4.0 * math.sqrt(matrix.rows) if pays else 0.0
    count, kind = math.ceil(wanted / WORD) * WORD, matrix.by_row.dtype
    rows, columns = np.empty(count * matrix.stride, kind), np.empty(count * matrix.groups, kind)
    codes = Codes(count, matrix.groups, matrix.stride, int(matrix.wide), *split8(rows), *split8(columns))
    return Gathered(codes, rows.view(np.int64), columns.view(np.int64), np.empty(2 * count, np.float32))
