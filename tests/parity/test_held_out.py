"""A hundred rounds at equal settings lose no more than the peers on rows not seen: within two percent."""

from functools import cache

import lightgbm as lgb
import numpy as np
import pytest
import xgboost as xgb
from sklearn import datasets
from sklearn.metrics import log_loss, root_mean_squared_error
from sklearn.model_selection import RepeatedKFold

import spinney as sp

ROUNDS = 100
# Leaves are limited by their hessians: XGBoost does not count rows, and LightGBM estimates their number from the hessians.
SETTINGS = {"max_leaves": 15, "min_child_samples": 1, "min_child_weight": 1.0, "reg_lambda": 1.0}
# Repetitions of three folds: fewer rows need more of them for a steady mean.
REPEATS = {"breast_cancer": 6, "diabetes": 3, "digits": 1}


def spinney_scores(objective, classes, X, y, X_test):
    params = SETTINGS | {"objective": objective, "n_jobs": 1}
    if classes > 2:
        params["num_class"] = classes
    return sp.train(params, sp.Dataset(X, y, n_jobs=1), ROUNDS).predict(X_test, n_jobs=1)


def lightgbm_scores(objective, classes, X, y, X_test):
    params = {
        "objective": {"squared_error": "regression", "log_loss": "binary", "softmax": "multiclass"}[
            objective
        ],
        "num_class": classes if classes > 2 else 1,
        "num_leaves": SETTINGS["max_leaves"],
        "min_data_in_leaf": 1,
        "min_sum_hessian_in_leaf": 1.0,
        "min_data_in_bin": 1,
        "lambda_l2": 1.0,
        "num_threads": 1,
        "verbose": -1,
    }
    return lgb.train(params, lgb.Dataset(X, y), ROUNDS).predict(X_test)


def xgboost_scores(objective, classes, X, y, X_test):
    params = {
        "objective": {
            "squared_error": "reg:squarederror", "log_loss": "binary:logistic", "softmax": "multi:softprob",
        }[objective],
        "eta": 0.1,
        "tree_method": "hist",
        "grow_policy": "lossguide",
        "max_depth": 0,
        "max_leaves": SETTINGS["max_leaves"],
        "min_child_weight": 1.0,
        "nthread": 1,
        "verbosity": 0,
    }  # fmt: skip
    if classes > 2:
        params["num_class"] = classes
    return xgb.train(params, xgb.DMatrix(X, y), ROUNDS).predict(xgb.DMatrix(X_test))


def held_out_loss(predict, name):
    X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    objective = {"breast_cancer": "log_loss", "diabetes": "squared_error", "digits": "softmax"}[name]
    classes = 10 if name == "digits" else 2
    losses = []
    folds = RepeatedKFold(n_splits=3, n_repeats=REPEATS[name], random_state=0)
    for train, test in folds.split(X):
        found = predict(objective, classes, X[train], y[train].astype(float), X[test])
        if objective == "squared_error":
            losses.append(root_mean_squared_error(y[test], found))
        else:
            losses.append(log_loss(y[test], found))
    return float(np.mean(losses))


@pytest.fixture(scope="module")
def own_loss():
    return cache(lambda name: held_out_loss(spinney_scores, name))


@pytest.mark.slow
@pytest.mark.parametrize("name", REPEATS)
@pytest.mark.parametrize("peer", [lightgbm_scores, xgboost_scores], ids=["lightgbm", "xgboost"])
def test_held_out_loss_is_no_higher_than_the_peers(own_loss, peer, name):
    assert own_loss(name) <= 1.02 * held_out_loss(peer, name)
