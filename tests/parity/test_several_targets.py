"""Several targets lose no more than XGBoost's on rows not seen, three levels no more than three models of LightGBM."""

import lightgbm as lgb
import numpy as np
import xgboost as xgb
from sklearn.metrics import mean_pinball_loss

import spinney as sp

RNG = np.random.default_rng(0)
X = RNG.normal(size=(1500, 5))
NOISE = RNG.normal(size=(1500, 3))
Y = np.column_stack([X[:, 0] * X[:, 1], np.sin(2 * X[:, 2]), X[:, 3] + X[:, 4]]) + 0.3 * NOISE


def test_several_targets_are_learned_as_well_as_by_xgboost():
    ours = sp.GBMRegressor(
        n_estimators=40, max_leaves=8, min_child_samples=1, min_child_weight=1.0, reg_lambda=1.0
    )
    theirs = xgb.XGBRegressor(
        n_estimators=40, max_leaves=8, max_depth=0, grow_policy="lossguide", learning_rate=0.1
    )
    said = [one.fit(X[:1000], Y[:1000]).predict(X[1000:]) for one in (ours, theirs)]
    mine, other = (np.sqrt(np.mean(np.square(one - Y[1000:]))) for one in said)
    assert said[0].shape == said[1].shape
    assert mine <= 1.03 * other


def test_three_levels_are_learned_as_well_as_by_three_models_of_lightgbm():
    y, levels = X[:, 0] + (0.5 + np.abs(X[:, 1])) * NOISE[:, 0], [0.1, 0.5, 0.9]
    model = sp.GBMRegressor(n_estimators=40, max_leaves=8, objective="quantile", quantile_alpha=levels)
    said = model.fit(X[:1000], y[:1000]).predict(X[1000:])
    for k, level in enumerate(levels):
        other = lgb.LGBMRegressor(
            n_estimators=40, num_leaves=8, objective="quantile", alpha=level, verbose=-1
        )
        theirs = other.fit(X[:1000], y[:1000]).predict(X[1000:])
        mine, peers = (mean_pinball_loss(y[1000:], one, alpha=level) for one in (said[:, k], theirs))
        assert mine <= 1.03 * peers
