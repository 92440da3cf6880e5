"""The weights of rows against the same in exact fractions."""

import math
from fractions import Fraction

import numpy as np
import pytest

from spinney.jit.team import Team
from spinney.training.adaboost import Weights

pytestmark = pytest.mark.kernels


def shares(weights):
    return weights.values / weights.values.sum()


def weights_of(given, rows, threads=1):
    return Weights(given, rows, Team(threads))


@pytest.mark.parametrize("given", [None, np.array([1e-279, 2e-279, 5e-279]), np.array([3.0, 1e9, 0.25])])
def test_weights_start_as_whole_numbers_of_which_float64_knows_every_sum(given):
    weights = weights_of(given, 3)
    start = np.ones(3) if given is None else given
    assert weights.total == sum(map(int, weights.values))
    assert 2**51 <= weights.total <= 2**52 + 3
    assert (weights.values == np.floor(weights.values)).all()
    np.testing.assert_allclose(shares(weights), start / start.sum(), rtol=1e-14)


def test_a_row_never_loses_all_of_its_weight():
    weights = weights_of(np.array([1e-40, 1.0]), 2)
    assert weights.values[0] == 1


@pytest.mark.parametrize("power", [0.25, 3.0, 800.0])
def test_marked_rows_become_heavier_by_the_power(power):
    rng = np.random.default_rng(1)
    weights = weights_of(rng.random(50) + 0.01, 50)
    before = weights.values.copy()
    target, leaf = rng.integers(0, 3, 50).astype(np.int32), rng.integers(0, 4, 50).astype(np.int32)
    said = np.array([0, 2, 1, 1], np.int32)
    wrong = said[leaf] != target
    mistaken = weights.mark(leaf, said, target)
    assert mistaken == int(before[wrong].sum())
    weights.raise_marked(mistaken, power)
    factor = Fraction(math.exp(-power)) if power < 700 else Fraction(0)
    wanted = np.array(
        [float(Fraction(w) * (1 if miss else factor)) for w, miss in zip(before, wrong, strict=True)]
    )
    np.testing.assert_allclose(
        shares(weights), np.maximum(wanted / wanted.sum(), 2.0**-52), rtol=1e-9, atol=2e-16
    )
    assert weights.total == int(weights.values.sum())


@pytest.mark.parametrize(
    ("loss", "formula"),
    [("linear", lambda e: e), ("square", lambda e: e**2), ("exponential", lambda e: 1 - np.exp(-e))],
)
def test_losses_are_those_of_the_formula_and_beta_lowers_the_weights(loss, formula):
    rng = np.random.default_rng(2)
    weights = weights_of(rng.random(40) + 0.01, 40)
    before = shares(weights)
    target, leaf = rng.normal(size=40), rng.integers(0, 3, 40).astype(np.int32)
    said = np.array([-1.0, 0.0, 1.5])
    losses, lost = weights.measure(leaf, said, target, loss)
    error = np.abs(said[leaf] - target)
    np.testing.assert_allclose(losses, formula(error / error.max()), rtol=1e-14)
    mean = lost / weights.total
    assert mean == pytest.approx((before * losses).sum(), rel=1e-13)
    beta = mean / (1 - mean)
    weights.lower(losses, math.log(beta))
    wanted = before * beta ** (1 - losses)
    np.testing.assert_allclose(shares(weights), wanted / wanted.sum(), rtol=1e-12)
    assert weights.total == int(weights.values.sum()) <= 2**52 + 40


@pytest.mark.parametrize("loss", ["linear", "exponential"])
def test_weights_that_fall_by_a_huge_power_leave_the_worst_rows(loss):
    weights = weights_of(None, 4)
    target = np.array([0.0, 0.0, 0.0, 1.0])
    losses, _ = weights.measure(np.zeros(4, np.int32), np.zeros(1), target, loss)
    weights.lower(losses, -1e6)
    assert weights.values[:3].tolist() == [1, 1, 1]
    assert shares(weights)[3] == pytest.approx(1)
    assert weights.total <= 2**52 + 4


def test_no_error_is_no_loss():
    weights = weights_of(None, 3)
    losses, lost = weights.measure(np.zeros(3, np.int32), np.array([2.0]), np.full(3, 2.0), "linear")
    assert lost == 0
    assert losses.tolist() == [0, 0, 0]


def test_any_number_of_threads_gives_the_same_weights_and_sums():
    rng = np.random.default_rng(3)
    given, target, leaf = rng.random(101), rng.normal(size=101), rng.integers(0, 5, 101).astype(np.int32)
    classes, said = rng.integers(0, 3, 101).astype(np.int32), rng.normal(size=5)
    found = []
    for threads in (1, 3, 8):
        weights = weights_of(given, 101, threads)
        mistaken = weights.mark(leaf, np.arange(5, dtype=np.int32) % 3, classes)
        weights.raise_marked(mistaken, 0.7)
        numbers = weights_of(given, 101, threads)
        losses, lost = numbers.measure(leaf, said, target, "square")
        numbers.lower(losses, -0.9)
        found.append(
            (mistaken, weights.total, weights.values.tobytes(), lost, numbers.total, numbers.values.tobytes())
        )
    assert found[0] == found[1] == found[2]
