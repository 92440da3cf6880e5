from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy.special import expit

import losses
import oracles
from spinney import objectives
from spinney.data import Labels
from spinney.errors import DataError, ParameterError
from spinney.params import Config, objective_row

RNG = np.random.default_rng(0)
TARGETS = {name: losses.target_of(name, 51, RNG) for name in losses.NAMES}
WEIGHT = RNG.random(51)


def loss_of(name):
    """An objective, of four classes where it knows classes."""
    return objectives.get(Config(**losses.params_of(name)))


def total(name, constant, y, weight):
    """Loss of all rows with the same score."""
    scores = constant[:, None] * np.ones(len(y)) if name in losses.CLASSES else constant[0]
    return np.sum(weight * losses.loss(name, scores, y, **losses.PARAMS.get(name, {})))


@pytest.mark.parametrize("name", TARGETS)
@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["plain", "weighted"])
def test_no_other_constant_has_less_loss_than_the_base_score(name, weight):
    y = TARGETS[name]
    base = loss_of(name).base_score(Labels(y, weight))
    given = np.ones(51) if weight is None else weight
    for step in (-1e-3, 1e-3):
        for k in range(len(base)):
            moved = base.copy()
            moved[k] += step
            assert total(name, base, y, given) < total(name, moved, y, given)


@pytest.mark.slow
@pytest.mark.parametrize("name", losses.ONE_SCORE)
@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["plain", "weighted"])
def test_the_base_score_is_the_least_of_a_dense_grid_refined(name, weight):
    y = TARGETS[name]
    given = np.ones(51) if weight is None else weight
    base = loss_of(name).base_score(Labels(y, weight))[0]
    low, high = (-0.99, 30.0) if name == "squared_log_error" else (-30.0, 30.0)
    for _ in range(5):
        grid = np.linspace(low, high, 2001)
        at = int(np.argmin([total(name, np.array([score]), y, given) for score in grid]))
        low, high = grid[max(at - 1, 0)], grid[min(at + 1, 2000)]
    assert base == pytest.approx((low + high) / 2, abs=2e-6)


def test_base_scores_have_closed_forms():
    y = TARGETS["squared_error"]
    assert loss_of("squared_error").base_score(Labels(y)) == pytest.approx(y.mean(), rel=1e-14)
    assert loss_of("absolute_error").base_score(Labels(y)) == np.median(y)
    assert loss_of("log_loss").base_score(Labels(np.array([1.0, 0, 0, 0]))) == pytest.approx(np.log(1 / 3))
    shares = objectives.get(Config(objective="softmax", num_class=3)).base_score(
        Labels(np.array([0.0, 1, 1, 2]))
    )
    assert shares == pytest.approx(np.log([0.25, 0.5, 0.25]))
    odds = objectives.get(Config(objective="one_vs_rest", num_class=3)).base_score(
        Labels(np.array([0.0, 1, 1, 2]))
    )
    assert odds == pytest.approx(np.log([1 / 3, 1.0, 1 / 3]))
    for name in ("poisson", "gamma", "tweedie"):
        base = loss_of(name).base_score(Labels(TARGETS[name], WEIGHT))
        assert np.exp(base) == pytest.approx(np.average(TARGETS[name], weights=WEIGHT), rel=1e-14)
    logs = np.log1p(TARGETS["squared_log_error"]).mean()
    base = loss_of("squared_log_error").base_score(Labels(TARGETS["squared_log_error"]))
    assert base == pytest.approx(np.expm1(logs), rel=1e-13)


def test_the_median_of_an_even_number_of_rows_lies_halfway():
    base = loss_of("absolute_error").base_score
    assert base(Labels(np.array([4.0, 1.0, 2.0, 10.0]))) == 3.0
    assert base(Labels(np.array([4.0, 1.0, 2.0, 10.0]), np.array([1.0, 0.5, 0.5, 0.0]))) == 3.0
    assert base(Labels(np.array([5.0, 5.0, 5.0, 1.0]), np.array([1.0, 0.0, 0.0, 1e-300]))) == 5.0


def test_percentage_errors_weigh_rows_by_the_size_of_their_target():
    y = np.array([0.0, 0.5, 100.0, 1000.0, 1000.0])
    assert loss_of("absolute_error").base_score(Labels(y)) == 100.0
    assert loss_of("mape").base_score(Labels(y)) == 0.5


