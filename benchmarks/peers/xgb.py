"""XGBoost: histograms, best leaf first, unless the settings ask for another method or order."""

from typing import Any

from benchmarks.peers.base import Array, WeighingPeer, library
from benchmarks.settings import Settings


class XGBoost(WeighingPeer):
    """It has no minimum of rows in a leaf."""

    name = "xgboost"
    note = "no min_child_samples"

    def __init__(self) -> None:
        self._xgboost = library("xgboost")

    def build(
        self, X: Array, y: Array, settings: Settings, mode: str, weight: Array | None, margin: Array | None
    ) -> Any:
        given = {"weight": weight, "base_margin": margin, "nthread": settings.threads}
        if settings.method != "hist":
            # It sorts, or chooses its bins, while it trains.
            return self._xgboost.DMatrix(X, y, **given)
        return self._xgboost.QuantileDMatrix(X, y, max_bin=settings.bins, **given)

    def train(self, dataset: Any, settings: Settings, mode: str) -> Any:
        params = {
            **self._tree(settings),
            "nthread": settings.threads,
            "seed": settings.seed,
            **self.loss(settings),
        }
        return self._xgboost.train(params, dataset, num_boost_round=settings.rounds)

    def predict_from(self, model: Any, X: Array, settings: Settings, margin: Array | None) -> Array:
        model.set_param({"nthread": settings.threads})
        found: Array = model.inplace_predict(X, base_margin=margin)
        return found

    def fit(self, X: Array, y: Array, settings: Settings, mode: str) -> Any:
        estimator = self._xgboost.XGBClassifier(
            n_estimators=settings.rounds,
            n_jobs=settings.threads,
            random_state=settings.seed,
            **self._tree(settings),
        )
        return estimator.fit(X, y)

    def _tree(self, settings: Settings) -> dict[str, Any]:
        return {
            "tree_method": settings.method,
            "grow_policy": settings.policy,
            "learning_rate": settings.learning_rate,
            "max_leaves": settings.leaves,
            "max_depth": settings.depth,
            "min_child_weight": settings.min_child_weight,
            "reg_lambda": settings.reg_lambda,
            "max_bin": settings.bins,
            "verbosity": 0,
        }
