"""On few rows without ties, exact trees are those of scikit-learn."""

import numpy as np
import pytest

from forest_learning import forest_of, seen_by
from forest_oracle import Rules
from forest_problems import (
    leaves_of_scikit_learn,
    plain_tree,
    scikit_learn_tree,
    splits_of_ours,
    splits_of_scikit_learn,
    table_of,
    target_of,
    weights_of,
)

CRITERIA = ("gini", "entropy", "squared_error", "poisson", "absolute_error")
CLASSES = ("gini", "entropy")
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


def case(criterion, outputs=1, missing=0.0, seed=3):
    X = table_of(seed, missing=missing)
    y = target_of(criterion, X, seed, outputs)
    classes = (3,) * outputs if criterion in CLASSES else ()
    return X, *seen_by("exact", X, y, weights_of(len(y), seed), classes)


def check(X, dataset, problem, rules):
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
    check(*case(criterion), Rules(criterion, **limits))


@pytest.mark.parametrize("criterion", CRITERIA)
def test_trees_of_several_outputs_are_those_of_scikit_learn(criterion):
    check(*case(criterion, outputs=2), Rules(criterion, least_leaf=4))


# scikit-learn's absolute error knows no missing values.
@pytest.mark.parametrize("criterion", CRITERIA[:-1])
def test_missing_values_go_where_scikit_learn_sends_them(criterion):
    check(*case(criterion, missing=0.2), Rules(criterion, least_leaf=4))
