"""Cuts drawn for many columns at once are those that the oracle draws one by one, in nodes of any size."""

import numpy as np
import pytest

from forest_follower import follow
from forest_learning import SEED, forest_of, seen_by
from forest_oracle import Rules, key_of_tree
from forest_problems import plain_tree, splits_of_ours, table_of, target_of, weights_of
from spinney.growth.forest.kernels.drawn import find_cuts, is_below, number_between
from spinney.growth.forest.kernels.records import DRAWN, SEARCHED, SMALL_NODE_ROWS, BinValues, DrawnCut
from spinney.jit import allocate, i64, kernel, out, record, u8

NOISE = 1e-6
KINDS = [("gini", 2), ("gini", 5), ("gini", 9), ("entropy", 2), ("squared_error", 0)]
KIND = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: "-".join(map(str, kind)))


def check(kind, X, weight=None, max_bin=255, categorical=(), **limits):
    """Grow a tree, and follow it with the oracle."""
    criterion, classes = kind
    y = target_of(criterion, np.nan_to_num(X), 5, 1, classes or 3)
    dataset, problem = seen_by("hist", X, y, weight, (classes,) if classes else (), categorical, max_bin)
    rules = Rules(criterion, splitter="random", **limits)
    forest, key = forest_of(dataset, problem, rules), key_of_tree(SEED, 0)
    follow(problem, rules, key, splits_of_ours(plain_tree(forest, 0), problem, key), NOISE)
    return forest


@pytest.mark.kernels
@pytest.mark.parametrize("rows", [1, 2, 3, SMALL_NODE_ROWS, SMALL_NODE_ROWS + 1, 4 * SMALL_NODE_ROWS])
@KIND
def test_nodes_of_few_and_of_more_rows_are_split_alike(kind, rows):
    check(kind, table_of(1, rows=rows, columns=6))


@pytest.mark.kernels
@pytest.mark.parametrize("columns", [1, 3, 31, 33, 70])
@KIND
def test_columns_may_be_more_than_are_drawn_at_once(kind, columns):
    check(kind, table_of(2, rows=40, columns=columns))


@KIND
def test_weights_may_be_larger_than_a_byte_holds(kind):
    for most in (3, 40, 1_000):
        check(kind, table_of(3, rows=90), weights_of(90, 3, most))


@KIND
def test_sums_of_many_rows_are_taken_in_parts(kind):
    check(kind, table_of(3, rows=600), max_depth=3)


@pytest.mark.kernels
@KIND
def test_missing_values_and_categories_stand_among_other_columns(kind):
    X = table_of(4, rows=60, columns=7)
    X[::9, 1] = X[::5, 5] = np.nan
    X[:, 3] = np.abs(np.round(2 * X[:, 3]))
    check(kind, X, weights_of(60, 4, 3), categorical=(3,))


@KIND
def test_values_that_many_rows_share_are_never_parted(kind):
    X = np.round(table_of(5, rows=80))
    X[:, 1] = X[:, 0]
    check(kind, X)


@pytest.mark.parametrize("max_bin", [2, 254, 255])
@KIND
def test_a_column_may_have_all_codes_of_a_byte(kind, max_bin):
    check(kind, table_of(6, rows=300, columns=3), max_bin=max_bin, max_depth=5)


@KIND
def test_rows_of_leaves_are_counted_by_their_weight_where_all_weigh_the_same(kind):
    forest = check(kind, table_of(7, rows=80), least_leaf=4)
    assert forest.count.min() >= 4
    forest = check(kind, table_of(7, rows=80), weights_of(80, 7, 3) + 1, least_leaf=4)
    assert forest.count.min() >= 4


@record(per_thread=True)
class Drawing:
    """What a search of cuts writes to."""

    drawn: out(DrawnCut["DRAWN"])
    drawn_cuts: out(u8["DRAWN"])


@kernel
def all_cuts(count: i64, values: BinValues, mine: Drawing):
    """Find the cuts of some numbers."""
    find_cuts(count, values, mine)


@pytest.mark.kernels
@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 31, DRAWN])
def test_a_cut_is_the_last_code_whose_value_is_not_above_the_number(count):
    rng = np.random.default_rng(count)
    codes = rng.integers(1, 256, DRAWN)
    codes[0], codes[-1] = 255, 1
    starts = np.concatenate([[0], np.cumsum(codes)])
    own = [np.sort(rng.normal(size=n)).round(1) * 10.0 ** rng.integers(0, 300) for n in codes]
    values = np.concatenate([*own, np.zeros(SEARCHED)])
    data = BinValues(DRAWN, len(values), starts, values, codes)
    mine = allocate(Drawing, threads=1)
    expected = []
    for k in range(count):
        low, high = np.sort(rng.integers(0, codes[k], 2))
        number = number_between(int(rng.integers(-(2**63), 2**63)), low, high, starts[k], data)
        made = mine.drawn[k]
        made.low, made.high, made.values_at, made.number, made.place = low, high, starts[k], number, k
        left = [code for code in range(low, high + 1) if is_below(code, low, high, number, own[k])]
        expected.append(max(left))
        assert left == list(range(low, expected[-1] + 1))
        assert all(own[k][code] <= number for code in left[1:])
        assert expected[-1] + 1 >= high or own[k][expected[-1] + 1] > number
    all_cuts(count, data, mine)
    assert mine.drawn.cut[:count].tolist() == expected
    assert mine.drawn_cuts[:count].tolist() == expected
