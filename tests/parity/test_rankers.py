"""GBMRanker beside LightGBM's and XGBoost's rankers."""

import lightgbm as lgb
import numpy as np
import pytest
import xgboost as xgb

import spinney as sp
from ranking_problems import lists, naive_ndcg

LISTS = lists(60, seed=11, columns=5, sizes=(4, 25))
# Few values, so that both libraries cut them alike.
X = np.digitize(LISTS.X, [-1.0, -0.3, 0.3, 1.0]).astype(float)
# Leaves are limited by their hessians: LightGBM estimates the number of rows from these.
ALONE = {"n_estimators": 4, "reg_lambda": 0.0, "min_child_weight": 0.5, "n_jobs": 1}


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"lambdarank_truncation_level": 3},
        {"lambdarank_norm": False},
        {"label_gain": [0, 1, 2, 3, 4]},
        {"weights": True},
    ],
    ids=str,
)
def test_trees_are_those_of_lightgbm(given):
    weight = LISTS.qid % 3 + 1.0 if given.get("weights") else None
    more = {name: value for name, value in given.items() if name != "weights"}
    ours = sp.GBMRanker(max_leaves=6, min_child_samples=1, **ALONE, **more).fit(
        X, LISTS.y, weight, group=LISTS.group
    )
    theirs = lgb.LGBMRanker(num_leaves=6, min_child_samples=0, min_data_in_bin=1, verbose=-1, **ALONE, **more)
    theirs.fit(X, LISTS.y.astype(int), sample_weight=weight, group=LISTS.group)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-4)
    assert np.ptp(ours.predict(X)) > 0.1


def test_ndcg_of_other_queries_is_level_with_both():
    found = {"ours": [], "lightgbm": [], "xgboost": []}
    rules = {"n_estimators": 30, "learning_rate": 0.1, "n_jobs": 1}
    for seed in range(3):
        seen, other = (lists(80, seed=start + seed, sizes=(10, 25)) for start in (20, 30))
        y = seen.y.astype(int)
        deep = {"grow_policy": "lossguide", "max_depth": 0, "tree_method": "hist"}
        fitted = {
            "ours": sp.GBMRanker(max_leaves=8, **rules).fit(seen.X, y, qid=seen.qid),
            "lightgbm": lgb.LGBMRanker(num_leaves=8, verbose=-1, **rules).fit(seen.X, y, group=seen.group),
            "xgboost": xgb.XGBRanker(max_leaves=8, **deep, **rules).fit(seen.X, y, qid=seen.qid),
        }
        for name, one in fitted.items():
            scores = one.predict(other.X) - 1e-9 * np.arange(len(other.y))
            found[name].append(naive_ndcg(other.y, scores, other.qid, k=10).mean())
    means = {name: np.mean(values) for name, values in found.items()}
    assert means["ours"] > max(means.values()) - 0.01
    assert means["ours"] > 0.85
