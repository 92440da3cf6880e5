"""Classes: numbers of class labels, and weights of rows by `class_weight`.

The second half is the same for targets of *several labels* (multilabel): columns of 0 and 1, of which a row has each or not.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping, Sequence
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from spinney.data.labels import by_column
from spinney.data.target import read_class_labels
from spinney.errors import DataError, ParameterError, ParameterTypeError
from spinney.messages import shown
from spinney.params.parameter import as_float

# Log-odds of a class of probability 1, in place of infinity: the probability is 1 to the last bit.
CERTAIN = 40.0
_ADVICE = (
    "columns of several labels hold 0 and 1; for classes of other labels or of more than two, train a classifier for each "
    "column, or a forest"
)


def fit_classes(y: object, rows: int) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """The classes of the training rows: their labels, sorted, and the position of each row's label among them.

    Examples
    --------
    >>> classes, codes = fit_classes(["oak", "ash", "oak"], 3)
    >>> classes.tolist(), codes.tolist()
    (['ash', 'oak'], [1.0, 0.0, 1.0])
    """
    classes, codes = read_class_labels(y, rows)
    return classes, codes.astype(np.float64)


def class_codes(y: object, rows: int, classes: NDArray[Any]) -> NDArray[np.float64]:
    """Position of each row's label among known classes; an unknown label is an error.

    Examples
    --------
    >>> class_codes([5, 2], 2, np.array([2, 3, 5])).tolist()
    [2.0, 0.0]
    """
    present, codes = read_class_labels(y, rows)
    place = {label: code for code, label in enumerate(classes.tolist())}
    unknown = [label for label in present.tolist() if label not in place]
    if unknown:
        raise DataError(
            f"y holds the label {unknown[0]!r}, which no training row has; the classes are {_listed(classes)}"
        )
    places = np.array([place[label] for label in present.tolist()], dtype=np.float64)
    return places[codes]


def only_class(codes: NDArray[np.float64], weight: NDArray[np.float64] | None) -> int | None:
    """Position of the one class that all rows of weight above 0 have; None: they have several.

    Examples
    --------
    >>> only_class(np.array([1.0, 0.0, 1.0]), np.array([1.0, 0.0, 2.0]))
    1
    """
    present = codes if weight is None else codes[weight > 0]
    return int(present[0]) if (present == present[0]).all() else None


def certain_scores(only: int, classes: int) -> NDArray[np.float64]:
    """Raw scores, one for each output, that give one class a probability of 1.

    Examples
    --------
    >>> certain_scores(0, 1).tolist(), certain_scores(1, 2).tolist(), certain_scores(1, 3).tolist()
    ([-40.0], [40.0], [-40.0, 0.0, -40.0])
    """
    if classes <= 2:
        return np.array([CERTAIN if only == 1 else -CERTAIN])
    scores = np.full(classes, -CERTAIN)
    scores[only] = 0.0
    return scores


def weigh_classes(
    class_weight: object,
    classes: NDArray[Any],
    codes: NDArray[np.float64],
    weight: NDArray[np.float64] | None,
) -> NDArray[np.float64] | None:
    """Weights of the rows times the factors of their classes.

    A class without weight is an error, unless the weights of the rows leave a single class.

    Parameters
    ----------
    class_weight : mapping of labels to numbers, "balanced" or None
        The factors.
    classes : ndarray
        Labels of the classes.
    codes : float64[rows]
        Class of each row.
    weight : float64[rows], optional
        Weights of the rows.

    Returns
    -------
    float64[rows], or None
        None: every row has weight 1.

    Examples
    --------
    >>> weigh_classes("balanced", np.array(["ash", "oak"]), np.array([0.0, 1.0, 1.0, 1.0]), None).tolist()
    [2.0, 0.6666666666666666, 0.6666666666666666, 0.6666666666666666]
    """
    if class_weight is None and weight is None:
        return None
    class_of_row = codes.astype(np.int64)
    mass = np.bincount(class_of_row, weight, len(classes)).astype(np.float64)
    if np.count_nonzero(mass) > 1:
        # Rows of a continued training may lack a class of the model.
        rows = np.bincount(class_of_row, minlength=len(classes))
        _check_present(classes[rows > 0], mass[rows > 0], "sample_weight")
    if class_weight is None:
        return weight
    factors = class_factors("class_weight", class_weight, classes, mass)
    if isinstance(class_weight, Mapping):
        _check_present(classes, factors, "class_weight")
    weights: NDArray[np.float64] = factors[class_of_row]
    return weights if weight is None else weights * weight


def weigh_validation(
    class_weight: object,
    classes: NDArray[Any],
    codes: NDArray[np.float64],
    weight: NDArray[np.float64] | None,
) -> NDArray[np.float64] | None:
    """As `weigh_classes`, for validation rows: they may lack classes, but one of them must have weight.

    Examples
    --------
    >>> weigh_validation({"oak": 3}, np.array(["ash", "oak"]), np.array([1.0, 0.0]), np.array([1.0, 2.0])).tolist()
    [3.0, 2.0]
    """
    if class_weight is None:
        return weight
    class_of_row = codes.astype(np.int64)
    mass = np.bincount(class_of_row, weight, len(classes)).astype(np.float64)
    weights: NDArray[np.float64] = class_factors("eval_class_weight", class_weight, classes, mass)[
        class_of_row
    ]
    weights = weights if weight is None else weights * weight
    if not 0 < weights.sum() < math.inf:
        raise DataError(
            f"eval_class_weight={class_weight!r} leaves no row a weight above 0 and finite; give other factors"
        )
    return weights


def check_class_weight(class_weight: object, what: str = "class_weight") -> None:
    """Refuse factors that fit no classes."""
    if class_weight is None or (isinstance(class_weight, str) and class_weight == "balanced"):
        return
    if not isinstance(class_weight, Mapping):
        raise ParameterTypeError(
            f"{what}={shown(class_weight)} must be 'balanced', None, or a dict of labels and weights"
        )
    for label, factor in class_weight.items():
        if not isinstance(label, str | numbers.Real | np.bool_):
            raise ParameterTypeError(
                f"{what} names {shown(label)}, which is no label: labels are text or numbers"
            )
        if not isinstance(factor, numbers.Real) or isinstance(factor, bool):
            raise ParameterTypeError(f"{what}[{label!r}]={shown(factor)} must be a number")
        if not 0 <= as_float(factor) < math.inf:
            raise ParameterError(f"{what}[{label!r}]={shown(factor)} must be finite and 0 or more")


def class_factors(
    what: str, class_weight: object, classes: NDArray[Any], mass: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Factor of each class; `mass` is the sum of its rows' weights without the factor."""
    check_class_weight(class_weight, what)
    if not isinstance(class_weight, Mapping):
        factors = np.zeros(len(classes))
        np.divide(mass.sum(), len(classes) * mass, out=factors, where=mass > 0)
        return factors
    labels = classes.tolist()
    unnamed = [label for label in labels if label not in class_weight]
    unknown = [label for label in class_weight if label not in labels]
    # A fold may lack a class that is named. But if a class is not named as well, the name is wrong, unless this class is the only
    # one of its fold.
    if unnamed and unknown and len(labels) > 1:
        raise ParameterError(
            f"{what} names {unknown[0]!r}, which is no class of y, and not {unnamed[0]!r}; "
            f"the classes are {_listed(classes)}"
        )
    return np.array([float(class_weight.get(label, 1.0)) for label in labels])


