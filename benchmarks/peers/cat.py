"""CatBoost: its leaf-wise trees, without its random parts."""

from typing import Any

from benchmarks.peers.base import Array, Peer, library, positive
from benchmarks.settings import Settings


class CatBoost(Peer):
    """It has no minimum hessian, and its trees stop at depth 16."""

    name = "catboost"
    note = "no min_child_weight, depth ≤ 16"

    def __init__(self) -> None:
        self._catboost = library("catboost")

    def dataset(self, X: Array, y: Array, settings: Settings, mode: str) -> Any:
        pool = self._catboost.Pool(X, y, thread_count=settings.threads)
        pool.quantize(border_count=settings.bins - 1, feature_border_type="GreedyLogSum")
        return pool

    def train(self, dataset: Any, settings: Settings, mode: str) -> Any:
        make = (
            self._catboost.CatBoostRegressor
            if settings.objective == "squared_error"
            else self._catboost.CatBoostClassifier
        )
        return make(**self._params(settings)).fit(dataset)

    def predict(self, model: Any, X: Array, settings: Settings) -> Array:
        if settings.objective == "squared_error":
            value: Array = model.predict(X, thread_count=settings.threads)
            return value
        return positive(model.predict_proba(X, thread_count=settings.threads), settings)

    def fit(self, X: Array, y: Array, settings: Settings, mode: str) -> Any:
        params = self._params(settings)
        return self._catboost.CatBoostClassifier(border_count=settings.bins - 1, **params).fit(X, y)

    def _params(self, settings: Settings) -> dict[str, Any]:
        losses = {"log_loss": "Logloss", "softmax": "MultiClass", "squared_error": "RMSE"}
        return {
            "loss_function": losses[settings.objective],
            "grow_policy": "Lossguide",
            "iterations": settings.rounds,
            "learning_rate": settings.learning_rate,
            "max_leaves": settings.leaves,
            "depth": 16,
            "min_data_in_leaf": settings.min_child_samples,
            "l2_leaf_reg": settings.reg_lambda,
            "leaf_estimation_iterations": 1,
            "boosting_type": "Plain",
            "bootstrap_type": "No",
            "random_strength": 0,
            "thread_count": settings.threads,
            "random_seed": settings.seed,
            "allow_writing_files": False,
            "logging_level": "Silent",
        }
