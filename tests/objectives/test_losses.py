import numpy as np
import pytest

import losses
import oracles
import problems
from spinney import objectives
from spinney.data import Labels
from spinney.data.labels import allocate_gradients
from spinney.jit.team import Team
from spinney.params import Config

WITH_TWIN = ["squared_error", "log_loss", "softmax"]


class Filled:
    """Labels and the gradients of some scores."""

    def __init__(self, scores, target, weight):
        self.labels, self.made = Labels(target, weight), allocate_gradients(scores)
        self.scores, self.pairs, self.largest = scores, self.made.pairs, self.made.largest


def round_of(name, rows, seed, weighted, spread=3.0):
    """Scores and a target that fit an objective."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(4 if name in losses.CLASSES else 1, rows)) * spread
    if name == "squared_log_error":
        scores = np.abs(scores) - 0.8
    weight = rng.random(rows) if weighted else None
    return Filled(scores, losses.target_of(name, rows, rng), weight)


def filled(name, data, threads=1):
    with Team(threads) as team:
        objective = objectives.get(Config(**losses.params_of(name)))
        team.run(objective.gradients(data.labels, data.made, team.size))
    return data


def expected(name, data):
    labels = data.labels
    weight = np.ones(labels.rows) if labels.weight is None else labels.weight
    scores = data.scores if name == "softmax" else data.scores[0]
    pairs = getattr(oracles, name)(scores, labels.target, weight)
    return pairs if name == "softmax" else pairs[None]


def derivatives(name, data):
    """Gradient and hessian of each output and row by differences of the loss."""
    given = losses.PARAMS.get(name, {})
    scores, target = data.scores.astype(np.longdouble), data.labels.target.astype(np.longdouble)
    step = np.longdouble(1e-4)
    found = np.empty((*scores.shape, 2))
    for k in range(len(scores)):

        def at(move, k=k):
            moved = scores.copy()
            moved[k] += move
            return losses.loss(name, moved if name in losses.CLASSES else moved[0], target, **given)

        found[k, :, 0] = (at(step) - at(-step)) / (2 * step)
        found[k, :, 1] = (at(step) - 2 * at(0) + at(-step)) / step**2
    if name in losses.CLASSES:
        found[..., 1] = losses.hessian(name, scores, target, found[..., 1], **given)
    else:
        found[0, :, 1] = losses.hessian(name, scores[0], target, found[0, :, 1], **given)
    return found


@pytest.mark.kernels
@pytest.mark.parametrize("name", WITH_TWIN)
@pytest.mark.parametrize("weighted", [False, True])
def test_gradients_are_those_of_the_formula(name, weighted):
    data = filled(name, round_of(name, 60, 1, weighted))
    np.testing.assert_allclose(data.pairs, expected(name, data), rtol=1e-6, atol=1e-7)


@pytest.mark.kernels
@pytest.mark.parametrize("spread", [1.0, 8.0], ids=["near", "far"])
@pytest.mark.parametrize("name", losses.NAMES)
def test_gradients_are_derivatives_of_the_loss_and_hessians_those_of_the_guide(name, spread):
    data = filled(name, round_of(name, 80, 2, weighted=False, spread=spread))
    found = derivatives(name, data)
    np.testing.assert_allclose(data.pairs[..., 0], found[..., 0], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(data.pairs[..., 1], found[..., 1], rtol=1e-4, atol=1e-6)


@pytest.mark.kernels
@pytest.mark.parametrize("name", losses.NAMES)
@pytest.mark.parametrize("far", [50.0, 800.0, 1e6, 1e30])
def test_scores_far_away_give_finite_gradients_that_lead_back(name, far):
    rows = 24
    data = round_of(name, rows, 5, weighted=False)
    data.scores[:] = np.where(np.arange(rows) < rows // 2, far, -far)
    filled(name, data)
    assert np.isfinite(data.pairs).all()
    assert np.abs(data.pairs).max() <= 3e30
    assert data.pairs[..., 1].min() >= 0
    if name not in losses.CLASSES:
        assert data.pairs[0, : rows // 2, 0].min() >= -1e-9
        assert data.pairs[0, rows // 2 :, 0].max() <= 1e-9


@pytest.mark.kernels
@pytest.mark.parametrize("name", ["absolute_error", "quantile", "mape"])
def test_a_score_that_is_the_target_has_no_gradient(name):
    data = Filled(np.array([[1.0, -2.0]]), np.array([1.0, -2.0]), None)
    assert filled(name, data).pairs[0].tolist() == [[0.0, 1.0], [0.0, 0.5 if name == "mape" else 1.0]]


@pytest.mark.kernels
@pytest.mark.parametrize("name", ["pseudo_huber", "fair"])
def test_a_step_of_a_robust_loss_ends_no_farther_from_the_target_than_it_began(name):
    data = round_of(name, 60, 7, weighted=False, spread=100.0)
    pairs = filled(name, data).pairs[0].astype(float)
    error = data.scores[0] - data.labels.target
    assert (np.abs(error - pairs[:, 0] / pairs[:, 1]) <= np.abs(error) * (1 + 1e-6)).all()


@pytest.mark.kernels
def test_a_step_of_the_squared_log_error_stays_above_minus_one():
    data = round_of("squared_log_error", 60, 8, weighted=False, spread=100.0)
    pairs = filled("squared_log_error", data).pairs[0].astype(float)
    assert (data.scores[0] - pairs[:, 0] / pairs[:, 1] > -1).all()


@pytest.mark.kernels
def test_focal_loss_without_its_factor_is_the_log_loss():
    data = round_of("focal", 40, 9, weighted=True)
    other = filled("log_loss", Filled(data.scores, data.labels.target, data.labels.weight))
    with Team(1) as team:
        plain = objectives.get(Config(objective="focal", focal_gamma=0.0))
        team.run(plain.gradients(data.labels, data.made, 1))
    np.testing.assert_allclose(data.pairs, other.pairs, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("name", losses.NAMES)
@pytest.mark.parametrize("rows", [1, 8192, 8193])
def test_the_largest_of_every_block_are_known(name, rows):
    data = filled(name, round_of(name, rows, 3, weighted=True))
    for output in range(len(data.scores)):
        assert data.largest[output].tolist() == problems.largest_of(data.pairs[output])[0].tolist()


@pytest.mark.parametrize("name", losses.NAMES)
def test_any_number_of_threads_gives_the_same_gradients(name):
    made = [filled(name, round_of(name, 30_000, 4, weighted=True), threads) for threads in (1, 2, 3)]
    assert len({data.pairs.tobytes() for data in made}) == 1
    assert len({data.largest.tobytes() for data in made}) == 1


@pytest.mark.parametrize("name", losses.NAMES)
def test_weights_multiply_both_gradient_and_hessian(name):
    plain = round_of(name, 50, 6, weighted=False)
    weighted = Filled(plain.scores, plain.labels.target, np.full(50, 0.25))
    np.testing.assert_array_equal(filled(name, plain).pairs * 0.25, filled(name, weighted).pairs)
