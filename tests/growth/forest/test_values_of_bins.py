"""Every bin has a value that stands for it, and every column of numbers a list of cuts that ends with the largest number."""

import itertools

import numpy as np
import pytest

from spinney import Dataset
from spinney.growth.forest.gaps import column_ends
from spinney.growth.forest.table import LARGEST, bin_values, binned_table


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
    table = binned_table(dataset.matrix, dataset.cuts)
    for column, cuts in enumerate(cuts_of(dataset)):
        found = table.cuts[table.cut_start[column] : table.cut_start[column + 1]].tolist()
        closed = [*cuts, LARGEST] if dataset.cuts.bins[column] else []
        assert found == ([] if column == 3 else closed)


def test_bins_of_one_value_stand_for_it_where_cuts_are_drawn():
    x = np.array([0.0, 1.0, 100.0] * 5)[:, None]
    dataset = Dataset(x, bundle=False)
    table = binned_table(dataset.matrix, dataset.cuts, column_ends(dataset.table(), 0.0))
    assert table.values.values[: table.values.starts[-1]].tolist() == [0.0, 1.0, 100.0]


def test_bins_of_several_values_end_with_the_least_and_the_largest():
    x = np.random.default_rng(0).normal(size=(500, 1))
    dataset = Dataset(x, bundle=False, max_bin=16)
    record = binned_table(dataset.matrix, dataset.cuts, column_ends(dataset.table(), 0.0)).values
    values = record.values[: record.starts[-1]]
    assert (values[0], values[-1]) == (x.min(), x.max())
    assert (np.diff(values) > 0).all()
