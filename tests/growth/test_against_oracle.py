"""A tree of the kernels is that of the oracle in every split, direction, count and leaf value, also under rules about columns."""

import numpy as np
import pytest

import oracles
import problems
import spinney as sp


def assert_both_grow_the_same(dataset, pairs, params, threads=1, **given):
    fast, scores = problems.fast_tree(dataset, pairs, params, threads=threads, **given)
    problems.assert_same_tree(fast, problems.slow_tree(dataset, pairs, params, **given))
    return fast, scores


@pytest.mark.kernels
@pytest.mark.parametrize("seed", range(12))
def test_a_tiny_problem_gives_the_tree_of_the_oracle(seed):
    _, dataset, pairs, params, given = problems.random_problem(seed, most_rows=25)
    assert_both_grow_the_same(dataset, pairs, params, **given)


@pytest.mark.parametrize("hundred", [pytest.param(0, marks=pytest.mark.kernels), *range(1, 8)])
def test_a_hundred_small_problems_give_the_trees_of_the_oracle(hundred):
    for seed in range(1000 + 100 * hundred, 1100 + 100 * hundred):
        _, dataset, pairs, params, given = problems.random_problem(seed)
        assert_both_grow_the_same(dataset, pairs, params, **given)


@pytest.mark.parametrize("threads", [2, pytest.param(3, marks=pytest.mark.kernels), 8])
def test_any_number_of_threads_gives_the_tree_of_the_oracle(threads):
    for seed in range(2000, 2040):
        _, dataset, pairs, params, given = problems.random_problem(seed)
        assert_both_grow_the_same(dataset, pairs, params, **given, threads=threads)


@pytest.mark.parametrize("max_bin", [255, 256, pytest.param(257, marks=pytest.mark.kernels), 65_535, 65_536])
def test_more_values_than_fit_a_byte_give_the_tree_of_the_oracle(max_bin):
    rng = np.random.default_rng(max_bin)
    X = np.column_stack(
        [rng.permutation(400) * 0.5, np.where(rng.random(400) < 0.2, np.nan, rng.random(400))]
    )
    pairs = problems.gradients(rng, 400)
    dataset = sp.Dataset(X, max_bin=max_bin)
    assert dataset.binned.matrix().wide == (max_bin > 255)
    params = {"max_bin": max_bin, "max_leaves": 12, "min_child_samples": 3}
    tree, _ = assert_both_grow_the_same(dataset, pairs, params)
    assert tree.leaves == 12


@pytest.mark.parametrize("max_bin", [65_535, 65_536])
def test_the_most_bins_there_can_be_give_the_tree_of_the_oracle(max_bin):
    rng = np.random.default_rng(0)
    X = np.append(rng.permutation(65_540) * 0.5, [np.nan] * 10).reshape(-1, 1)
    pairs = problems.gradients(rng, len(X))
    params = {"max_bin": max_bin, "max_leaves": 3, "min_child_samples": 1}
    tree, _ = assert_both_grow_the_same(sp.Dataset(X, max_bin=max_bin), pairs, params)
    assert tree.leaves == 3


@pytest.mark.parametrize(
    ("rows", "in_bag"),
    [
        (1023, None), pytest.param(1024, None, marks=pytest.mark.kernels), (9000, 1023), (9000, 1024),
        (8128, None), pytest.param(8129, None, marks=pytest.mark.kernels), (9000, 8128), (9000, 8129),
    ],
)  # fmt: skip
def test_rounding_to_nearest_and_at_random_are_those_of_the_oracle(rows, in_bag):
    rng = np.random.default_rng(rows)
    X = np.column_stack(
        [rng.integers(0, 9, rows), np.where(rng.random(rows) < 0.1, np.nan, rng.random(rows))]
    )
    pairs = (rng.normal(size=(rows, 2)) ** [[3, 2]]).astype(np.float32)
    bag = np.sort(rng.choice(rows, in_bag, replace=False)).astype(np.int32) if in_bag else None
    params = {"max_bin": 20, "max_leaves": 6}
    for threads in (1, 2):
        dataset = sp.Dataset(X, max_bin=20)
        tree, _ = assert_both_grow_the_same(dataset, pairs, params, seed=99, bag=bag, threads=threads)
        assert tree.leaves == 6


