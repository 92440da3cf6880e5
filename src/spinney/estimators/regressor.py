"""Gradient boosting for numbers."""

# scikit-learn has no types, so its classes are Any to a type checker.
# mypy: allow-subclassing-any

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from spinney import metrics, objectives
from spinney.data import Labels, read_target, read_weight
from spinney.data.arrays import refuse_dask
from spinney.data.survival import columns_of_records
from spinney.errors import DataError
from spinney.estimators.base import suggest_arguments
from spinney.estimators.boosting import PointwiseGBM
from spinney.estimators.constructors import documented
from spinney.estimators.continuation import Continuation
from spinney.estimators.custom import needs_no_negatives, regression_objective, takes_columns
from spinney.estimators.generated import GBMRegressorParameters
from spinney.jit.team import Team
from spinney.metrics import Predictions
from spinney.model.boosted import Model
from spinney.objectives.survival import is_survival, read_times
from spinney.params import Config, levels_of, objective_info, takes_targets
from spinney.training.holdout import event_strata


@documented
class GBMRegressor(RegressorMixin, GBMRegressorParameters, PointwiseGBM):
    """Gradient boosting of trees for a numeric target, or for several of them.

    With a `y` of several columns each has trees of its own, and predictions are (rows, targets). With several levels in
    `quantile_alpha` they are (rows, levels), and ascending in every row.

    With the objectives cox and aft the target is times that are not all known, of two columns: see docs/survival.md. `predict`
    then gives hazard ratios or times, and `score` the concordance.

    {parameters}

    Attributes
    ----------
    model_ : Model
        The fitted model.
    {attributes}

    See Also
    --------
    GBMClassifier : The same for classes.

    Examples
    --------
    >>> import numpy as np
    >>> import spinney as sp
    >>> X = np.linspace(0, 1, 200).reshape(-1, 1)
    >>> regressor = sp.GBMRegressor(max_leaves=8).fit(X, X[:, 0] ** 2)
    >>> regressor.predict([[0.2], [0.8]]).round(1)
    array([0. , 0.6])
    """

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = needs_no_negatives(self.objective)
        one_level = np.size(self.quantile_alpha) == 1
        tags.target_tags.multi_output = takes_columns(self.objective) and one_level
        return tags

    @suggest_arguments
    def predict(
        self, X: object, *, base_margin: ArrayLike | None = None, rounds: int | None = None
    ) -> NDArray[np.float64]:
        """Predict the target.

        Parameters
        ----------
        X : table
            The columns of `fit`, in the same order.
        base_margin : array of shape (rows,), (rows, targets) or (rows, levels), optional
            Raw scores that the rows start from, in place of the base score.
        rounds : int, optional
            Use the first so many rounds, from 0 to `n_iter_`. Without it `n_estimators_`.

        Returns
        -------
        float64 array of shape (rows,), (rows, targets) or (rows, levels)
        """
        return self._link(self._raw_scores(X, base_margin, rounds))

    @suggest_arguments
    def predict_raw(
        self, X: object, *, base_margin: ArrayLike | None = None, rounds: int | None = None
    ) -> NDArray[np.float64]:
        """Raw scores, of which the loss makes predictions: logarithms with poisson, gamma and tweedie.

        The parameters are those of `predict`.

        Returns
        -------
        float64 array of shape (rows,), (rows, targets) or (rows, levels)
            Levels of a quantile are as the trees give them: they may cross, and only `predict` sorts them.
        """
        return self._raw_scores(X, base_margin, rounds)

    @suggest_arguments
    def staged_predict(
        self, X: object, *, base_margin: ArrayLike | None = None, rounds: int | None = None
    ) -> Iterator[NDArray[np.float64]]:
        """Predict after each round, up to the rounds that `predict` uses. The parameters are those of `predict`.

        Yields
        ------
        float64 array of shape (rows,), (rows, targets) or (rows, levels)
        """
        return map(self._link, self._staged_scores(X, base_margin, rounds))

    def score(self, X: object, y: Any, sample_weight: ArrayLike | None = None) -> float:
        """How good predictions are: 1 is perfect.

        It is R², of several targets the mean over them. With objective="quantile" it is D² of the pinball loss, scikit-learn's
        `d2_pinball_score` at the level of the model, or its mean over several levels. With the objectives cox and aft it is the
        concordance.

        Parameters
        ----------
        X : table
            The columns of `fit`, in the same order.
        y : array of shape (rows,) or (rows, targets)
            The target.
        sample_weight : array of shape (rows,), optional
            Weights of the rows.

        Returns
        -------
        float
            R² and D² are 0 where predictions are no better than a constant, the concordance then is a half.
        """
        check_is_fitted(self, "model_")
        if is_survival(self.model_.objective):
            return concordance(self.model_, self._raw_scores(X, None, None), y, sample_weight)
        refuse_dask(y, "y", type(self).__name__)
        refuse_dask(sample_weight, "sample_weight", type(self).__name__)
        if self.model_.objective != "quantile":
            return float(super().score(X, y, sample_weight))
        from sklearn.metrics import d2_pinball_score  # takes long to import

        predicted, levels = self.predict(X), levels_of(self.model_.params)
        by_level = predicted.T if len(levels) > 1 else [predicted]
        found = [
            d2_pinball_score(y, one, sample_weight=sample_weight, alpha=level)
            for one, level in zip(by_level, levels, strict=True)
        ]
        return float(np.mean(found))

    def _link(self, raw: NDArray[np.float64]) -> NDArray[np.float64]:
        return objectives.get(self.model_.params).link(raw)

    def _fit_target(
        self, y: object, rows: int, start: Continuation | None
    ) -> tuple[NDArray[np.float64], Mapping[str, object]]:
        target = self._read_target(y, rows)
        params = self._objective_params()
        several = takes_targets(regression_objective(self.objective))
        return target, {**params, "num_target": Labels(target).targets} if several else params

    def _objective_params(self) -> dict[str, object]:
        return {"objective": regression_objective(self.objective)}

    def _read_target(self, y: object, rows: int) -> NDArray[np.float64]:
        objective = regression_objective(self.objective)
        if is_survival(objective):
            return read_times(y, rows, Config(objective=objective))
        target = read_target(y, rows)
        if target is None:
            raise DataError("This estimator requires y to be passed, but the target y is None")
        return target

    def _check_target(self, y: object, rows: int) -> None:
        # Some of the rows need not have what an objective of times needs of all of them.
        read_target(columns_of_records(y, regression_objective(self.objective)), rows)

    def _strata(self, target: NDArray[np.float64]) -> NDArray[np.int64]:
        objective = regression_objective(self.objective)
        return event_strata(target, objective) if is_survival(objective) else super()._strata(target)


def concordance(model: Model, raw: NDArray[np.float64], y: object, weight: object) -> float:
    """Share of pairs of rows whose order in time is known that the model's raw scores put in it."""
    if not len(raw):
        raise DataError("X has no rows; score needs at least two")
    target = read_times(y, len(raw), model.params)
    labels = Labels(target, read_weight(weight, len(target)))
    metric = metrics.get("concordance", model.params)
    metric.check(labels)
    link = objective_info(model.objective).link
    return metric.compute(Predictions(raw.reshape(1, -1), link, Team(1)), labels).value
