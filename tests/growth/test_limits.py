"""What a tree must never exceed, whatever the data."""

import numpy as np
import pytest

import oracles
import problems
import spinney as sp

OBJECTIVES = [
    {"objective": "squared_error"},
    {"objective": "log_loss"},
    {"objective": "softmax", "num_class": 3},
]


def trained(params, rows=150, seed=0, rounds=3, weight=None):
    rng = np.random.default_rng(seed)
    X = problems.table(rng, rows, 4)
    classes = params.get("num_class", 2)
    y = np.append(np.arange(classes), rng.integers(0, classes, rows - classes)).astype(float)
    return sp.train(params, sp.Dataset(X, y, weight=weight), rounds=rounds), X


def trees(model):
    return [model.forest.tree(t) for t in range(model.forest.trees)]


@pytest.mark.parametrize("objective", OBJECTIVES, ids=lambda o: o["objective"])
@pytest.mark.parametrize("fewest", [1, 2, 7, 40, 75, 76, 151])
@pytest.mark.parametrize("policy", ["lossguide", "depthwise"])
def test_no_leaf_holds_fewer_rows_than_the_limit(objective, fewest, policy):
    for seed in range(3):
        params = objective | {"min_child_samples": fewest, "min_child_weight": 0.0, "grow_policy": policy}
        model, _ = trained(params | {"subsample": 0.9, "reg_lambda": 0.0}, seed=seed)
        for tree in trees(model):
            inside = tree.count[tree.feature < 0]
            assert inside.sum() == tree.count[0] == 135
            assert tree.nodes == 1 or inside.min() >= fewest


@pytest.mark.parametrize("objective", OBJECTIVES, ids=lambda o: o["objective"])
def test_no_leaf_holds_less_hessian_than_the_limit(objective):
    model, _ = trained(objective | {"min_child_weight": 4.0, "min_child_samples": 1})
    covers = [tree.cover[tree.feature < 0].min() for tree in trees(model) if tree.nodes > 1]
    assert covers
    # The search has hessians to about one step in four thousand.
    assert min(covers) >= 4.0 * (1 - 0.01)


@pytest.mark.parametrize("policy", ["lossguide", "depthwise"])
@pytest.mark.parametrize("depth", [1, 2, 5, 40])
def test_no_leaf_lies_deeper_than_the_limit(policy, depth):
    params = {
        "max_depth": depth,
        "max_leaves": 0,
        "min_child_samples": 1,
        "grow_policy": policy,
        "reg_lambda": 0.0,
    }
    model, _ = trained(params, seed=3)
    depths = [tree.depth for tree in trees(model)]
    assert max(depths) == depth if depth <= 5 else max(depths) <= depth


@pytest.mark.parametrize("policy", ["lossguide", "depthwise"])
@pytest.mark.parametrize("leaves", [2, 3, 9, 16])
def test_no_tree_has_more_leaves_than_the_limit(policy, leaves):
    params = {"max_leaves": leaves, "min_child_samples": 1, "grow_policy": policy}
    model, _ = trained(params, seed=3)
    assert max(tree.leaves for tree in trees(model)) == leaves


def test_no_limit_on_leaves_means_none():
    X = np.arange(300.0).reshape(-1, 1)
    params = {"max_leaves": 0, "min_child_samples": 1, "reg_lambda": 0.0, "learning_rate": 1.0}
    model = sp.train(params, sp.Dataset(X, X[:, 0], max_bin=300), rounds=1)
    assert model.forest.tree(0).leaves == 300
    np.testing.assert_allclose(model.predict(X), X[:, 0], rtol=1e-6, atol=1e-6)


def test_depthwise_finishes_a_level_before_the_next():
    params = {"grow_policy": "depthwise", "max_leaves": 11, "min_child_samples": 1}
    model, _ = trained(params, seed=3)
    for tree in trees(model):
        depth = dict(tree.walk())
        splits = [
            depth[node]
            for node in np.flatnonzero(tree.feature >= 0)[np.argsort(tree.left[tree.feature >= 0])]
        ]
        assert splits == sorted(splits)


