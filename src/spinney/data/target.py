"""Targets, class labels, weights and margins: read from anything a user gives, and checked.

Targets of boosting are float64 of one column or several (`read_target`); those of forests are class numbers or numbers of one
output or several (`ForestTarget`). `read_labels` reads all labels of a table. Errors name the argument and the first
wrong row.
"""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spinney.data.arrays import (
    TARGET_ADVICE,
    VECTOR_ADVICE,
    as_array,
    complex_refusal,
    content_of,
    not_a_vector,
    numeric,
    plain_array,
    refuse_dask,
)
from spinney.data.frame import frame_vector, frame_vectors, is_frame
from spinney.data.labels import Labels, RawLabels
from spinney.data.read import read_table
from spinney.data.table import as_matrix
from spinney.errors import DataError, DataTypeError
from spinney.params.parameter import as_float


@overload
def read_vector(
    values: Any,
    rows: int | None,
    what: str,
    *,
    allow_none: Literal[False],
    unbounded: bool = False,
    column: bool = True,
) -> NDArray[np.float64]: ...
@overload
def read_vector(
    values: Any,
    rows: int | None,
    what: str,
    *,
    allow_none: bool = True,
    unbounded: bool = False,
    column: bool = True,
) -> NDArray[np.float64] | None: ...
def read_vector(
    values: Any,
    rows: int | None,
    what: str,
    *,
    allow_none: bool = True,
    unbounded: bool = False,
    column: bool = True,
) -> NDArray[np.float64] | None:
    """Read one finite number for each row.

    Parameters
    ----------
    values : array-like, series or None
        Of shape (rows,), or (rows, 1) where `column` allows it.
    rows : int, optional
        Number of rows of the table; None takes any number of values.
    what : str
        Name of the argument, for messages.
    allow_none : bool, default=True
        Whether None is returned, or an error.
    unbounded : bool, default=False
        Whether values may be infinity, but not minus infinity.
    column : bool, default=True
        Whether a matrix of one column is allowed.

    Returns
    -------
    ndarray of shape (rows,), or None
        Contiguous float64. It may be the caller's own memory: do not write to it.

    Examples
    --------
    >>> read_vector([1, 2, 3], 3, "y").tolist()
    [1.0, 2.0, 3.0]
    """
    if values is None and allow_none:
        return None
    advice = TARGET_ADVICE if what.endswith("y") else VECTOR_ADVICE
    array = numeric(one_dimension(values, rows, what, column=column), lambda _: what, advice)
    with np.errstate(over="ignore", under="ignore"):
        vector = np.require(array, np.float64, ["C_CONTIGUOUS", "ALIGNED"])
    check_finite(np.where(vector == np.inf, 0.0, vector) if unbounded else vector, what)
    return vector


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


def read_weight(values: Any, rows: int, *, what: str = "sample_weight") -> NDArray[np.float64] | None:
    """Read the weight of each row.

    Parameters
    ----------
    values : array-like, series, number or None
        Finite, not negative, not all zero. A number is the weight of every row.
    rows : int
        Number of rows of the table.
    what : str, default="sample_weight"
        Name of the argument, for messages.

    Returns
    -------
    ndarray of shape (rows,), or None
        Contiguous float64; None stays None.

    Examples
    --------
    >>> read_weight(2, 3).tolist()
    [2.0, 2.0, 2.0]
    """
    if isinstance(values, numbers.Real) and not isinstance(values, bool):
        values = np.full(rows, as_float(values))
    weight = read_vector(values, rows, what, column=False)
    if weight is None:
        return None
    if weight.min() < 0:
        row = int(np.argmax(weight < 0))
        raise DataError(f"{what} is negative in row {row} ({weight[row]}); weights must be zero or more")
    with np.errstate(over="ignore"):
        total = weight.sum()
    if total == 0:
        raise DataError(f"{what} holds only zeros; at least one weight must be greater than zero")
    if not np.isfinite(total):
        raise DataError(f"{what} adds up to infinity; divide all weights by a large number")
    return weight


