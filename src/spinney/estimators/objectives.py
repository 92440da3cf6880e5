"""The losses of the estimators: which belong to which, and functions in the order of other libraries' estimators."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.data.labels import LabelVector
from spinney.errors import ParameterError, ParameterTypeError
from spinney.messages import shown
from spinney.params import Config, ObjectiveInfo, kind_of, objective_info, takes_targets
from spinney.params.objectives import OBJECTIVES, OWN
from spinney.user_functions import WithWeight, name_of

_OF_CLASSES = ("two", "many")  # kinds
CLASSIFICATION = tuple(name for name in OBJECTIVES if kind_of(name) in _OF_CLASSES)
RANKING = tuple(name for name in OBJECTIVES if kind_of(name) == "ranks")
REGRESSION = tuple(name for name in OBJECTIVES if name not in (*CLASSIFICATION, *RANKING, OWN))
# By estimator: the objectives that it has, beside functions.
OF_ESTIMATOR: Mapping[str, tuple[str, ...]] = {
    "GBMClassifier": CLASSIFICATION,
    "GBMRanker": RANKING,
    "GBMRegressor": REGRESSION,
}
# Domains that a target may leave by being negative.
_NOT_NEGATIVE = ("above -1", "0 or more", "above 0")


class PeersOrder:
    """A loss in the order of other libraries' estimators, f(y_true, y_pred) -> grad, hess, as `train` takes it.

    A function that takes weights, f(y_true, y_pred, weight), applies them itself, and gets ones where there are none. To what
    another one gives, they are applied here. A classifier's `y_true` are whole numbers, `places` in its classes; where rows
    belong to queries, it has `queries`.

    Examples
    --------
    >>> from spinney.data import Labels
    >>> loss = PeersOrder(lambda y_true, y_pred: (y_pred - y_true, np.ones(2)))
    >>> labels = Labels(np.array([1.0, 2.0]), np.array([1.0, 3.0])).for_functions()
    >>> loss(np.zeros(2), labels)[0].tolist()
    [-1.0, -6.0]
    """

    def __init__(self, function: Callable[..., Any], places: bool = False) -> None:
        self._function, self._places = WithWeight("the objective", function), places
        self.__name__ = name_of(function)

    def __call__(self, scores: NDArray[np.float64], labels: LabelVector) -> object:
        """Call the function."""
        weight = np.ones(len(labels)) if labels.weight is None else labels.weight
        target: NDArray[Any] = labels.with_queries()
        if self._places:
            target = target.astype(np.int64)
            target.setflags(write=False)
        found = self._function(target, scores, weight)
        if self._function.takes_weight or labels.weight is None:
            return found
        return _weighted(found, weight)


def _weighted(found: object, weight: NDArray[np.float64]) -> object:
    """Gradients and hessians times the weights; what is no such pair is left for `train` to refuse."""
    if not isinstance(found, tuple | list):
        return found
    parts: list[Any] = [np.asarray(part) for part in found]
    if any(part.dtype.kind not in "biufO" or part.shape[:1] != weight.shape for part in parts):
        return found
    # Plain Python numbers in an array of objects are multiplied one by one.
    return tuple((part.T * weight).T for part in parts)


def own_function(objective: object, places: bool) -> PeersOrder | None:
    """The function, where the objective is one; `places` says that its targets are places in classes."""
    return PeersOrder(objective, places) if callable(objective) else None


def regression_objective(objective: object) -> str:
    """Canonical name of a regressor's objective.

    Examples
    --------
    >>> regression_objective("count:poisson"), regression_objective(max)
    ('poisson', 'own')
    """
    return _named(objective, "GBMRegressor")


def ranking_objective(objective: object) -> str:
    """Canonical name of a ranker's objective.

    Examples
    --------
    >>> ranking_objective("lambdarank"), ranking_objective(max)
    ('rank_ndcg', 'own')
    """
    return _named(objective, "GBMRanker")


def classification_objective(objective: object, classes: int) -> str:
    """Canonical name of a classifier's objective.

    Of two classes, softmax and one against the rest are log_loss, which gives the same probabilities from one score.

    Examples
    --------
    >>> classification_objective(None, 2), classification_objective(None, 3), classification_objective("ova", 3)
    ('log_loss', 'softmax', 'one_vs_rest')
    """
    if objective is None:
        return "log_loss" if classes <= 2 else "softmax"
    name = _named(objective, "GBMClassifier")
    if classes <= 2:
        return "log_loss" if objective_info(name).domain == "classes" else name
    if objective_info(name).link == "logistic":
        raise ParameterError(
            # The second and third sentences are what scikit-learn asks of classifiers for two classes.
            f"objective={name!r} is for two classes, but y has {classes}; leave it at None, or use 'softmax' or 'one_vs_rest'. "
            "Only binary classification is supported. The type of the target is multiclass."
        )
    return name


def needs_no_negatives(objective: object) -> bool:
    """Whether the target must not be negative; False for what is no objective."""
    return _domain(objective) in _NOT_NEGATIVE


def takes_labels(objective: object) -> bool:
    """Whether rows surely may have several labels: with losses of two classes, and where nothing is said.

    With a function they may too, if it is written for scores of several outputs, which nobody knows.
    """
    return objective is None or is_binary(objective)


def takes_columns(objective: object) -> bool:
    """Whether the target of a regressor surely may have several columns of any numbers.

    scikit-learn checks an estimator of which this is true with columns that hold negative numbers. A function may be written
    for several columns, which nobody knows.
    """
    info = _info(objective)
    return info is not None and takes_targets(info.name) and info.domain == "numbers"


def is_binary(objective: object) -> bool:
    """Whether it is for two classes only."""
    return _domain(objective) == "shares"


def _domain(objective: object) -> str:
    info = _info(objective)
    return "" if info is None else info.domain


def _info(objective: object) -> ObjectiveInfo | None:
    """The objective of a name, whatever its spelling."""
    if not isinstance(objective, str):
        return None
    named = (info for info in OBJECTIVES.values() if objective == info.name or objective in info.spellings)
    return next(named, None)


def _named(objective: object, estimator: str) -> str:
    if callable(objective):
        return OWN
    accepted = OF_ESTIMATOR[estimator]
    if not isinstance(objective, str):
        raise ParameterTypeError(
            f"objective={shown(objective)} must be a function or a str, one of {', '.join(accepted)}"
        )
    name: Any = Config.parameter("objective").check(objective)
    if name == OWN:
        raise ParameterError(
            "objective='own' is what a model says whose loss was a function; give the function itself"
        )
    if name not in accepted:
        other = next(one for one, names in OF_ESTIMATOR.items() if name in names)
        raise ParameterError(
            f"objective={shown(objective)} belongs to {other}; {estimator} has {', '.join(accepted)}, and functions"
        )
    return str(name)