@pytest.mark.parametrize("rows", [1, 2, 63, 64, 127, 128, 1023])
@pytest.mark.parametrize("size", [1.0, 1.01, 1.99])
def test_sums_of_few_rows_of_one_size_fit_their_fields(rows, size):
    X = np.arange(rows).reshape(-1, 1) % 7.0
    for g in (size, -size, np.where(X[:, 0] > 3, size, -size)):
        pairs = np.stack([np.broadcast_to(g, rows), np.full(rows, size)], axis=1).astype(np.float32)
        assert_both_grow_the_same(sp.Dataset(X), pairs, {"max_leaves": 4, "min_child_samples": 1}, threads=2)


def test_many_columns_give_the_tree_of_the_oracle():
    rng = np.random.default_rng(5)
    X = problems.table(rng, 80, 130)
    pairs = problems.gradients(rng, 80)
    params = {"min_child_samples": 1, "max_leaves": 7, "colsample_bytree": 0.9, "colsample_bynode": 0.5}
    for threads in (1, 3):
        assert_both_grow_the_same(sp.Dataset(X), pairs, params, seed=3, threads=threads)


@pytest.mark.kernels
@pytest.mark.parametrize(
    "params",
    [
        {"reg_lambda": 0.0},
        {"reg_lambda": 3.0, "reg_alpha": 0.8},
        {"reg_lambda": 0.0, "max_delta_step": 0.25},
        {"gamma": 0.5, "min_child_weight": 2.5},
        {"grow_policy": "depthwise", "max_leaves": 5},
        {"colsample_bytree": 0.75, "colsample_bylevel": 0.67, "colsample_bynode": 0.5},
    ],
    ids=str,
)
def test_every_rule_of_a_tree_is_that_of_the_oracle(params):
    rng = np.random.default_rng(8)
    X = np.where(rng.random((40, 4)) < 0.15, np.nan, rng.integers(0, 12, (40, 4)))
    pairs = problems.gradients(rng, 40)
    assert_both_grow_the_same(sp.Dataset(X), pairs, {"min_child_samples": 2} | params, seed=1)


@pytest.mark.kernels
def test_rows_that_grew_the_tree_move_by_the_value_of_their_leaf():
    rng = np.random.default_rng(9)
    X = np.where(rng.random((50, 2)) < 0.2, np.nan, rng.normal(size=(50, 2)))
    pairs = problems.gradients(rng, 50)
    tree, scores = problems.fast_tree(sp.Dataset(X), pairs, {"min_child_samples": 2})
    assert tree.leaves > 2
    assert scores.tolist() == [tree.value[oracles.leaf_of(tree, x)] for x in X]


@pytest.mark.kernels
def test_rows_out_of_the_bag_move_too():
    rng = np.random.default_rng(10)
    X = np.where(rng.random((50, 2)) < 0.2, np.nan, rng.normal(size=(50, 2)))
    pairs = problems.gradients(rng, 50)
    bag = np.arange(0, 50, 2, dtype=np.int32)
    tree, scores = problems.fast_tree(sp.Dataset(X), pairs, {"min_child_samples": 2}, bag=bag)
    assert tree.count[0] == 25
    assert scores.tolist() == [tree.value[oracles.leaf_of(tree, x)] for x in X]


def test_leaf_values_come_from_sums_far_finer_than_the_steps_of_the_search():
    rng = np.random.default_rng(12)
    pairs = np.stack([rng.normal(size=500) * 1e-3, rng.random(500)], axis=1).astype(np.float32)
    pairs[0] = 1000.0, 50.0
    X = rng.integers(0, 4, (500, 1)).astype(float)
    tree, _ = problems.fast_tree(sp.Dataset(X), pairs, {"reg_lambda": 0.5, "learning_rate": 1.0})
    assert tree.leaves > 1
    leaf = np.array([oracles.leaf_of(tree, x) for x in X])
    for node in np.unique(leaf):
        g, h = pairs[leaf == node].astype(np.float64).sum(axis=0)
        assert tree.value[node] == pytest.approx(-g / (h + 0.5), rel=1e-12)


