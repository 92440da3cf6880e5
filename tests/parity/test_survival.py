"""Losses of times against XGBoost's."""

import numpy as np
import pytest
import xgboost

import spinney as sp
from spinney import metrics
from spinney.data import Labels
from spinney.data.labels import by_column
from spinney.jit.team import Team
from spinney.metrics import Predictions

ROWS, ROUNDS = 600, 5  # later a tie of two splits may fall to another column
COMMON = {
    "learning_rate": 0.3,
    "max_depth": 3,
    "max_leaves": 0,
    "grow_policy": "depthwise",
    "reg_lambda": 1.0,
    "min_child_weight": 1.0,
    "min_child_samples": 1,
    "max_delta_step": 1e6,  # XGBoost's steps have no limit
}
PEER = {"max_depth": 3, "eta": 0.3, "tree_method": "hist", "base_score": 1.0, "nthread": 1}


def problem():
    """Columns of few values, so that both libraries have the same cuts; no two times are equal."""
    rng = np.random.default_rng(3)
    X = rng.integers(0, 30, size=(ROWS, 3)) / 10
    happens = np.exp(X[:, 0] - X[:, 1] + rng.normal(size=ROWS) * 0.5)
    censored = rng.exponential(6, ROWS)
    return X, np.float32(np.minimum(happens, censored)).astype(float), happens <= censored


X, TIME, EVENT = problem()


def own(params, y):
    dataset, history = sp.Dataset(X, y), sp.History()
    model = sp.train({**COMMON, **params}, dataset, ROUNDS, valid={"train": dataset}, callbacks=[history])
    return model, history.evals["train"]


def peers(params, matrix):
    said = {}
    model = xgboost.train(
        {**PEER, **params}, matrix, ROUNDS, evals=[(matrix, "train")], evals_result=said, verbose_eval=False
    )
    return model, said["train"]


def test_hazards_are_those_of_xgboost():
    model, said = own({"objective": "cox"}, np.column_stack([TIME, EVENT]))
    matrix = xgboost.DMatrix(X, np.where(EVENT, TIME, -TIME))
    peer, theirs = peers({"objective": "survival:cox"}, matrix)
    np.testing.assert_allclose(model.predict(X), peer.predict(matrix), rtol=1e-4)
    np.testing.assert_allclose(said["cox_nloglik"], theirs["cox-nloglik"], rtol=1e-6)


@pytest.mark.parametrize("scale", [1.0, 0.6])
@pytest.mark.parametrize("distribution", ["normal", "logistic", "extreme"])
def test_times_are_those_of_xgboost(distribution, scale):
    lower, upper = TIME.copy(), np.where(EVENT, TIME, np.inf)
    lower[::9], upper[1::9] = 0.0, np.float32(TIME[1::9] * 1.5)
    lower[1::9], upper[::9] = TIME[1::9], TIME[::9]
    shared = {"aft_loss_distribution": distribution, "aft_loss_distribution_scale": scale}
    named = ["aft_nloglik", "interval_regression_accuracy"]
    model, said = own(
        {"objective": "aft", "base_score": 0.0, "eval_metric": named, **shared},
        np.column_stack([lower, upper]),
    )
    matrix = xgboost.DMatrix(X)
    matrix.set_float_info("label_lower_bound", lower)
    matrix.set_float_info("label_upper_bound", upper)
    spelled = [name.replace("_", "-") for name in named]
    peer, theirs = peers({"objective": "survival:aft", "eval_metric": spelled, **shared}, matrix)
    # XGBoost loses digits of small probabilities.
    np.testing.assert_allclose(model.predict(X), peer.predict(matrix), rtol=5e-3)
    # XGBoost takes no row's likelihood for less than 1e-12, which matters as long as predictions are far away.
    metric = metrics.get("aft_nloglik", model.params)
    raw = peer.predict(matrix, output_margin=True).astype(float).reshape(1, -1)
    labels = Labels(by_column(np.column_stack([lower, upper])))
    assert metric.compute(Predictions(raw, "exp", Team(1)), labels).value == pytest.approx(
        theirs["aft-nloglik"][-1], rel=1e-6
    )
    accuracy = said["interval_regression_accuracy"]
    np.testing.assert_allclose(accuracy, theirs["interval-regression-accuracy"], atol=2 / ROWS)
