"""Cuts of columns that came in batches, from one sketch a column."""

import numpy as np
import pytest

import oracles
import spinney as sp
from sketch_oracle import MediumBlocks, SmallBlocks
from spinney.binning.cuts import cuts_from_sketches, find_cuts
from spinney.binning.encode import plan_and_encode
from spinney.data import read_table
from spinney.jit.team import Team


def whole_cuts(X, weight=None, max_bin=255, categories=None):
    with Team(1) as team:
        return find_cuts(read_table(X), weight, max_bin, team, categories=categories)


def sketches_of(X, weight=None, eps=0.01, batch=70, kind=sp.QuantileSketch):
    """Sketches of all columns, which come in batches of rows."""
    sketches = [kind(eps) for _ in range(X.shape[1])]
    for i in range(0, len(X), batch):
        for sketch, column in zip(sketches, X[i : i + batch].T, strict=True):
            sketch.update(column, None if weight is None else weight[i : i + batch])
    return sketches


def columns(rows):
    rng = np.random.default_rng(0)
    X = np.column_stack(
        [rng.normal(size=rows), rng.integers(-20, 20, rows) / 8, rng.lognormal(size=rows), np.full(rows, 3.0)]
    )
    X[rng.random(X.shape) < 0.1] = np.nan
    return X, rng.random(rows)


def test_columns_of_few_distinct_values_are_cut_as_the_whole_table_is():
    rng = np.random.default_rng(1)
    X = np.column_stack([rng.integers(-5, 60, 3000) / 4.0, rng.integers(0, 2, 3000), np.full(3000, np.nan)])
    for weight in (None, rng.random(3000)):
        found = cuts_from_sketches(sketches_of(X, weight, 0.1, kind=SmallBlocks), 80)
        assert found.same(whole_cuts(X, weight, 80))
        assert (found.max_bin, found.bins.tolist()) == (80, [65, 2, 1])


@pytest.mark.parametrize("max_bin", [2, 16, 255])
def test_as_long_as_sketches_are_exact_the_cuts_are_those_of_the_table(max_bin):
    X, _ = columns(2000)
    assert cuts_from_sketches(sketches_of(X), max_bin).same(whole_cuts(X, None, max_bin))


@pytest.mark.parametrize("weighted", [False, True])
def test_bins_of_a_smooth_column_weigh_about_the_same(weighted):
    eps, max_bin, rows = 0.002, 50, 30_000
    X, weight = columns(rows)
    X, weight = X[:, [0, 2]], weight if weighted else None
    sketches = sketches_of(X, weight, eps, 700, kind=MediumBlocks)
    found = cuts_from_sketches(sketches, max_bin)
    for column in range(2):
        assert sketches[column].error > 0.0
        known = ~np.isnan(X[:, column])
        bins = oracles.bins_of(
            X[known, column], found.values[found.starts[column] : found.starts[column + 1]]
        )
        masses = np.bincount(bins, None if weight is None else weight[known])
        assert len(masses) == max_bin
        # The rank of either end is wrong by eps at most, and a bin ends after a whole point.
        assert sketches[column].points()[1].max() <= 2 * eps * masses.sum()
        assert np.abs(masses / masses.sum() - 1 / max_bin).max() <= 2 * eps + 2 * eps


def test_a_heavy_value_has_a_bin_of_its_own():
    rng = np.random.default_rng(2)
    values = rng.permutation(np.concatenate([np.full(5000, 0.25), rng.normal(size=20_000)]))
    found = cuts_from_sketches([MediumBlocks(0.005).update(values)], 40)
    bins = oracles.bins_of(values, found.values)
    alone = bins == oracles.bins_of(np.array([0.25]), found.values)[0]
    assert alone.sum() <= 5000 + 0.01 * 25_000


def test_categories_are_cut_between_their_numbers_and_cuts_bin_a_table():
    X = np.column_stack([np.arange(90) % 3, np.arange(90.0)])
    categories = np.array([3, 0])
    found = cuts_from_sketches(sketches_of(X), 255, categories)
    assert found.same(whole_cuts(X, categories=categories))
    with Team(1) as team:
        _, matrix = plan_and_encode(read_table(X), found, team)
    assert matrix.rows == 90


def test_no_column_has_more_than_65_535_bins():
    sketch = sp.QuantileSketch(1e-6).update(np.arange(70_000.0))
    assert cuts_from_sketches([sketch], 65_536).bins.tolist() == [65_535]
