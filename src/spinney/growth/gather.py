"""Room for the rows of a small bag, side by side."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.binning.entries import split8
from spinney.binning.matrix import BinnedMatrix
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


class Gathered:
    """Memory for a bag's codes and gradients, as `grow_tree` takes it.

    A bag that has more rows than there is room for is not gathered.
    """

    def __init__(self, matrix: BinnedMatrix, config: Config) -> None:
        share = drawn_share(config)
        pays = (
            share <= LARGEST_SHARE and share * matrix.groups <= MOST_GATHERED and not len(matrix.stored.rows)
        )
        # Training on a sparse table should not take much more memory than the table.
        each = matrix.stride * matrix.by_row.itemsize + matrix.groups * matrix.by_column.itemsize + PAIR
        pays = pays and (not matrix.from_sparse or share * matrix.rows * each <= matrix.nbytes / 2)
        # Some ways of drawing give a few rows more or less.
        rows = share * matrix.rows + 4.0 * math.sqrt(matrix.rows) if pays else 0.0
        self.room = math.ceil(rows / WORD) * WORD
        kind = matrix.by_row.dtype
        self._rows = np.empty(self.room * matrix.stride, kind)
        self._columns = np.empty(self.room * matrix.groups, kind)
        self._pairs = np.empty(2 * self.room, np.float32)

    @property
    def arrays(self) -> tuple[NDArray[Any], ...]:
        """Codes by rows and by columns as kernels read them, then the same memory as they write it, and gradients."""
        rows, columns = self._rows, self._columns
        return *split8(rows), *split8(columns), rows.view(np.int64), columns.view(np.int64), self._pairs
