import numpy as np
import pytest

import problems
import spinney as sp

RNG = np.random.default_rng(0)
ROWS = 300
X = np.where(RNG.random((ROWS, 3)) < 0.1, np.nan, RNG.normal(size=(ROWS, 3)))
SIGNAL = np.nan_to_num(X[:, 0]) - np.nan_to_num(X[:, 1]) ** 2
TARGETS = {
    "squared_error": SIGNAL,
    "log_loss": (SIGNAL > 0).astype(float),
    "softmax": np.digitize(SIGNAL, [-1.0, 0.0]).astype(float),
}
PARAMS = {
    "squared_error": {"objective": "squared_error"},
    "log_loss": {"objective": "log_loss"},
    "softmax": {"objective": "softmax", "num_class": 3},
}


def trained(objective, weight, rounds=5, table=X, y=None, **params):
    y = TARGETS[objective] if y is None else y
    return sp.train(PARAMS[objective] | params, sp.Dataset(table, y, weight=weight), rounds=rounds)


@pytest.mark.parametrize("objective", TARGETS)
def test_a_row_of_weight_zero_is_as_good_as_absent(objective):
    weight = RNG.integers(0, 3, ROWS) * 0.5
    kept = weight > 0
    # The base score is given: a mean over other rows is another sum of floats.
    with_zeros = trained(objective, weight, base_score=0.1)
    without = trained(objective, weight[kept], table=X[kept], y=TARGETS[objective][kept], base_score=0.1)
    assert with_zeros == without
    assert with_zeros.forest.count[0] == kept.sum()


@pytest.mark.parametrize("objective", TARGETS)
def test_a_row_of_weight_zero_does_not_move_the_base_score(objective):
    weight = RNG.integers(0, 3, ROWS) * 0.5
    kept = weight > 0
    with_zeros = trained(objective, weight)
    without = trained(objective, weight[kept], table=X[kept], y=TARGETS[objective][kept])
    np.testing.assert_allclose(with_zeros.predict_raw(X), without.predict_raw(X), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("objective", TARGETS)
@pytest.mark.parametrize("power", [-100, -7, 1, 40, 100])
def test_weights_and_penalties_times_a_power_of_two_give_the_same_predictions(objective, power):
    scale = 2.0**power
    weight = RNG.random(ROWS) + 0.1

    def penalties(factor):
        values = {"reg_lambda": 0.5, "reg_alpha": 0.25, "gamma": 0.01, "min_child_weight": 0.5}
        return {name: value * factor for name, value in values.items()}

    plain = trained(objective, weight, **penalties(1.0))
    scaled = trained(objective, weight * scale, **penalties(scale))
    assert plain.forest.nodes > plain.forest.trees
    assert scaled.predict_raw(X).tobytes() == plain.predict_raw(X).tobytes()
    np.testing.assert_allclose(scaled.forest.gain, plain.forest.gain * scale, rtol=1e-12)
    np.testing.assert_allclose(scaled.forest.cover, plain.forest.cover * scale, rtol=1e-12)


@pytest.mark.parametrize("objective", TARGETS)
@pytest.mark.parametrize("factor", [1.0, 0.5, 2.0**90])
def test_without_penalties_equal_weights_are_as_good_as_none(objective, factor):
    free = {"reg_lambda": 0.0, "min_child_weight": 0.0}
    weighted = trained(objective, np.full(ROWS, factor), **free)
    assert weighted.predict_raw(X).tobytes() == trained(objective, None, **free).predict_raw(X).tobytes()


def test_a_whole_weight_is_as_good_as_that_many_copies_of_the_row():
    times = RNG.integers(1, 4, ROWS)
    free = {"min_child_samples": 1, "min_child_weight": 20.0, "max_leaves": 6}
    weighted = trained("squared_error", times, **free)
    repeated = trained(
        "squared_error", None, table=np.repeat(X, times, axis=0), y=np.repeat(SIGNAL, times), **free
    )
    assert weighted.forest.feature.tolist() == repeated.forest.feature.tolist()
    np.testing.assert_allclose(weighted.predict(X), repeated.predict(X), rtol=1e-5, atol=1e-6)


def test_scale_pos_weight_is_a_weight_of_the_positive_rows():
    y = TARGETS["log_loss"]
    own = RNG.random(ROWS) + 0.5
    for weight in (None, own):
        given = np.where(y > 0.5, 3.7, 1.0) * (1.0 if weight is None else weight)
        scaled = trained("log_loss", weight, scale_pos_weight=3.7)
        # Cuts see the weights of the data set, not those of the class.
        same_cuts = sp.Dataset(X, y, weight=given, reference=sp.Dataset(X, y, weight=weight))
        weighted = sp.train(PARAMS["log_loss"], same_cuts, rounds=5)
        assert scaled.forest.equal(weighted.forest)
        assert scaled.base_score.tolist() == weighted.base_score.tolist()


@pytest.mark.parametrize("objective", TARGETS)
@pytest.mark.parametrize("kind", ["huge", "tiny", "both"])
def test_huge_and_tiny_weights_give_finite_models(objective, kind):
    weight = problems.weights(np.random.default_rng(1), ROWS, kind)
    model = trained(objective, weight, reg_lambda=0.0, min_child_weight=0.0)
    assert np.isfinite(model.forest.value).all()
    assert np.isfinite(model.predict(X)).all()
    assert model.forest.nodes > model.forest.trees


def test_the_largest_weight_there_can_be_is_as_good_as_any():
    weight = np.where(np.arange(ROWS) == 0, 1.7e308, 0.0)
    model = trained("squared_error", weight, reg_lambda=0.0)
    np.testing.assert_allclose(model.predict(X), SIGNAL[0], rtol=1e-12)


def test_tiny_weights_beside_a_penalty_leave_the_base_score():
    model = trained("squared_error", np.full(ROWS, 1e-30))
    np.testing.assert_allclose(model.predict(X), SIGNAL.mean(), rtol=1e-9)


@pytest.mark.parametrize("heavy", [1e2, 1e4])
def test_one_heavy_row_does_not_hide_the_others(heavy):
    weight = np.ones(ROWS)
    weight[7] = heavy
    model = trained("squared_error", weight, rounds=60, min_child_samples=5)
    others = np.arange(ROWS) != 7
    error = np.sqrt(np.mean((model.predict(X) - SIGNAL)[others] ** 2))
    assert error < 0.3 * SIGNAL[others].std()


def test_weights_count_in_the_metrics():
    weight = RNG.random(ROWS)
    data, history = sp.Dataset(X, SIGNAL, weight=weight), sp.History()
    model = sp.train({}, data, rounds=2, valid={"own": data}, callbacks=[history])
    expected = np.sqrt(np.average((model.predict(X) - SIGNAL) ** 2, weights=weight))
    assert history.evals["own"]["rmse"][-1] == pytest.approx(expected, rel=1e-12)
