"""Leaf values that the loss itself finds: quantiles of what is left of the target, and searches along a step."""

import numpy as np
import pytest
import scipy.optimize

from spinney import objectives
from spinney.data import Labels
from spinney.data.kernels.records import LeafRows
from spinney.data.labels import allocate_gradients
from spinney.jit import allocate
from spinney.jit.team import Team
from spinney.objectives.kernels.leaf_values import BUCKETS, SMALL_SORT
from spinney.params import Config


def slow_quantile(values, weight, level):
    """The least value at which the weights up to it reach a share of all; the middle to the next one where they are just that."""
    order = np.argsort(values, kind="stable")
    values, below = values[order], np.cumsum(weight[order])
    wanted = level * below[-1]
    at = int(np.argmax(below >= wanted))
    if below[at] == wanted and at + 1 < len(values):
        return 0.5 * values[at] + 0.5 * values[at + 1]
    return values[at]


def steps_of(config, leaves, scores, target, weight=None, threads=1, order=None):
    """What a loss finds for leaves, given as the leaf of each row; rows of a leaf stand in `order`."""
    outputs, rows = scores.shape
    count = int(leaves.max()) + 1
    by_leaf = allocate(LeafRows, rows=rows, max_nodes=count)
    order = np.arange(rows) if order is None else order
    by_leaf.members[:] = order[np.argsort(leaves[order], kind="stable")]
    sizes = np.bincount(leaves, minlength=count)
    by_leaf.end[:] = np.cumsum(sizes)
    by_leaf.begin[:] = by_leaf.end - sizes
    found = np.zeros((outputs, count))
    objective = objectives.get(config)
    labels = Labels(target, weight)
    with Team(threads) as team:
        gradients = allocate_gradients(scores.copy())
        objective.filler(labels, gradients, team)(0)
        for output in range(outputs):
            by_leaf.grown["output"], by_leaf.grown["nodes"] = output, count
            team.run(objective.leaf_refit(labels, team.size)(by_leaf, gradients, found[output]))
    return found


def leaves_of(sizes, rng):
    return rng.permutation(np.repeat(np.arange(len(sizes)), sizes))


@pytest.mark.kernels
@pytest.mark.parametrize("level", [0.05, 0.25, 0.5, 0.9])
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_quantiles_are_those_of_sorted_values(level, weighted):
    rng = np.random.default_rng(int(100 * level))
    leaves = leaves_of([1, 2, 3, 4, 10, SMALL_SORT, SMALL_SORT + 1, 100, 150], rng)
    target = rng.normal(size=len(leaves)).round(1) * 10.0 ** rng.integers(-3, 4, len(leaves))
    weight = rng.integers(0, 5, len(leaves)) * 1.0 if weighted else None
    if weighted:
        weight[np.unique(leaves, return_index=True)[1]] = 4.0
    config = Config(objective="quantile", quantile_alpha=level)
    found = steps_of(config, leaves, np.zeros((1, len(leaves))), target, weight)[0]
    for leaf, value in enumerate(found):
        own = leaves == leaf
        masses = weight[own] if weighted else np.ones(own.sum())
        kept = masses > 0
        assert value == slow_quantile(target[own][kept], masses[kept], level)


@pytest.mark.parametrize(
    "values",
    [
        np.zeros(500),
        np.repeat([-1.0, 1.0], 250),
        np.array([0.0] * 100 + [1e30]),
        np.geomspace(1e-300, 1e300, 400) * np.tile([1.0, -1.0], 200),
        np.nextafter(1.0, 2.0) ** np.arange(300.0),
        np.arange(3.0 * BUCKETS),
        np.concatenate([np.full(1000, 5.0), np.arange(100.0)]),
    ],
    ids=["one value", "two values", "one towers", "all sizes", "neighbours", "many", "ties"],
)
def test_medians_of_any_values(values):
    rng = np.random.default_rng(3)
    target = rng.permutation(values)
    found = steps_of(
        Config(objective="absolute_error"), np.zeros(len(target), int), np.zeros((1, len(target))), target
    )
    assert found[0, 0] == np.median(target)


