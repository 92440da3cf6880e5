"""spinney: tree ensembles, fast, and the same model bit for bit on any number of threads.

Public names are loaded when first used, so that `import spinney` is quick and needs neither scikit-learn nor Numba.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.6.0"

if TYPE_CHECKING:
    from spinney.binning.dataset import Dataset
    from spinney.binning.sketch import QuantileSketch
    from spinney.estimators.files import load_estimator
    from spinney.estimators.gbm import GBMClassifier, GBMRegressor
    from spinney.model.model import Model, load
    from spinney.training.boosting import train
    from spinney.training.callbacks import History, ProgressBar, RoundInfo
    from spinney.training.learning_rates import LearningRateSchedule

_HOME = {
    "Dataset": "spinney.binning.dataset",
    "GBMClassifier": "spinney.estimators.gbm",
    "GBMRegressor": "spinney.estimators.gbm",
    "History": "spinney.training.callbacks",
    "LearningRateSchedule": "spinney.training.learning_rates",
    "Model": "spinney.model.model",
    "ProgressBar": "spinney.training.callbacks",
    "QuantileSketch": "spinney.binning.sketch",
    "RoundInfo": "spinney.training.callbacks",
    "load": "spinney.model.model",
    "load_estimator": "spinney.estimators.files",
    "train": "spinney.training.boosting",
}

__all__ = [
    "Dataset",
    "GBMClassifier",
    "GBMRegressor",
    "History",
    "LearningRateSchedule",
    "Model",
    "ProgressBar",
    "QuantileSketch",
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
