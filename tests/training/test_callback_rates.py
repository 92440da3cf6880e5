"""Learning rates that change from round to round."""

import math

import numpy as np
import pytest

import spinney as sp
from spinney.errors import OwnFunctionError, ParameterError, ParameterTypeError
from spinney.training.callbacks import SMALLEST_RATE, LearningRateSchedule, schedule_of

RNG = np.random.default_rng(4)
X = RNG.normal(size=(300, 4))
Y = X[:, 0] ** 2 + X[:, 1] + 0.1 * RNG.normal(size=300)
SMALL = {"max_leaves": 5, "min_child_samples": 5}
METHODS = {
    "hist": {},
    "subsample": {"subsample": 0.6},
    "leaves of all rows": {"subsample": 0.6, "leaf_values": "all"},
    "exact": {"tree_method": "exact"},
    "approx": {"tree_method": "approx"},
    "classes": {"objective": "softmax", "num_class": 3},
}


def data(params):
    return sp.Dataset(X, np.digitize(Y, [0.5, 1.5]).astype(float) if "num_class" in params else Y)


def trained(params, rounds, rates=None, **given):
    schedules = [] if rates is None else [LearningRateSchedule(rates)]
    return sp.train(SMALL | params, data(params), rounds, callbacks=schedules, **given)


@pytest.mark.parametrize("name", METHODS)
def test_a_constant_schedule_gives_the_bytes_of_the_parameter(name):
    params = METHODS[name] | {"learning_rate": 0.3}
    plain = trained(params, 4)
    assert trained(params, 4, [0.3] * 4) == plain
    assert trained(params, 4, lambda done: 0.3) == plain


@pytest.mark.parametrize("name", METHODS)
def test_every_round_has_its_own_rate(name):
    params = METHODS[name] | {"learning_rate": 0.1}
    rates = [0.5, 0.1, 0.9]
    model = trained(params, 3, rates)
    # Rounds one by one, each with its rate as the parameter.
    so_far = None
    for rate in rates:
        so_far = trained(params | {"learning_rate": rate}, 1, init_model=so_far)
    assert model.forest.equal(so_far.forest)
    assert model.params.learning_rate == 0.1


def test_a_schedule_scales_what_a_tree_adds():
    half, whole = (trained({}, 1, [rate]) for rate in (0.5, 1.0))
    np.testing.assert_array_equal(half.forest.value, 0.5 * whole.forest.value)


def test_a_training_that_goes_on_takes_the_same_schedule():
    rates = [0.5, 0.4, 0.3, 0.2, 0.1]
    whole = trained({}, 5, rates)
    for schedule in (rates, lambda done: rates[done]):
        assert trained({}, 3, schedule, init_model=trained({}, 2, schedule)) == whole
    with pytest.raises(ParameterError, match="too few rates, 3: the model will have 5 rounds"):
        trained({}, 3, rates[:3], init_model=trained({}, 2))


def test_a_short_list_is_told_before_the_first_tree():
    called = []
    with pytest.raises(ParameterError, match="too few rates, 2: the model will have 3 rounds"):
        sp.train(SMALL, data({}), 3, callbacks=[called.append, LearningRateSchedule([0.1, 0.1])])
    assert called == []


def test_a_function_may_go_by_what_callbacks_saw():
    history, train = sp.History(), data({})
    rates = []

    def by_metric(done):
        rates.append(0.5 if done == 0 else history.evals["train"]["rmse"][-1] / 10)
        return rates[-1]

    model = sp.train(
        SMALL, train, 3, valid={"train": train}, callbacks=[history, LearningRateSchedule(by_metric)]
    )
    assert len(rates) == 3
    assert model == trained({}, 3, rates)


def test_what_a_function_raises_comes_out_of_the_training():
    message = "LearningRateSchedule, round 2: the function '<lambda>' failed with ZeroDivisionError"
    with pytest.raises(OwnFunctionError, match=message) as raised:
        trained({}, 3, lambda done: 1 / (1 - done))
    assert isinstance(raised.value.__cause__, ZeroDivisionError)


def test_estimators_take_schedules():
    rates = [0.5, 0.1, 0.9]
    schedule = sp.LearningRateSchedule(rates)
    model = sp.GBMRegressor(n_estimators=3, **SMALL).fit(X, Y, callbacks=[schedule])
    assert model.model_ == trained({"target_stats": 100}, 3, rates)
    with pytest.raises(ParameterError, match="callbacks hold 2 LearningRateSchedules"):
        model.fit(X, Y, callbacks=[schedule, sp.LearningRateSchedule(rates)])


@pytest.mark.parametrize("rates", [[0.5, 0.25], (0.5, 0.25), np.array([0.5, 0.25])])
def test_a_list_gives_the_rates_of_the_rounds(rates):
    schedule = LearningRateSchedule(rates)
    assert [schedule.rate(done) for done in range(2)] == [0.5, 0.25]
    schedule.begin(2)
    schedule.begin(1)


def test_a_function_is_asked_with_the_rounds_that_are_done():
    asked = []
    schedule = LearningRateSchedule(lambda done: asked.append(done) or 1 / (done + 1))
    assert [schedule.rate(done) for done in (0, 3)] == [1.0, 0.25]
    assert asked == [0, 3]


def test_a_list_that_is_too_short_is_refused():
    with pytest.raises(ParameterError, match="too few rates, 2: the model will have 3 rounds"):
        LearningRateSchedule([0.5, 0.25]).begin(3)


@pytest.mark.parametrize(
    ("rate", "kind", "message"),
    [
        (0.0, ParameterError, "learning_rate=0.0 is out of range: it must be > 0"),
        (-0.1, ParameterError, "learning_rate=-0.1 is out of range"),
        (math.nan, ParameterError, "learning_rate=nan must be a finite number"),
        (math.inf, ParameterError, "learning_rate=inf must be a finite number"),
        (SMALLEST_RATE / 2, ParameterError, "learning_rate = 1.11254e-308 is too small"),
        ("0.1", ParameterTypeError, "learning_rate='0.1' must be a float"),
        (None, ParameterTypeError, "learning_rate=None must be a float"),
        (True, ParameterTypeError, "learning_rate=True must be a float"),
    ],
)
def test_a_rate_that_is_none_is_refused_with_its_round(rate, kind, message):
    with pytest.raises(kind, match=f"LearningRateSchedule, round 2: {message}"):
        LearningRateSchedule([0.1, rate])
    with pytest.raises(kind, match=f"LearningRateSchedule, round 5: {message}"):
        LearningRateSchedule(lambda done: rate).rate(4)


@pytest.mark.parametrize("rates", [0.1, "0.1", None, b"1", np.array(0.1), {0.1}, {1: 0.1}])
def test_what_is_neither_a_list_nor_a_function_is_refused(rates):
    with pytest.raises(ParameterTypeError, match="takes a list of rates or a function, not"):
        LearningRateSchedule(rates)


def test_a_schedule_shows_what_it_was_made_of():
    assert repr(LearningRateSchedule(np.array([1, 0.5]))) == "LearningRateSchedule([1.0, 0.5])"
    assert repr(LearningRateSchedule(max)) == "LearningRateSchedule(<built-in function max>)"
    assert len(repr(LearningRateSchedule([0.1] * 1000))) < 200


def test_a_training_takes_one_schedule():
    one, other = LearningRateSchedule([0.1]), LearningRateSchedule([0.2])
    assert schedule_of([print, one]) is one
    assert schedule_of([print]) is None
    with pytest.raises(ParameterError, match="callbacks hold 2 LearningRateSchedules; a training takes one"):
        schedule_of([one, print, other])
