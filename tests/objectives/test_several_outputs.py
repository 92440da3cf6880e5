"""Losses of several outputs: each output is that of the loss alone, for its column of the target or its level."""

import numpy as np
import pytest

from losses import ONE_SCORE, params_of, target_of
from spinney import objectives
from spinney.data import Labels
from spinney.data.kernels.records import LeafRows
from spinney.data.labels import allocate_gradients, by_column
from spinney.jit import allocate
from spinney.jit.team import Team, run_alone
from spinney.objectives.kernels.pointwise import flatten_hessians
from spinney.params import Config

ROWS, TARGETS = 40, 3


def columns(name, rng):
    """A target of several columns, scores of each, and weights."""
    target = by_column(np.column_stack([target_of(name, ROWS, rng) for _ in range(TARGETS)]))
    return target, rng.normal(size=(TARGETS, ROWS)), rng.integers(1, 4, ROWS) * 0.5


def filled(config, labels, scores, threads=1):
    """Pairs and their largest, as a loss fills them."""
    found = allocate_gradients(scores.copy())
    with Team(threads) as team:
        team.run(objectives.get(config).gradients(labels, found, threads))
    return found


@pytest.mark.kernels
@pytest.mark.parametrize("name", ONE_SCORE)
def test_every_column_has_the_gradients_of_a_loss_of_its_own(name):
    target, scores, weight = columns(name, np.random.default_rng(1))
    together = filled(Config(num_target=TARGETS, **params_of(name)), Labels(target, weight), scores)
    for k in range(TARGETS):
        alone = filled(Config(**params_of(name)), Labels(target[:, k], weight), scores[k : k + 1])
        assert np.array_equal(together.pairs[k], alone.pairs[0])
        assert np.array_equal(together.largest[k], alone.largest[0])


@pytest.mark.kernels
def test_every_level_has_the_gradients_of_a_loss_of_its_own():
    levels = [0.1, 0.5, 0.9]
    target, scores, _ = columns("quantile", np.random.default_rng(2))
    labels = Labels(target[:, 0].copy())
    together = filled(Config(objective="quantile", quantile_alpha=levels), labels, scores)
    for k, level in enumerate(levels):
        alone = filled(Config(objective="quantile", quantile_alpha=level), labels, scores[k : k + 1])
        assert np.array_equal(together.pairs[k], alone.pairs[0])


@pytest.mark.kernels
def test_columns_may_have_weights_of_their_own():
    target, scores, _ = columns("squared_error", np.random.default_rng(3))
    weights = by_column(np.arange(1.0, ROWS * TARGETS + 1).reshape(ROWS, TARGETS))
    labels = Labels(target, weights)
    found = filled(Config(num_target=TARGETS), labels, scores)
    assert np.array_equal(found.pairs[:, :, 1], weights.T.astype(np.float32))
    assert np.allclose(found.pairs[:, :, 0], (scores - target.T) * weights.T, rtol=1e-6)
    found.pairs[:] = 0
    run_alone(flatten_hessians.bind(labels.arrays(), found))
    assert np.array_equal(found.pairs[:, :, 1], weights.T.astype(np.float32))


@pytest.mark.parametrize("name", ["squared_error", "quantile", "log_loss"])
def test_gradients_do_not_depend_on_threads(name):
    rng = np.random.default_rng(4)
    target = by_column(np.column_stack([target_of(name, 20_000, rng) for _ in range(2)]))
    scores, config = rng.normal(size=(2, 20_000)), Config(num_target=2, **params_of(name))
    one, three = (filled(config, Labels(target), scores, threads) for threads in (1, 3))
    assert one.pairs.tobytes() == three.pairs.tobytes()
    assert one.largest.tobytes() == three.largest.tobytes()


@pytest.mark.parametrize("name", ONE_SCORE)
def test_every_column_starts_where_a_loss_of_its_own_does(name):
    target, _, weight = columns(name, np.random.default_rng(5))
    found = objectives.get(Config(num_target=TARGETS, **params_of(name))).base_score(Labels(target, weight))
    alone = objectives.get(Config(**params_of(name)))
    assert found.tolist() == [alone.base_score(Labels(target[:, k], weight))[0] for k in range(TARGETS)]


def test_levels_start_at_the_quantiles_of_the_target():
    labels = Labels(np.random.default_rng(6).normal(size=101))
    levels = [0.2, 0.5, 0.7]
    found = objectives.get(Config(objective="quantile", quantile_alpha=levels)).base_score(labels)
    assert found.tolist() == [
        objectives.get(Config(objective="quantile", quantile_alpha=level)).base_score(labels)[0]
        for level in levels
    ]


@pytest.mark.parametrize("objective", ["log_loss", "focal"])
def test_a_label_that_all_rows_have_or_none_starts_as_certain(objective):
    target = by_column(np.column_stack([np.ones(6), np.zeros(6), np.arange(6) % 2 * 1.0]))
    found = objectives.get(Config(objective=objective, num_target=3)).base_score(Labels(target))
    assert found[:2].tolist() == [40.0, -40.0]
    assert abs(found[2]) < 1e-6


def leaves_of(output, nodes=2):
    """Rows by leaf: two leaves of the rows 0 to 14 and 15 to 39, a tree of some output."""
    by_leaf = allocate(LeafRows, rows=ROWS, max_nodes=nodes)
    by_leaf.grown[0] = (output, nodes)
    by_leaf.members[:] = np.arange(ROWS)
    by_leaf.begin[:], by_leaf.end[:] = [0, 15], [15, ROWS]
    return by_leaf


def steps_of(config, labels, scores, output):
    """What a loss finds for the leaves of an output."""
    gradients, steps = filled(config, labels, scores), np.zeros(2)
    loss = objectives.get(config)
    if loss._first_order:
        run_alone(flatten_hessians.bind(labels.arrays(), gradients))
    run_alone(loss.refit_by_loss(labels, 1, leaves_of(output), gradients, steps))
    return steps


@pytest.mark.kernels
@pytest.mark.parametrize("name", ["absolute_error", "quantile", "huber", "poisson", "log_loss"])
def test_leaves_of_every_column_get_the_values_of_a_loss_of_its_own(name):
    target, scores, weight = columns(name, np.random.default_rng(7))
    params = {**params_of(name), "leaf_estimation": "line_search"}
    together = Config(num_target=TARGETS, **params)
    for k in range(TARGETS):
        found = steps_of(together, Labels(target, weight), scores, k)
        alone = steps_of(Config(**params), Labels(target[:, k], weight), scores[k : k + 1], 0)
        assert found.any()
        assert np.array_equal(found, alone)


@pytest.mark.kernels
def test_leaves_of_every_level_get_the_quantile_of_that_level():
    target, scores, _ = columns("quantile", np.random.default_rng(8))
    labels, levels = Labels(target[:, 0].copy()), [0.1, 0.5, 0.9]
    config = Config(objective="quantile", quantile_alpha=levels)
    for k, level in enumerate(levels):
        found = steps_of(config, labels, scores, k)
        left = labels.target - scores[k]
        wanted = [np.quantile(one, level, method="averaged_inverted_cdf") for one in (left[:15], left[15:])]
        assert np.allclose(found, wanted, rtol=1e-12)
