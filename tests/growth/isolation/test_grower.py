"""Isolation trees against the naive ones, over every kind of column and table."""

from functools import partial

import numpy as np
import pytest
import scipy.sparse

from isolation_oracle import grow, nested
from spinney.data import read_table
from spinney.growth.isolation.grower import Gatherer, IsolationGrower
from spinney.jit.team import Team
from spinney.sampling.bags import small_samples
from spinney.tree.isolation import depth_limit

SEED = 5


def table_of(rows, seed=0, missing=0.15):
    """Numbers of several scales, categories in column 2, a constant column, one that is mostly missing."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 6)) * [1, 1e6, 1, 1e-9, 1, 1]
    X[:, 2] = rng.integers(0, 70, rows)
    X[:, 4] = 3.0
    X[:, 5] = np.round(X[:, 5])
    X[rng.random(X.shape) < missing] = np.nan
    X[rng.random(rows) < 0.8, 0] = np.nan
    return X


def grower_of(X, wanted, columns=None, categories=None, replace=False, weight=None, absent=0.0, depth=None):
    table = read_table(X)
    counts = np.zeros(table.columns, np.int64) if categories is None else categories
    gatherer = Gatherer(table, columns or table.columns, counts, absent)
    depth = depth_limit(wanted) if depth is None else depth
    words = int((counts.max() + 63) // 64)
    return partial(IsolationGrower, gatherer, table.rows, wanted, depth, words, replace, weight, SEED)


def trees_of(grower, count=3, threads=1, first=0):
    with Team(threads) as team:
        return [forest.tree(t) for forest in grower(team).grow(first, count) for t in range(forest.trees)]


def expected(X, wanted, tree, categories, columns=None, depth=None, **drawing):
    rows, seeds = small_samples(SEED, tree, 1, len(X), wanted, **drawing)
    columns = list(range(X.shape[1])) if columns is None else columns(int(seeds[0]))
    return grow(X[rows[0]], columns, categories, int(seeds[0]), depth or depth_limit(wanted))


@pytest.mark.kernels
@pytest.mark.parametrize("wanted", [1, 2, 40])
def test_trees_are_those_that_the_oracle_grows(wanted):
    X, categories = table_of(90), np.array([0, 0, 70, 0, 0, 0])
    trees = trees_of(grower_of(X, wanted, categories=categories))
    assert [nested(tree) for tree in trees] == [expected(X, wanted, t, categories) for t in range(3)]
    assert wanted < 40 or any(len(tree.sets.node) for tree in trees)


@pytest.mark.kernels
def test_rows_that_columns_hardly_part_are_split_by_the_few_that_can():
    # Of 30 columns two are not constant, so that drawing gives up and all are looked at.
    rng = np.random.default_rng(1)
    X = np.zeros((40, 30))
    X[:, 11], X[:, 27] = rng.normal(size=40), rng.integers(0, 2, 40)
    trees = trees_of(grower_of(X, 32))
    assert [nested(tree) for tree in trees] == [expected(X, 32, t, np.zeros(30, int)) for t in range(3)]
    assert {int(one) for tree in trees for one in tree.feature} == {-1, 11, 27}


@pytest.mark.kernels
def test_rows_that_are_equal_stay_together():
    (tree,) = trees_of(grower_of(np.ones((50, 3)), 20), 1)
    assert tree.feature.tolist() == [-1]
    assert tree.count.tolist() == [20]


@pytest.mark.kernels
def test_a_column_of_missing_values_alone_is_never_split():
    X = np.column_stack([np.full(30, np.nan), np.arange(30.0)])
    for tree in trees_of(grower_of(X, 30)):
        assert set(tree.feature.tolist()) == {-1, 1}


@pytest.mark.kernels
@pytest.mark.parametrize("form", [scipy.sparse.csr_array, scipy.sparse.csc_array, scipy.sparse.coo_array])
@pytest.mark.parametrize("columns", [20, 7])
def test_a_sparse_table_gives_the_trees_of_the_dense_one(form, columns):
    X = scipy.sparse.random_array((60, 20), density=0.1, rng=np.random.default_rng(3)).toarray()
    X[4, 5] = np.nan
    dense, sparse = trees_of(grower_of(X, 25, columns)), trees_of(grower_of(form(X), 25, columns))
    assert [nested(tree) for tree in sparse] == [nested(tree) for tree in dense]
    assert sum(tree.nodes for tree in dense) > 20


@pytest.mark.kernels
def test_entries_that_a_sparse_table_lacks_may_be_missing():
    X = scipy.sparse.random_array((60, 5), density=0.4, rng=np.random.default_rng(3)).toarray()
    absent = np.where(X == 0, np.nan, X)
    sparse = trees_of(grower_of(scipy.sparse.csr_array(X), 25, absent=np.nan))
    assert [nested(tree) for tree in sparse] == [nested(tree) for tree in trees_of(grower_of(absent, 25))]


@pytest.mark.kernels
def test_every_tree_has_columns_of_its_own():
    X = np.random.default_rng(2).normal(size=(50, 12))
    used = [{int(one) for one in tree.feature if one >= 0} for tree in trees_of(grower_of(X, 50, 3), 20)]
    assert all(1 <= len(one) <= 3 for one in used)
    assert set().union(*used) == set(range(12))


@pytest.mark.kernels
def test_values_that_span_all_of_float64_are_cut_between_the_ends():
    X = np.array([[-1.7e308], [1.7e308], [0.0], [5e-324]])
    for tree in trees_of(grower_of(X, 4), 5):
        assert tree.nodes == 7 or tree.depth == 2
        inner = tree.threshold[tree.feature >= 0]
        assert np.isfinite(inner).all()
        assert (inner >= -1.7e308).all()
        assert (inner < 1.7e308).all()


def test_columns_and_cuts_are_drawn_evenly():
    X = np.random.default_rng(4).random((500, 4))
    X[:, 3] *= 1000
    trees = trees_of(grower_of(X, 64, depth=1), 2000)
    column = np.array([tree.feature[0] for tree in trees])
    share = np.bincount(column, minlength=4) / 2000
    np.testing.assert_allclose(share, 0.25, atol=0.04)
    cuts = np.array([tree.threshold[0] for tree in trees]) / np.where(column == 3, 1000, 1)
    np.testing.assert_allclose(np.quantile(cuts, [0.25, 0.5, 0.75]), [0.25, 0.5, 0.75], atol=0.04)


def test_missing_values_go_to_a_side_as_often_as_known_ones_do():
    X = np.append(np.linspace(0, 1, 99), np.nan).reshape(-1, 1)
    trees = trees_of(grower_of(X, 100, depth=1), 2000)
    left = np.array([tree.default_left[0] for tree in trees])
    share = np.array([tree.threshold[0] for tree in trees])
    for low in (0.0, 0.25, 0.5, 0.75):
        inside = (share >= low) & (share < low + 0.25)
        assert abs(left[inside].mean() - (low + 0.125)) < 0.06


def test_trees_do_not_depend_on_threads_or_on_when_they_are_grown():
    X, categories = table_of(300), np.array([0, 0, 70, 0, 0, 0])
    alone = trees_of(grower_of(X, 128, categories=categories), 9)
    for threads in (2, 3, 8):
        shared = trees_of(grower_of(X, 128, categories=categories), 9, threads)
        assert [nested(tree) for tree in shared] == [nested(tree) for tree in alone]
    later = trees_of(grower_of(X, 128, categories=categories), 2, first=7)
    assert [nested(tree) for tree in later] == [nested(tree) for tree in alone[7:]]


@pytest.mark.kernels
@pytest.mark.parametrize(("replace", "weighted"), [(False, True), (True, False), (True, True)])
def test_trees_grow_on_the_rows_that_were_drawn(replace, weighted):
    X, categories = table_of(50), np.zeros(6, np.int64)
    weight = np.arange(50.0) if weighted else None
    trees = trees_of(grower_of(X, 30, replace=replace, weight=weight))
    drawing = {"replace": replace, "weight": weight}
    assert [nested(tree) for tree in trees] == [expected(X, 30, t, categories, **drawing) for t in range(3)]
