"""Rows drawn by weight against a lottery that looks at every ticket."""

import numpy as np
import pytest

import oracles
from spinney.sampling.by_weight import counts_by_weight
from spinney.sampling.kernels.purposes import PURPOSE_HEAVY, PURPOSE_TREE


def naive_counts(seed, tree, weight):
    """The place of every draw among all weights, looked up from the first row on."""
    key = oracles.random_bits(seed, PURPOSE_TREE, tree)
    total = int(weight.sum())
    counts = [0] * len(weight)
    for draw in range(len(weight)):
        bits = (oracles.random_bits(key, PURPOSE_HEAVY, draw) % 2**64) >> 11
        place = min(int(float(bits) * (float(total) / 2.0**53)), total - 1)
        row = 0
        while place >= int(weight[row]):
            place -= int(weight[row])
            row += 1
        counts[row] += 1
    return counts


@pytest.mark.kernels
@pytest.mark.parametrize("seed", [0, 7])
@pytest.mark.parametrize("scale", [1.0, 2.0**40])
@pytest.mark.parametrize("shape", ["even", "skewed", "one heavy", "some zero"])
def test_counts_are_those_of_the_naive_lottery(shape, scale, seed):
    rng = np.random.default_rng(seed)
    weight = {
        "even": np.ones(40),
        "skewed": np.floor(rng.pareto(0.5, 40)) + 1,
        "one heavy": np.where(np.arange(40) == 17, 1000.0, 1.0),
        "some zero": np.where(np.arange(40) % 3 == 0, 0.0, 5.0),
    }[shape]
    weight = np.floor(np.minimum(weight, 1000) * scale)
    found = counts_by_weight(seed, 3, weight, int(weight.sum()))
    assert found.tolist() == naive_counts(seed, 3, weight)
    assert found.sum() == 40


def test_a_row_is_drawn_about_as_often_as_it_weighs():
    weight = np.repeat([1.0, 2.0, 4.0, 9.0], 500)
    found = counts_by_weight(1, 0, weight, int(weight.sum()))
    shares = found.reshape(4, 500).sum(axis=1) / 2000
    np.testing.assert_allclose(shares, np.array([1, 2, 4, 9]) / 16, atol=0.04)


def test_every_tree_draws_its_own_rows():
    weight = np.ones(100)
    assert counts_by_weight(1, 0, weight, 100).tolist() != counts_by_weight(1, 1, weight, 100).tolist()
    assert counts_by_weight(1, 0, weight, 100).tolist() != counts_by_weight(2, 0, weight, 100).tolist()
