"""What holds for every tree of every forest."""

import numpy as np
import pytest

from forest_learning import SEED, forest_of, seen_by
from forest_oracle import Problem, Rules, value_of
from forest_problems import plain_tree, table_of, target_of, weights_of
from spinney.sampling.bags import bag_counts
from spinney.tree.compact import COMPACT_DTYPES

CRITERIA = ("gini", "entropy", "squared_error", "poisson", "absolute_error")
LIMITS = {"least_leaf": 3, "least_split": 9, "max_depth": 6, "least_weight": 5.0}


def case(criterion, rows=300, outputs=1, classes=3, max_bin=32, weight=None, method="hist"):
    X = table_of(5, rows=rows, columns=5, missing=0.1)
    X[:, 4] = np.round(X[:, 4])
    y = target_of(criterion, X, 5, outputs, classes)
    numbers = (classes,) * outputs if criterion in ("gini", "entropy") else ()
    return X, *seen_by(method, X, y, weight, numbers, max_bin=max_bin)


def trees_of(forest):
    return [plain_tree(forest, t) for t in range(forest.trees)]


@pytest.mark.parametrize("method", ["hist", "exact"])
@pytest.mark.parametrize("outputs", [1, 2])
@pytest.mark.parametrize("criterion", CRITERIA)
def test_every_leaf_has_the_value_of_the_rows_of_the_bag_that_reach_it(criterion, outputs, method):
    X, dataset, problem = case(criterion, outputs=outputs, method=method)
    rules = Rules(criterion, max_features=2, max_depth=7)
    forest = forest_of(dataset, problem, rules, method, trees=3, bootstrap=True)
    for t, tree in enumerate(trees_of(forest)):
        counts = bag_counts(SEED, t, len(X), len(X), True).astype(int)
        bag = Problem(problem.codes, problem.bins, problem.values, problem.target, counts, problem.classes)
        rows = [[] for _ in tree.weight]
        for row in np.flatnonzero(counts):
            rows[tree.leaf_of(X[row])].append(row)
        assert tree.count.tolist() == [len(reached) for reached in rows]
        assert tree.weight.tolist() == [counts[reached].sum() for reached in rows]
        values = [value_of(bag, criterion, np.array(reached)) for reached in rows]
        np.testing.assert_allclose(tree.value, values, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("splitter", ["best", "random"])
@pytest.mark.parametrize("criterion", CRITERIA)
def test_leaves_respect_every_limit_and_no_split_makes_a_tree_worse(criterion, splitter):
    _, dataset, problem = case(criterion)
    rules = Rules(criterion, splitter, max_features=2, **LIMITS)
    forest = forest_of(dataset, problem, rules, trees=3, bootstrap=True)
    assert forest.gain.min() >= 0
    for tree in trees_of(forest):
        assert len(tree.column) > 3
        assert tree.count.min() >= LIMITS["least_leaf"]
        assert tree.weight.min() >= LIMITS["least_weight"]
        assert max(tree.depths()) <= LIMITS["max_depth"]


@pytest.mark.parametrize("criterion", CRITERIA)
def test_a_tree_of_few_leaves_is_the_top_of_the_whole_one(criterion):
    X, dataset, problem = case(criterion)
    whole = forest_of(dataset, problem, Rules(criterion, max_features=2), trees=3)
    few = forest_of(dataset, problem, Rules(criterion, max_features=2, max_leaves=9), trees=3)
    assert np.diff(few.leaf_start).tolist() == [9] * 3
    for before, after in zip(trees_of(whole), trees_of(few), strict=True):
        below = {}
        for x in X:
            below.setdefault(before.leaf_of(x), set()).add(after.leaf_of(x))
        assert all(len(leaves) == 1 for leaves in below.values())


@pytest.mark.parametrize("limits", [{"least_leaf": 2}, {"max_leaves": 9}], ids=["depth first", "best first"])
@pytest.mark.parametrize("criterion", CRITERIA)
def test_with_a_bin_for_every_value_binned_trees_are_exact_ones(criterion, limits):
    X, dataset, problem = case(criterion, rows=120, max_bin=255)
    rules = Rules(criterion, **limits)
    (exact,) = trees_of(forest_of(dataset, problem, rules, "exact"))
    (binned,) = trees_of(forest_of(dataset, problem, rules, "hist"))
    assert binned.children == exact.children
    assert binned.column == exact.column
    assert [binned.leaf_of(x) for x in X] == [exact.leaf_of(x) for x in X]
    np.testing.assert_array_equal(binned.value, exact.value)
    np.testing.assert_array_equal(binned.gain, exact.gain)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_weights_are_the_same_as_rows_that_come_more_than_once(criterion):
    times = weights_of(120, 6, most=3)
    X, dataset, problem = case(criterion, rows=120, weight=times)
    y = np.repeat(problem.target, times, axis=0)
    _, repeated = seen_by("hist", np.repeat(X, times, axis=0), y, classes=problem.classes)
    # Cut like the other table: bins depend on rows, and there are more of them.
    other = type(dataset)(np.repeat(X, times, axis=0), reference=dataset, keep_table=True)
    rules = Rules(criterion, max_features=3)
    (weighted,) = trees_of(forest_of(dataset, problem, rules))
    (plain,) = trees_of(forest_of(other, repeated, rules))
    assert weighted.threshold == plain.threshold
    assert weighted.children == plain.children
    np.testing.assert_array_equal(weighted.weight, plain.weight)
    np.testing.assert_allclose(weighted.value, plain.value, rtol=1e-12)


@pytest.mark.parametrize(
    "limits", [{}, {"max_leaves": 40, "ccp_alpha": 1e-4}], ids=["depth first", "cut back"]
)
@pytest.mark.parametrize(
    ("criterion", "classes"), [("gini", 2), ("gini", 4), ("squared_error", 0), ("absolute_error", 0)]
)
def test_threads_do_not_change_a_bit_of_a_forest(criterion, classes, limits):
    # So many rows that threads leave subtrees to each other.
    _, dataset, problem = case(criterion, rows=9000, classes=classes or 3, max_bin=255)
    rules = Rules(criterion, max_features=2, least_leaf=20, **limits)
    one, three = (forest_of(dataset, problem, rules, trees=2, threads=n, bootstrap=True) for n in (1, 3))
    assert one.splits > 50
    for name in COMPACT_DTYPES:
        assert getattr(one, name).tobytes() == getattr(three, name).tobytes(), name
