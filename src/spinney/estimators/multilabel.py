"""Several labels a row, each of which it has or has not: targets of several columns of 0 and 1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from spinney.data import read_labels
from spinney.data.labels import by_column
from spinney.errors import DataError, ParameterError
from spinney.estimators.labels import check_class_weight, class_factors
from spinney.params.validate import shown

_ADVICE = (
    "columns of several labels hold 0 and 1; for classes of other labels or of more than two, train a classifier for each "
    "column, or a forest"
)


def classes_of_labels(labels: int) -> NDArray[np.int64]:
    """The classes of so many labels: 0 and 1 of each.

    scikit-learn's forests have a list of arrays, but where it meets probabilities of shape (rows, labels) it takes no list.

    Examples
    --------
    >>> classes_of_labels(2).tolist()
    [[0, 1], [0, 1]]
    """
    return np.tile([0, 1], (labels, 1))


def are_of_labels(classes: NDArray[Any] | None) -> TypeGuard[NDArray[Any]]:
    """Whether these are the classes of several labels a row, and not labels themselves."""
    return classes is not None and classes.ndim == 2


def read_label_columns(columns: Sequence[NDArray[Any]], rows: int) -> NDArray[np.float64]:
    """Which labels each row has, (rows, labels) of 0 and 1.

    Raises
    ------
    DataError
        A column holds something else than 0 and 1, or another number of rows.

    Examples
    --------
    >>> read_label_columns([np.array([True, False]), np.array([0, 0])], 2).tolist()
    [[1.0, 0.0], [0.0, 0.0]]
    """
    found = np.empty((len(columns), rows))
    for place, column in enumerate(columns):
        try:
            classes, codes = read_labels(column, rows)
        except DataError as error:
            raise DataError(f"column {place} of y: {error}") from None
        strange = [label for label in classes.tolist() if isinstance(label, str) or label not in (0, 1)]
        if strange:
            raise DataError(f"column {place} of y holds {strange[0]!r}; {_ADVICE}")
        found[place] = classes.astype(np.float64)[codes]
    return by_column(found.T)


def check_label_columns(columns: int, labels: int) -> None:
    """Refuse a target of other labels than the fitted ones."""
    if columns != labels:
        raise DataError(
            f"y has {columns} column{'s' * (columns > 1)}, but the training rows have {labels} labels"
        )


def check_label_weight(class_weight: object, what: str = "class_weight") -> None:
    """Refuse factors that no labels could have."""
    for one in class_weight if isinstance(class_weight, list | tuple) else [class_weight]:
        check_class_weight(one, what)


def weigh_labels(
    class_weight: object, target: NDArray[np.float64], weight: NDArray[np.float64] | None, what: str
) -> NDArray[np.float64] | None:
    """Weights of the rows once the factors of their labels are applied; those of several labels are multiplied.

    Parameters
    ----------
    class_weight : mapping of 0 and 1 to numbers, list of such mappings, "balanced" or None
        The factors: for every label, or for each its own.
    target : float64[rows, labels]
        Which labels each row has.
    weight : float64[rows], optional
        Weights of the rows before.
    what : str
        What messages call the factors.

    Examples
    --------
    >>> weigh_labels({1: 3}, np.array([[0.0, 1.0], [1.0, 1.0]]), None, "class_weight").tolist()
    [3.0, 9.0]
    """
    if class_weight is None:
        return weight
    check_label_weight(class_weight, what)
    labels = target.shape[1]
    given: Sequence[Any] = class_weight if isinstance(class_weight, list | tuple) else [class_weight] * labels
    if len(given) != labels:
        raise ParameterError(
            f"{what} is a list of {len(given)} dicts, but y has {labels} labels; give one for each"
        )
    factors = np.ones(len(target))
    for place, one in enumerate(given):
        codes = target[:, place].astype(np.int64)
        mass = np.bincount(codes, weight, 2).astype(np.float64)
        factors *= class_factors(what, one, np.array([0, 1]), mass)[codes]
    weights = factors if weight is None else factors * weight
    if not 0 < weights.sum() < np.inf:
        raise DataError(
            f"{what}={shown(class_weight)} leaves no row a weight above 0 and finite; give other factors"
        )
    return weights
