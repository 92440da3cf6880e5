"""scikit-learn's HistGradientBoosting."""

from typing import Any

from benchmarks.peers.base import Array, Peer, library, positive
from benchmarks.settings import Settings


class ScikitLearn(Peer):
    """It bins while it fits, and takes its number of threads from OpenMP."""

    name = "sklearn"
    separate = False

    def __init__(self) -> None:
        self._ensemble = library("sklearn.ensemble")
        self._limits = library("threadpoolctl").threadpool_limits

    def dataset(self, X: Array, y: Array, settings: Settings, mode: str) -> Any:
        return X, y

    def train(self, dataset: Any, settings: Settings, mode: str) -> Any:
        X, y = dataset
        if settings.objective != "squared_error":
            return self.fit(X, y, settings, mode)
        with self._limits(settings.threads, "openmp"):
            return self._ensemble.HistGradientBoostingRegressor(**self._params(settings)).fit(X, y)

    def predict(self, model: Any, X: Array, settings: Settings) -> Array:
        with self._limits(settings.threads, "openmp"):
            if settings.objective == "squared_error":
                value: Array = model.predict(X)
                return value
            return positive(model.predict_proba(X), settings)

    def fit(self, X: Array, y: Array, settings: Settings, mode: str) -> Any:
        with self._limits(settings.threads, "openmp"):
            return self._ensemble.HistGradientBoostingClassifier(**self._params(settings)).fit(X, y)

    def _params(self, settings: Settings) -> dict[str, Any]:
        # Its minimum hessian is fixed at 1e-3.
        return {
            "max_iter": settings.rounds,
            "learning_rate": settings.learning_rate,
            "max_leaf_nodes": settings.leaves,
            "max_depth": None,
            "min_samples_leaf": settings.min_child_samples,
            "l2_regularization": settings.reg_lambda,
            "max_bins": settings.bins,
            "early_stopping": False,
            "random_state": settings.seed,
        }
