"""Every tree takes the best splits that the oracle finds, and all of its numbers follow from its rows."""

import numpy as np
import pytest

from forest_follower import follow
from forest_learning import SEED, forest_of, seen_by
from forest_oracle import Rules, grow, key_of_tree, leaves_of, nodes_of, value_of
from forest_problems import plain_tree, splits_of_ours, table_of, target_of, weights_of
from spinney.growth.forest.kernels.records import BYTES, PAIRS_OF_BYTES
from spinney.growth.forest.table import binned_table

NUMBERS = ("squared_error", "poisson", "absolute_error")
# Criterion, outputs, classes of each
KINDS = [
    ("gini", 1, 2),
    ("gini", 1, 3),
    ("gini", 2, 3),
    ("entropy", 1, 2),
    ("entropy", 1, 4),
    *((criterion, outputs, 0) for criterion in NUMBERS for outputs in (1, 2)),
]
LIMITS = {
    "fully grown": {},
    "few columns": {"max_features": 2, "least_leaf": 2},
    "random cuts": {"splitter": "random", "max_features": 3},
    "every limit": {
        "max_depth": 5,
        "least_split": 7,
        "least_leaf": 3,
        "least_weight": 6.0,
        "least_decrease": 0.005,
    },
    "best first": {"max_leaves": 8},
    "pruned": {"ccp_alpha": 0.01, "least_leaf": 2},
}
SMALL = ("random cuts", "every limit", "best first")
NOISE = 1e-6  # targets have 30 bits


def case(method, kind, seed=3, missing=0.12, rows=50):
    """A table with missing values and a column of categories."""
    criterion, outputs, classes = kind
    X = table_of(seed, rows=rows, missing=missing)
    X[:, 3] = np.abs(np.round(2 * X[:, 3]))
    y = target_of(criterion, X, seed, outputs, classes or 3)
    return seen_by(method, X, y, weights_of(rows, seed, 3), (classes,) * outputs if classes else (), (3,))


def check(problem, rules, forest, tree=0, clipped=False):
    key, found = key_of_tree(SEED, tree), plain_tree(forest, tree)
    root = follow(problem, rules, key, splits_of_ours(found, problem, key), NOISE)
    leaves = list(leaves_of(root))
    np.testing.assert_array_equal(found.count, [len(leaf.rows) for leaf in leaves])
    np.testing.assert_array_equal(found.weight, [problem.weight[leaf.rows].sum() for leaf in leaves])
    values = np.array([value_of(problem, rules.criterion, leaf.rows) for leaf in leaves])
    if clipped:
        shares = found.value[:, 1] / found.weight if problem.classes else found.value[:, 0]
        free = values[:, 1] / found.weight if problem.classes else values[:, 0]
        low, high = np.transpose([leaf.bounds for leaf in leaves])
        np.testing.assert_allclose(shares, np.clip(free, low, high), rtol=1e-8, atol=1e-9)
    else:
        np.testing.assert_allclose(found.value, values, rtol=1e-9, atol=1e-12)
    gains = [node.gain for node in nodes_of(root) if node.split is not None]
    np.testing.assert_allclose(found.gain, gains, rtol=1e-6, atol=1e-8)
    return root


@pytest.mark.parametrize("method", ["hist", "exact"])
@pytest.mark.parametrize(
    "limits", [pytest.param(name, marks=pytest.mark.kernels if name in SMALL else ()) for name in LIMITS]
)
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: "-".join(map(str, kind)))
def test_a_tree_is_one_that_the_oracle_could_have_grown(kind, limits, method):
    dataset, problem = case(method, kind)
    rules = Rules(kind[0], **LIMITS[limits])
    root = check(problem, rules, forest_of(dataset, problem, rules, method))
    assert len(list(leaves_of(root))) >= 4


@pytest.mark.kernels
@pytest.mark.parametrize(
    "limits", [{}, {"max_leaves": 7}, {"splitter": "random"}], ids=["all", "best first", "random"]
)
@pytest.mark.parametrize("criterion", ["gini", "entropy", *NUMBERS])
def test_columns_with_a_direction_split_only_that_way_and_leaves_keep_to_it(criterion, limits):
    classes = 2 if criterion in ("gini", "entropy") else 0
    dataset, problem = case("hist", (criterion, 1, classes))
    rules = Rules(criterion, monotone={0: 1, 2: -1}, **limits)
    check(problem, rules, forest_of(dataset, problem, rules), clipped=True)


