"""Every check that scikit-learn has for estimators."""

import os
import subprocess
import sys

import numpy as np
import pytest
from scipy.special import expit, softmax
from sklearn.utils.estimator_checks import (
    check_dataframe_column_names_consistency,
    check_sample_weight_equivalence_on_dense_data,
    check_sample_weight_equivalence_on_sparse_data,
    parametrize_with_checks,
)

import spinney as sp
from spinney.estimators.custom import CLASSIFICATION, REGRESSION
from spinney.objectives.survival import is_survival

ESTIMATORS = [sp.GBMClassifier(), sp.GBMRegressor()]


class OwnLoss:
    """A function as objective, of numbers or of classes, that has one name in every process."""

    def __init__(self, classes):
        self.classes = classes

    def __repr__(self):
        return "own"

    def __call__(self, y_true, y_pred):
        if not self.classes:
            return y_pred - y_true, np.ones(len(y_true))
        if y_pred.ndim == 1:
            p = expit(y_pred)
            return p - y_true, p * (1 - p)
        p = softmax(y_pred, axis=1)
        return p - (y_true[:, None] == np.arange(p.shape[1])), 2 * p * (1 - p)


# With the default of 5 rows a leaf, the few rows of some checks would hardly be split.
FEW = {"n_estimators": 20, "learning_rate": 0.5, "min_child_samples": 1}
# Objectives of times need a target that no check has.
NUMBERS = [one for one in REGRESSION[1:] if not is_survival(one)]
BY_OBJECTIVE = [
    *(sp.GBMRegressor(objective=one, **FEW) for one in (*NUMBERS, OwnLoss(classes=False))),
    *(sp.GBMClassifier(objective=one, **FEW) for one in (*CLASSIFICATION, OwnLoss(classes=True))),
]

ARRAY_API = """
from functools import partial
from unittest import SkipTest
from sklearn.utils.estimator_checks import estimator_checks_generator
import spinney as sp

run = 0
kinds = (
    sp.GBMClassifier, sp.GBMRegressor, sp.RandomForestClassifier, sp.DecisionTreeRegressor, sp.AdaBoostClassifier,
)
for kind in kinds:
    for estimator, check in estimator_checks_generator(kind()):
        if "array_api" in check.func.__name__:
            check(estimator)
            run += 1
assert run == 5, run
"""


@parametrize_with_checks(ESTIMATORS)
def test_scikit_learns_check_passes(estimator, check):
    if "sample_weight_equivalence" in str(check):
        # The fewest rows of a leaf count rows, whatever they weigh.
        estimator = estimator.set_params(min_child_samples=1)
    check(estimator)


@parametrize_with_checks(BY_OBJECTIVE)
def test_scikit_learns_check_passes_with_every_objective(estimator, check):
    check(estimator)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda estimator: type(estimator).__name__)
def test_column_names_are_kept_and_compared_as_scikit_learn_wants(estimator):
    check_dataframe_column_names_consistency(type(estimator).__name__, estimator)


@pytest.mark.parametrize(
    "check",
    [check_sample_weight_equivalence_on_dense_data, check_sample_weight_equivalence_on_sparse_data],
    ids=["dense", "sparse"],
)
@pytest.mark.parametrize("method", ["hist", "approx", "exact"])
@pytest.mark.parametrize("kind", [sp.GBMClassifier, sp.GBMRegressor])
def test_weights_are_as_good_as_repeated_rows_for_trees_that_split(kind, method, check):
    splits = []

    class Counted(kind):
        def fit(self, X, y, sample_weight=None):
            super().fit(X, y, sample_weight)
            splits.append(self.model_.importance("split").sum())
            return self

    # With the default of 20 rows a leaf, the 15 rows of the check would not be split at all.
    check(kind.__name__, Counted(min_child_samples=1, tree_method=method))
    repeated, weighted = splits
    assert repeated == weighted > 100


def test_the_array_api_checks_pass_where_scipy_is_told_to_run_them():
    environment = {**os.environ, "SCIPY_ARRAY_API": "1"}
    done = subprocess.run(
        [sys.executable, "-c", ARRAY_API], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