def read_margin(
    values: Any, rows: int, outputs: int, *, what: str = "base_margin"
) -> NDArray[np.float64] | None:
    """Read the scores that boosting starts from.

    Parameters
    ----------
    values : array-like, frame, series or None
        Of shape (rows, outputs), or (rows,) for one output. Finite.
    rows : int
        Number of rows of the table.
    outputs : int
        Number of scores of each row.
    what : str, default="base_margin"
        Name of the argument, for messages.

    Returns
    -------
    ndarray of shape (rows, outputs), or None
        C-contiguous float64; None stays None.

    Examples
    --------
    >>> read_margin([0.5, -0.5], 2, 1).tolist()
    [[0.5], [-0.5]]
    """
    if values is None:
        return None
    refuse_dask(values, what)
    if outputs == 1:
        return read_vector(values, rows, what, allow_none=False).reshape(rows, 1)
    flat = isinstance(values, list | tuple) and all(isinstance(one, numbers.Real) for one in values)
    if len(getattr(values, "shape", ())) == 1 or (flat and len(values)):
        raise DataError(
            f"{what} has one dimension; it must be of shape ({rows}, {outputs}), one score a row and output"
        )
    matrix = as_matrix(read_table(values, what=what, allow_empty=rows == 0))
    if matrix.shape != (rows, outputs):
        raise DataError(
            f"{what} has shape {matrix.shape}; it must be ({rows}, {outputs}), one score a row and output"
        )
    check_finite(matrix, what)
    return matrix


def read_base_margin(values: ArrayLike | None, rows: int) -> NDArray[np.float64] | None:
    """Read the scores that rows start from, of any number of outputs."""
    if values is None:
        return None
    refuse_dask(values, "base_margin")
    shape = values.shape if hasattr(values, "shape") else as_array(values, "base_margin").shape
    margin = read_margin(values, rows, shape[1] if len(shape) == 2 else 1)
    if margin is not None and np.abs(margin).max() > 1e30:
        raise DataError("base_margin holds a value beyond ±1e30, which is too large to train on")
    return margin


