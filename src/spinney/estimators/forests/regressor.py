"""Forests and trees of numbers."""

# scikit-learn has no types, so its classes are Any to a type checker.
# mypy: allow-subclassing-any

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import RegressorMixin

from spinney.data import ForestTarget, read_number_target
from spinney.errors import DataError
from spinney.estimators.base import Scored
from spinney.estimators.forests.base import ForestBase
from spinney.estimators.forests.ensemble import ForestEnsemble, spread_rows
from spinney.estimators.forests.tree import SingleTree
from spinney.inspection.leaf_neighbours import predict_quantiles
from spinney.inspection.out_of_bag import OutOfBag
from spinney.inspection.uncertainty import deviation, jackknife_interval
from spinney.params import ForestConfig, Parameter
from spinney.params.estimators import NUMBER_CRITERION


class NumberForest(Scored, RegressorMixin, ForestBase):
    """What predicts numbers, of one output or several."""

    _CRITERION: ClassVar[Parameter[str]] = NUMBER_CRITERION

    def predict(self, X: object) -> NDArray[np.float64]:
        """Predict the target: the mean over trees.

        Parameters
        ----------
        X : table
            The columns of `fit`, in the same order.

        Returns
        -------
        float64 array of shape (rows,), or (rows, outputs) for several outputs
        """
        found: NDArray[np.float64] = self._predicted(X)
        return found

    def predict_quantile(self, X: object, quantiles: ArrayLike) -> NDArray[np.float64]:
        """Predict quantiles of the target (Meinshausen, 2006). Needs keep_leaf_rows=True; works after loading too.

        Parameters
        ----------
        X : table
            The columns of `fit`, in the same order.
        quantiles : float, or array of floats
            From 0 to 1, in any order.

        Returns
        -------
        float64 array of shape (rows, quantiles), or (rows, outputs, quantiles) for several outputs
            For a single number without the last dimension.
        """
        return predict_quantiles(self.model_, self._read(X), quantiles, self.n_jobs)

    def _learn_target(self, y: object, rows: int, known: bool) -> ForestTarget:
        return read_number_target(y, rows)

    def _find_target(self, y: object, rows: int) -> NDArray[Any]:
        found = read_number_target(y, rows).values
        if found.shape[1] != self.n_outputs_:
            raise DataError(f"y has {found.shape[1]} output(s); the fitted forest has {self.n_outputs_}")
        return found

    def _weigh(
        self, target: ForestTarget, weight: NDArray[np.float64] | None, config: ForestConfig
    ) -> tuple[NDArray[np.float64] | None, ForestConfig]:
        return weight, config

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = self.criterion == "poisson"
        return tags


class NumberEnsemble(NumberForest, ForestEnsemble):
    """A forest of numbers."""

    @property
    def oob_prediction_(self) -> NDArray[np.float64]:
        """Prediction of each training row by the trees that did not see it; a file does not hold it."""
        return self._out_of_bag("oob_prediction_")

    def predict_uncertainty(self, X: object) -> NDArray[np.float64]:
        """Standard deviation of the trees' predictions around the forest's.

        Parameters
        ----------
        X : table
            The columns of `fit`, in the same order.

        Returns
        -------
        float64 array of shape (rows,), or (rows, outputs) for several outputs
        """
        return deviation(self.model_, self._read(X), self.n_jobs)

    def predict_interval(
        self, X: object, level: float = 0.95, *, corrected: bool = True
    ) -> NDArray[np.float64]:
        """Confidence intervals of the prediction, by the jackknife after the bootstrap; they need many trees.

        They tell how much the prediction would change with other training rows; they do not hold the target itself.

        Parameters
        ----------
        X : table
            The columns of `fit`, in the same order.
        level : float, default=0.95
            Chance of an interval to hold the mean of such predictions.
        corrected : bool, default=True
            Whether to subtract what the finite number of trees adds to the variance.

        Returns
        -------
        float64 array of shape (rows, 2), or (rows, outputs, 2) for several outputs
            Lower and upper ends; NaN where the variance cannot be told from noise with so few trees.
        """
        table = self._read(X)
        mean: Any = self.model_.shaped(self.model_.values(table, self.n_jobs))
        return jackknife_interval(
            self.model_, table, mean, level=level, corrected=corrected, n_jobs=self.n_jobs
        )

    def _said_out_of_bag(self, found: OutOfBag, kept: NDArray[np.bool_] | None) -> NDArray[np.float64]:
        return spread_rows(found.prediction, kept)


class NumberTree(NumberForest, SingleTree):
    """A single tree of numbers."""
