"""Forests of every library, with the same verbs: `rounds` of the settings are trees, depth 0 is fully grown."""

import math
from typing import Any, ClassVar

import numpy as np

from benchmarks.peers.base import Array, Peer, library, positive
from benchmarks.settings import Settings

BAG = 1.0 - math.exp(
    -1.0
)  # distinct rows of a bootstrap sample; for libraries that draw without putting back


class ForestPeer(Peer):
    """A library whose forests have scikit-learn's manners; it bins, if at all, while it fits."""

    module: ClassVar[str]
    separate = False

    def __init__(self) -> None:
        self._module = library(self.module)

    def dataset(self, X: Array, y: Array, settings: Settings, mode: str) -> Any:
        return X, y

    def train(self, dataset: Any, settings: Settings, mode: str) -> Any:
        X, y = dataset
        return self.fit(X, y, settings, mode)

    def predict(self, model: Any, X: Array, settings: Settings) -> Array:
        if settings.objective == "squared_error":
            value: Array = model.predict(X)
            return value
        return positive(model.predict_proba(X), settings)

    def fit(self, X: Array, y: Array, settings: Settings, mode: str) -> Any:
        target = y if settings.objective == "squared_error" else y.astype(np.int64)
        return self.estimator(settings, X.shape[1]).fit(X, target)

    def estimator(self, settings: Settings, columns: int) -> Any:
        """Return the estimator, not yet fitted."""
        family = "ExtraTrees" if settings.splitter == "random" else "RandomForest"
        kind = "Regressor" if settings.objective == "squared_error" else "Classifier"
        return getattr(self._module, family + kind)(**self._params(settings))

    def _params(self, settings: Settings) -> dict[str, Any]:
        return {
            "n_estimators": settings.rounds,
            "max_depth": settings.depth or None,
            "min_samples_leaf": max(1, settings.min_child_samples),
            "n_jobs": settings.threads,
            "random_state": settings.seed,
        }


class SpinneyForest(ForestPeer):
    """Our side of every ratio of forests."""

    name = "spinney"
    module = "spinney"

    def _params(self, settings: Settings) -> dict[str, Any]:
        return {**super()._params(settings), "tree_method": settings.method}


class ScikitLearnForest(ForestPeer):
    """The twin: exact cuts."""

    name = "sklearn-forest"
    module = "sklearn.ensemble"


class IntelexForest(ForestPeer):
    """scikit-learn-intelex by its own estimators; scikit-learn is left as it is."""

    name = "intelex-forest"
    module = "sklearnex.ensemble"


class XGBoostForest(ForestPeer):
    """It draws rows without putting back, and its leaves are steps of the log loss."""

    name = "xgboost-forest"
    note = "rows drawn without putting back"
    module = "xgboost"

    def estimator(self, settings: Settings, columns: int) -> Any:
        kind = "XGBRFRegressor" if settings.objective == "squared_error" else "XGBRFClassifier"
        return getattr(self._module, kind)(
            n_estimators=settings.rounds,
            max_depth=settings.depth,
            max_bin=settings.bins,
            subsample=BAG,
            colsample_bynode=_share(settings, columns),
            min_child_weight=settings.min_child_weight,
            n_jobs=settings.threads,
            random_state=settings.seed,
            verbosity=0,
        )


class LightGBMForest(ForestPeer):
    """It draws rows without putting back, and has at most 131 072 leaves."""

    name = "lightgbm-forest"
    note = "rows drawn without putting back, leaves ≤ 131 072"
    module = "lightgbm"

    def estimator(self, settings: Settings, columns: int) -> Any:
        kind = "LGBMRegressor" if settings.objective == "squared_error" else "LGBMClassifier"
        return getattr(self._module, kind)(
            boosting_type="rf",
            n_estimators=settings.rounds,
            max_depth=settings.depth or -1,
            num_leaves=131_072,
            max_bin=settings.bins,
            subsample=BAG,
            subsample_freq=1,
            feature_fraction_bynode=_share(settings, columns),
            min_child_samples=max(1, settings.min_child_samples),
            min_child_weight=settings.min_child_weight,
            reg_lambda=settings.reg_lambda,
            histogram_pool_size=1_024,  # MB; without a limit it keeps one for every leaf
            n_jobs=settings.threads,
            random_state=settings.seed,
            verbosity=-1,
        )


def _share(settings: Settings, columns: int) -> float:
    """Return the share of columns that scikit-learn's default tries at a split."""
    return 1.0 if settings.objective == "squared_error" else int(math.sqrt(columns)) / columns
