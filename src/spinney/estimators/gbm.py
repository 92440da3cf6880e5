"""Gradient boosting with scikit-learn's interface."""

from spinney.estimators.classifier import GBMClassifier
from spinney.estimators.regressor import GBMRegressor

__all__ = ["GBMClassifier", "GBMRegressor"]
