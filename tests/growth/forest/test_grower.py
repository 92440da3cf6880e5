"""The grower of forests: the leaf of every row in a tree by its codes, whether it grew the tree or not, and new weights."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from oracles import bins_of_matrix
from spinney import Dataset
from spinney.data.target import ForestTarget
from spinney.growth.forest.grower import ForestGrower, leaf_of_rows
from spinney.growth.forest.table import binned_table
from spinney.jit.team import Team
from spinney.params import ForestConfig


def table_of(kind):
    """A table, the columns that are categorical, and most bins."""
    rng = np.random.default_rng(4)
    X = np.where(rng.random((70, 4)) < 0.15, np.nan, rng.normal(size=(70, 4)).round(1))
    if kind == "categories":
        X[:, 1] = rng.integers(0, 9, 70)
        return X, [1], 255
    if kind == "wide":
        return rng.normal(size=(400, 2)), [], 300
    if kind == "sparse":
        return csr_array(np.where(rng.random((300, 30)) < 0.04, rng.integers(1, 5, (300, 30)), 0.0)), [], 255
    return X, [], 255


def naive_leaves(codes, bins, tree):
    """Walk every row down the tree."""
    found = []
    for row in codes:
        place = 0 if len(tree.column) else -1
        while place >= 0:
            column, cut = tree.column[place], int(tree.cut[place])
            code = int(row[column])
            if code == bins[column]:
                left = tree.default_left[place] != 0
            elif tree.sets and column == 1:
                left = (int(tree.sets[cut][code // 64]) >> (code % 64)) & 1 == 1
            else:
                left = code <= cut
            place = int(tree.children[2 * place + (0 if left else 1)])
        found.append(~place)
    return found


@pytest.mark.kernels
@pytest.mark.parametrize("depth", [1, 3])
@pytest.mark.parametrize("kind", ["numbers", "categories", "wide", "sparse"])
def test_every_row_reaches_the_leaf_of_a_plain_walk(kind, depth):
    X, categorical, max_bin = table_of(kind)
    dataset = Dataset(X, bundle=False, categorical=categorical, max_bin=max_bin)
    assert dataset.binned.matrix().sparse.present == (kind == "sparse")
    assert dataset.binned.matrix().wide == (kind == "wide")
    rng = np.random.default_rng(5)
    target = ForestTarget(rng.integers(0, 3, (dataset.rows, 1)), (3,))
    weight = rng.integers(0, 3, dataset.rows).astype(float)
    config = ForestConfig(criterion="gini", max_depth=depth, bootstrap=False, keep_leaf_rows=True)
    table = binned_table(dataset.binned.matrix(), dataset.cuts)
    with Team(1) as team:
        (tree,) = ForestGrower(config, table, target, weight, team).grow(0, 1)
        leaf = leaf_of_rows(table, tree, team)
    assert len(tree.column) >= depth
    assert leaf.tolist() == naive_leaves(bins_of_matrix(dataset.binned.matrix()), dataset.cuts.bins, tree)
    # Rows that grew the tree are in the leaf that they were counted in.
    grew = np.repeat(np.arange(len(tree.count)), tree.count)
    assert leaf[tree.leaf_rows].tolist() == grew.tolist()
    with Team(3) as team:
        assert leaf_of_rows(table, tree, team).tolist() == leaf.tolist()


@pytest.mark.kernels
def test_in_a_tree_without_splits_all_rows_are_in_the_one_leaf():
    dataset = Dataset(np.zeros((5, 2)), bundle=False)
    table = binned_table(dataset.binned.matrix(), dataset.cuts)
    target = ForestTarget(np.arange(5.0)[:, None])
    with Team(1) as team:
        (tree,) = ForestGrower(ForestConfig(bootstrap=False), table, target, np.ones(5), team).grow(0, 1)
        assert leaf_of_rows(table, tree, team).tolist() == [0] * 5


@pytest.mark.kernels
def test_a_grower_that_is_given_other_weights_grows_the_trees_of_a_new_one():
    rng = np.random.default_rng(6)
    dataset = Dataset(rng.normal(size=(60, 3)), bundle=False)
    table = binned_table(dataset.binned.matrix(), dataset.cuts)
    target = ForestTarget(rng.integers(0, 2, (60, 1)), (2,))
    config = ForestConfig(criterion="gini", max_depth=2, bootstrap=False)
    first, second = rng.random(60), np.arange(60.0)
    with Team(1) as team:
        grower = ForestGrower(config, table, target, first, team, keep_memory=True)
        list(grower.grow(0, 1))
        grower.set_weights(second)
        (again,) = grower.grow(1, 1)
        (fresh,) = ForestGrower(config, table, target, second, team).grow(1, 1)
    for name in ("column", "cut", "value", "weight", "gain", "count"):
        np.testing.assert_array_equal(getattr(again, name), getattr(fresh, name))
