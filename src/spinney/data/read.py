"""`read_table`: any table of a user as a `Table`. Frames, sparse matrices and arrays have a reader each.

The reader of a new kind of table gives a `Table` of panels, and is chosen here.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from spinney.data.arrays import array_table
from spinney.data.frame import frame_table, is_frame
from spinney.data.sparse import is_sparse, sparse_table
from spinney.data.table import Table, check_names


def read_table(
    X: Any, *, names: Sequence[str] | None = None, what: str = "X", allow_empty: bool = False
) -> Table:
    """Read a table of numbers.

    Parameters
    ----------
    X : array-like or frame of shape (rows, columns)
        A NumPy array of any numeric dtype and layout, a list of rows, a pandas, Polars or PyArrow frame, or a SciPy sparse
        matrix or array.
        NaN, None and a frame's nulls are missing values. Arrays of float32 and float64 are not copied.
    names : sequence of str, optional
        Column names, in place of those of X.
    what : str, default="X"
        Name of the argument, for messages.
    allow_empty : bool, default=False
        Whether the table may have no rows: a table to predict on may.

    Returns
    -------
    Table
        At least one column, and one row unless it may be empty.

    Raises
    ------
    DataError
        For a table that is empty, not two-dimensional, complex, or has two columns of one name.
    DataTypeError
        For nested values, for text and times outside of frames, and for anything else that is no table of numbers and categories.

    Examples
    --------
    >>> import numpy as np
    >>> table = read_table(np.array([[1.0, 2.0], [3.0, np.nan]], dtype=np.float32), names=["age", "height"])
    >>> table.rows, table.columns, table.names
    (2, 2, ('age', 'height'))
    """
    if type(X) is np.ndarray:
        table = array_table(X, what, allow_empty=allow_empty)
    elif is_frame(X):
        table = frame_table(X, what, allow_empty=allow_empty)
    elif is_sparse(X):
        table = sparse_table(X, what, allow_empty=allow_empty)
    else:
        table = array_table(X, what, allow_empty=allow_empty)
    if names is None:
        return table
    return replace(table, names=check_names(names, table.columns, what))
