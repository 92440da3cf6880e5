"""spinney, through its public names only."""

from typing import Any

from benchmarks.peers.base import Array, Fold, FoldingPeer, library
from benchmarks.settings import LIKE_LIGHTGBM, Settings


class Spinney(FoldingPeer):
    """Our side of every ratio."""

    name = "spinney"

    def __init__(self) -> None:
        self._spinney = library("spinney")

    def build(
        self, X: Array, y: Array, settings: Settings, mode: str, weight: Array | None, margin: Array | None
    ) -> Any:
        return self._spinney.Dataset(
            X, y, weight=weight, base_margin=margin, max_bin=settings.bins, n_jobs=settings.threads
        )

    def train(self, dataset: Any, settings: Settings, mode: str) -> Any:
        return self._spinney.train(self._params(settings), dataset, rounds=settings.rounds)

    def cross_validate(self, dataset: Any, folds: list[Fold], settings: Settings, mode: str) -> float:
        params = {**self._params(settings), "eval_metric": "logloss"}
        # LightGBM computes no metrics of train rows unless it is told to.
        found = self._spinney.cv(params, dataset, folds, settings.rounds, train_metrics=False)
        return float(found.history["test"]["logloss"].mean[-1])

    def _params(self, settings: Settings) -> dict[str, Any]:
        return {
            **self.loss(settings),
            "learning_rate": settings.learning_rate,
            "tree_method": settings.method,
            "proposal": settings.proposal,
            "grow_policy": settings.policy,
            "max_leaves": settings.leaves,
            "max_depth": settings.depth,
            "min_child_samples": settings.min_child_samples,
            "min_child_weight": settings.min_child_weight,
            "reg_lambda": settings.reg_lambda,
            "n_jobs": settings.threads,
            "random_state": settings.seed,
            **LIKE_LIGHTGBM,
        }

    def predict_from(self, model: Any, X: Array, settings: Settings, margin: Array | None) -> Array:
        found: Array = model.predict(X, n_jobs=settings.threads, base_margin=margin)
        return found

    def fit(self, X: Array, y: Array, settings: Settings, mode: str) -> Any:
        estimator = self._spinney.GBMClassifier(
            n_estimators=settings.rounds,
            learning_rate=settings.learning_rate,
            tree_method=settings.method,
            proposal=settings.proposal,
            grow_policy=settings.policy,
            max_leaves=settings.leaves,
            max_depth=settings.depth,
            min_child_samples=settings.min_child_samples,
            min_child_weight=settings.min_child_weight,
            reg_lambda=settings.reg_lambda,
            max_bin=settings.bins,
            n_jobs=settings.threads,
            random_state=settings.seed,
            target_stats=None,
            **LIKE_LIGHTGBM,
        )
        return estimator.fit(X, y)
