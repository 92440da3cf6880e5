"""AdaBoost for numbers."""

# scikit-learn has no types, so its classes are Any to a type checker.
# mypy: allow-subclassing-any

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import RegressorMixin
from sklearn.metrics import r2_score

from spinney.data import ForestTarget, read_number_target
from spinney.estimators.adaboost.base import AdaBoostBase
from spinney.estimators.base import Scored
from spinney.params.estimators import ADABOOST_LOSS


class BoostedNumbers(Scored, RegressorMixin, AdaBoostBase):
    """What predicts numbers."""

    loss: str

    def predict(self, X: object) -> NDArray[np.float64]:
        """Predict the median of what the trees say, by their weights.

        Parameters
        ----------
        X : table
            The columns of `fit`, in the same order.

        Returns
        -------
        float64 array of shape (rows,)
            The least of the trees' numbers up to which they have half of the weight or more.
        """
        X = self._checked(X)
        return self._ensemble.predict(X, n_jobs=self.n_jobs)

    def staged_predict(self, X: object) -> Iterator[NDArray[np.float64]]:
        """What `predict` gives after one tree, two trees, and so on, in turn. X is as `predict` takes it.

        The number of every row's leaf in every tree is held, 4 bytes each.
        """
        X = self._checked(X)
        yield from self._ensemble.staged(X, n_jobs=self.n_jobs)

    def _learn_target(self, y: object, rows: int) -> ForestTarget:
        return read_number_target(y, rows)

    def _scored(self, y: object, predicted: NDArray[Any], weight: ArrayLike | None) -> float:
        return float(r2_score(y, predicted, sample_weight=weight))

    def _check_parameters(self) -> None:
        ADABOOST_LOSS.check(self.loss)
        super()._check_parameters()
