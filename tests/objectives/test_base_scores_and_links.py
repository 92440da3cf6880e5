from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy.special import expit

import oracles
from spinney import objectives
from spinney.data import Labels
from spinney.errors import DataError, ParameterError
from spinney.params import Config, objective_row

RNG = np.random.default_rng(0)
TARGETS = {
    "squared_error": RNG.normal(size=50),
    "log_loss": RNG.integers(0, 2, 50).astype(float),
    "softmax": RNG.integers(0, 3, 50).astype(float),
}
WEIGHT = RNG.random(50)


def loss_of(name):
    """An objective, of three classes where it knows classes."""
    return objectives.get(Config(objective=name, num_class=3 if name == "softmax" else 0))


def loss(name, constant, y, weight):
    if name == "squared_error":
        return np.sum(weight * (constant[0] - y) ** 2)
    if name == "log_loss":
        return np.sum(weight * (np.logaddexp(0, constant[0]) - y * constant[0]))
    shares = oracles.probabilities(np.tile(constant[:, None], len(y)))
    return -np.sum(weight * np.log(shares[y.astype(int), np.arange(len(y))]))


@pytest.mark.parametrize("name", TARGETS)
@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["plain", "weighted"])
def test_no_other_constant_has_less_loss_than_the_base_score(name, weight):
    y = TARGETS[name]
    base = loss_of(name).base_score(Labels(y, weight))
    given = np.ones(50) if weight is None else weight
    for step in (-1e-3, 1e-3):
        for k in range(len(base)):
            moved = base.copy()
            moved[k] += step
            assert loss(name, base, y, given) < loss(name, moved, y, given)


def test_base_scores_have_closed_forms():
    y = TARGETS["squared_error"]
    assert loss_of("squared_error").base_score(Labels(y)) == pytest.approx(y.mean(), rel=1e-14)
    assert loss_of("log_loss").base_score(Labels(np.array([1.0, 0, 0, 0]))) == pytest.approx(np.log(1 / 3))
    shares = loss_of("softmax").base_score(Labels(np.array([0.0, 1, 1, 2])))
    assert shares == pytest.approx(np.log([0.25, 0.5, 0.25]))


def test_a_row_of_weight_zero_is_as_good_as_absent_to_the_base_score():
    for name, y in TARGETS.items():
        weight = np.where(np.arange(50) % 3 == 0, 0.0, WEIGHT)
        kept = weight > 0
        base, labels = loss_of(name).base_score, Labels(y, weight)
        assert base(labels) == pytest.approx(base(labels.take(kept)), rel=1e-14)


@pytest.mark.parametrize("name", TARGETS)
def test_the_order_of_the_rows_does_not_change_a_bit_of_the_base_score(name):
    rng = np.random.default_rng(3)
    y, weight = rng.permutation(np.tile(TARGETS[name], 40)), rng.random(2000) * 0.3
    found = set()
    for _ in range(5):
        order = rng.permutation(2000)
        found.add(loss_of(name).base_score(Labels(y[order], weight[order])).tobytes())
    assert len(found) == 1


@pytest.mark.kernels
def test_links_give_values_and_probabilities():
    scores = np.array([-800.0, -30.0, -1.0, 0.0, 2.5, 40.0, 800.0])
    assert loss_of("squared_error").link(scores).tolist() == scores.tolist()
    np.testing.assert_allclose(loss_of("log_loss").link(scores), expit(scores), rtol=1e-15, atol=1e-300)
    table = RNG.normal(size=(9, 4)) * 10
    found = loss_of("softmax").link(table)
    np.testing.assert_allclose(found, oracles.probabilities(table.T).T, rtol=1e-13)
    np.testing.assert_allclose(found.sum(axis=1), 1.0, rtol=1e-15)


def test_one_score_has_the_probability_it_has_among_many_on_any_thread():
    link = loss_of("log_loss").link
    scores = np.concatenate([RNG.normal(size=40) * 5, [-800.0, 800.0, 0.0, -0.0]])
    together = link(scores)

    def alone(score):
        return link(np.array([[score]]))

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(alone, scores))
    assert {one.shape for one in found} == {(1, 1)}
    assert np.concatenate(found).ravel().tobytes() == together.tobytes()


def test_softmax_of_extreme_scores_is_one_and_zeros():
    found = loss_of("softmax").link(np.array([[1e6, 0.0, -1e6], [-1e300, 1e300, 0.0]]))
    assert found.tolist() == [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]


def test_links_take_scores_of_any_layout():
    table = RNG.normal(size=(10, 6))
    softmax, log_loss = loss_of("softmax"), loss_of("log_loss")
    assert softmax.link(table[:, ::2]).tolist() == softmax.link(table[:, ::2].copy()).tolist()
    assert log_loss.link(table[::2, 0]).tolist() == log_loss.link(table[::2, 0].copy()).tolist()


@pytest.mark.parametrize(
    ("name", "target", "message"),
    [
        ("log_loss", [0, 1, 2], r"objective log_loss needs labels 0 and 1 .* got y\[2\] = 2"),
        ("log_loss", [0, -0.1, 1], r"got y\[1\] = -0.1"),
        ("softmax", [0, 1, 3], r"num_class = 3 needs labels 0 to 2, got y\[2\] = 3"),
        ("softmax", [0, -1, 2], r"got y\[1\] = -1"),
        ("softmax", [0, 0.5, 2], r"got y\[1\] = 0.5"),
        ("squared_error", [0, -1e31, 2], r"y\[1\] = -1e\+31 is too large"),
    ],
)
def test_a_target_that_does_not_fit_is_refused(name, target, message):
    with pytest.raises(DataError, match=message):
        loss_of(name).check_target(Labels(np.array(target, float)))


@pytest.mark.parametrize(
    ("name", "target", "weight", "message"),
    [
        ("log_loss", [1, 1, 1], None, "rows of both classes .* all are of one class$"),
        ("log_loss", [0, 0, 1], [1, 1, 0], "all are of one class, or weigh nothing beside those of it$"),
        ("softmax", [0, 2, 2], None, "class 1 has no row with a weight above 0"),
        ("softmax", [0, 1, 2], [1, 1, 0], "class 2 has no row with a weight above 0"),
    ],
)
def test_a_class_without_rows_is_refused(name, target, weight, message):
    weight = None if weight is None else np.array(weight, float)
    with pytest.raises(DataError, match=message):
        loss_of(name).base_score(Labels(np.array(target, float), weight))


def test_an_unknown_objective_is_refused():
    with pytest.raises(
        ParameterError, match="objective = 'median' is unknown; there are squared_error, log_loss"
    ):
        objective_row("median")
