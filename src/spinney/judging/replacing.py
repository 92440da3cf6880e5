"""Tables of any kind with some columns in another order, or some rows of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.data.arrays import as_array
from spinney.data.frame import is_frame
from spinney.data.sparse import is_sparse


class Replaceable:
    """A user's table, whose columns can be had in another order of the rows; the table itself is left alone.

    Parameters
    ----------
    X : table
        A NumPy array, a list of rows, a pandas, Polars or Arrow frame, or a SciPy sparse matrix.

    Examples
    --------
    >>> Replaceable([[1, 2], [3, 4]]).shuffled((1,), np.array([1, 0])).tolist()
    [[1, 4], [3, 2]]
    """

    def __init__(self, X: Any) -> None:
        if is_sparse(X):
            X = X.tocsc()
            X.sort_indices()
        self._X: Any = X if is_sparse(X) or is_frame(X) else as_array(X, "X")
        self._copy: NDArray[Any] | None = None

    def shuffled(self, columns: tuple[int, ...], order: NDArray[np.int32]) -> Any:
        """The table with some columns in another order: row i has their values of row order[i].

        What an array gives is written over by the next call.
        """
        if is_sparse(self._X):
            return self._sparse(columns, order)
        if is_frame(self._X):
            return _framed(self._X, columns, order)
        if self._copy is None:
            self._copy = self._X.copy()
            self._written: tuple[int, ...] = ()
        for column in self._written:
            self._copy[:, column] = self._X[:, column]
        for column in columns:
            self._copy[:, column] = self._X[order, column]
        self._written = columns
        return self._copy

    def _sparse(self, columns: tuple[int, ...], order: NDArray[np.int32]) -> Any:
        matrix = self._X.copy()
        back = np.empty(len(order), matrix.indices.dtype)
        back[order] = np.arange(len(order))
        for column in columns:
            stored = slice(matrix.indptr[column], matrix.indptr[column + 1])
            matrix.indices[stored] = back[matrix.indices[stored]]
        matrix.has_sorted_indices = False
        matrix.sort_indices()
        return matrix


def take_rows(X: Any, rows: NDArray[np.int64]) -> Any:
    """Some rows of a user's table, which may come more than once.

    Examples
    --------
    >>> take_rows([[1, 2], [3, 4]], np.array([1, 1])).tolist()
    [[3, 4], [3, 4]]
    """
    if is_sparse(X):
        return X.tocsr()[rows]
    if not is_frame(X):
        return as_array(X, "X")[rows]
    import narwhals as nw

    return nw.from_native(X, eager_only=True)[rows.tolist(), :].to_native()


def _framed(X: Any, columns: tuple[int, ...], order: NDArray[np.int32]) -> Any:
    if hasattr(X, "iloc"):
        frame = X.copy(deep=False)
        for column in columns:
            frame.isetitem(column, X.iloc[:, column].array.take(order))
        return frame
    import narwhals as nw

    frame = nw.from_native(X, eager_only=True)
    names = [frame.columns[column] for column in columns]
    return frame.with_columns(*(frame[name][order.tolist()] for name in names)).to_native()
