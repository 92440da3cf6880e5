"""Values of bins, thresholds behind them, and where drawn cuts lie: anywhere in the gap between two values, not in its middle."""

import itertools

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.ensemble import ExtraTreesRegressor

import spinney as sp
from spinney import Dataset
from spinney.binning.cuts import Cuts, find_cuts
from spinney.data import read_table
from spinney.growth.forest.kernels.records import PLACES
from spinney.growth.forest.table import (
    LARGEST,
    MOST_ROWS,
    bin_values,
    binned_table,
    column_ends,
    gap_thresholds,
)
from spinney.jit.team import Team


@pytest.fixture(scope="module")
def dataset():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 6))
    X[:, 0] = 3.0
    X[:, 1] = X[:, 1] > 0
    X[:, 2] = np.nan
    X[:, 3] = rng.integers(0, 7, 60)
    X[:, 5] = np.round(X[:, 5])
    return Dataset(X, bundle=False, categorical=[3])


def cuts_of(dataset):
    return [dataset.cuts.values[a:b] for a, b in itertools.pairwise(dataset.cuts.starts)]


def test_a_bin_stands_for_the_middle_between_its_cuts_and_the_outer_ones_are_as_wide_as_their_neighbours(
    dataset,
):
    starts, values = bin_values(dataset.cuts)
    assert sorted({min(len(cuts), 2) for cuts in cuts_of(dataset)}) == [0, 1, 2]
    for cuts, begin, end in zip(cuts_of(dataset), starts[:-1], starts[1:], strict=True):
        first, last = (cuts[1] - cuts[0], cuts[-1] - cuts[-2]) if len(cuts) > 1 else (1.0, 1.0)
        edges = [cuts[0] - first, *cuts, cuts[-1] + last] if len(cuts) else [0.0] * (end - begin + 1)
        expected = [low * 0.5 + high * 0.5 for low, high in itertools.pairwise(edges)]
        assert values[begin:end].tolist() == expected


def test_thresholds_are_the_cuts_and_the_largest_number_and_categories_have_none(dataset):
    table = binned_table(dataset.binned.matrix(), dataset.cuts)
    for column, cuts in enumerate(cuts_of(dataset)):
        found = table.cuts[table.cut_start[column] : table.cut_start[column + 1]].tolist()
        closed = [*cuts, LARGEST] if dataset.cuts.bins[column] else []
        assert found == ([] if column == 3 else closed)


def test_bins_of_one_value_stand_for_it_where_cuts_are_drawn():
    x = np.array([0.0, 1.0, 100.0] * 5)[:, None]
    dataset = Dataset(x, bundle=False)
    table = binned_table(dataset.binned.matrix(), dataset.cuts, column_ends(dataset.binned.raw.table(), 0.0))
    assert table.values.values[: table.values.starts[-1]].tolist() == [0.0, 1.0, 100.0]


def test_bins_of_several_values_end_with_the_least_and_the_largest():
    x = np.random.default_rng(0).normal(size=(500, 1))
    dataset = Dataset(x, bundle=False, max_bin=16)
    record = binned_table(
        dataset.binned.matrix(), dataset.cuts, column_ends(dataset.binned.raw.table(), 0.0)
    ).values
    values = record.values[: record.starts[-1]]
    assert (values[0], values[-1]) == (x.min(), x.max())
    assert (np.diff(values) > 0).all()


METHODS = pytest.mark.parametrize("method", ["hist", "exact"])


def thresholds_of(X, cuts, absent=0.0):
    table = read_table(X)
    return gap_thresholds(table, cuts, absent)


def found_cuts(X, max_bin=255):
    with Team(1) as team:
        return find_cuts(read_table(X), None, max_bin, team, spread=True)


def test_gap_thresholds_split_the_rows_as_their_cut_does():
    X = np.random.default_rng(0).normal(size=(100, 3)).round(1)
    X[::7, 1] = np.nan
    cuts = found_cuts(X, 20)
    found = thresholds_of(X, cuts)
    assert found.shape == (len(cuts.values), PLACES)
    for column in range(3):
        for k in range(cuts.starts[column], cuts.starts[column + 1]):
            goes_left = X[:, column, None] <= found[k]
            assert (goes_left == (X[:, column] <= cuts.values[k])[:, None]).all()