def test_lossguide_splits_the_leaf_of_the_largest_gain_first():
    model, _ = trained({"max_leaves": 11, "min_child_samples": 1}, seed=3)
    for tree in trees(model):
        inner = np.flatnonzero(tree.feature >= 0)
        by_time = inner[np.argsort(tree.left[inner])]
        for step, node in enumerate(by_time):
            waiting = [later for later in by_time[step:] if later < tree.left[node]]
            assert tree.gain[node] == max(tree.gain[waiting])


def leaves_as_sets(tree, X):
    where = np.array([oracles.leaf_of(tree, x) for x in X])
    return {
        (frozenset(np.flatnonzero(where == leaf).tolist()), tree.value[leaf]) for leaf in np.unique(where)
    }


def test_with_all_leaves_both_orders_of_growth_give_the_same_leaves():
    for seed in range(30):
        X, dataset, pairs, params, given = problems.random_problem(seed)
        params = {k: v for k, v in params.items() if not k.startswith("colsample")} | {"max_leaves": 0}
        grown = [
            problems.fast_tree(dataset, pairs, params | {"grow_policy": policy}, **given)[0]
            for policy in ("lossguide", "depthwise")
        ]
        assert leaves_as_sets(grown[0], X) == leaves_as_sets(grown[1], X)


def test_a_larger_gamma_never_makes_more_leaves_and_takes_its_share_of_every_gain():
    rng = np.random.default_rng(4)
    X, pairs = rng.normal(size=(200, 3)), problems.gradients(rng, 200)
    data = sp.Dataset(X)
    leaves = []
    for gamma in (0.0, 0.1, 0.5, 1.0, 2.0, 5.0, 1e6):
        tree, _ = problems.fast_tree(data, pairs, {"gamma": gamma, "min_child_samples": 2, "max_leaves": 0})
        leaves.append(tree.leaves)
        assert np.all(tree.gain[tree.feature >= 0] > 0)
    assert leaves == sorted(leaves, reverse=True)
    assert leaves[0] > leaves[3] > leaves[-1] == 1


def test_leaf_values_stay_within_the_largest_step():
    rng = np.random.default_rng(6)
    pairs = problems.gradients(rng, 200)
    params = {"max_delta_step": 0.05, "min_child_samples": 2, "learning_rate": 0.5}
    tree, _ = problems.fast_tree(sp.Dataset(rng.normal(size=(200, 3))), pairs, params)
    assert tree.leaves > 2
    assert np.abs(tree.value).max() == 0.025


def test_an_l1_penalty_above_every_sum_leaves_a_single_leaf_of_zero():
    rng = np.random.default_rng(6)
    tree, _ = problems.fast_tree(
        sp.Dataset(rng.normal(size=(50, 2))),
        problems.gradients(rng, 50),
        {"reg_alpha": 1e6, "min_child_samples": 1},
    )
    assert (tree.nodes, abs(tree.value[0])) == (1, 0.0)


@pytest.mark.kernels
def test_one_row_gives_its_own_value():
    model = sp.train({"min_child_samples": 1}, sp.Dataset([[3.0, np.nan]], [5.0]), rounds=2)
    assert [tree.nodes for tree in trees(model)] == [1, 1]
    assert model.predict([[np.nan, 1.0]]).tolist() == [5.0]


@pytest.mark.parametrize("table", [np.full((40, 1), 2.0), np.full((40, 2), np.nan)])
def test_a_constant_table_gives_single_leaves(table):
    y = np.arange(40.0)
    model = sp.train({"min_child_samples": 1}, sp.Dataset(table, y), rounds=2)
    assert [tree.nodes for tree in trees(model)] == [1, 1]
    np.testing.assert_allclose(model.predict(table), y.mean(), rtol=1e-12)


def test_a_row_is_kept_apart_by_its_missing_value_alone():
    X = np.where(np.arange(40) % 2, np.nan, 2.0).reshape(-1, 1)
    y = np.isnan(X[:, 0]) * 4.0
    model = sp.train(
        {"min_child_samples": 1, "learning_rate": 1.0, "reg_lambda": 0.0}, sp.Dataset(X, y), rounds=1
    )
    assert model.forest.threshold[0] == np.finfo(np.float64).max
    assert model.predict([[np.nan], [2.0], [-1e300], [1.7e308]]).tolist() == [4.0, 0.0, 0.0, 0.0]
