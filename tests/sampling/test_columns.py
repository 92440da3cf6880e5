"""How columns are drawn: exact numbers, and chances in proportion to their weights."""

import numpy as np
import pytest

import spinney as sp

X = np.random.default_rng(0).normal(size=(400, 12))
Y = X.sum(axis=1)


@pytest.mark.parametrize("tiny", [5e-324, 1e-300, 1e300])
def test_weights_of_any_size_keep_the_number_exact(tiny):
    for seed in range(20):
        model = sp.train(
            {"colsample_bytree": 0.5, "feature_weights": [tiny] * 6 + [0.0] * 6, "random_state": seed},
            sp.Dataset(X, Y),
            rounds=2,
        )
        assert model.forest.feature.max() < 6


def columns_of_trees(params, rounds=20):
    full = {"min_child_samples": 1, "max_leaves": 0, "reg_lambda": 1.0}
    model = sp.train(full | params, sp.Dataset(X, Y), rounds=rounds)
    return [model.forest.tree(t) for t in range(model.forest.trees)]


@pytest.mark.parametrize("method", ["hist", "approx", "exact"])
@pytest.mark.parametrize("weights", [None, [1.0] * 6 + [3.0] * 6])
def test_shares_of_columns_multiply_and_are_exact_counts(weights, method):
    given = {
        "tree_method": method,
        "colsample_bytree": 0.5,
        "colsample_bylevel": 0.5,
        "colsample_bynode": 0.34,
        "feature_weights": weights,
    }
    for tree in columns_of_trees(given):
        by_depth = {}
        for node, depth in tree.walk():
            if tree.feature[node] >= 0:
                by_depth.setdefault(depth, set()).add(int(tree.feature[node]))
        # 6 columns a tree, 3 of them a level, 1 of these a node.
        assert len(set().union(*by_depth.values())) == 6
        assert all(len(columns) <= 3 for columns in by_depth.values())
        assert max(map(len, by_depth.values())) == 3


def test_a_column_of_weight_zero_is_never_drawn():
    weights = dict.fromkeys(range(0, 12, 2), 0)
    for share in ("colsample_bytree", "colsample_bylevel", "colsample_bynode"):
        for part in (0.3, 0.97):
            for tree in columns_of_trees({share: part, "feature_weights": weights}, rounds=4):
                used = tree.feature[tree.feature >= 0]
                assert len(used)
                assert (used % 2 == 1).all()


def test_fewer_columns_than_asked_for_are_drawn_where_too_few_have_a_weight():
    weights = [0.0] * 10 + [1.0, 1.0]
    for tree in columns_of_trees({"colsample_bytree": 0.5, "feature_weights": weights}, rounds=4):
        assert set(tree.feature[tree.feature >= 0].tolist()) == {10, 11}


def test_weights_do_not_matter_where_nothing_is_drawn():
    data = sp.Dataset(X, Y)
    weighted = sp.train({"feature_weights": [0.0] * 11 + [1.0]}, data, rounds=3)
    assert weighted.forest.equal(sp.train({}, data, rounds=3).forest)


def test_heavy_columns_are_used_more_often():
    used = np.zeros(12)
    for tree in columns_of_trees({"colsample_bynode": 0.1, "feature_weights": [1.0] * 6 + [9.0] * 6}):
        used += np.bincount(tree.feature[tree.feature >= 0], minlength=12)
    share = used[6:].sum() / used.sum()
    assert share == pytest.approx(0.9, abs=0.03)
