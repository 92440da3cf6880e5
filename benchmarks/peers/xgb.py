"""XGBoost: histograms, best leaf first, unless the settings ask for another method or order."""

from typing import Any

from benchmarks.peers.base import Array, Peer, library
from benchmarks.settings import Settings

OBJECTIVES = {"log_loss": "binary:logistic", "softmax": "multi:softprob", "squared_error": "reg:squarederror"}


class XGBoost(Peer):
    """It has no minimum of rows in a leaf."""

    name = "xgboost"
    note = "no min_child_samples"

    def __init__(self) -> None:
        self._xgboost = library("xgboost")

    def dataset(self, X: Array, y: Array, settings: Settings, mode: str) -> Any:
        if settings.method != "hist":
            # It sorts, or chooses its bins, while it trains.
            return self._xgboost.DMatrix(X, y, nthread=settings.threads)
        return self._xgboost.QuantileDMatrix(X, y, max_bin=settings.bins, nthread=settings.threads)

    def train(self, dataset: Any, settings: Settings, mode: str) -> Any:
        params = {**self._tree(settings), "nthread": settings.threads, "seed": settings.seed}
        params["objective"] = OBJECTIVES[settings.objective]
        if settings.objective == "softmax":
            params["num_class"] = settings.classes
        return self._xgboost.train(params, dataset, num_boost_round=settings.rounds)

    def predict(self, model: Any, X: Array, settings: Settings) -> Array:
        model.set_param({"nthread": settings.threads})
        found: Array = model.inplace_predict(X)
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
