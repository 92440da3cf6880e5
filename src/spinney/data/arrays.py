"""Anything that NumPy can read: as a plain array, as an array of numbers, and as a `Table`.

An array of any dtype becomes one of booleans, integers or floats, or an error with advice (`numeric`). Dask collections are
refused here (`refuse_dask`), by class and without importing Dask: only `spinney.dask` reads them.
"""

from __future__ import annotations

import datetime
import numbers
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.data.table import Panel, Table, column_title
from spinney.errors import DataError, DataTypeError, SpinneyError

ADVICE = {
    "text": "text is read from frames, as categories: give a pandas, Polars or PyArrow frame with columns of str, or make it "
    "numbers, as in X.astype(float) where it reads as such",
    "times": "turn it into numbers first, for example into seconds or days since a fixed date",
    "nested values": "give each of its parts a column of its own",
    "values that are no numbers": "only booleans, integers and floats can be read",
    "complex": "give the real and the imaginary part as two columns of floats",
}
# For vectors of one value a row, such as a target.
VECTOR_ADVICE = ADVICE | {
    "text": "it must hold one number for each row: use astype(float) where the text reads as numbers",
    "nested values": "it must hold one number for each row",
    "complex": "it must hold one real number for each row",
}
TARGET_ADVICE = VECTOR_ADVICE | {
    "text": "a target must be one number for each row: use astype(float) where the text reads as numbers. Only classifiers take "
    "labels that are text",
}
DTYPE_KINDS = {"U": "text", "S": "text", "T": "text", "M": "times", "m": "times"}


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
        One panel, which is the array itself where its dtype is numeric.

    Examples
    --------
    >>> table = array_table([[1.0, 2.0, 3.0]], "X")
    >>> table.rows, table.columns
    (1, 3)
    """
    if type(values) is np.ndarray and values.ndim == 2 and values.size and values.dtype.char in "fd":
        # The usual case. Predictions of a single row come here too, where every microsecond counts.
        return Table(values.shape[0], values.shape[1], None, (Panel(0, values),))
    array = plain_array(values, what)
    if array.ndim != 2:
        raise wrong_dimensions(array, what)
    check_size(array.shape, allow_empty=allow_empty)
    untyped = array.dtype.kind == "O"
    array = numeric(array, lambda column: f"{column_title(None, column)} of {what}")
    return Table(array.shape[0], array.shape[1], None, (Panel(0, array, any_kind=untyped),))


def plain_array(values: Any, what: str) -> NDArray[Any]:
    """An array-like as a base-class ndarray of any dtype and shape, uncopied where it is one already.

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
        # NumPy turns [1, "a"] into two texts. As objects the wrong column can be named.
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


def as_array(values: Any, what: str) -> NDArray[Any]:
    """An array-like as an array, or a `DataError` where NumPy cannot read it.

    Examples
    --------
    >>> as_array([1, 2], "groups").tolist()
    [1, 2]
    """
    if type(values) is np.ndarray:
        return values
    refuse_dask(values, what)
    try:
        return np.asarray(values)
    except (ValueError, TypeError, OverflowError, RuntimeError) as error:
        raise DataError(
            f"{what} is a {type(values).__name__} that does not form an array: {error}"
        ) from error


def numeric(
    values: NDArray[Any], where: Callable[[int], str], advice: Mapping[str, str] = ADVICE
) -> NDArray[Any]:
    """The values as booleans, integers or floats.

    Parameters
    ----------
    values : ndarray of one or two dimensions
        An array of numeric dtype is returned as it is. Objects that are numbers or missing become float64.
    where : callable
        Gives the name of column j in messages.
    advice : mapping, default=ADVICE
        Advice for each content that cannot be used.

    Returns
    -------
    ndarray
        Of the same shape.

    Examples
    --------
    >>> import numpy as np
    >>> numeric(np.array([1, None, 2.5], dtype=object), lambda j: "y").tolist()
    [1.0, nan, 2.5]
    """
    kind = values.dtype.kind
    if kind in "biuf":
        return values
    if kind == "c":
        raise complex_refusal(where(0), advice)
    if kind != "O":
        content = DTYPE_KINDS.get(kind, "values that are no numbers")
        raise refusal(where(0), content, f"dtype {values.dtype}", advice)
    if values.ndim == 1:
        return _from_objects(values, where(0), advice)
    matrix = np.empty(values.shape, order="F")
    for column in range(values.shape[1]):
        matrix[:, column] = _from_objects(values[:, column], where(column), advice)
    return matrix


