"""spinney: tree ensembles, fast, and the same model bit for bit on any number of threads.

Public names are loaded when first used, so that `import spinney` is quick and needs neither scikit-learn nor Numba.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.7.0"

if TYPE_CHECKING:
    from spinney.binning.dataset import Dataset
    from spinney.binning.sketch import QuantileSketch
    from spinney.estimators.files import load_estimator
    from spinney.estimators.forests.kinds import (
        DecisionTreeClassifier,
        DecisionTreeRegressor,
        ExtraTreesClassifier,
        ExtraTreesRegressor,
        RandomForestClassifier,
        RandomForestRegressor,
    )
    from spinney.estimators.gbm import GBMClassifier, GBMRegressor
    from spinney.model.forest_model import ForestModel
    from spinney.model.loading import load
    from spinney.model.model import Model
    from spinney.training.boosting import train
    from spinney.training.callbacks import History, ProgressBar, RoundInfo
    from spinney.training.learning_rates import LearningRateSchedule

_HOME = {
    "Dataset": "spinney.binning.dataset",
    "DecisionTreeClassifier": "spinney.estimators.forests.kinds",
    "DecisionTreeRegressor": "spinney.estimators.forests.kinds",
    "ExtraTreesClassifier": "spinney.estimators.forests.kinds",
    "ExtraTreesRegressor": "spinney.estimators.forests.kinds",
    "ForestModel": "spinney.model.forest_model",
    "GBMClassifier": "spinney.estimators.gbm",
    "GBMRegressor": "spinney.estimators.gbm",
    "History": "spinney.training.callbacks",
    "LearningRateSchedule": "spinney.training.learning_rates",
    "Model": "spinney.model.model",
    "ProgressBar": "spinney.training.callbacks",
    "QuantileSketch": "spinney.binning.sketch",
    "RandomForestClassifier": "spinney.estimators.forests.kinds",
    "RandomForestRegressor": "spinney.estimators.forests.kinds",
    "RoundInfo": "spinney.training.callbacks",
    "load": "spinney.model.loading",
    "load_estimator": "spinney.estimators.files",
    "train": "spinney.training.boosting",
}

__all__ = [
    "Dataset",
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "ExtraTreesClassifier",
    "ExtraTreesRegressor",
    "ForestModel",
    "GBMClassifier",
    "GBMRegressor",
    "History",
    "LearningRateSchedule",
    "Model",
    "ProgressBar",
    "QuantileSketch",
    "RandomForestClassifier",
    "RandomForestRegressor",
    "RoundInfo",
    "__version__",
    "load",
    "load_estimator",
    "train",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'spinney' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return __all__
