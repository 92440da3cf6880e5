"""Every check that scikit-learn has for estimators."""

import os
import subprocess
import sys

import pytest
from sklearn.utils.estimator_checks import (
    check_dataframe_column_names_consistency,
    check_sample_weight_equivalence_on_dense_data,
    check_sample_weight_equivalence_on_sparse_data,
    parametrize_with_checks,
)

import spinney as sp

ESTIMATORS = [sp.GBMClassifier(), sp.GBMRegressor()]

ARRAY_API = """
from functools import partial
from unittest import SkipTest
from sklearn.utils.estimator_checks import estimator_checks_generator
import spinney as sp

run = 0
for kind in (sp.GBMClassifier, sp.GBMRegressor):
    for estimator, check in estimator_checks_generator(kind()):
        if "array_api" in check.func.__name__:
            check(estimator)
            run += 1
assert run == 2, run
"""


@parametrize_with_checks(ESTIMATORS)
def test_scikit_learns_check_passes(estimator, check):
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
