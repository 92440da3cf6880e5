"""Scorers of scikit-learn, called with rows that a model has already predicted."""

# scikit-learn has no types, so its classes are Any to a type checker.
# mypy: allow-subclassing-any

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from spinney.data.classes import are_of_labels
from spinney.errors import ParameterError
from spinney.user_functions import call_user_function, checked_number, name_of


def is_scorer(metric: object) -> bool:
    """Whether `make_scorer` made it. Its module, which takes long to import, is then imported already."""
    module = sys.modules.get("sklearn.metrics")
    return module is not None and isinstance(metric, type(module.make_scorer(module.accuracy_score)))


def scorer_name(metric: Any) -> str:
    """Name of a function or scorer."""
    sign = "neg_" if is_scorer(metric) and getattr(metric, "_sign", 1) < 0 else ""
    return sign + name_of(getattr(metric, "_score_func", metric))


def call_scorer(
    scorer: Any,
    name: str,
    scores: NDArray[np.float64],
    predictions: NDArray[np.float64] | None,
    target: NDArray[np.float64],
    weight: Any,
    classes: NDArray[Any] | None,
) -> float:
    """Compute the score of predicted rows.

    Parameters
    ----------
    scorer : callable
        The scorer.
    name : str
        What to call it in messages.
    scores : float64 array of shape (rows,) or (rows, classes)
        Raw scores, from which the class follows.
    predictions : float64 array, or None
        Numbers, or probabilities of the second of two classes or of all; None where the probabilities are unknown.
    target : float64[rows]
        Numbers, or places of labels among the classes.
    weight : float64[rows], or None
        Weights of the rows.
    classes : ndarray, or None
        Labels of the classes; (labels, 2) where rows have several labels.
    """
    fitted = (
        _PredictedNumbers(predictions) if classes is None else _PredictedClasses(classes, scores, predictions)
    )
    truth = target if classes is None else _labels_at(classes, target.astype(np.int64))
    given = weight is not None and _takes_weight(getattr(scorer, "_score_func", scorer))
    more = {"sample_weight": weight} if given else {}
    value = call_user_function(
        "the metric", _Renamed(scorer, name), fitted, np.empty((len(target), 0)), truth, **more
    )
    return checked_number(name, value)


def _takes_weight(function: Any) -> bool:
    """Whether a scorer may be given weights for its function."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return True
    return any(one.name == "sample_weight" or one.kind == one.VAR_KEYWORD for one in parameters)


class _Renamed:
    """A function under a name that users recognise."""

    def __init__(self, function: Callable[..., Any], name: str) -> None:
        self._function, self.__name__ = function, name

    def __call__(self, *args: Any, **named: Any) -> Any:
        return self._function(*args, **named)


class _PredictedNumbers(RegressorMixin, BaseEstimator):
    """Stands for a fitted regressor before a scorer: its predictions are given, whatever the table."""

    def __init__(self, predicted: NDArray[np.float64] | None) -> None:
        self.predicted = predicted

    def predict(self, X: object) -> NDArray[np.float64] | None:
        """The predictions."""
        return self.predicted


class _PredictedClasses(ClassifierMixin, BaseEstimator):
    """Stands for a fitted classifier before a scorer: its scores and probabilities are given, whatever the table."""

    def __init__(
        self,
        classes: NDArray[Any],
        scores: NDArray[np.float64],
        shares: NDArray[np.float64] | None,
    ) -> None:
        self.classes_, self.scores, self.shares = classes, scores, shares

    def predict(self, X: object) -> NDArray[Any]:
        """The most probable classes."""
        many = self.scores.ndim == 2 and not are_of_labels(self.classes_)
        codes = self.scores.argmax(axis=1) if many else (self.scores > 0).astype(np.int64)
        return _labels_at(self.classes_, codes)

    def predict_proba(self, X: object) -> NDArray[np.float64]:
        """Probabilities of all classes."""
        if self.shares is None:
            raise ParameterError(
                "it needs probabilities, which the scores of an objective of your own are not"
            )
        return np.column_stack([1 - self.shares, self.shares]) if self.shares.ndim == 1 else self.shares

    def decision_function(self, X: object) -> NDArray[np.float64]:
        """Raw scores."""
        return self.scores


def _labels_at(classes: NDArray[Any], codes: NDArray[np.int64]) -> NDArray[Any]:
    """Labels of some places; where rows have several labels, which of them a row has."""
    labels: NDArray[Any] = codes if are_of_labels(classes) else classes[codes]
    return labels
