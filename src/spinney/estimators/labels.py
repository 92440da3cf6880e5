"""Classes: their labels, and the weights of their rows."""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.data import read_labels
from spinney.errors import DataError, ParameterError, ParameterTypeError
from spinney.objectives.starts import CERTAIN
from spinney.params.validate import as_float, shown


def learn_classes(y: object, rows: int) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """Find the classes of the training rows: their labels, sorted, and the place of each row's label among them.

    Examples
    --------
    >>> classes, codes = learn_classes(["oak", "ash", "oak"], 3)
    >>> classes.tolist(), codes.tolist()
    (['ash', 'oak'], [1.0, 0.0, 1.0])
    """
    classes, codes = read_labels(y, rows)
    return classes, codes.astype(np.float64)


def find_classes(y: object, rows: int, classes: NDArray[Any]) -> NDArray[np.float64]:
    """Place of each row's label among known classes; an unknown label is an error.

    Examples
    --------
    >>> find_classes([5, 2], 2, np.array([2, 3, 5])).tolist()
    [2.0, 0.0]
    """
    present, codes = read_labels(y, rows)
    place = {label: code for code, label in enumerate(classes.tolist())}
    unknown = [label for label in present.tolist() if label not in place]
    if unknown:
        raise DataError(
            f"y holds the label {unknown[0]!r}, which no training row has; the classes are {_listed(classes)}"
        )
    places = np.array([place[label] for label in present.tolist()], dtype=np.float64)
    return places[codes]


def only_class(codes: NDArray[np.float64], weight: NDArray[np.float64] | None) -> int | None:
    """Place of the one class that all rows of weight above 0 have, None where they have several.

    Examples
    --------
    >>> only_class(np.array([1.0, 0.0, 1.0]), np.array([1.0, 0.0, 2.0]))
    1
    """
    present = codes if weight is None else codes[weight > 0]
    return int(present[0]) if (present == present[0]).all() else None


def certain_scores(only: int, classes: int) -> NDArray[np.float64]:
    """Raw scores, one for each output, that make one class certain.

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
    """Weights of the rows once the classes' factors are applied.

    A class without weight is an error, except where the weights of the rows leave a single class.

    Parameters
    ----------
    class_weight : mapping of labels to numbers, "balanced" or None
        The factors.
    classes : ndarray
        Labels of the classes.
    codes : float64[rows]
        Class of each row.
    weight : float64[rows], optional
        Weights of the rows before.

    Returns
    -------
    float64[rows], or None
        None where every row has weight 1.

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
        # Rows that go on from a model may lack a class of it.
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
    """The same for validation rows, which may lack classes, but not have a weight of 0 in every row.

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
    """Refuse factors that no classes could have."""
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
    """Factor of each class; `mass` is what its rows weigh without it."""
    check_class_weight(class_weight, what)
    if not isinstance(class_weight, Mapping):
        factors = np.zeros(len(classes))
        np.divide(mass.sum(), len(classes) * mass, out=factors, where=mass > 0)
        return factors
    labels = classes.tolist()
    unnamed = [label for label in labels if label not in class_weight]
    strange = [label for label in class_weight if label not in labels]
    # A fold of the data may lack a class, but a class without a name beside a name without a class is a slip, unless
    # that class is the only one of its fold.
    if unnamed and strange and len(labels) > 1:
        raise ParameterError(
            f"{what} names {strange[0]!r}, which is no class of y, and not {unnamed[0]!r}; "
            f"the classes are {_listed(classes)}"
        )
    return np.array([float(class_weight.get(label, 1.0)) for label in labels])


def _check_present(classes: NDArray[Any], mass: NDArray[np.float64], what: str) -> None:
    absent = np.flatnonzero(mass <= 0)
    if len(absent):
        raise DataError(
            f"{what} leaves the class {classes.tolist()[absent[0]]!r} without a row of weight above 0; "
            "give it some weight, or leave its rows out"
        )


def _listed(classes: NDArray[Any]) -> str:
    shown = ", ".join(map(repr, classes.tolist()[:10]))
    return shown + (f" and {len(classes) - 10} more" if len(classes) > 10 else "")
