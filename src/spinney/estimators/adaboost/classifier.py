"""AdaBoost for classes."""

# scikit-learn has no types, so its classes are Any to a type checker.
# mypy: allow-subclassing-any

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.metrics import accuracy_score

from spinney.data import ForestTarget, read_class_target
from spinney.estimators.adaboost.base import AdaBoostBase
from spinney.estimators.base import Scored
from spinney.estimators.forests.trees import ClassTreeView


class BoostedClasses(Scored, ClassifierMixin, AdaBoostBase):
    """What predicts labels."""

    classes_: NDArray[Any]
    n_classes_: int

    def predict(self, X: object) -> NDArray[Any]:
        """Predict the class with the most votes, of equal ones the first.

        Parameters
        ----------
        X : table
            The columns of `fit`, in the same order.

        Returns
        -------
        ndarray of shape (rows,)
            Labels.
        """
        return self._named(self.decision_function(X))

    def decision_function(self, X: object) -> NDArray[np.float64]:
        """Votes of the trees over their weights together. X is as `predict` takes it.

        Returns
        -------
        float64 array of shape (rows,) for two classes, else (rows, classes)
            As scikit-learn scales it. Of two classes: from -2, all trees vote for the first, to 2, all for the second. Of more: 1
            where all trees vote for the class, -1 / (classes - 1) where none does.
        """
        X = self._checked(X)
        return self._ensemble.decision(X, n_jobs=self.n_jobs)

    def predict_proba(self, X: object) -> NDArray[np.float64]:
        """Probability of each class: the softmax of its votes over classes - 1. X is as `predict` takes it.

        Returns
        -------
        float64 array of shape (rows, classes)
            In the order of `classes_`. They are known to be timid: between .12 and .88 for two classes.
        """
        decision = self.decision_function(X)
        return self._ensemble.probabilities(decision)

    def predict_log_proba(self, X: object) -> NDArray[np.float64]:
        """Logarithm of `predict_proba`, in the same shape."""
        found: NDArray[np.float64] = np.log(self.predict_proba(X))
        return found

    def staged_decision_function(self, X: object) -> Iterator[NDArray[np.float64]]:
        """What `decision_function` gives after one tree, two trees, and so on, in turn. X is as `predict` takes it."""
        X = self._checked(X)
        yield from self._ensemble.staged(X, n_jobs=self.n_jobs)

    def staged_predict(self, X: object) -> Iterator[NDArray[Any]]:
        """What `predict` gives after one tree, two trees, and so on, in turn. X is as `predict` takes it."""
        for decision in self.staged_decision_function(X):
            yield self._named(decision)

    def staged_predict_proba(self, X: object) -> Iterator[NDArray[np.float64]]:
        """What `predict_proba` gives after one tree, two trees, and so on, in turn. X is as `predict` takes it."""
        for decision in self.staged_decision_function(X):
            yield self._ensemble.probabilities(decision)

    def _named(self, decision: NDArray[np.float64]) -> NDArray[Any]:
        """Labels that votes come to."""
        place = decision > 0 if decision.ndim == 1 else decision.argmax(axis=1)
        found: NDArray[Any] = self.classes_.take(place.astype(np.int64))
        return found

    def _learn_target(self, y: object, rows: int) -> ForestTarget:
        labels, target = read_class_target(y, rows)
        self.classes_, self.n_classes_ = labels[0], len(labels[0])
        return target

    def _scored(self, y: object, predicted: NDArray[Any], weight: ArrayLike | None) -> float:
        return float(accuracy_score(y, predicted, sample_weight=weight))

    def _view(self, tree: int) -> ClassTreeView:
        return ClassTreeView(self.model_, tree, self.n_jobs, [self.classes_])