@pytest.mark.kernels
def test_of_equal_splits_the_first_drawn_column_and_the_lowest_cut_win():
    rng = np.random.default_rng(8)
    X = rng.integers(0, 3, size=(80, 5)).astype(float)
    X[rng.random(X.shape) < 0.1] = np.nan
    y = (rng.random(80) < 0.4).astype(int)
    dataset, problem = seen_by("hist", X, y, weights_of(80, 8, 2), (2,))
    rules = Rules("gini", max_features=3)
    forest = forest_of(dataset, problem, rules, trees=3)
    for tree in range(3):
        key = key_of_tree(SEED, tree)
        root = grow(problem, rules, key)
        expected = {
            n.key: (n.split.column, n.split.cut, n.split.missing_left) for n in nodes_of(root) if n.split
        }
        found = splits_of_ours(plain_tree(forest, tree), problem, key)
        assert {k: (s.column, s.cut, s.missing_left) for k, s in found.items()} == expected
        assert len(expected) > 15


@pytest.mark.parametrize("criterion", ["gini", "squared_error", "absolute_error"])
def test_nodes_of_many_rows_are_split_like_those_of_few(criterion):
    # Large nodes sum four columns at a time, and sort their targets by digits.
    classes = 2 if criterion == "gini" else 0
    dataset, problem = case("hist", (criterion, 1, classes), rows=700)
    rules = Rules(criterion, max_depth=1)
    check(problem, rules, forest_of(dataset, problem, rules))


@pytest.mark.kernels
@pytest.mark.parametrize("criterion", ["gini", "squared_error", "absolute_error"])
def test_without_ties_pruning_leaves_the_oracles_tree(criterion):
    X = table_of(4)
    classes = (3,) if criterion == "gini" else ()
    y = target_of(criterion, X, 4)
    dataset, problem = seen_by("hist", X, y, weights_of(len(y), 4, 1000), classes)
    rules = Rules(criterion, least_leaf=3, ccp_alpha=0.02)
    key = key_of_tree(SEED, 0)
    expected = {node.key for node in nodes_of(grow(problem, rules, key)) if node.split is not None}
    pruned = splits_of_ours(plain_tree(forest_of(dataset, problem, rules), 0), problem, key)
    whole = plain_tree(forest_of(dataset, problem, Rules(criterion, least_leaf=3)), 0)
    assert set(pruned) == expected
    assert 0 < len(pruned) < len(whole.column)


def table_that_records_cannot_hold(why):
    """A table, its bins at most and the way in which kernels look its codes up."""
    rng = np.random.default_rng(9)
    if why == "more than 256 codes":
        return rng.normal(size=(290, 3)), 280, PAIRS_OF_BYTES
    if why == "many columns":
        return table_of(9, rows=60, columns=140, missing=0.1), 255, BYTES
    X = np.where(rng.random((300, 40)) < 0.03, rng.integers(1, 6, (300, 40)), 0.0)
    X[:, 0] = rng.normal(size=300)
    return X, 255, BYTES


@pytest.mark.parametrize("why", ["more than 256 codes", "many columns", "sparse columns"])
@pytest.mark.parametrize(
    "kind", [("gini", 1, 2), ("gini", 1, 3), ("squared_error", 1, 0), ("absolute_error", 1, 0)], ids=str
)
def test_codes_that_are_looked_up_give_the_same_trees(kind, why):
    criterion, _, classes = kind
    X, max_bin, access = table_that_records_cannot_hold(why)
    y = target_of(criterion, X, 9, classes=classes or 3)
    sparse = why == "sparse columns"
    classes = (classes,) if classes else ()
    absent = "zero" if sparse else None
    dataset, problem = seen_by("hist", X, y, classes=classes, max_bin=max_bin, absent=absent)
    assert binned_table(dataset.binned.matrix(), dataset.cuts).access == access
    assert dataset.binned.matrix().sparse.present == sparse
    for splitter in ("best", "random"):
        rules = Rules(criterion, splitter, max_features=2, max_depth=2)
        check(problem, rules, forest_of(dataset, problem, rules))
