"""Metrics that users give to an estimator as functions or scorers, in the form that `train` takes."""

# scikit-learn has no types, so its classes are Any to a type checker.
# mypy: allow-subclassing-any

from __future__ import annotations

import numbers
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from spinney import objectives
from spinney.errors import ParameterTypeError
from spinney.params import Config
from spinney.params.validate import shown
from spinney.training.own import WithWeight, call_own, checked_judgement, checked_number, name_of

Given = tuple[str, float, bool]
OwnMetric = Callable[[NDArray[np.float64], NDArray[np.float64], Any], Given]


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


def own_metrics(
    eval_metric: object, config: Config, classes: NDArray[Any] | None
) -> list[str | OwnMetric] | None:
    """Names and functions for `train`, in their order; None where there are names only, which the configuration has.

    Parameters
    ----------
    eval_metric : object
        What the user gave.
    config : Config
        Of the training; its objective makes predictions of scores.
    classes : ndarray, optional
        Labels of the classes, None for a regressor.

    Raises
    ------
    ParameterTypeError
        If one is neither a name nor a function.
    """
    if not has_functions(eval_metric):
        return None
    found: list[str | OwnMetric] = []
    for metric in eval_metric if isinstance(eval_metric, Sequence) else [eval_metric]:
        if isinstance(metric, str):
            found.append(metric)
        elif _is_scorer(metric):
            found.append(_of_scorer(metric, config, classes))
        elif callable(metric):
            found.append(_of_function(metric, config, classes))
        else:
            raise ParameterTypeError(f"eval_metric must hold names and functions, found {shown(metric)}")
    return found


def _is_scorer(metric: object) -> bool:
    """Whether `make_scorer` made it; whoever has a scorer has imported the module, which takes long."""
    module = sys.modules.get("sklearn.metrics")
    return module is not None and isinstance(metric, type(module.make_scorer(module.accuracy_score)))


def _of_function(function: Callable[..., Any], config: Config, classes: NDArray[Any] | None) -> OwnMetric:
    """A metric of f(y_true, y_pred) or f(y_true, y_pred, weight); a lone number that it gives is better when lower."""
    call, name = WithWeight("the metric", function), name_of(function)

    def metric(scores: NDArray[np.float64], target: NDArray[np.float64], weight: Any) -> Given:
        target = np.asarray(target)  # without what it knows beside the numbers
        truth = target if classes is None else target.astype(np.int64)
        found = call(truth, objectives.get(config).link(scores), weight)
        if isinstance(found, numbers.Real | np.ndarray):
            return name, checked_number(name, found), False
        return checked_judgement(name, found)

    metric.__name__ = name
    return metric


def _of_scorer(scorer: Any, config: Config, classes: NDArray[Any] | None) -> OwnMetric:
    """A metric of a scorer, whose values are always better when higher; it sees the user's own labels."""
    sign = "" if getattr(scorer, "_sign", 1) > 0 else "neg_"
    name = sign + name_of(getattr(scorer, "_score_func", scorer))

    def metric(scores: NDArray[np.float64], target: NDArray[np.float64], weight: Any) -> Given:
        target = np.asarray(target)
        link = objectives.get(config).link
        fitted = _Numbers(link(scores)) if classes is None else _Classes(classes, scores, link(scores))
        truth = target if classes is None else classes[target.astype(np.int64)]
        more = {} if weight is None else {"sample_weight": weight}
        value = call_own(
            "the metric", _Named(scorer, name), fitted, np.empty((len(target), 0)), truth, **more
        )
        return name, checked_number(name, value), True

    metric.__name__ = name
    return metric


class _Named:
    """A function under a name that users know."""

    def __init__(self, function: Callable[..., Any], name: str) -> None:
        self._function, self.__name__ = function, name

    def __call__(self, *args: Any, **named: Any) -> Any:
        return self._function(*args, **named)


class _Numbers(RegressorMixin, BaseEstimator):
    """A fitted regressor, as far as a scorer sees it: it has predicted already."""

    def __init__(self, predicted: NDArray[np.float64]) -> None:
        self.predicted = predicted

    def predict(self, X: object) -> NDArray[np.float64]:
        """The predictions."""
        return self.predicted


class _Classes(ClassifierMixin, BaseEstimator):
    """A fitted classifier, as far as a scorer sees it: it has predicted already."""

    def __init__(
        self, classes: NDArray[Any], scores: NDArray[np.float64], shares: NDArray[np.float64]
    ) -> None:
        self.classes_, self.scores, self.shares = classes, scores, shares

    def predict(self, X: object) -> NDArray[Any]:
        """The most probable classes."""
        several = self.scores.ndim == 2
        codes = self.scores.argmax(axis=1) if several else (self.scores > 0).astype(np.intp)
        labels: NDArray[Any] = self.classes_[codes]
        return labels

    def predict_proba(self, X: object) -> NDArray[np.float64]:
        """Probabilities of all classes."""
        return np.column_stack([1 - self.shares, self.shares]) if self.shares.ndim == 1 else self.shares

    def decision_function(self, X: object) -> NDArray[np.float64]:
        """Raw scores."""
        return self.scores
