"""Losses of the estimators, and losses and metrics that users give as functions or scorers, in the form that `train` takes."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney import objectives
from spinney.data.labels import LabelVector
from spinney.errors import OwnFunctionError, ParameterError, ParameterTypeError
from spinney.inspection.scorers import call_scorer, is_scorer, scorer_name
from spinney.messages import shown
from spinney.metrics.custom import checked_value
from spinney.params import Config, ObjectiveInfo, kind_of, metrics_for, objective_info, takes_targets
from spinney.params.objectives import OBJECTIVES, OWN
from spinney.user_functions import WithWeight, checked_number, name_of, takes_estimator

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


class SklearnOrderLoss:
    """A loss in the order of other libraries' estimators, f(y_true, y_pred) -> grad, hess, as `train` takes it.

    A function that takes weights, f(y_true, y_pred, weight), applies them itself, and gets ones where there are none. To what
    another one gives, they are applied here. A classifier's `y_true` are whole numbers, `places` in its classes; where rows
    belong to queries, it has `queries`.

    Examples
    --------
    >>> from spinney.data import Labels
    >>> loss = SklearnOrderLoss(lambda y_true, y_pred: (y_pred - y_true, np.ones(2)))
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


def custom_objective(objective: object, places: bool) -> SklearnOrderLoss | None:
    """The function, where the objective is one; with `places` its targets are places in classes."""
    return SklearnOrderLoss(objective, places) if callable(objective) else None


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
            # scikit-learn requires the second and third sentences of classifiers for two classes.
            f"objective={name!r} is for two classes, but y has {classes}; leave it at None, or use 'softmax' or 'one_vs_rest'. "
            "Only binary classification is supported. The type of the target is multiclass."
        )
    return name


def needs_no_negatives(objective: object) -> bool:
    """Whether the target must not be negative; False for what is no objective."""
    return _domain(objective) in _NOT_NEGATIVE


def takes_labels(objective: object) -> bool:
    """Whether rows surely may have several labels: with losses of two classes, and without a name.

    With a function they may too, if it is written for scores of several outputs, which is not known.
    """
    return objective is None or is_binary(objective)


def takes_columns(objective: object) -> bool:
    """Whether the target of a regressor surely may have several columns of any numbers.

    scikit-learn checks an estimator of which this is true with columns that hold negative numbers. A function may be written
    for several columns, which is not known.
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
            "objective='own' is the name in models whose loss was a function; give the function itself"
        )
    if name not in accepted:
        other = next(one for one, names in OF_ESTIMATOR.items() if name in names)
        raise ParameterError(
            f"objective={shown(objective)} belongs to {other}; {estimator} has {', '.join(accepted)}, and functions"
        )
    return str(name)


MetricResult = tuple[str, float, bool]
TrainMetric = Callable[[NDArray[np.float64], LabelVector, Any], MetricResult]


def has_functions(eval_metric: object) -> bool:
    """Whether metrics are given as more than names.

    Examples
    --------
    >>> has_functions(["auc", max]), has_functions("auc"), has_functions(None)
    (True, False, False)
    """
    if isinstance(eval_metric, str) or not isinstance(eval_metric, Sequence):
        return callable(eval_metric)
    return any(callable(metric) for metric in eval_metric)


def custom_metrics(
    eval_metric: object, config: Config, classes: NDArray[Any] | None
) -> list[str | TrainMetric] | None:
    """Names and functions for `train`, in their order; None where there are names only, which the configuration has.

    Parameters
    ----------
    eval_metric : object
        What the user gave.
    config : Config
        Of the training; its objective makes predictions of scores.
    classes : ndarray, optional
        Labels of the classes, (labels, 2) where rows have several labels, None for a regressor.

    Raises
    ------
    ParameterTypeError
        If one is neither a name nor a function.
    ParameterError
        If one is given twice.
    """
    if not has_functions(eval_metric):
        return None
    given: list[Any] = list(eval_metric) if isinstance(eval_metric, Sequence) else [eval_metric]
    for metric in given:
        if not isinstance(metric, str) and not callable(metric):
            raise ParameterTypeError(f"eval_metric must hold names and functions, found {shown(metric)}")
        if not isinstance(metric, str) and takes_estimator(metric) and not is_scorer(metric):
            raise ParameterTypeError(
                f"eval_metric={shown(metric)} takes an estimator and its table, which a metric does not see; give a name, such "
                f"as {_like_score(config, classes)!r}, a function of (y_true, y_pred) or "
                "(y_true, y_pred, weight), or what scikit-learn's make_scorer or get_scorer gives"
            )
    found: list[str | TrainMetric] = []
    for metric, name in zip(given, _names(given, config), strict=True):
        if isinstance(metric, str):
            found.append(metric)
        elif is_scorer(metric):
            found.append(_of_scorer(metric, name, config, classes))
        else:
            found.append(_of_function(metric, name, config, classes))
    return found


def _like_score(config: Config, classes: NDArray[Any] | None) -> str:
    """Name of the metric that is nearest to an estimator's own score."""
    if config.objective == "quantile":
        return "pinball"
    fitting = metrics_for(config.objective, config.num_class)
    wanted = ("accuracy",) if classes is not None else ("concordance", "ndcg", "r2")
    return next((name for name in wanted if name in fitting), fitting[0])