def test_huge_and_tiny_weights_choose_the_heavy_rows():
    target = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    weight = np.array([1e-30, 1e-30, 1e-30, 1.0, 1e-30])
    found = steps_of(Config(objective="absolute_error"), np.zeros(5, int), np.zeros((1, 5)), target, weight)
    assert found[0, 0] == 4.0


def test_whole_weights_share_out_ties_as_repeated_rows_do():
    target, weight = np.array([1.0, 2.0, 3.0, 4.0]), np.array([3.0, 1.0, 1.0, 3.0])
    found = steps_of(Config(objective="absolute_error"), np.zeros(4, int), np.zeros((1, 4)), target, weight)
    assert found[0, 0] == np.median(np.repeat(target, weight.astype(int))) == 2.5


def test_percentage_errors_weigh_rows_by_their_size():
    rng = np.random.default_rng(5)
    target = rng.lognormal(3.0, 1.0, 300)
    found = steps_of(Config(objective="mape"), np.zeros(300, int), np.zeros((1, 300)), target)[0, 0]
    grid = np.sort(target)
    losses = [np.mean(np.abs(target - v) / np.maximum(1.0, target)) for v in grid]
    assert found == pytest.approx(grid[int(np.argmin(losses))], abs=0.01)


POINTWISE = {
    "squared_error": lambda rng, n: rng.normal(size=n),
    "huber": lambda rng, n: rng.standard_t(1.5, size=n) * 4,
    "pseudo_huber": lambda rng, n: rng.standard_t(2, size=n) * 3,
    "fair": lambda rng, n: rng.standard_t(2, size=n) * 3,
    "expectile": lambda rng, n: rng.normal(size=n),
    "poisson": lambda rng, n: rng.poisson(2.0, n) * 1.0,
    "gamma": lambda rng, n: rng.gamma(2.0, size=n) + 0.1,
    "tweedie": lambda rng, n: rng.poisson(1.0, n) * rng.gamma(2.0, size=n) + 0.01,
    "log_loss": lambda rng, n: rng.integers(0, 2, n) * 1.0,
    "focal": lambda rng, n: rng.integers(0, 2, n) * 1.0,
}


def summed_gradient(config, scores, target, weight, step):
    """Sum of gradients after a step, by the objective itself."""
    gradients = allocate_gradients(scores + step)
    with Team(1) as team:
        labels = Labels(target, weight)
        team.run(objectives.get(config).gradients(labels, gradients, 1))
    return float(gradients.pairs[0, :, 0].astype(float).sum())


@pytest.mark.kernels
@pytest.mark.parametrize("name", POINTWISE)
def test_a_search_ends_where_the_sum_of_gradients_is_zero(name):
    rng = np.random.default_rng(len(name))
    target, scores, weight = POINTWISE[name](rng, 60), rng.normal(size=(1, 60)), rng.random(60) + 0.1
    config = Config(objective=name, leaf_estimation="line_search", reg_lambda=0.0)
    found = steps_of(config, np.zeros(60, int), scores, target, weight)[0, 0]

    def slope(step):
        return summed_gradient(config, scores, target, weight, step)

    expected = scipy.optimize.brentq(slope, -40.0, 40.0, xtol=1e-9)
    # Gradients are float32.
    assert found == pytest.approx(expected, abs=1e-5 * max(1.0, abs(expected)))


