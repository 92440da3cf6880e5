"""The target of a forest: class numbers or numbers, of one output or several."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.data.array import not_a_vector, plain_array
from spinney.data.frame import frame_vectors, is_frame
from spinney.data.target import read_labels, read_vector
from spinney.errors import DataError


@dataclass(frozen=True, eq=False)
class ForestTarget:
    """What the trees of a forest learn.

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
        """Numbers that a leaf holds: the weights of all classes of all outputs, or a prediction of each output."""
        return sum(self.classes) if self.classes else self.outputs

    def take(self, chosen: NDArray[np.bool_]) -> ForestTarget:
        """Copy those of some rows."""
        return ForestTarget(self.values[chosen], self.classes)


def target_columns(y: Any) -> list[NDArray[Any]]:
    """The outputs of a target one by one: a vector has one, a matrix or a frame as many as columns.

    Examples
    --------
    >>> [column.tolist() for column in target_columns([["oak", 1], ["ash", 2]])]
    [['oak', 'ash'], [1, 2]]
    """
    if y is None:
        raise DataError("This estimator requires y to be passed, but the target y is None")
    if is_frame(y):
        return frame_vectors(y, "y")
    array = plain_array(y, "y")
    if array.ndim == 1:
        return [array]
    if array.ndim != 2 or array.shape[1] == 0:
        raise not_a_vector(array.shape, "y")
    return [array[:, output] for output in range(array.shape[1])]


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
        Class numbers are places in `labels`.

    Examples
    --------
    >>> labels, target = read_class_target(["oak", "ash", "oak"], 3)
    >>> labels[0].tolist(), target.values[:, 0].tolist()
    (['ash', 'oak'], [1, 0, 1])
    """
    found = [read_labels(column, rows) for column in target_columns(y)]
    labels = [classes for classes, _ in found]
    codes = np.column_stack([codes for _, codes in found])
    return labels, ForestTarget(codes, tuple(map(len, labels)))
