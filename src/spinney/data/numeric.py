"""What counts as a number: an array of any dtype becomes one of booleans, integers or floats, or an error."""

import datetime
import numbers
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.errors import DataError, DataTypeError, SpinneyError

ADVICE = {
    "text": "text is read from frames, as categories: give a pandas, Polars or PyArrow frame with columns of str, or make it "
    "numbers, as in X.astype(float) where it reads as such",
    "times": "turn it into numbers first, for example into seconds or days since a fixed date",
    "nested values": "give each of its parts a column of its own",
    "values that are no numbers": "only booleans, integers and floats can be read",
    "complex": "give the real and the imaginary part as two columns of floats",
}
# For what has one value a row, such as a target.
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


def refusal(where: str, content: str, found: object, advice: Mapping[str, str] = ADVICE) -> DataTypeError:
    """Make the error for a column whose `content` (a key of `ADVICE`) cannot be used."""
    return DataTypeError(f"{where} holds {content} ({found}); {advice[content]}")


def complex_refusal(where: str, advice: Mapping[str, str] = ADVICE) -> DataError:
    """Make the error for complex numbers."""
    return DataError(f"Complex data not supported: {where} holds complex numbers; {advice['complex']}")


def numeric(
    values: NDArray[Any], where: Callable[[int], str], advice: Mapping[str, str] = ADVICE
) -> NDArray[Any]:
    """Give the values as booleans, integers or floats.

    Parameters
    ----------
    values : ndarray of one or two dimensions
        Returned as it is when its dtype is numeric. Objects that are numbers or missing become float64.
    where : callable
        Names column j in messages.
    advice : mapping, default=ADVICE
        What to do about each content that cannot be used.

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
    """Say what a Python type holds: "number", "missing", or a key of `ADVICE`."""
    if kind is type(None) or (kind.__name__ == "NAType" and kind.__module__.startswith("pandas")):
        return "missing"
    # np.timedelta64 calls itself an integer, so times are told apart before numbers.
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