@pytest.mark.parametrize("name", ["huber", "pseudo_huber", "fair"])
def test_one_wild_row_hardly_moves_where_a_robust_loss_starts(name):
    y = np.append(TARGETS["squared_error"], 1e30)
    assert abs(loss_of(name).base_score(Labels(y))[0]) < 2


@pytest.mark.parametrize("name", losses.NUMBERS)
def test_a_constant_target_is_where_its_loss_starts(name):
    assert loss_of(name).base_score(Labels(np.full(9, 3.25))) == 3.25


@pytest.mark.parametrize("name", TARGETS)
def test_a_row_of_weight_zero_is_as_good_as_absent_to_the_base_score(name):
    weight = np.where(np.arange(51) % 3 == 0, 0.0, WEIGHT)
    base, labels = loss_of(name).base_score, Labels(TARGETS[name], weight)
    # Sums of float32 gradients end the search for the roots.
    assert base(labels) == pytest.approx(base(labels.take(weight > 0)), rel=1e-7)


@pytest.mark.parametrize("name", TARGETS)
def test_the_order_of_the_rows_does_not_change_a_bit_of_the_base_score(name):
    rng = np.random.default_rng(3)
    y, weight = rng.permutation(np.tile(TARGETS[name], 40)), rng.random(2040) * 0.3
    found = set()
    for _ in range(5):
        order = rng.permutation(2040)
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
    odds = expit(table)
    rest = loss_of("one_vs_rest").link(table)
    np.testing.assert_allclose(rest, odds / odds.sum(axis=1, keepdims=True), rtol=1e-13)
    for name in ("poisson", "gamma", "tweedie"):
        np.testing.assert_allclose(loss_of(name).link(scores[1:-1]), np.exp(scores[1:-1]), rtol=1e-15)


@pytest.mark.kernels
def test_classes_that_are_all_unlikely_still_have_probabilities():
    found = loss_of("one_vs_rest").link(np.array([[-900.0, -901.0, -1e6, -1e6], [-1e300, -2e300, -1e300, 0]]))
    np.testing.assert_allclose(found[0], [1 / (1 + np.exp(-1)), 1 / (1 + np.exp(1)), 0, 0], rtol=1e-12)
    assert found[1].tolist() == [0, 0, 0, 1]


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
        (
            "log_loss",
            [0, 1.3, 1],
            r"objective log_loss needs labels 0 and 1 \(or probabilities\), got y\[1\] = 1.3",
        ),
        ("focal", [0, 1.3, 1], r"objective focal needs .* got y\[1\] = 1.3"),
        ("poisson", [0, 3, -1], r"objective poisson needs y of 0 or more, got y\[2\] = -1"),
        ("tweedie", [0, 3, -0.5], r"objective tweedie needs y of 0 or more, got y\[2\] = -0.5"),
        ("gamma", [1, 0, 2], r"objective gamma needs y of more than 0, got y\[1\] = 0"),
        (
            "squared_log_error",
            [1, -1, 2],
            r"objective squared_log_error needs y of more than -1, got y\[1\] = -1",
        ),
        ("poisson", [0, 1e31, 2], r"y\[1\] = 1e\+31 is too large"),
        (
            "one_vs_rest",
            [0, 1, 4],
            r"objective one_vs_rest with num_class = 4 needs labels 0 to 3, got y\[2\] = 4",
        ),
        ("softmax", [0, 1, 4], r"num_class = 4 needs labels 0 to 3, got y\[2\] = 4"),
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
        ("focal", [1, 1, 1], None, "objective focal needs rows of both classes .* all are of one class$"),
        ("softmax", [0, 2, 2], None, "class 1 has no row with a weight above 0"),
        ("softmax", [0, 1, 2, 3], [1, 1, 0, 1], "class 2 has no row with a weight above 0"),
        ("one_vs_rest", [0, 2, 2], None, "class 1 has no row with a weight above 0"),
        ("poisson", [0, 0, 0], None, "objective poisson needs a row with y above 0 .* the mean of y is 0"),
        (
            "tweedie",
            [0, 0, 5],
            [1, 1, 0],
            "objective tweedie needs a row with y above 0 and a weight above 0",
        ),
    ],
)
def test_a_class_without_rows_is_refused(name, target, weight, message):
    weight = None if weight is None else np.array(weight, float)
    with pytest.raises(DataError, match=message):
        loss_of(name).base_score(Labels(np.array(target, float), weight))


def test_an_unknown_objective_is_refused():
    with pytest.raises(
        ParameterError, match="objective = 'median' is unknown; there are squared_error, squared_log_error"
    ):
        objective_row("median")
