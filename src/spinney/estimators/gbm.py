"""Gradient boosting with scikit-learn's interface."""

from spinney.estimators.classifier import GBMClassifier
from spinney.estimators.ranker import GBMRanker
from spinney.estimators.regressor import GBMRegressor

__all__ = ["GBMClassifier", "GBMRanker", "GBMRegressor"]
