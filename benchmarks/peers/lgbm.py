"""LightGBM, row-wise and column-wise."""

from typing import Any

import numpy as np

from benchmarks.losses import LOSSES
from benchmarks.peers.base import Array, Fold, FoldingPeer, library
from benchmarks.settings import Settings


class LightGBM(FoldingPeer):
    """The library most of the targets are about."""

    name = "lightgbm"
    modes = ("row-wise", "col-wise")

    def __init__(self) -> None:
        self._lightgbm = library("lightgbm")

    def build(
        self, X: Array, y: Array, settings: Settings, mode: str, weight: Array | None, margin: Array | None
    ) -> Any:
        # A Dataset keeps the parameters it was constructed with, so each mode constructs its own.
        params = self._params(settings, mode)
        return self._lightgbm.Dataset(X, y, weight=weight, init_score=margin, params=params).construct()

    def train(self, dataset: Any, settings: Settings, mode: str) -> Any:
        return self._lightgbm.train(self._params(settings, mode), dataset, num_boost_round=settings.rounds)

    def cross_validate(self, dataset: Any, folds: list[Fold], settings: Settings, mode: str) -> float:
        params = {**self._params(settings, mode), "metric": "binary_logloss"}
        found = self._lightgbm.cv(params, dataset, num_boost_round=settings.rounds, folds=folds)
        return float(found["valid binary_logloss-mean"][-1])

    def predict_from(self, model: Any, X: Array, settings: Settings, margin: Array | None) -> Array:
        found: Array = model.predict(X, num_threads=settings.threads, raw_score=margin is not None)
        if settings.objective == "one_vs_rest":
            # It leaves each class's probability as it is; they are judged as shares.
            found /= found.sum(axis=1, keepdims=True)
        if margin is None:
            return found
        # Its model knows nothing of the scores that it was trained from.
        raw: Array = found + margin
        return np.exp(raw) if LOSSES[settings.objective].is_log else raw

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
        return {
            **self.loss(settings),
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


def _force(mode: str) -> str:
    return f"force_{mode.replace('-', '_')}"