def content_of(kind: type) -> str:
    """Content of a Python type: "number", "missing", or a key of `ADVICE`."""
    if kind is type(None) or (kind.__name__ == "NAType" and kind.__module__.startswith("pandas")):
        return "missing"
    # Times come before numbers, because np.timedelta64 is registered as an integer.
    times = (datetime.date, datetime.time, datetime.timedelta, np.datetime64, np.timedelta64)
    if issubclass(kind, times):
        return "times"
    if issubclass(kind, numbers.Real | np.bool_ | Decimal):
        return "number"
    if issubclass(kind, numbers.Complex):
        return "complex"
    if issubclass(kind, str | bytes):
        return "text"
    return "values that are no numbers"


def check_size(shape: tuple[int, ...], *, allow_empty: bool) -> None:
    """Refuse a table without rows, unless it may be empty, or without columns, as scikit-learn words it."""
    rows, columns = shape
    for count, unit in ((rows or allow_empty, "sample"), (columns, "feature")):
        if not count:
            raise DataError(
                f"Found array with 0 {unit}(s) (shape=({rows}, {columns})) while a minimum of 1 is required."
            )


def refusal(where: str, content: str, found: object, advice: Mapping[str, str] = ADVICE) -> DataTypeError:
    """The error for a column whose `content` (a key of `ADVICE`) cannot be used."""
    return DataTypeError(f"{where} holds {content} ({found}); {advice[content]}")


def complex_refusal(where: str, advice: Mapping[str, str] = ADVICE) -> DataError:
    """The error for complex numbers."""
    return DataError(f"Complex data not supported: {where} holds complex numbers; {advice['complex']}")


def wrong_dimensions(array: NDArray[Any], what: str) -> DataError:
    """The error for a table that does not have two dimensions, as scikit-learn words it."""
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
    """The error for a vector of another shape, as scikit-learn words it."""
    return DataError(f"bad input shape {shape}: {what} should be a 1d array with one value for each row")


def _unmasked(values: np.ma.MaskedArray[Any, Any]) -> NDArray[Any]:
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


def _from_objects(values: NDArray[Any], where: str, advice: Mapping[str, str]) -> NDArray[np.float64]:
    contents = {kind: content_of(kind) for kind in set(map(type, values))}
    bad = {kind for kind, content in contents.items() if content not in ("number", "missing")}
    if bad:
        row, value = next((row, value) for row, value in enumerate(values) if type(value) in bad)
        raise _object_refusal(where, row, value, contents[type(value)], advice)
    if any(content == "missing" and kind is not type(None) for kind, content in contents.items()):
        values = values.copy()
        values[[contents[type(value)] == "missing" for value in values]] = None
    try:
        return values.astype(np.float64)
    except (OverflowError, ValueError) as error:
        raise DataError(f"{where} holds a number that float64 cannot hold: {error}") from error


def _object_refusal(
    where: str, row: int, value: object, content: str, advice: Mapping[str, str]
) -> SpinneyError:
    if content == "complex":
        return complex_refusal(where, advice)
    if content == "values that are no numbers":
        # scikit-learn's estimator checks look for "argument must be a string or a number".
        return DataTypeError(
            f"{where} cannot be read as numbers: argument must be a string or a number, not "
            f"'{type(value).__name__}' (row {row}); {advice[content]}"
        )
    return refusal(where, content, f"{str(value)[:40]!r} in row {row}", advice)


PACKAGES = frozenset({"dask", "dask_expr"})
ESTIMATORS = ("GBMClassifier", "GBMRegressor", "GBMRanker")


def is_dask(value: object) -> bool:
    """Whether a value is a Dask array, data frame, series or delayed object, or a list of such.

    Examples
    --------
    >>> is_dask([[1, 2]])
    False
    """
    if type(value) is np.ndarray:
        return False  # the usual case, among others for predictions of a single row
    if isinstance(value, list | tuple) and value:
        return not isinstance(value[0], list | tuple) and is_dask(value[0])
    return any(base.__module__.partition(".")[0] in PACKAGES for base in type(value).__mro__)


def refuse_dask(value: object, what: str, reader: str | None = None) -> None:
    """Refuse a Dask collection. Otherwise it would be computed into memory and lose its names.

    Parameters
    ----------
    value : object
        An argument.
    what : str
        Its name.
    reader : str, optional
        Name of the estimator that got it.

    Raises
    ------
    DataTypeError
        The message names what `spinney.dask` has for it.
    """
    if not is_dask(value):
        return
    if reader is None:
        use = f"spinney.dask has Dataset, train, {', '.join(ESTIMATORS)} for it, or call its compute() first"
    elif reader in ESTIMATORS:
        use = f"use spinney.dask.{reader}, or call its compute() first"
    else:
        use = f"spinney.dask has no {reader}, so call its compute() first; the result must fit into memory"
    kind = type(value).__name__
    raise DataTypeError(f"{what} is a Dask collection ({kind}): {use}")
