"""ChimeraBoost: Numba, oblivious trees."""

import math
from typing import Any

from benchmarks.peers.base import Array, Peer, library, positive
from benchmarks.settings import Settings


class ChimeraBoost(Peer):
    """Its trees ask one question per level, so leaves become a depth and the work is not the same."""

    name = "chimeraboost"
    note = "oblivious trees of log2(leaves) levels, no min_child_samples"
    separate = False

    def __init__(self) -> None:
        self._chimeraboost = library("chimeraboost")

    def dataset(self, X: Array, y: Array, settings: Settings, mode: str) -> Any:
        return X, y

    def train(self, dataset: Any, settings: Settings, mode: str) -> Any:
        X, y = dataset
        if settings.objective == "squared_error":
            return self._chimeraboost.ChimeraBoostRegressor(**self._params(settings)).fit(X, y)
        return self.fit(X, y, settings, mode)

    def predict(self, model: Any, X: Array, settings: Settings) -> Array:
        if settings.objective == "squared_error":
            value: Array = model.predict(X)
            return value
        return positive(model.predict_proba(X), settings)

    def fit(self, X: Array, y: Array, settings: Settings, mode: str) -> Any:
        return self._chimeraboost.ChimeraBoostClassifier(**self._params(settings)).fit(X, y)

    def _params(self, settings: Settings) -> dict[str, Any]:
        return {
            "n_estimators": settings.rounds,
            "learning_rate": settings.learning_rate,
            "depth": max(1, round(math.log2(settings.leaves))),
            "l2_leaf_reg": settings.reg_lambda,
            "max_bins": settings.bins,
            "min_child_weight": settings.min_child_weight,
            "thread_count": settings.threads,
            "random_state": settings.seed,
            "early_stopping": False,
            "refit_full": False,
            "leaf_estimation_iterations": 1,
            "linear_leaves": False,
            "cross_features": False,
        }
