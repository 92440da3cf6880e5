"""The oracle grows scikit-learn's trees, so it is a standard to compare with; so do exact trees of few rows without ties."""

import numpy as np
import pytest

from forest_follower import follow
from forest_learning import forest_of, seen_by
from forest_oracle import Rules, grow, leaves_of, nodes_of, value_of
from forest_problems import (
    KEY,
    leaves_of_scikit_learn,
    plain_tree,
    problem_of,
    scikit_learn_tree,
    splits_of_ours,
    splits_of_scikit_learn,
    table_of,
    target_of,
    weights_of,
)

CRITERIA = ("gini", "entropy", "squared_error", "poisson", "absolute_error")
# Leaves of some rows, and weights of any size: no two splits of a node are level.
LIMITS = [
    {"least_leaf": 5},
    {"least_leaf": 4, "max_depth": 3},
    {"least_leaf": 4, "least_split": 14},
    {"least_leaf": 4, "max_leaves": 6},
    {"least_leaf": 4, "least_decrease": 0.02},
    {"least_leaf": 4, "ccp_alpha": 0.03},
    {"least_leaf": 4, "least_weight": 4000.0},
]


def case(criterion, seed=3, outputs=1, missing=0.0, most=3, classes=3):
    X = table_of(seed, missing=missing)
    y = target_of(criterion, X, seed, outputs, classes)
    numbers = (classes,) * outputs if criterion in ("gini", "entropy") else ()
    return X, problem_of(X, y, weights_of(len(y), seed, most), numbers)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_a_fully_grown_tree_of_scikit_learn_takes_no_worse_split_than_that_of_the_oracle(criterion):
    missing = 0.0 if criterion == "absolute_error" else 0.15
    X, problem = case(criterion, missing=missing)
    rules = Rules(criterion)
    tree = scikit_learn_tree(problem, X, rules)

    root = follow(problem, rules, KEY, splits_of_scikit_learn(tree, problem))

    values = [value_of(problem, criterion, leaf.rows) for leaf in leaves_of(root)]
    np.testing.assert_allclose(values, leaves_of_scikit_learn(tree, problem), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("limits", LIMITS, ids=lambda limits: list(limits)[-1])
def test_without_ties_the_oracle_grows_the_same_tree_as_scikit_learn(criterion, limits):
    X, problem = case(criterion, most=1000)
    rules = Rules(criterion, **limits)
    tree = scikit_learn_tree(problem, X, rules)

    root = grow(problem, rules, KEY)

    splits = {
        n.key: (n.split.column, n.split.cut, n.split.missing_left)
        for n in nodes_of(root)
        if n.split is not None
    }
    expected = splits_of_scikit_learn(tree, problem)
    assert splits == {key: (found.column, found.cut, found.missing_left) for key, found in expected.items()}
    assert 2 < tree.n_leaves < len(X) / 3


@pytest.mark.parametrize("criterion", ["gini", "squared_error", "absolute_error"])
@pytest.mark.parametrize("limits", [{}, {"max_leaves": 7}], ids=["fully grown", "best first"])
def test_directions_of_columns_are_those_of_scikit_learn(criterion, limits):
    X, problem = case(criterion, classes=2)
    rules = Rules(criterion, monotone={0: 1, 2: -1}, **limits)
    tree = scikit_learn_tree(problem, X, rules)
    follow(problem, rules, KEY, splits_of_scikit_learn(tree, problem))


@pytest.mark.parametrize("criterion", ["gini", "squared_error", "poisson", "absolute_error"])
def test_several_outputs_share_one_tree_as_in_scikit_learn(criterion):
    X, problem = case(criterion, outputs=2)
    rules = Rules(criterion, least_leaf=2)
    tree = scikit_learn_tree(problem, X, rules)
    root = follow(problem, rules, KEY, splits_of_scikit_learn(tree, problem))
    values = [value_of(problem, criterion, leaf.rows) for leaf in leaves_of(root)]
    np.testing.assert_allclose(values, leaves_of_scikit_learn(tree, problem), rtol=1e-9, atol=1e-12)


def test_a_tree_grown_by_another_criterion_is_not_taken_for_one_of_this():
    X, problem = case("squared_error")
    tree = scikit_learn_tree(problem, X, Rules("absolute_error", least_leaf=5))
    with pytest.raises(AssertionError, match="not the best"):
        follow(problem, Rules("squared_error", least_leaf=5), KEY, splits_of_scikit_learn(tree, problem))


def test_a_tree_that_stops_early_is_not_taken_for_a_fully_grown_one():
    X, problem = case("gini")
    tree = scikit_learn_tree(problem, X, Rules("gini", max_depth=2))
    with pytest.raises(AssertionError, match="not split"):
        follow(problem, Rules("gini"), KEY, splits_of_scikit_learn(tree, problem))


def exact_case(criterion, outputs=1, missing=0.0, seed=3):
    X = table_of(seed, missing=missing)
    y = target_of(criterion, X, seed, outputs)
    classes = (3,) * outputs if criterion in ("gini", "entropy") else ()
    return X, *seen_by("exact", X, y, weights_of(len(y), seed), classes)


def check_exact(X, dataset, problem, rules):
    """The same splits and thresholds, leaves and gains."""
    expected = scikit_learn_tree(problem, X, rules)
    tree = plain_tree(forest_of(dataset, problem, rules, "exact"), 0)
    assert splits_of_ours(tree, problem) == splits_of_scikit_learn(expected, problem)
    inner = np.flatnonzero(expected.children_left >= 0)
    known = np.minimum(expected.threshold[inner], np.finfo(float).max)
    np.testing.assert_allclose(sorted(tree.threshold), sorted(known), rtol=1e-9)
    np.testing.assert_allclose(tree.value, leaves_of_scikit_learn(expected, problem), rtol=1e-9, atol=1e-12)
    assert 2 < len(tree.weight) < len(X) / 3


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("limits", LIMITS, ids=lambda limits: list(limits)[-1])
def test_trees_are_those_of_scikit_learn_under_each_limit(criterion, limits):
    check_exact(*exact_case(criterion), Rules(criterion, **limits))


@pytest.mark.parametrize("criterion", CRITERIA)
def test_trees_of_several_outputs_are_those_of_scikit_learn(criterion):
    check_exact(*exact_case(criterion, outputs=2), Rules(criterion, least_leaf=4))


# scikit-learn's absolute error has no missing values.
@pytest.mark.parametrize("criterion", CRITERIA[:-1])
def test_missing_values_go_where_scikit_learn_sends_them(criterion):
    check_exact(*exact_case(criterion, missing=0.2), Rules(criterion, least_leaf=4))