def exact_gain(pairs, left, reg_lambda):
    """½[G_L²/(H_L+λ) + G_R²/(H_R+λ) - G²/(H+λ)] from the gradients themselves."""

    def score(rows):
        g, h = pairs[rows].astype(np.float64).sum(axis=0)
        return g * g / (h + reg_lambda)

    return 0.5 * (score(left) + score(~left) - score(left | True))


@pytest.mark.parametrize("seed", range(5))
def test_the_root_split_has_the_largest_gain_of_the_formula(seed):
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((60, 3)) < 0.2, np.nan, rng.normal(size=(60, 3)))
    pairs = problems.gradients(rng, 60)
    params = {"min_child_samples": 1, "min_child_weight": 0.0, "reg_lambda": 0.7, "max_leaves": 2}
    tree, _ = problems.fast_tree(sp.Dataset(X), pairs, params)
    gains = [
        exact_gain(pairs, np.where(np.isnan(x), missing_left, x <= cut), 0.7)
        for x in X.T
        for cut in x[~np.isnan(x)]
        for missing_left in (False, True)
    ]
    x = X[:, tree.feature[0]]
    left = np.where(np.isnan(x), bool(tree.default_left[0]), x <= tree.threshold[0])
    # The search has gradients to about one step in four thousand.
    assert exact_gain(pairs, left, 0.7) == pytest.approx(max(gains), rel=1e-3)
    assert tree.gain[0] == pytest.approx(max(gains), rel=1e-3)


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_the_largest_steps_of_very_many_rows_are_added_without_running_over(sign):
    rows = 20_000
    X = (np.arange(rows) % 2 * 1.0).reshape(-1, 1)
    X[-5:] = 2.0
    # 4095 steps of one 4096th each: every field of a packed cell is full.
    pairs = np.full((rows, 2), 4095 / 4096, np.float32)
    pairs[:, 0] *= sign
    pairs[-5:, 0] *= -1
    for threads in (1, 2):
        params = {"min_child_samples": 1, "max_leaves": 3}
        tree, _ = assert_both_grow_the_same(sp.Dataset(X), pairs, params, threads=threads)
        assert sorted(tree.count[tree.feature < 0])[0] == 5


def test_sums_over_more_rows_than_full_steps_fit_are_still_right():
    rows = 700_000
    group = np.arange(rows) % 3
    y = np.array([1.0, -2.0, 4.0])[group]
    data = sp.Dataset(group.reshape(-1, 1).astype(np.float32), y)
    params = {"learning_rate": 1.0, "reg_lambda": 0.0, "base_score": 0.0}
    found = [sp.train(params | {"n_jobs": n_jobs}, data, rounds=1) for n_jobs in (1, 2)]
    assert found[0] == found[1]
    assert found[0].predict([[0.0], [1.0], [2.0]]).tolist() == [1.0, -2.0, 4.0]
    leaves = found[0].forest.feature < 0
    assert sorted(found[0].forest.count[leaves]) == [233_333, 233_333, 233_334]


def test_gradients_of_zero_give_a_single_leaf_of_zero():
    X = np.arange(30.0).reshape(-1, 1)
    pairs = np.stack([np.zeros(30), np.ones(30)], axis=1).astype(np.float32)
    tree, scores = problems.fast_tree(sp.Dataset(X), pairs, {"min_child_samples": 1})
    assert (tree.nodes, tree.value.tolist()) == (1, [0.0])
    assert not scores.any()


@pytest.mark.parametrize("reg_lambda", [0.0, 1.0])
def test_gradients_and_hessians_of_zero_give_a_single_leaf_of_zero(reg_lambda):
    X = np.arange(30.0).reshape(-1, 1)
    pairs = np.zeros((30, 2), np.float32)
    tree, _ = problems.fast_tree(sp.Dataset(X), pairs, {"min_child_samples": 1, "reg_lambda": reg_lambda})
    assert (tree.nodes, tree.value.tolist()) == (1, [0.0])


