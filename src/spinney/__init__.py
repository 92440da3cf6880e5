"""spinney: tree ensembles, fast and reproducible: the same model bit for bit on any number of threads.

Public names are loaded when first used, so that `import spinney` is quick and needs neither scikit-learn nor Numba.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.12.0"

if TYPE_CHECKING:
    from spinney.binning.sketch import QuantileSketch
    from spinney.dataset import Dataset, open_dataset
    from spinney.estimators.adaboost import AdaBoostClassifier, AdaBoostRegressor
    from spinney.estimators.classifier import GBMClassifier
    from spinney.estimators.files import load_estimator
    from spinney.estimators.forests import (
        DecisionTreeClassifier,
        DecisionTreeRegressor,
        ExtraTreesClassifier,
        ExtraTreesRegressor,
        RandomForestClassifier,
        RandomForestRegressor,
    )
    from spinney.estimators.isolation import IsolationForest
    from spinney.estimators.ranker import GBMRanker
    from spinney.estimators.regressor import GBMRegressor
    from spinney.inspection.bias_variance import bias_variance
    from spinney.inspection.bootstrap import bootstrap_interval
    from spinney.inspection.permutation import permutation_importance
    from spinney.model.adaboost import AdaBoostModel
    from spinney.model.boosted import Model
    from spinney.model.forest import ForestModel
    from spinney.model.isolation import IsolationModel
    from spinney.model.loading import load
    from spinney.training.adaboost import adaboost_r2_step, adaboost_step
    from spinney.training.callbacks import AutoRounds, History, LearningRateSchedule, ProgressBar, RoundInfo
    from spinney.training.cross_validation import CVResult, cv
    from spinney.training.splitting import split
    from spinney.training.train import train
    from spinney.tree.isolation import average_path_length

_HOME = {
    "AdaBoostClassifier": "spinney.estimators.adaboost",
    "AdaBoostModel": "spinney.model.adaboost",
    "AdaBoostRegressor": "spinney.estimators.adaboost",
    "AutoRounds": "spinney.training.callbacks",
    "CVResult": "spinney.training.cross_validation",
    "Dataset": "spinney.dataset",
    "DecisionTreeClassifier": "spinney.estimators.forests",
    "DecisionTreeRegressor": "spinney.estimators.forests",
    "ExtraTreesClassifier": "spinney.estimators.forests",
    "ExtraTreesRegressor": "spinney.estimators.forests",
    "ForestModel": "spinney.model.forest",
    "GBMClassifier": "spinney.estimators.classifier",
    "GBMRanker": "spinney.estimators.ranker",
    "GBMRegressor": "spinney.estimators.regressor",
    "History": "spinney.training.callbacks",
    "IsolationForest": "spinney.estimators.isolation",
    "IsolationModel": "spinney.model.isolation",
    "LearningRateSchedule": "spinney.training.callbacks",
    "Model": "spinney.model.boosted",
    "ProgressBar": "spinney.training.callbacks",
    "QuantileSketch": "spinney.binning.sketch",
    "RandomForestClassifier": "spinney.estimators.forests",
    "RandomForestRegressor": "spinney.estimators.forests",
    "RoundInfo": "spinney.training.callbacks",
    "adaboost_r2_step": "spinney.training.adaboost",
    "adaboost_step": "spinney.training.adaboost",
    "average_path_length": "spinney.tree.isolation",
    "bias_variance": "spinney.inspection.bias_variance",
    "bootstrap_interval": "spinney.inspection.bootstrap",
    "cv": "spinney.training.cross_validation",
    "load": "spinney.model.loading",
    "load_estimator": "spinney.estimators.files",
    "open_dataset": "spinney.dataset",
    "permutation_importance": "spinney.inspection.permutation",
    "split": "spinney.training.splitting",
    "train": "spinney.training.train",
}

__all__ = [
    "AdaBoostClassifier",
    "AdaBoostModel",
    "AdaBoostRegressor",
    "AutoRounds",
    "CVResult",
    "Dataset",
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "ExtraTreesClassifier",
    "ExtraTreesRegressor",
    "ForestModel",
    "GBMClassifier",
    "GBMRanker",
    "GBMRegressor",
    "History",
    "IsolationForest",
    "IsolationModel",
    "LearningRateSchedule",
    "Model",
    "ProgressBar",
    "QuantileSketch",
    "RandomForestClassifier",
    "RandomForestRegressor",
    "RoundInfo",
    "__version__",
    "adaboost_r2_step",
    "adaboost_step",
    "average_path_length",
    "bias_variance",
    "bootstrap_interval",
    "cv",
    "load",
    "load_estimator",
    "open_dataset",
    "permutation_importance",
    "split",
    "train",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'spinney' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return __all__