def classes_of_labels(labels: int) -> NDArray[np.int64]:
    """The classes of so many labels: 0 and 1 of each.

    An array, because scikit-learn takes no list together with probabilities of shape (rows, labels).

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
    """The labels of each row, (rows, labels) of 0 and 1.

    Raises
    ------
    DataError
        A column holds other values than 0 and 1, or has another number of rows.

    Examples
    --------
    >>> read_label_columns([np.array([True, False]), np.array([0, 0])], 2).tolist()
    [[1.0, 0.0], [0.0, 0.0]]
    """
    found = np.empty((len(columns), rows))
    for place, column in enumerate(columns):
        try:
            classes, codes = read_class_labels(column, rows)
        except DataError as error:
            raise DataError(f"column {place} of y: {error}") from None
        others = [label for label in classes.tolist() if isinstance(label, str) or label not in (0, 1)]
        if others:
            raise DataError(f"column {place} of y holds {others[0]!r}; {_ADVICE}")
        found[place] = classes.astype(np.float64)[codes]
    return by_column(found.T)


def check_label_columns(columns: int, labels: int) -> None:
    """Refuse a target of other labels than the fitted ones."""
    if columns != labels:
        raise DataError(
            f"y has {columns} column{'s' * (columns > 1)}, but the training rows have {labels} labels"
        )


def check_label_weight(class_weight: object, what: str = "class_weight") -> None:
    """Refuse factors that fit no labels."""
    for one in class_weight if isinstance(class_weight, list | tuple) else [class_weight]:
        check_class_weight(one, what)


def weigh_labels(
    class_weight: object, target: NDArray[np.float64], weight: NDArray[np.float64] | None, what: str
) -> NDArray[np.float64] | None:
    """Weights of the rows times the factors of all their labels.

    Parameters
    ----------
    class_weight : mapping of 0 and 1 to numbers, list of such mappings, "balanced" or None
        The factors: the same for every label, or for each its own.
    target : float64[rows, labels]
        The labels of each row.
    weight : float64[rows], optional
        Weights of the rows.
    what : str
        Name of the factors in messages.

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


def _check_present(classes: NDArray[Any], mass: NDArray[np.float64], what: str) -> None:
    absent = np.flatnonzero(mass <= 0)
    if len(absent):
        raise DataError(
            f"{what} leaves the class {classes.tolist()[absent[0]]!r} without a row of weight above 0; "
            "give it some weight, or leave its rows out"
        )


def _listed(classes: NDArray[Any]) -> str:
    first = ", ".join(map(repr, classes.tolist()[:10]))
    return first + (f" and {len(classes) - 10} more" if len(classes) > 10 else "")
