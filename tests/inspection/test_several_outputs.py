"""Inspecting models of several targets, labels or levels."""

import numpy as np
import pytest
from sklearn.metrics import r2_score

import spinney as sp
from spinney.errors import ParameterError, ParameterTypeError, SpinneyError

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 3))
Y = np.column_stack([X[:, 0], X[:, 0] + X[:, 1]])
SMALL = {"n_estimators": 6, "max_leaves": 5, "learning_rate": 0.5}


def test_importances_of_several_targets_are_means_over_them():
    regressor = sp.GBMRegressor(**SMALL).fit(X, Y)
    both = sp.permutation_importance(regressor, X, Y, metric="r2", repeats=3)
    alone = [
        sp.permutation_importance(
            sp.GBMRegressor(**SMALL).fit(X, Y[:, k]), X, Y[:, k], metric="r2", repeats=3
        )
        for k in range(2)
    ]
    assert both.score == pytest.approx(r2_score(Y, regressor.predict(X)))
    assert np.allclose(both.importances, np.mean([one.importances for one in alone], axis=0), rtol=1e-9)
    with pytest.raises(SpinneyError, match=r"y has 1 output\(s\); the model has 2"):
        sp.permutation_importance(regressor, X, Y[:, 0])


def test_importances_of_several_labels_go_by_every_label():
    labels = (Y > 0).astype(int)
    found = sp.permutation_importance(
        sp.GBMClassifier(**SMALL).fit(X, labels), X, labels, metric="auc", repeats=2
    )
    assert found.importances_mean.argmax() == 0
    assert found.importances_mean[2] < 0.02


def test_importances_of_levels_go_by_the_pinball_loss_of_sorted_predictions():
    regressor = sp.GBMRegressor(**SMALL, objective="quantile", quantile_alpha=[0.2, 0.8]).fit(X, Y[:, 1])
    found = sp.permutation_importance(regressor, X, Y[:, 1], repeats=2)
    predicted = regressor.predict(X)
    error = Y[:, 1, None] - predicted
    wanted = np.mean(np.maximum(error * [0.2, 0.8], error * [-0.8, -0.2]))
    assert found.score == pytest.approx(wanted)
    assert found.importances_mean[2] < found.importances_mean[0]
    with pytest.raises(ParameterError, match="metric='mae' does not fit predictions of several levels"):
        sp.permutation_importance(regressor, X, Y[:, 1], metric="mae")


def test_bias_and_variance_need_one_output():
    levels = sp.GBMRegressor(**SMALL, objective="quantile", quantile_alpha=[0.2, 0.8])
    with pytest.raises(ParameterTypeError, match="GBMRegressor predicts several outputs"):
        sp.bias_variance(levels, X, Y[:, 0], repeats=2)
    with pytest.raises(SpinneyError, match="y"):
        sp.bias_variance(sp.GBMRegressor(**SMALL), X, Y, repeats=2)


@pytest.mark.parametrize(("metric", "y"), [("rmse", Y), ("pinball", Y[:, 0])])
def test_intervals_of_several_columns_are_refused_by_name(metric, y):
    with pytest.raises(SpinneyError, match="prediction has 2 columns, but metric="):
        sp.bootstrap_interval(metric, y, Y)
