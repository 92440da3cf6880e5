"""Weights of rows have one dimension, as in scikit-learn, for every estimator."""

import numpy as np
import pytest

import spinney as sp
from spinney.errors import DataError

EVERY = [
    sp.GBMClassifier(n_estimators=1),
    sp.GBMRegressor(n_estimators=1),
    sp.GBMRanker(n_estimators=1),
    sp.RandomForestClassifier(1),
    sp.ExtraTreesRegressor(1),
    sp.DecisionTreeClassifier(),
    sp.AdaBoostClassifier(n_estimators=1),
    sp.AdaBoostRegressor(sp.DecisionTreeRegressor(), n_estimators=1),
    sp.IsolationForest(1),
]


@pytest.mark.parametrize("estimator", EVERY, ids=lambda one: type(one).__name__)
def test_weights_in_a_column_are_refused(estimator, table, two):
    with pytest.raises(DataError, match=r"bad input shape \(\d+, 1\): sample_weight should be a 1d array"):
        estimator.fit(table, two, sample_weight=np.ones((len(two), 1)))


def test_so_are_those_of_validation_rows(table, two):
    column, model = np.ones((len(two), 1)), sp.GBMClassifier(n_estimators=1)
    with pytest.raises(DataError, match=r"eval_set: bad input shape \(\d+, 1\): eval_sample_weight"):
        model.fit(table, two, eval_set=(table, two), eval_sample_weight=column)


def test_so_are_those_of_data_sets_and_batches(table, two):
    column, model = np.ones((len(two), 1)), sp.train({}, sp.Dataset(table, two), 1)
    batches = [{"X": table, "y": two, "weight": column}]
    calls = [
        lambda: sp.Dataset(table, two, weight=column),
        lambda: sp.Dataset.from_batches(batches),
        lambda: model.evaluate_batches(batches),
        lambda: sp.bootstrap_interval("rmse", two, two, weight=column),
        lambda: sp.permutation_importance(model, table, two, weight=column),
    ]
    for call in calls:
        with pytest.raises(DataError, match=r"bad input shape \(\d+, 1\): weight should be a 1d array"):
            call()
