"""Whichever way a node is searched, the same tree grows.

A limit on the weight of leaves that no leaf can break leaves trees as they are, but their nodes are searched by lists of cells:
neither by sorting few rows nor by ranges of cells or a single cut.
"""

import numpy as np
import pytest

from forest_learning import forest_of, seen_by
from forest_oracle import Rules

KINDS = {"two classes": ("gini", 2), "seven classes": ("gini", 7), "numbers": ("squared_error", 0)}
NO_LIMIT = 1e-7


def table(rows, missing):
    """Columns of many values, few, two, one, and many that are all far apart."""
    rng = np.random.default_rng(rows)
    X = rng.normal(size=(rows, 6))
    X[:, 1] = rng.integers(0, 4, rows)
    X[:, 2] = rng.random(rows) < 0.3
    X[:, 3] = 7.0
    X[:, 4] = np.exp(5 * X[:, 4])
    X[rng.random(X.shape) < missing] = np.nan
    return X


def target(kind, X):
    """What a few columns tell something about."""
    rng = np.random.default_rng(len(X))
    signal = np.nan_to_num(X[:, 0]) + np.nan_to_num(X[:, 2]) + rng.normal(size=len(X))
    classes = KINDS[kind][1]
    if not classes:
        return np.round(signal * 1000)  # numbers, some of them equal
    return np.digitize(signal, np.quantile(signal, np.arange(1, classes) / classes))


def trees(kind, X, weight, max_bin=255, **limits):
    """Bytes of trees, with their nodes searched in the quick ways and by lists of cells."""
    criterion, classes = KINDS[kind]
    dataset, problem = seen_by(
        "hist", X, target(kind, X), weight, (classes,) if classes else (), max_bin=max_bin
    )
    found = []
    for least_weight in (0.0, NO_LIMIT):
        rules = Rules(criterion, max_features=3, least_weight=least_weight, **limits)
        forest = forest_of(dataset, problem, rules, trees=3)
        found.append(
            {name: part.tobytes() for name, part in vars(forest).items() if isinstance(part, np.ndarray)}
        )
    assert len(found[0]) > 5
    return found


@pytest.mark.kernels
@pytest.mark.parametrize("missing", [0.0, 0.1])
@pytest.mark.parametrize("rows", [2, 3, 4, 16, 17, 33])
@pytest.mark.parametrize("kind", KINDS)
def test_nodes_of_few_rows_are_sorted(kind, rows, missing):
    quick, listed = trees(kind, table(rows, missing), np.ones(rows, int))
    assert quick == listed


@pytest.mark.parametrize("missing", [0.0, 0.1])
@pytest.mark.parametrize("rows", [64, 65, 66, 255, 257, 900])
@pytest.mark.parametrize("kind", KINDS)
def test_nodes_of_more_rows_are_searched_by_ranges_of_cells(kind, rows, missing):
    quick, listed = trees(kind, table(rows, missing), np.random.default_rng(rows).integers(1, 4, rows))
    assert quick == listed


@pytest.mark.parametrize("heaviest", [3, 127, 300, 100_000])
@pytest.mark.parametrize("kind", KINDS)
def test_heavy_rows_are_searched_like_light_ones(kind, heaviest):
    weight = np.random.default_rng(heaviest).integers(heaviest // 2, heaviest + 1, 300)
    quick, listed = trees(kind, table(300, 0.02), weight)
    assert quick == listed


@pytest.mark.parametrize("least_leaf", [2, 5])
@pytest.mark.parametrize("kind", KINDS)
def test_leaves_of_several_rows_leave_out_the_first_and_the_last_cuts(kind, least_leaf):
    quick, listed = trees(kind, table(200, 0.05), np.ones(200, int), least_leaf=least_leaf)
    assert quick == listed


@pytest.mark.parametrize("max_bin", [2, 3, 64, 255])
@pytest.mark.parametrize("kind", KINDS)
def test_columns_of_any_number_of_codes_are_searched_alike(kind, max_bin):
    quick, listed = trees(kind, table(1500, 0.01), np.ones(1500, int), max_bin=max_bin)
    assert quick == listed
