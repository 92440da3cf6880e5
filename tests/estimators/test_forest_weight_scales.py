"""Weights of any scale and with fractions leave the splits of numbers as fine as they are without weights."""

import numpy as np
import pytest

import spinney as sp


@pytest.fixture(scope="module")
def outlier():
    """A line, and one target far away from it, which takes up most of the range of targets."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 3))
    y = X[:, 0] + 0.1 * rng.normal(size=2000)
    y[0] = 100.0
    return X, y


@pytest.mark.parametrize("method", ["hist", "exact"])
@pytest.mark.parametrize("scale", [0.5, 2.0, 0.1, 1e5, 1e-12])
def test_equal_weights_of_any_size_give_the_tree_of_none(outlier, method, scale):
    X, y = outlier
    trees = [
        sp.DecisionTreeRegressor(max_depth=4, tree_method=method, random_state=0).fit(X, y, weight)
        for weight in (None, np.full(len(y), scale))
    ]
    plain, scaled = (np.mean((y - tree.predict(X)) ** 2) for tree in trees)
    assert scaled == pytest.approx(plain, rel=0.02)
    assert trees[1].tree_.gain[:3] == pytest.approx(trees[0].tree_.gain[:3], rel=1e-3)


def test_gains_of_weights_with_fractions_are_those_of_the_formula(outlier):
    X, y = outlier
    weight = np.random.default_rng(1).uniform(0.5, 1.5, len(y))
    tree = sp.DecisionTreeRegressor(max_depth=1, tree_method="exact").fit(X, y, weight).tree_

    def impurity(rows):
        mean = np.average(y[rows], weights=weight[rows])
        return np.sum(weight[rows] * (y[rows] - mean) ** 2)

    left = X[:, tree.feature[0]] <= tree.threshold[0]
    everywhere = np.ones(len(y), bool)
    gain = (impurity(everywhere) - impurity(left) - impurity(~left)) / weight.sum()
    assert tree.gain[0] == pytest.approx(gain, rel=5e-3)


def test_cuts_are_drawn_in_a_range_beyond_that_of_floats():
    x = (np.linspace(-1, 1, 21) * 1.7e308)[:, None]
    forest = sp.ExtraTreesRegressor(200, random_state=0).fit(x, np.arange(21.0))
    first = [tree.tree_.threshold[0] / 1.7e308 for tree in forest.estimators_]
    assert min(first) < -0.9
    assert max(first) > 0.9
