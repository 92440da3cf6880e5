"""LightGBM, row-wise and column-wise."""

from typing import Any

from benchmarks.peers.base import Array, Peer, library
from benchmarks.settings import Settings

OBJECTIVES = {"log_loss": "binary", "softmax": "multiclass", "squared_error": "regression"}


class LightGBM(Peer):
    """The library most of the targets are about."""

    name = "lightgbm"
    modes = ("row-wise", "col-wise")

    def __init__(self) -> None:
        self._lightgbm = library("lightgbm")

    def dataset(self, X: Array, y: Array, settings: Settings, mode: str) -> Any:
        # A Dataset keeps the parameters it was constructed with, so each mode constructs its own.
        return self._lightgbm.Dataset(X, y, params=self._params(settings, mode)).construct()

    def train(self, dataset: Any, settings: Settings, mode: str) -> Any:
        return self._lightgbm.train(self._params(settings, mode), dataset, num_boost_round=settings.rounds)

    def predict(self, model: Any, X: Array, settings: Settings) -> Array:
        found: Array = model.predict(X, num_threads=settings.threads)
        return found

    def fit(self, X: Array, y: Array, settings: Settings, mode: str) -> Any:
        estimator = self._lightgbm.LGBMClassifier(
            n_estimators=settings.rounds,
            learning_rate=settings.learning_rate,
            num_leaves=settings.leaves,
            max_depth=-1,
            min_child_samples=settings.min_child_samples,
            min_child_weight=settings.min_child_weight,
            reg_lambda=settings.reg_lambda,
            max_bin=settings.bins,
            n_jobs=settings.threads,
            random_state=settings.seed,
            verbosity=-1,
            **{_force(mode): True},
        )
        return estimator.fit(X, y)

    def _params(self, settings: Settings, mode: str) -> dict[str, Any]:
        params = {
            "objective": OBJECTIVES[settings.objective],
            "learning_rate": settings.learning_rate,
            "num_leaves": settings.leaves,
            "max_depth": -1,
            "min_data_in_leaf": settings.min_child_samples,
            "min_sum_hessian_in_leaf": settings.min_child_weight,
            "lambda_l2": settings.reg_lambda,
            "max_bin": settings.bins,
            "num_threads": settings.threads,
            "seed": settings.seed,
            "verbosity": -1,
            _force(mode): True,
        }
        if settings.objective == "softmax":
            params["num_class"] = settings.classes
        return params


def _force(mode: str) -> str:
    return f"force_{mode.replace('-', '_')}"
