"""Scores to start from are the constants with the least loss."""

import numpy as np
import pytest

import losses
from losses import objective_of
from spinney import objectives
from spinney.data import Labels
from spinney.errors import DataError
from spinney.params import Config

RNG = np.random.default_rng(0)
TARGETS = {name: losses.target_of(name, 51, RNG) for name in losses.NAMES}
WEIGHT = RNG.random(51)


def total(name, constant, y, weight):
    """Loss of all rows with the same score."""
    scores = constant[:, None] * np.ones(len(y)) if name in losses.CLASSES else constant[0]
    return np.sum(weight * losses.loss(name, scores, y, **losses.PARAMS.get(name, {})))


@pytest.mark.parametrize("name", TARGETS)
@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["plain", "weighted"])
def test_no_other_constant_has_less_loss_than_the_base_score(name, weight):
    y = TARGETS[name]
    base = objective_of(name).base_score(Labels(y, weight))
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
    base = objective_of(name).base_score(Labels(y, weight))[0]
    low, high = (-0.99, 30.0) if name == "squared_log_error" else (-30.0, 30.0)
    for _ in range(5):
        grid = np.linspace(low, high, 2001)
        at = int(np.argmin([total(name, np.array([score]), y, given) for score in grid]))
        low, high = grid[max(at - 1, 0)], grid[min(at + 1, 2000)]
    assert base == pytest.approx((low + high) / 2, abs=2e-6)


def test_base_scores_have_closed_forms():
    y = TARGETS["squared_error"]
    assert objective_of("squared_error").base_score(Labels(y)) == pytest.approx(y.mean(), rel=1e-14)
    assert objective_of("absolute_error").base_score(Labels(y)) == np.median(y)
    assert objective_of("log_loss").base_score(Labels(np.array([1.0, 0, 0, 0]))) == pytest.approx(
        np.log(1 / 3)
    )
    shares = objectives.get(Config(objective="softmax", num_class=3)).base_score(
        Labels(np.array([0.0, 1, 1, 2]))
    )
    assert shares == pytest.approx(np.log([0.25, 0.5, 0.25]))
    odds = objectives.get(Config(objective="one_vs_rest", num_class=3)).base_score(
        Labels(np.array([0.0, 1, 1, 2]))
    )
    assert odds == pytest.approx(np.log([1 / 3, 1.0, 1 / 3]))
    for name in ("poisson", "gamma", "tweedie"):
        base = objective_of(name).base_score(Labels(TARGETS[name], WEIGHT))
        assert np.exp(base) == pytest.approx(np.average(TARGETS[name], weights=WEIGHT), rel=1e-14)
    logs = np.log1p(TARGETS["squared_log_error"]).mean()
    base = objective_of("squared_log_error").base_score(Labels(TARGETS["squared_log_error"]))
    assert base == pytest.approx(np.expm1(logs), rel=1e-13)


def test_the_median_of_an_even_number_of_rows_lies_halfway():
    base = objective_of("absolute_error").base_score
    assert base(Labels(np.array([4.0, 1.0, 2.0, 10.0]))) == 3.0
    assert base(Labels(np.array([4.0, 1.0, 2.0, 10.0]), np.array([1.0, 0.5, 0.5, 0.0]))) == 3.0
    assert base(Labels(np.array([5.0, 5.0, 5.0, 1.0]), np.array([1.0, 0.0, 0.0, 1e-300]))) == 5.0


def test_percentage_errors_weigh_rows_by_the_size_of_their_target():
    y = np.array([0.0, 0.5, 100.0, 1000.0, 1000.0])
    assert objective_of("absolute_error").base_score(Labels(y)) == 100.0
    assert objective_of("mape").base_score(Labels(y)) == 0.5


@pytest.mark.parametrize("name", ["huber", "pseudo_huber", "fair"])
def test_one_wild_row_hardly_moves_where_a_robust_loss_starts(name):
    y = np.append(TARGETS["squared_error"], 1e30)
    assert abs(objective_of(name).base_score(Labels(y))[0]) < 2


@pytest.mark.parametrize("name", losses.NUMBERS)
def test_a_constant_target_is_where_its_loss_starts(name):
    assert objective_of(name).base_score(Labels(np.full(9, 3.25))) == 3.25


@pytest.mark.parametrize("name", TARGETS)
def test_a_row_of_weight_zero_is_as_good_as_absent_to_the_base_score(name):
    weight = np.where(np.arange(51) % 3 == 0, 0.0, WEIGHT)
    base, labels = objective_of(name).base_score, Labels(TARGETS[name], weight)
    # Sums of float32 gradients end the search for the roots.
    assert base(labels) == pytest.approx(base(labels.take(weight > 0)), rel=1e-7)


@pytest.mark.parametrize("name", TARGETS)
def test_the_order_of_the_rows_does_not_change_a_bit_of_the_base_score(name):
    rng = np.random.default_rng(3)
    y, weight = rng.permutation(np.tile(TARGETS[name], 40)), rng.random(2040) * 0.3
    found = set()
    for _ in range(5):
        order = rng.permutation(2040)
        found.add(objective_of(name).base_score(Labels(y[order], weight[order])).tobytes())
    assert len(found) == 1


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
        objective_of(name).base_score(Labels(np.array(target, float), weight))