FAR = {
    "gamma": (np.full(50, 0.01), 0.0, np.log(0.01)),
    "gamma, steep": (np.full(50, 1e-4), 0.0, np.log(1e-4)),
    "poisson": (np.array([1.0, 3.0] * 20), -5.0, np.log(2.0) + 5.0),
    "poisson, far below": (np.array([0.0, 0.0, 0.02]), 6.0, np.log(0.02 / 3) - 6.0),
    "tweedie": (np.full(30, 1e-3), 2.0, np.log(1e-3) - 2.0),
    "squared_log_error": (np.full(30, 6184.0), -0.9, 6184.9),
    "log_loss": (np.array([1.0] + [0.0] * 99), 8.0, -np.log(99.0) - 8.0),
    "huber": (np.full(9, 1e6), 0.0, 1e6),
    "fair": (np.full(9, -1e6), 0.0, -1e6),
    "expectile": (np.full(9, 1e-6), 0.0, 1e-6),
}


@pytest.mark.parametrize("case", FAR)
@pytest.mark.parametrize("reg_lambda", [0.0, 1e-14])
def test_a_search_finds_what_is_far_away(case, reg_lambda):
    target, score, expected = FAR[case]
    config = Config(objective=case.split(",")[0], leaf_estimation="line_search", reg_lambda=reg_lambda)
    rows = len(target)
    found = steps_of(config, np.zeros(rows, int), np.full((1, rows), score), target)[0, 0]
    assert found == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("name", ["softmax", "one_vs_rest"])
def test_a_search_lowers_the_loss_of_each_class_most(name):
    rng = np.random.default_rng(8)
    target, scores = rng.integers(0, 3, 80) * 1.0, rng.normal(size=(3, 80))
    config = Config(objective=name, num_class=3, leaf_estimation="line_search", reg_lambda=0.5)
    found = steps_of(config, np.zeros(80, int), scores, target)[:, 0]

    def loss(step, k):
        moved = scores.copy()
        moved[k] += step
        if name == "softmax":
            log_p = moved - np.log(np.exp(moved).sum(axis=0))
            total = -log_p[target.astype(int), np.arange(80)].sum()
        else:
            sign = np.where(target == k, -1.0, 1.0)
            total = np.log1p(np.exp(sign * moved[k])).sum()
        return total + 0.25 * step**2

    for k in range(3):
        best = scipy.optimize.minimize_scalar(loss, args=(k,), bounds=(-5, 5), method="bounded")
        assert found[k] == pytest.approx(best.x, abs=1e-4)


def test_penalties_hold_a_search_back():
    target, scores = np.array([3.0, 5.0]), np.zeros((1, 2))
    given = {"objective": "squared_error", "leaf_estimation": "line_search"}
    leaves = np.zeros(2, int)
    assert steps_of(Config(**given, reg_lambda=2.0), leaves, scores, target)[0, 0] == pytest.approx(2.0)
    assert steps_of(Config(**given, reg_lambda=0.0, reg_alpha=2.0), leaves, scores, target)[
        0, 0
    ] == pytest.approx(3.0)
    assert steps_of(Config(**given, reg_alpha=9.0), leaves, scores, target)[0, 0] == 0.0


def test_rows_of_one_class_end_a_search_at_a_finite_step():
    config = Config(objective="log_loss", leaf_estimation="line_search", reg_lambda=0.0)
    found = steps_of(config, np.zeros(20, int), np.zeros((1, 20)), np.ones(20))[0, 0]
    assert 5.0 < found < 40.0


@pytest.mark.parametrize("objective", ["quantile", "huber", "absolute_error", "mape"])
def test_neither_the_order_of_rows_nor_the_threads_change_a_bit(objective):
    rng = np.random.default_rng(11)
    leaves = leaves_of([400, 3, 77, 1200, 1], rng)
    target, weight = rng.standard_cauchy(len(leaves)), rng.random(len(leaves))
    scores = rng.normal(size=(1, len(leaves)))
    config = Config(objective=objective)
    first = steps_of(config, leaves, scores, target, weight)
    for threads in (1, 2, 3, 8):
        again = steps_of(
            config, leaves, scores, target, weight, threads=threads, order=rng.permutation(len(leaves))
        )
        assert again.tobytes() == first.tobytes()
