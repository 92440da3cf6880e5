"""Trees under rules about their columns equal those of the oracle, in every order in which threads may work."""

import numpy as np
import pytest

import problems
import spinney as sp


def constrained_problem(seed, most_rows=60):
    """A problem with directions, groups and weights of columns."""
    X, dataset, pairs, params, given = problems.random_problem(seed, most_rows)
    rng = np.random.default_rng([seed, 1])
    return dataset, pairs, params | problems.column_parameters(rng, X.shape[1]), given


def assert_both_grow_the_same(dataset, pairs, params, threads=1, **given):
    fast, _ = problems.fast_tree(dataset, pairs, params, threads=threads, **given)
    problems.assert_same_tree(fast, problems.slow_tree(dataset, pairs, params, **given))
    return fast


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
        signs = rng.integers(-1, 2, 8).tolist()
        dataset = sp.Dataset(X)
        params = {"monotone_constraints": signs, "min_child_samples": 1, "max_leaves": 0, "gamma": 0.01}
        tree = assert_both_grow_the_same(dataset, pairs, params)
        for node in np.flatnonzero(tree.feature >= 0):
            step = tree.value[tree.left[node] + 1] - tree.value[tree.left[node]]
            assert signs[tree.feature[node]] * step >= 0


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
