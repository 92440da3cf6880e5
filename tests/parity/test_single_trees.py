"""One tree at equal settings has the splits and leaf values of LightGBM's and XGBoost's.

Columns have few distinct values, so that all libraries cut them at the same places, and effects of different size, so that no
two gains are close.
"""

import json
import sys

import lightgbm as lgb
import numpy as np
import pytest
import xgboost as xgb

import spinney as sp

RNG = np.random.default_rng(4)
ROWS = 600
X = np.column_stack([RNG.integers(1, 9, ROWS), RNG.integers(1, 15, ROWS), RNG.integers(1, 4, ROWS)]).astype(
    float
)
X[RNG.random(ROWS) < 0.15, 1] = np.nan
EFFECT = (
    3.0 * (X[:, 0] > 5)
    + 1.7 * (X[:, 0] > 2) * (X[:, 2] > 1)
    + np.where(np.isnan(X[:, 1]), -1.1, X[:, 1] * 0.13)
)
NUMBERS = EFFECT + 0.2 * RNG.normal(size=ROWS)
LABELS = (NUMBERS + RNG.normal(size=ROWS) > 3).astype(float)

CASES = {
    "plain": {},
    "no penalty": {"reg_lambda": 0.0},
    "strong penalties": {"reg_lambda": 25.0, "reg_alpha": 12.0},
    "heavy leaves": {"min_child_weight": 40.0},
    "gamma": {"gamma": 2.0},
}
COMMON = {
    "learning_rate": 1.0,
    "max_leaves": 7,
    "min_child_samples": 1,
    "min_child_weight": 1.0,
    "reg_lambda": 1.0,
}


def nodes_below(rows, split):
    """The rows of every node, as sets; `split` gives (goes left of every row, left, right) of a node, None of a leaf."""
    found, waiting = set(), [(rows, 0)]
    while waiting:
        inside, node = waiting.pop()
        found.add(frozenset(np.flatnonzero(inside).tolist()))
        if (parts := split(node)) is not None:
            goes_left, left, right = parts
            waiting += [(inside & goes_left, left), (inside & ~goes_left, right)]
    return found


def goes_left(column, threshold, default_left):
    return np.where(np.isnan(X[:, column]), default_left, X[:, column] <= threshold)


def spinney_tree(objective, y, settings):
    model = sp.train({"objective": objective, "base_score": 0.0} | settings, sp.Dataset(X, y), rounds=1)
    tree = model.forest.tree(0)

    def split(node):
        if tree.feature[node] < 0:
            return None
        left = tree.left[node]
        way = goes_left(tree.feature[node], tree.threshold[node], bool(tree.default_left[node]))
        return way, left, left + 1

    return nodes_below(np.ones(ROWS, bool), split), model.predict_raw(X)


def lightgbm_tree(objective, y, settings):
    params = {
        "objective": {"squared_error": "regression", "log_loss": "binary"}[objective],
        "boost_from_average": False,
        "learning_rate": 1.0,
        "num_leaves": settings["max_leaves"],
        "min_data_in_leaf": settings["min_child_samples"],
        "min_sum_hessian_in_leaf": settings["min_child_weight"],
        "lambda_l2": settings["reg_lambda"],
        "lambda_l1": settings.get("reg_alpha", 0.0),
        # Their gain has no factor of a half.
        "min_gain_to_split": 2 * settings.get("gamma", 0.0),
        "min_data_in_bin": 1,
        "feature_pre_filter": False,
        "num_threads": 1,
        "verbose": -1,
    }
    booster = lgb.train(params, lgb.Dataset(X, y), 1)

    root = booster.dump_model()["tree_info"][0]["tree_structure"]

    def split(node):
        node = node or root
        if "leaf_value" in node:
            return None
        way = goes_left(node["split_feature"], node["threshold"], node["default_left"])
        return way, node["left_child"], node["right_child"]

    return nodes_below(np.ones(ROWS, bool), split), booster.predict(X, raw_score=True)


def xgboost_tree(objective, y, settings):
    params = {
        "objective": {"squared_error": "reg:squarederror", "log_loss": "binary:logistic"}[objective],
        "base_score": {"squared_error": 0.0, "log_loss": 0.5}[objective],
        "eta": 1.0,
        "tree_method": "hist",
        "grow_policy": "lossguide",
        "max_depth": 0,
        "max_leaves": settings["max_leaves"],
        "min_child_weight": settings["min_child_weight"],
        "lambda": settings["reg_lambda"],
        "alpha": settings.get("reg_alpha", 0.0),
        "gamma": 2 * settings.get("gamma", 0.0),
        "nthread": 1,
        "verbosity": 0,
    }
    booster = xgb.train(params, xgb.DMatrix(X, y), 1)

    (dump,) = booster.get_dump(dump_format="json")
    root = json.loads(dump)

    def split(node):
        node = node or root
        if "leaf" in node:
            return None
        by_id = {child["nodeid"]: child for child in node["children"]}
        # They send values below the condition left; here values up to the threshold go left.
        way = goes_left(
            int(node["split"][1:]), node["split_condition"] - 1e-9, node["missing"] == node["yes"]
        )
        return way, by_id[node["yes"]], by_id[node["no"]]

    return nodes_below(np.ones(ROWS, bool), split), booster.predict(xgb.DMatrix(X), output_margin=True)


@pytest.mark.parametrize("peer", [lightgbm_tree, xgboost_tree], ids=["lightgbm", "xgboost"])
@pytest.mark.parametrize("objective", ["squared_error", "log_loss"])
@pytest.mark.parametrize("case", CASES)
def test_a_tree_has_the_splits_and_leaves_of_the_peer(peer, objective, case):
    y = NUMBERS if objective == "squared_error" else LABELS
    settings = COMMON | CASES[case]
    ours, our_scores = spinney_tree(objective, y, settings)
    theirs, their_scores = peer(objective, y, settings)
    assert len(ours) > 3
    assert ours == theirs
    np.testing.assert_allclose(our_scores, their_scores, rtol=1e-4, atol=1e-6)


def test_small_leaves_are_forbidden_as_in_lightgbm(monkeypatch):
    # Few missing values go another way there.
    monkeypatch.setattr(sys.modules[__name__], "X", np.nan_to_num(X))
    settings = COMMON | {"min_child_samples": 60}
    ours, scores = spinney_tree("squared_error", NUMBERS, settings)
    theirs, their_scores = lightgbm_tree("squared_error", NUMBERS, settings)
    assert ours == theirs
    np.testing.assert_allclose(scores, their_scores, rtol=1e-4)