def test_gap_thresholds_lie_evenly_between_the_neighbouring_values():
    X = np.array([[0.0], [3.0], [11.0]])
    found = thresholds_of(X, found_cuts(X))
    np.testing.assert_allclose(found[0], 3 * (np.arange(PLACES) + 0.5) / PLACES)
    np.testing.assert_allclose(found[1], 3 + 8 * (np.arange(PLACES) + 0.5) / PLACES)


def test_a_sparse_table_has_the_gap_thresholds_of_the_same_dense_one():
    X = np.random.default_rng(1).normal(size=(60, 4)) * (np.random.default_rng(2).random((60, 4)) < 0.4)
    cuts = found_cuts(X)
    assert thresholds_of(csr_array(X), cuts).tolist() == thresholds_of(X, cuts).tolist()


@pytest.mark.parametrize(
    ("values", "cut"),
    [
        ([1.0, np.nextafter(1.0, 2.0)], 1.0),
        ([0.0, 5e-324], 0.0),
        ([0.0, 4.999, 5.001, 10.0], 5.0),
        ([np.nan, 3.0], 2.0),
    ],
)
def test_a_narrow_gap_has_one_threshold(values, cut):
    X = np.array(values)[:, None]
    found = thresholds_of(X, Cuts(np.array([cut]), np.array([0, 1]), 255, np.zeros(1, np.uint8)))
    assert (found == cut).all()


def test_huge_values_have_finite_gap_thresholds():
    X = np.array([[-1.7e308], [1.7e308]])
    assert np.isfinite(thresholds_of(X, found_cuts(X))).all()


def test_a_table_of_many_rows_keeps_its_cuts():
    X = np.arange(MOST_ROWS + 1.0)[:, None]
    assert thresholds_of(X, found_cuts(X)) is None


@METHODS
@pytest.mark.parametrize("sparse", [False, True])
def test_training_rows_reach_the_leaves_that_they_grew(method, sparse):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(400, 4)) * (rng.random((400, 4)) < 0.7)
    if not sparse:
        X[rng.random((400, 4)) < 0.1] = np.nan
    y = rng.normal(size=400)
    forest = sp.ExtraTreesRegressor(5, tree_method=method, random_state=0, max_bin=40)
    trees = forest.fit(csr_array(X) if sparse else X, y).model_.forest
    for tree, leaf in enumerate(forest.apply(X).T - 0):
        numbers = np.unique(leaf, return_inverse=True)[1]
        first, last = trees.leaf_start[tree : tree + 2]
        assert sorted(np.bincount(numbers)) == sorted(trees.count[first:last])


@METHODS
def test_a_line_of_few_points_is_followed_as_closely_as_by_scikit_learn(method):
    rng = np.random.default_rng(4)
    X, grid = rng.uniform(-2, 2, size=(60, 1)), np.linspace(-1.8, 1.8, 500)[:, None]
    errors = []
    for forest in (
        sp.ExtraTreesRegressor(150, tree_method=method, random_state=0),
        ExtraTreesRegressor(150, random_state=0),
    ):
        predicted = forest.fit(X, np.sin(2 * X[:, 0])).predict(grid)
        errors.append(np.sqrt(np.mean((predicted - np.sin(2 * grid[:, 0])) ** 2)))
    # With every threshold in the middle of its gap the error is three times as large.
    assert errors[0] < 1.3 * errors[1]


def test_long_tails_are_cut_as_well_as_by_scikit_learn():
    rng = np.random.default_rng(5)
    X = np.exp(rng.normal(size=(3000, 4)))
    y = X[:, 0] + np.sqrt(X[:, 1] * X[:, 2])
    errors = []
    for forest in (sp.ExtraTreesRegressor(40, random_state=0), ExtraTreesRegressor(40, random_state=0)):
        predicted = forest.fit(X[:1500], y[:1500]).predict(X[1500:])
        errors.append(np.sqrt(np.mean((predicted - y[1500:]) ** 2)))
    assert errors[0] < 1.05 * errors[1]


@METHODS
def test_the_top_of_a_tree_is_the_same_where_it_grows_on(method):
    X = np.random.default_rng(6).normal(size=(200, 3))
    whole, top = (
        sp.DecisionTreeRegressor(splitter="random", tree_method=method, max_depth=depth, random_state=1)
        .fit(X, X[:, 0])
        .tree_
        for depth in (None, 2)
    )
    assert top.threshold[0] == whole.threshold[0]
    assert set(top.threshold[top.feature >= 0]) <= set(whole.threshold[whole.feature >= 0])
