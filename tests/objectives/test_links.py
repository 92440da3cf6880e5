"""Links make predictions of scores."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy.special import expit

import oracles
from losses import objective_of

RNG = np.random.default_rng(0)


@pytest.mark.kernels
def test_links_give_values_and_probabilities():
    scores = np.array([-800.0, -30.0, -1.0, 0.0, 2.5, 40.0, 800.0])
    assert objective_of("squared_error").link(scores).tolist() == scores.tolist()
    np.testing.assert_allclose(objective_of("log_loss").link(scores), expit(scores), rtol=1e-15, atol=1e-300)
    table = RNG.normal(size=(9, 4)) * 10
    found = objective_of("softmax").link(table)
    np.testing.assert_allclose(found, oracles.probabilities(table.T).T, rtol=1e-13)
    np.testing.assert_allclose(found.sum(axis=1), 1.0, rtol=1e-15)
    odds = expit(table)
    rest = objective_of("one_vs_rest").link(table)
    np.testing.assert_allclose(rest, odds / odds.sum(axis=1, keepdims=True), rtol=1e-13)
    for name in ("poisson", "gamma", "tweedie"):
        np.testing.assert_allclose(objective_of(name).link(scores[1:-1]), np.exp(scores[1:-1]), rtol=1e-15)


@pytest.mark.kernels
def test_classes_that_are_all_unlikely_still_have_probabilities():
    found = objective_of("one_vs_rest").link(
        np.array([[-900.0, -901.0, -1e6, -1e6], [-1e300, -2e300, -1e300, 0]])
    )
    np.testing.assert_allclose(found[0], [1 / (1 + np.exp(-1)), 1 / (1 + np.exp(1)), 0, 0], rtol=1e-12)
    assert found[1].tolist() == [0, 0, 0, 1]


def test_one_score_has_the_probability_it_has_among_many_on_any_thread():
    link = objective_of("log_loss").link
    scores = np.concatenate([RNG.normal(size=40) * 5, [-800.0, 800.0, 0.0, -0.0]])
    together = link(scores)

    def alone(score):
        return link(np.array([[score]]))

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(alone, scores))
    assert {one.shape for one in found} == {(1, 1)}
    assert np.concatenate(found).ravel().tobytes() == together.tobytes()


def test_softmax_of_extreme_scores_is_one_and_zeros():
    found = objective_of("softmax").link(np.array([[1e6, 0.0, -1e6], [-1e300, 1e300, 0.0]]))
    assert found.tolist() == [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]


def test_links_take_scores_of_any_layout():
    table = RNG.normal(size=(10, 6))
    softmax, log_loss = objective_of("softmax"), objective_of("log_loss")
    assert softmax.link(table[:, ::2]).tolist() == softmax.link(table[:, ::2].copy()).tolist()
    assert log_loss.link(table[::2, 0]).tolist() == log_loss.link(table[::2, 0].copy()).tolist()