def read_class_labels(y: Any, rows: int) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Read class labels.

    Parameters
    ----------
    y : array-like or series
        Strings, integers, booleans, or floats without a fraction; of shape (rows,) or (rows, 1).
    rows : int
        Number of rows of the table.

    Returns
    -------
    classes : ndarray
        The distinct labels, sorted.
    codes : ndarray of int64 of shape (rows,)
        Position of each row's label in `classes`.

    Examples
    --------
    >>> classes, codes = read_class_labels(["oak", "ash", "oak"], 3)
    >>> classes.tolist(), codes.tolist()
    (['ash', 'oak'], [1, 0, 1])
    """
    labels = one_dimension(y, rows, "y")
    kind = labels.dtype.kind
    if kind in "OT":
        labels = _uniform(labels.astype(object))
        kind = labels.dtype.kind
    if kind == "O":
        return _sorted_texts(labels)
    if kind in "iu":
        return _sorted_integers(labels.astype(labels.dtype.newbyteorder("=")))
    if kind == "f":
        labels = labels.astype(np.float64) if labels.itemsize > 8 else labels
        check_finite(labels, "y")
        if np.any(labels != np.floor(labels)):
            raise DataError(
                "Unknown label type: continuous. y holds numbers with a fraction, which are no class labels; "
                "use a regressor, or turn them into classes"
            )
    elif kind == "c":
        raise complex_refusal("y", {"complex": "labels must be strings, integers or booleans"})
    elif kind not in "bU":
        raise DataTypeError(
            f"Unknown label type: y has dtype {labels.dtype}; labels must be strings, integers or booleans"
        )
    classes, codes = np.unique(labels, return_inverse=True)
    return classes.astype(classes.dtype.newbyteorder("=")), codes.astype(np.int64)


@dataclass(frozen=True, eq=False)
class ForestTarget:
    """The target of a forest.

    Attributes
    ----------
    values : int64[rows, outputs] or float64[rows, outputs]
        Class numbers, or numbers; C-contiguous.
    classes : tuple of int
        Number of classes of each output; empty for numbers.

    Examples
    --------
    >>> target = ForestTarget(np.array([[0, 2], [1, 0]]), classes=(2, 3))
    >>> target.rows, target.outputs, target.leaf_values
    (2, 2, 5)
    """

    values: NDArray[np.int64] | NDArray[np.float64]
    classes: tuple[int, ...] = ()

    @property
    def rows(self) -> int:
        """Number of rows."""
        return int(self.values.shape[0])

    @property
    def outputs(self) -> int:
        """Number of outputs."""
        return int(self.values.shape[1])

    @property
    def leaf_values(self) -> int:
        """Number of values of a leaf: the weights of all classes of all outputs, or a prediction of each output."""
        return sum(self.classes) if self.classes else self.outputs

    def take(self, chosen: NDArray[np.bool_]) -> ForestTarget:
        """Copy the target of some rows."""
        return ForestTarget(self.values[chosen], self.classes)


def read_number_target(y: Any, rows: int) -> ForestTarget:
    """Read a target of numbers, of shape (rows,) or (rows, outputs).

    Examples
    --------
    >>> read_number_target([[1, 2.5], [3, 4]], 2).values.tolist()
    [[1.0, 2.5], [3.0, 4.0]]
    """
    columns = [read_vector(column, rows, "y", allow_none=False) for column in target_columns(y)]
    return ForestTarget(np.column_stack(columns))


def read_class_target(y: Any, rows: int) -> tuple[list[NDArray[Any]], ForestTarget]:
    """Read a target of labels, of shape (rows,) or (rows, outputs).

    Returns
    -------
    labels : list of ndarray
        The distinct labels of each output, sorted.
    target : ForestTarget
        Class numbers are positions in `labels`.

    Examples
    --------
    >>> labels, target = read_class_target(["oak", "ash", "oak"], 3)
    >>> labels[0].tolist(), target.values[:, 0].tolist()
    (['ash', 'oak'], [1, 0, 1])
    """
    found = [read_class_labels(column, rows) for column in target_columns(y)]
    labels = [classes for classes, _ in found]
    codes = np.column_stack([codes for _, codes in found])
    return labels, ForestTarget(codes, tuple(map(len, labels)))


def target_columns(y: Any) -> list[NDArray[Any]]:
    """The columns of a target: a vector has one, a matrix or a frame may have several.

    Examples
    --------
    >>> [column.tolist() for column in target_columns([["oak", 1], ["ash", 2]])]
    [['oak', 'ash'], [1, 2]]
    """
    if y is None:
        raise DataError("This estimator requires y to be passed, but the target y is None")
    if type(y) is not np.ndarray and is_frame(y):
        return frame_vectors(y, "y")
    array = plain_array(y, "y")
    if array.ndim == 1:
        return [array]
    if array.ndim != 2 or array.shape[1] == 0:
        raise not_a_vector(array.shape, "y")
    return [array[:, output] for output in range(array.shape[1])]


def one_dimension(values: Any, rows: int | None, what: str, *, column: bool = True) -> NDArray[Any]:
    """Values of any dtype, one for each row; with `column` a matrix of one column is allowed."""
    if values is None:
        raise DataError(f"This estimator requires {what} to be passed, but the target {what} is None")
    framed = type(values) is not np.ndarray and is_frame(values)
    array = frame_vector(values, what) if framed else plain_array(values, what)
    shape = getattr(values, "shape", array.shape)
    if len(shape) == 2 and not column:
        raise not_a_vector(shape, what)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise not_a_vector(array.shape, what)
    if rows is not None and len(array) != rows:
        raise DataError(f"{what} has {len(array)} values, but X has {rows} rows; give one value for each row")
    return array


def check_finite(values: NDArray[Any], what: str) -> None:
    """Refuse NaN and infinity."""
    finite = np.isfinite(values)
    if finite.all():
        return
    row = int(np.argmin(finite)) // (values.size // len(values))
    if np.isnan(values[row]).any():
        found = "NaN"
    else:
        found = "infinity or a value too large for dtype('float64')"
    raise DataError(f"Input {what} contains {found}. The first is in row {row}; drop or correct such rows")


def _uniform(labels: NDArray[Any]) -> NDArray[Any]:
    """Labels held as objects in the dtype that they share. Texts stay objects, because NumPy's drop a final NUL."""
    contents = {kind: content_of(kind) for kind in set(map(type, labels))}
    for row, label in enumerate(labels):
        if contents[type(label)] == "missing" or (isinstance(label, float | np.floating) and label != label):
            raise DataError(f"y has no label in row {row} ({label}); drop such rows, or give them a label")
    if all(issubclass(kind, str) for kind in contents):
        return labels
    # Decimals and fractions are numbers in a table, but NumPy has no dtype for labels of them.
    if not all(issubclass(kind, int | float | np.number | np.bool_) for kind in contents):
        kinds = ", ".join(sorted(kind.__name__ for kind in contents))
        raise DataTypeError(
            f"Unknown label type: y holds {kinds}; labels must be all strings, all integers or all booleans"
        )
    uniform = np.array(labels.tolist())
    if uniform.dtype.kind == "O":
        raise DataError("Unknown label type: y holds numbers beyond 64-bit integers; use strings as labels")
    return uniform


