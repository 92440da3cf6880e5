"""Bags of ensembles: small samples of isolation trees, and bags by weight against a naive draw."""

import numpy as np
import pytest

import oracles
from spinney.sampling.bags import counts_by_weight, small_samples
from spinney.sampling.kernels.random import PURPOSE_TREE, PURPOSE_WEIGHTED_BAG


@pytest.mark.kernels
@pytest.mark.parametrize(("rows", "wanted"), [(1, 1), (5, 1), (5, 4), (5, 5), (300, 256)])
def test_rows_are_distinct_ascending_and_in_the_table(rows, wanted):
    chosen, seeds = small_samples(3, 0, 4, rows, wanted)
    assert chosen.shape == (4, wanted)
    assert (np.diff(chosen, axis=1) > 0).all()
    assert chosen.min() >= 0
    assert chosen.max() < rows
    assert len(set(seeds.tolist())) == 4


@pytest.mark.kernels
def test_a_trees_rows_follow_from_its_number_and_the_seed():
    together, seeds = small_samples(3, 0, 5, 1000, 16)
    alone, seed = small_samples(3, 4, 1, 1000, 16)
    assert together[4].tolist() == alone[0].tolist()
    assert seeds[4] == seed[0]
    assert together[0].tolist() != together[1].tolist()
    assert small_samples(4, 0, 1, 1000, 16)[0][0].tolist() != together[0].tolist()


@pytest.mark.parametrize("wanted", [5, 15])
def test_every_row_has_the_same_chance(wanted):
    chosen, _ = small_samples(1, 0, 4000, 20, wanted)
    np.testing.assert_allclose(np.bincount(chosen.ravel(), minlength=20) / 4000, wanted / 20, atol=0.03)
    pairs = (chosen == 3).any(axis=1) & (chosen == 17).any(axis=1)
    assert abs(pairs.mean() - wanted * (wanted - 1) / 380) < 0.03


def test_with_replacement_rows_come_again_each_draw_with_the_same_chances():
    weight = np.array([1.0, 0.0, 3.0])
    chosen, _ = small_samples(1, 0, 2000, 3, 4, replace=True, weight=weight)
    np.testing.assert_allclose(np.bincount(chosen.ravel(), minlength=3) / 8000, [0.25, 0, 0.75], atol=0.02)


def test_without_replacement_heavy_rows_come_first_as_in_numpys_draws():
    weight = np.array([8.0, 4.0, 2.0, 1.0, 1.0, 0.0])
    chosen, _ = small_samples(1, 0, 3000, 6, 3, weight=weight)
    rng = np.random.default_rng(0)
    other = [rng.choice(6, 3, replace=False, p=weight / weight.sum()) for _ in range(3000)]
    share = np.bincount(chosen.ravel(), minlength=6) / 3000
    np.testing.assert_allclose(share, np.bincount(np.ravel(other), minlength=6) / 3000, atol=0.03)
    assert share[5] == 0


@pytest.mark.kernels
def test_rows_of_hardly_any_weight_are_drawn_too_where_others_do_not_suffice():
    weight = np.full(50, 1e-12)
    weight[:3] = 1.0
    chosen, _ = small_samples(1, 0, 3, 50, 10, weight=weight)
    for one in chosen:
        assert len(set(one.tolist())) == 10
        assert {0, 1, 2} <= set(one.tolist())


@pytest.mark.kernels
def test_huge_weights_do_not_overflow():
    chosen, _ = small_samples(1, 0, 2, 40, 10, weight=np.full(40, 1e308))
    assert (np.diff(chosen, axis=1) > 0).all()


def naive_counts(seed, tree, weight):
    """The place of every draw among all weights, looked up from the first row on."""
    key = oracles.random_bits(seed, PURPOSE_TREE, tree)
    total = int(weight.sum())
    counts = [0] * len(weight)
    for draw in range(len(weight)):
        bits = (oracles.random_bits(key, PURPOSE_WEIGHTED_BAG, draw) % 2**64) >> 11
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
def test_counts_are_those_of_the_naive_draw(shape, scale, seed):
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