@pytest.mark.parametrize("reg_lambda", [0.0, 1e-300, 1e-200, 1e-31])
def test_a_penalty_too_small_to_divide_by_needs_some_hessian_on_both_sides(reg_lambda):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 2))
    weight = np.where(np.arange(600) < 200, 1e-10, 1.0)
    y = np.where(np.arange(600) < 200, 1e10, X[:, 0])
    params = {"reg_lambda": reg_lambda, "min_child_weight": 0.0, "min_child_samples": 1, "max_leaves": 31}
    forest = sp.train(params, sp.Dataset(X, y, weight=weight), 3).forest
    assert np.isfinite(forest.gain).all()
    assert np.isfinite(forest.value).all()


def constrained_problem(seed, most_rows=60):
    """A problem with directions, groups and weights of columns."""
    X, dataset, pairs, params, given = problems.random_problem(seed, most_rows)
    rng = np.random.default_rng([seed, 1])
    return dataset, pairs, params | problems.column_parameters(rng, X.shape[1]), given


@pytest.mark.kernels
@pytest.mark.parametrize("seed", range(12))
def test_a_tiny_constrained_problem_gives_the_tree_of_the_oracle(seed):
    dataset, pairs, params, given = constrained_problem(seed, most_rows=25)
    assert_both_grow_the_same(dataset, pairs, params, **given)


@pytest.mark.parametrize("hundred", range(8))
def test_a_hundred_constrained_problems_give_the_trees_of_the_oracle(hundred):
    for seed in range(5000 + 100 * hundred, 5100 + 100 * hundred):
        dataset, pairs, params, given = constrained_problem(seed)
        assert_both_grow_the_same(dataset, pairs, params, **given)


@pytest.mark.parametrize("threads", [2, pytest.param(3, marks=pytest.mark.kernels), 8])
def test_any_number_of_threads_gives_the_constrained_tree_of_the_oracle(threads):
    for seed in range(6000, 6030):
        dataset, pairs, params, given = constrained_problem(seed)
        assert_both_grow_the_same(dataset, pairs, params, **given, threads=threads)


def test_one_hot_columns_that_are_searched_together_keep_their_own_directions():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X = (rng.integers(0, 8, 300)[:, None] == np.arange(8)).astype(float)
        pairs = problems.gradients(rng, 300)
        directions = rng.integers(-1, 2, 8).tolist()
        dataset = sp.Dataset(X)
        params = {"monotone_constraints": directions, "min_child_samples": 1, "max_leaves": 0, "gamma": 0.01}
        tree, _ = assert_both_grow_the_same(dataset, pairs, params)
        for node in np.flatnonzero(tree.feature >= 0):
            step = tree.value[tree.left[node] + 1] - tree.value[tree.left[node]]
            assert directions[tree.feature[node]] * step >= 0


def test_directions_of_zero_give_the_bytes_of_no_directions():
    for seed in range(40):
        _, dataset, pairs, params, given = problems.random_problem(seed)
        zeros = {"monotone_constraints": [0] * dataset.schema.columns}
        one, _ = problems.fast_tree(dataset, pairs, params, **given)
        other, _ = problems.fast_tree(dataset, pairs, params | zeros, **given)
        assert all(
            getattr(one, name).tobytes() == getattr(other, name).tobytes()
            for name in vars(one)
            if name != "sets"
        )


def test_bounds_that_hold_nothing_back_give_the_tree_without_them():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(400, 2))
    pairs = np.stack([-3.0 * X[:, 0] - X[:, 1], np.ones(400)], axis=1).astype(np.float32)
    free, _ = problems.fast_tree(sp.Dataset(X), pairs, {"max_leaves": 4})
    bound, _ = problems.fast_tree(sp.Dataset(X), pairs, {"max_leaves": 4, "monotone_constraints": [1, 1]})
    for name in ("feature", "threshold", "left", "value"):
        assert getattr(free, name).tolist() == getattr(bound, name).tolist()
    np.testing.assert_allclose(free.gain, bound.gain, rtol=1e-12)
