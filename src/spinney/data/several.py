"""Targets of one column or several."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.data.forest_target import target_columns
from spinney.data.target import read_vector


def read_target(y: Any, rows: int) -> NDArray[np.float64] | None:
    """Read the target of each row.

    Parameters
    ----------
    y : array-like, series, frame or None
        Of shape (rows,), (rows, 1) or (rows, targets). Finite, but for the second of two columns, which may be infinity: it
        may be the upper end of an interval.
    rows : int
        Number of rows of the table.

    Returns
    -------
    ndarray of shape (rows,) or (rows, targets), or None
        float64; the columns of several stand one after another in memory. One column may be the caller's own memory: do not
        write to it.

    Examples
    --------
    >>> read_target([[1, 2], [3, np.inf]], 2).tolist()
    [[1.0, 2.0], [3.0, inf]]
    >>> read_target([[1], [3]], 2).tolist()
    [1.0, 3.0]
    """
    if y is None:
        return None
    columns = target_columns(y)
    if len(columns) == 1:
        return read_vector(columns[0], rows, "y", allow_none=False)
    found = [
        read_vector(
            column, rows, f"column {place} of y", allow_none=False, unbounded=place == 1 and len(columns) == 2
        )
        for place, column in enumerate(columns)
    ]
    return np.array(found).T
