"""Which rows of a binned table a data set is, as kernels know it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from spinney.growth.kernels.records import Subset


def subset_of(rows: NDArray[np.int32] | None, table_rows: int) -> Subset:
    """The rows that a data set has of a table, ascending; None for all of them.

    Examples
    --------
    >>> subset_of(np.array([1, 3], np.int32), 4).number.tolist()
    [0, 0, 0, 1]
    """
    if rows is None:
        nothing = np.empty(0, np.int32)
        return Subset(0, table_rows, table_rows, nothing, nothing)
    number = np.zeros(table_rows, np.int32)
    number[rows] = np.arange(len(rows), dtype=np.int32)
    return Subset(1, len(rows), table_rows, rows, number)
