import numpy as np
import pytest

import oracles
import problems
from spinney import objectives
from spinney.data import Labels
from spinney.jit.team import Team
from spinney.objectives.gradients import gradients_room
from spinney.params import Config

NAMES = ["squared_error", "log_loss", "softmax"]


class Filled:
    """Labels and the gradients of some scores."""

    def __init__(self, scores, target, weight):
        self.labels, self.made = Labels(target, weight), gradients_room(scores)
        self.scores, self.pairs, self.largest = scores, self.made.pairs, self.made.largest


def round_of(name, rows, seed, weighted, spread=3.0):
    """Scores and a target that fit an objective."""
    rng = np.random.default_rng(seed)
    outputs = 4 if name == "softmax" else 1
    scores = rng.normal(size=(outputs, rows)) * spread
    target = (
        rng.normal(size=rows) if name == "squared_error" else rng.integers(0, max(outputs, 2), rows) * 1.0
    )
    weight = rng.random(rows) if weighted else None
    return Filled(scores, target, weight)


def filled(name, data, threads=1):
    with Team(threads) as team:
        config = Config(objective=name, num_class=len(data.scores) if name == "softmax" else 0)
        team.run(objectives.get(config).gradients(data.labels, data.made, team.size))
    return data


def expected(name, data):
    labels = data.labels
    weight = np.ones(labels.rows) if labels.weight is None else labels.weight
    scores = data.scores if name == "softmax" else data.scores[0]
    pairs = getattr(oracles, name)(scores, labels.target, weight)
    return pairs if name == "softmax" else pairs[None]


@pytest.mark.kernels
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("weighted", [False, True])
def test_gradients_are_those_of_the_formula(name, weighted):
    data = filled(name, round_of(name, 60, 1, weighted))
    np.testing.assert_allclose(data.pairs, expected(name, data), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("name", NAMES)
def test_gradients_are_derivatives_of_the_loss(name):
    data = filled(name, round_of(name, 30, 2, weighted=False, spread=1.0))
    rows = np.arange(30)
    target = data.labels.target
    label = target.astype(int)

    def loss(scores):
        if name == "squared_error":
            return 0.5 * (scores[0] - target) ** 2
        if name == "log_loss":
            return np.logaddexp(0, scores[0]) - target * scores[0]
        return -np.log(oracles.probabilities(scores)[label, rows])

    step = 1e-4
    for k in range(len(data.scores)):
        move = np.zeros_like(data.scores)
        move[k] = step
        up, here, down = loss(data.scores + move), loss(data.scores), loss(data.scores - move)
        factor = 4 / 3 if name == "softmax" else 1.0  # the documented K/(K-1)
        np.testing.assert_allclose(data.pairs[k, :, 0], (up - down) / (2 * step), rtol=1e-5, atol=1e-6)
        second = factor * (up - 2 * here + down) / step**2
        np.testing.assert_allclose(data.pairs[k, :, 1], second, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("rows", [1, 8191, 8192, 8193, 20_000])
def test_the_largest_of_every_block_are_known(name, rows):
    data = filled(name, round_of(name, rows, 3, weighted=True))
    for output in range(len(data.scores)):
        assert data.largest[output].tolist() == problems.largest_of(data.pairs[output])[0].tolist()


@pytest.mark.parametrize("name", NAMES)
def test_any_number_of_threads_gives_the_same_gradients(name):
    made = [filled(name, round_of(name, 30_000, 4, weighted=True), threads) for threads in (1, 2, 3, 8)]
    assert len({data.pairs.tobytes() for data in made}) == 1
    assert len({data.largest.tobytes() for data in made}) == 1


@pytest.mark.kernels
@pytest.mark.parametrize("name", ["log_loss", "softmax"])
def test_scores_far_away_still_give_finite_gradients(name):
    data = round_of(name, 40, 5, weighted=False, spread=2000.0)
    filled(name, data)
    assert np.isfinite(data.pairs).all()
    assert np.abs(data.pairs[..., 0]).max() <= 1
    assert data.pairs[..., 1].min() >= 0


def test_weights_multiply_both_gradient_and_hessian():
    for name in NAMES:
        plain = round_of(name, 50, 6, weighted=False)
        weighted = Filled(plain.scores, plain.labels.target, np.full(50, 0.25))
        np.testing.assert_array_equal(filled(name, plain).pairs * 0.25, filled(name, weighted).pairs)
