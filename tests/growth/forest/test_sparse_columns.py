"""Sparse columns: trees split them as the oracle does, whichever way the entries of a node's rows are found."""

import numpy as np
import pytest

from forest_follower import follow
from forest_learning import SEED, forest_of, seen_by
from forest_oracle import Rules, key_of_tree, nodes_of
from forest_problems import plain_tree, splits_of_ours, target_of, weights_of
from oracles import bins_of_matrix
from spinney.growth.forest import memory
from spinney.growth.forest.table import binned_table
from spinney.tree.compact import COMPACT_DTYPES

ROWS = 60
NOISE = 1e-6  # targets have 30 bits
# Criterion, outputs, classes of each
KINDS = [
    ("gini", 1, 2),
    ("entropy", 1, 3),
    ("gini", 2, 3),
    ("squared_error", 1, 0),
    ("squared_error", 2, 0),
    ("absolute_error", 1, 0),
]
# Of columns that are all looked at, entries are listed. Of one or two, they are walked by in all but the smallest nodes.
LIMITS = {
    "all columns": {},
    "few columns": {"max_features": 2},
    "few columns and large leaves": {"max_features": 1, "least_leaf": 2},
    "random cuts": {"splitter": "random", "least_leaf": 2},
    "random cuts of few columns": {"splitter": "random", "max_features": 2},
}


def mostly(absent, seed=5):
    """A table of a dense column and ten sparse ones, of which most values are absent."""
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((ROWS, 11)) < 0.15, rng.integers(-3, 6, (ROWS, 11)).astype(float), absent)
    X[:, 0] = rng.normal(size=ROWS)
    X[rng.random(X.shape) < 0.02] = np.nan
    return X


def problem(kind, absent="zero", seed=5):
    criterion, outputs, classes = kind
    X = mostly(0.0 if absent == "zero" else np.nan, seed)
    y = target_of(criterion, X[:, 9:] + np.nan_to_num(X[:, :2]), seed, outputs, classes or 3)
    classes = (classes,) * outputs if classes else ()
    dataset, known = seen_by("hist", X, y, weights_of(ROWS, seed, 3), classes, absent=absent)
    features = dataset.binned.matrix().features
    np.testing.assert_array_equal(features.group < 0, np.arange(11) > 0)
    assert (features.default == features.bins)[1:].all() == (absent == "missing")
    return dataset, known


@pytest.mark.kernels
@pytest.mark.parametrize("limits", LIMITS)
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: "-".join(map(str, kind)))
def test_a_tree_of_sparse_columns_is_one_that_the_oracle_could_have_grown(kind, limits):
    rules = Rules(kind[0], **{"max_depth": 4, **LIMITS[limits]})
    key = key_of_tree(SEED, 0)
    for absent in ("zero", "missing"):
        dataset, known = problem(kind, absent)
        splits = splits_of_ours(plain_tree(forest_of(dataset, known, rules), 0), known, key)
        follow(known, rules, key, splits, NOISE)
        assert any(split.column > 0 for split in splits.values())


@pytest.mark.kernels
@pytest.mark.parametrize("splitter", ["best", "random"])
def test_few_rows_of_many_entries_are_searched_in_the_one_column_that_is_looked_at(splitter):
    # One column is drawn, and rows store far more than that: no node lists its entries.
    rng = np.random.default_rng(6)
    X = np.where(rng.random((80, 30)) < 0.2, rng.integers(1, 6, (80, 30)).astype(float), 0.0)
    dataset, known = seen_by("hist", X, rng.integers(0, 2, 80), classes=(2,), absent="zero")
    rules = Rules("gini", splitter, max_features=1)
    key, found = key_of_tree(SEED, 0), plain_tree(forest_of(dataset, known, rules), 0)
    root = follow(known, rules, key, splits_of_ours(found, known, key), NOISE)
    counts = [len(node.rows) for node in nodes_of(root) if node.split is not None]
    assert sum(4 * count < dataset.binned.matrix().sparse.entries / 30 for count in counts) > 3


@pytest.mark.kernels
@pytest.mark.parametrize("absent", ["zero", "missing"])
def test_entries_by_row_name_the_column_and_the_bin_of_every_row_that_is_not_in_the_default_bin(absent):
    dataset, _ = problem(KINDS[0], absent)
    matrix, features = dataset.binned.matrix(), dataset.binned.matrix().features
    others = binned_table(matrix, dataset.cuts).others
    bins = bins_of_matrix(matrix)
    rows, columns = np.nonzero((bins != features.default) & (features.group < 0))
    np.testing.assert_array_equal(others.entry_columns, columns)
    np.testing.assert_array_equal(others.entry_bins, bins[rows, columns])
    np.testing.assert_array_equal(np.diff(matrix.sparse.row_starts), np.bincount(rows, minlength=ROWS))


@pytest.mark.kernels
@pytest.mark.parametrize("kind", [KINDS[1], KINDS[3]], ids=lambda kind: kind[0])
@pytest.mark.parametrize("splitter", ["best", "random"])
def test_without_memory_to_list_entries_the_same_trees_grow(kind, splitter, monkeypatch):
    dataset, known = problem(kind)
    assert dataset.binned.matrix().sparse.entries > ROWS
    rules = Rules(kind[0], splitter)
    large = forest_of(dataset, known, rules, trees=2)
    monkeypatch.setattr(memory, "MOST_LISTED", 0)  # a column can still be listed
    small = forest_of(dataset, known, rules, trees=2)
    for name in COMPACT_DTYPES:
        np.testing.assert_array_equal(getattr(small, name), getattr(large, name))


@pytest.mark.kernels
def test_rows_that_no_column_separates_stay_together():
    rng = np.random.default_rng(2)
    X = np.repeat(np.where(rng.random((20, 15)) < 0.1, 1.0, 0.0), 4, axis=0)
    y = rng.integers(0, 2, 80)
    y[::4], y[1::4] = 0, 1
    dataset, known = seen_by("hist", X, y, classes=(2,), absent="zero")
    assert dataset.binned.matrix().sparse.present
    forest = forest_of(dataset, known, Rules("gini", max_features=3))
    assert forest.leaves == len(np.unique(X, axis=0))
