"""Anything NumPy can read, as a plain array, and such an array as a table."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.data.dask import refuse_dask
from spinney.data.numeric import numeric
from spinney.data.table import Panel, Table, column_title
from spinney.errors import DataError, DataTypeError


def as_array(values: Any, what: str) -> NDArray[Any]:
    """What NumPy makes of an array-like, or an error of ours where it makes nothing of it.

    Examples
    --------
    >>> as_array([1, 2], "groups").tolist()
    [1, 2]
    """
    refuse_dask(values, what)
    try:
        return np.asarray(values)
    except (ValueError, TypeError, OverflowError, RuntimeError) as error:
        raise DataError(
            f"{what} is a {type(values).__name__} that does not form an array: {error}"
        ) from error


def plain_array(values: Any, what: str) -> NDArray[Any]:
    """Give an array-like as a base-class ndarray of any dtype and shape, uncopied where it is one already.

    Parameters
    ----------
    values : array-like
        NumPy array, nested lists, or an object with `__array__` or a buffer.
    what : str
        Name of the argument, for messages.

    Returns
    -------
    ndarray
        Masked entries are NaN (or None where the dtype is not numeric).

    Examples
    --------
    >>> plain_array([[1, 2], [3, 4]], "X").tolist()
    [[1, 2], [3, 4]]
    """
    kind = type(values)
    if any(base.__module__.startswith("scipy.sparse") for base in kind.__mro__):
        raise DataTypeError(
            f"{what} is a SciPy sparse {kind.__name__}; only a table may be sparse: use {what}.toarray()"
        )
    if isinstance(values, np.matrix):
        raise DataTypeError(f"{what} is a np.matrix; np.matrix is not supported: use np.asarray({what})")
    if isinstance(values, np.ma.MaskedArray):
        return _unmasked(values)
    array = as_array(values, what)
    if array.dtype.kind in "US" and isinstance(values, list | tuple):
        # NumPy turns [1, "a"] into two texts; as objects the offending column can be named.
        array = np.asarray(values, dtype=object)
    if array.ndim == 0 and array.dtype.kind == "O":
        raise DataTypeError(
            f"{what} must be a NumPy array, a list, or a pandas, Polars or PyArrow object, "
            f"got {kind.__name__}"
        )
    if array.dtype.names is not None:
        raise DataTypeError(
            f"{what} is a structured array with fields {', '.join(array.dtype.names)}; turn it into a plain "
            "one with numpy.lib.recfunctions.structured_to_unstructured"
        )
    return array


def array_table(values: Any, what: str, *, allow_empty: bool = False) -> Table:
    """Read an array-like as a table without names.

    Parameters
    ----------
    values : array-like
        Two-dimensional.
    what : str
        Name of the argument, for messages.
    allow_empty : bool, default=False
        Whether a table may have no rows.

    Returns
    -------
    Table
        With one panel, which is the array itself where its dtype is numeric.

    Examples
    --------
    >>> table = array_table([[1.0, 2.0, 3.0]], "X")
    >>> table.rows, table.columns
    (1, 3)
    """
    if type(values) is np.ndarray and values.ndim == 2 and values.size and values.dtype.char in "fd":
        # What most calls bring, among them predictions of a single row, where every microsecond counts.
        return Table(values.shape[0], values.shape[1], None, (Panel(0, values),))
    array = plain_array(values, what)
    if array.ndim != 2:
        raise wrong_dimensions(array, what)
    check_size(array.shape, allow_empty=allow_empty)
    untyped = array.dtype.kind == "O"
    array = numeric(array, lambda column: f"{column_title(None, column)} of {what}")
    return Table(array.shape[0], array.shape[1], None, (Panel(0, array, any_kind=untyped),))


def wrong_dimensions(array: NDArray[Any], what: str) -> DataError:
    """Make the error for a table that does not have two dimensions, in the words scikit-learn uses."""
    if array.ndim > 2:
        return DataError(f"Found array with dim {array.ndim}, while dim <= 2 is required for {what}")
    found = "scalar" if array.ndim == 0 else "1D"
    values = np.array2string(array, threshold=6) if array.dtype.kind in "biuf" else f"dtype {array.dtype}"
    return DataError(
        f"Expected 2D array, got {found} array instead for {what}:\narray={values}.\n"
        "Reshape your data either using array.reshape(-1, 1) if your data has a single feature or "
        "array.reshape(1, -1) if it contains a single sample."
    )


def not_a_vector(shape: tuple[int, ...], what: str) -> DataError:
    """Make the error for a vector that has another shape, in the words scikit-learn uses."""
    return DataError(f"bad input shape {shape}: {what} should be a 1d array with one value for each row")


def check_size(shape: tuple[int, ...], *, allow_empty: bool) -> None:
    """Refuse a table without rows, unless it may be empty, or without columns, in the words scikit-learn uses."""
    rows, columns = shape
    for count, unit in ((rows or allow_empty, "sample"), (columns, "feature")):
        if not count:
            raise DataError(
                f"Found array with 0 {unit}(s) (shape=({rows}, {columns})) while a minimum of 1 is required."
            )


def _unmasked(values: "np.ma.MaskedArray[Any, Any]") -> NDArray[Any]:
    mask = np.ma.getmaskarray(values)
    data: NDArray[Any] = np.asarray(values.data)
    if not mask.any():
        return data
    if data.dtype.kind not in "biuf":
        data = data.astype(object)
        data[mask] = None
        return data
    data = data.astype(data.dtype if data.dtype.kind == "f" else np.float64)
    data[mask] = np.nan
    return data
