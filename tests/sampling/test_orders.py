"""Random orders of rows, the columns of trees, with and without weights, and the numbers of purposes."""

import itertools

import numpy as np
import pytest

import oracles
from spinney.sampling import draw_columns, random_order
from spinney.sampling.kernels import random


def test_the_numbers_of_purposes_stay_and_no_two_are_the_same():
    found = {name: number for name, number in vars(random).items() if name.startswith("PURPOSE_")}
    assert found == {
        "PURPOSE_ROUNDING": oracles.ROUNDING,
        "PURPOSE_ROWS": oracles.ROWS,
        "PURPOSE_COLUMNS": oracles.COLUMNS,
        "PURPOSE_OTHERS": 4,
        "PURPOSE_WEIGHTED": 5,
        "PURPOSE_CHANCE": 6,
        "PURPOSE_TREE": 7,
        "PURPOSE_BAG": 8,
        "PURPOSE_SUBSET": 9,
        "PURPOSE_SPLIT": 10,
        "PURPOSE_CUT": 11,
        "PURPOSE_LEVEL": oracles.LEVEL,
        "PURPOSE_NODE": oracles.NODE,
        "PURPOSE_SHUFFLE": 12,
        "PURPOSE_SMALL_SAMPLE": 13,
        "PURPOSE_SIDE": 14,
        "PURPOSE_SET": 15,
        "PURPOSE_WEIGHTED_BAG": 16,
        "PURPOSE_PLACE": 17,
        "PURPOSE_TARGETS": 18,
        "PURPOSE_FOLDS": 20,
        "PURPOSE_ENCODING_FOLDS": 21,
        "PURPOSE_HASH": 22,
        "PURPOSE_HALF": 23,
        "PURPOSE_ABSENT": 24,
        "PURPOSE_ORDER": 25,
    }
    assert len(set(found.values())) == len(found)


@pytest.mark.kernels
@pytest.mark.parametrize("seed", [0, 1, 2**40, 2**63 - 1])
def test_columns_are_those_of_the_oracle(seed):
    assert draw_columns(30, 7, seed).tolist() == oracles.chosen(range(30), 7, seed, oracles.COLUMNS)


def test_every_pair_of_columns_is_drawn_equally_often():
    pairs = np.zeros((5, 5))
    for seed in range(2000):
        one, other = draw_columns(5, 2, seed)
        pairs[one, other] += 1
    # 200 expected; the standard deviation is 13.
    assert pairs[np.triu_indices(5, 1)].min() > 140
    assert pairs[np.triu_indices(5, 1)].max() < 260


@pytest.mark.kernels
@pytest.mark.parametrize("seed", range(20))
def test_columns_with_weights_are_those_of_the_oracle(seed):
    weights = np.random.default_rng(seed).choice([0.0, 0.25, 1.0, 1e-3], 30)
    weights[3] = 0.5
    for wanted in (1, 7, 30):
        found = draw_columns(30, wanted, seed, weights).tolist()
        assert found == oracles.chosen_by_weight(range(30), wanted, seed, oracles.COLUMNS, weights)
        assert len(found) == min(wanted, np.count_nonzero(weights))


def test_a_single_column_is_drawn_in_proportion_to_its_weight():
    weights = np.array([1.0, 2.0, 0.0, 5.0])
    hits = np.zeros(4)
    for seed in range(4000):
        hits[draw_columns(4, 1, seed, weights)] += 1
    # The largest standard deviation is 31.
    np.testing.assert_allclose(hits, 4000 * weights / weights.sum(), atol=130)


def test_the_second_column_is_drawn_in_proportion_among_the_others():
    weights = np.array([1.0, 2.0, 3.0])
    undrawn = np.zeros(3)
    for seed in range(4000):
        undrawn += 1
        undrawn[draw_columns(3, 2, seed, weights)] -= 1
    total = weights.sum()
    expected = [
        sum(
            weights[one] / total * weights[two] / (total - weights[one])
            for one in range(3)
            for two in range(3)
            if len({one, two, last}) == 3
        )
        for last in range(3)
    ]
    np.testing.assert_allclose(undrawn / 4000, expected, atol=0.04)


def test_equal_weights_draw_all_columns_alike():
    hits = np.zeros(20)
    for seed in range(2000):
        hits[draw_columns(20, 5, seed, np.full(20, 0.1))] += 1
    # 500 expected; the standard deviation is 19.
    assert hits.min() > 420
    assert hits.max() < 580


@pytest.mark.kernels
def test_every_order_of_rows_is_as_likely_as_any_other():
    found = [tuple(random_order(3, seed).tolist()) for seed in range(600)]
    for order in itertools.permutations(range(3)):
        assert 60 < found.count(order) < 140


@pytest.mark.kernels
@pytest.mark.parametrize("seed", [0, 9, 2**63 - 1])
def test_an_order_of_rows_is_that_of_the_oracle(seed):
    order = []
    for i in range(50):
        j = ((oracles.random_bits(seed, random.PURPOSE_FOLDS, i) >> 32) * (i + 1)) >> 32
        order.append(i)
        order[i], order[j] = order[j], order[i]
    assert random_order(50, seed).tolist() == order