def _names(given: list[Any], config: Config) -> list[str]:
    """Names in the results, one for each metric. Functions of one name get their arguments, else a number, in their names."""
    functions = [metric for metric in given if not isinstance(metric, str)]
    same = [(id(getattr(one, "_score_func", one)), is_scorer(one) and repr(one)) for one in functions]
    for place, metric in enumerate(functions):
        if same[place] in same[:place]:
            raise ParameterError(f"eval_metric holds the metric {scorer_name(metric)!r} twice; give it once")
    taken = {replace(config, eval_metric=(one,)).eval_metric[0] for one in given if isinstance(one, str)}
    names = []
    for metric in given:
        if isinstance(metric, str):
            names.append(metric)
            continue
        plain = scorer_name(metric)
        others = [one for one in functions if one is not metric and scorer_name(one) == plain]
        name = plain + _distinct_arguments(metric, others)
        numbered = (f"{name}_{number}" for number in count(2))
        names.append(next(one for one in chain([name], numbered) if one not in taken))
        taken.add(names[-1])
    return names


def _distinct_arguments(metric: Any, others: list[Any]) -> str:
    """The arguments of a metric that differ from those of others, as they are written in a call."""
    nothing = object()
    every = [_arguments(other) for other in others]
    distinct = [
        f"{key}={shown(value)}"
        for key, value in _arguments(metric).items()
        if any(repr(other.get(key, nothing)) != repr(value) for other in every)
    ]
    return f"({', '.join(distinct)})" if distinct else ""


def _arguments(metric: Any) -> dict[str, object]:
    """What a scorer or a `partial` gives its function by name."""
    if is_scorer(metric):
        return {**_arguments(metric._score_func), **getattr(metric, "_kwargs", {})}
    return {**_arguments(metric.func), **metric.keywords} if isinstance(metric, partial) else {}


def _of_function(
    function: Callable[..., Any], name: str, config: Config, classes: NDArray[Any] | None
) -> TrainMetric:
    """A metric of f(y_true, y_pred) or f(y_true, y_pred, weight); a lone number that it gives is better when lower."""
    call = WithWeight("the metric", function)
    names: set[str] = set()

    def metric(scores: NDArray[np.float64], target: LabelVector, weight: Any) -> MetricResult:
        truth = target.with_queries() if classes is None else target.target.astype(np.int64)
        found = call(truth, objectives.get(config).link(scores), weight)
        alone = isinstance(found, numbers.Real | np.ndarray)
        given = (name, checked_number(name, found), False) if alone else checked_value(name, found)
        names.add(given[0])
        if len(names) > 1:
            raise OwnFunctionError(
                f"the metric {name!r} gave another name than before, {given[0]!r}; it must keep its name"
            )
        return given

    metric.__name__ = name
    return metric


def _of_scorer(scorer: Any, name: str, config: Config, classes: NDArray[Any] | None) -> TrainMetric:
    """A metric of a scorer, whose values are always better when higher; it sees the user's own labels."""

    def metric(scores: NDArray[np.float64], target: LabelVector, weight: Any) -> MetricResult:
        link = objectives.get(config).link
        shares = None if config.objective == OWN and classes is not None else link(scores)
        return name, call_scorer(scorer, name, scores, shares, target.target, weight, classes), True

    metric.__name__ = name
    return metric