def _sorted_texts(labels: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    texts = labels.tolist()
    classes = np.array(sorted(set(texts)), dtype=object)
    place = {label: code for code, label in enumerate(classes)}
    return classes, np.fromiter(map(place.__getitem__, texts), dtype=np.int64, count=len(texts))


def _sorted_integers(labels: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    low, high = int(labels.min()), int(labels.max())
    if high - low > max(65_536, len(labels)) or high > np.iinfo(np.int64).max:
        classes, codes = np.unique(labels, return_inverse=True)
        return classes, codes.astype(np.int64)
    # Labels close together are counted instead of sorted.
    offsets = labels.astype(np.int64) - low
    present = np.zeros(high - low + 1, dtype=np.bool_)
    present[offsets] = True
    classes = (np.flatnonzero(present) + low).astype(labels.dtype)
    return classes, (np.cumsum(present, dtype=np.int64) - 1)[offsets]


def read_labels(raw: RawLabels, rows: int) -> Labels:
    """Check the labels of all rows of a table.

    Arrays may be the caller's own memory: do not write to them.

    Examples
    --------
    >>> labels = read_labels(RawLabels([0, 1, 1], weight=[1.0, 3.0], group=[2, 1]), 3)
    >>> labels.weight.tolist(), labels.queries.tolist()
    ([1.0, 1.0, 3.0], [0, 0, 1])
    """
    target = read_target(raw.y, rows)
    weight, queries = read_weight_and_queries(raw, rows)
    margin = read_base_margin(raw.base_margin, rows)
    return Labels(no_target(rows) if target is None else target, weight, margin, queries)


def read_weight_and_queries(
    raw: RawLabels, rows: int, before: str = ""
) -> tuple[NDArray[np.float64] | None, NDArray[np.int64] | None]:
    """Check weights and queries; in messages `before` stands before the names of the arguments of queries."""
    if raw.group is None and raw.qid is None:
        return read_weight(raw.weight, rows, what=raw.weight_name), None
    from spinney.data.queries import read_queries, read_query_weight  # reads targets itself

    queries = read_queries(raw.group, raw.qid, rows, before)
    return read_query_weight(raw.weight, rows, queries, what=raw.weight_name), queries


def no_target(rows: int) -> NDArray[np.float64]:
    """A target of no columns."""
    return np.empty((rows, 0))
