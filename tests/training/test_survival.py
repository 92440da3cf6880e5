"""Trainings of objectives of times: steps that stay short, and weights of which only the ratios count."""

import numpy as np
import pytest

import spinney as sp

ROWS = 400
LOOSE = {"reg_lambda": 0.0, "min_child_weight": 0.0, "min_child_samples": 1, "max_leaves": 31}


def problem():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(ROWS, 4))
    happens = np.exp(-X[:, 0] + 0.5 * X[:, 1] ** 2 + 0.3 * rng.normal(size=ROWS))
    stopped = rng.exponential(3, ROWS)
    return X, np.minimum(happens, stopped), happens <= stopped


X, TIME, EVENT = problem()
ONE_EVENT = np.arange(ROWS) == 7


def trained(params, time=TIME, event=EVENT, weight=None, rounds=60):
    params = {"objective": "cox"} | params
    last = event if params["objective"] == "cox" else np.where(event, time, np.inf)
    return sp.train(params, sp.Dataset(X, np.column_stack([time, last]), weight=weight), rounds=rounds)


LOSSES = {"cox": {"objective": "cox"}} | {
    name: {"objective": "aft", "aft_loss_distribution": name} for name in ("normal", "logistic", "extreme")
}
SETTINGS = {
    "no penalty": {"reg_lambda": 0.0},
    "no limits": LOOSE,
    "whole steps": LOOSE | {"learning_rate": 1.0},
    "whole steps of samples": LOOSE | {"learning_rate": 1.0, "subsample": 0.3},
}


@pytest.mark.parametrize(
    ("time", "event"),
    [(TIME, EVENT), (np.ceil(TIME), EVENT), (TIME, ONE_EVENT)],
    ids=["distinct times", "ties", "one event"],
)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("setting", SETTINGS)
def test_predictions_stay_finite_without_penalties(setting, loss, time, event):
    model = trained(LOSSES[loss] | SETTINGS[setting], time, event)
    predictions = model.predict(X)
    assert np.isfinite(predictions).all()
    assert (predictions > 0).all()
    assert np.abs(model.predict_raw(X)).max() < 120


@pytest.mark.parametrize("tree_method", ["hist", "exact", "approx"])
@pytest.mark.parametrize(("loss", "limit"), [("cox", 1.0), ("logistic", 5.0)])
def test_no_tree_moves_a_score_by_more_than_the_limit_of_its_loss_unless_told(loss, limit, tree_method):
    rough = LOSSES[loss] | LOOSE | {"tree_method": tree_method, "learning_rate": 0.5}
    event = EVENT if loss == "cox" else ONE_EVENT
    assert np.abs(trained(rough, event=event, rounds=20).forest.value).max() == 0.5 * limit
    shorter = trained(rough | {"max_delta_step": 0.25}, event=event, rounds=20)
    assert np.abs(shorter.forest.value).max() == 0.125
    longer = trained(rough | {"max_delta_step": 1e6}, event=event, rounds=20)
    assert np.abs(longer.forest.value).max() > limit


@pytest.mark.parametrize("weight", [1e6, 1e-6, 0.1, 3.0, 1e300])
def test_equal_weights_are_as_good_as_none_for_hazards(weight):
    assert trained({}, weight=np.full(ROWS, weight), rounds=5) == trained({}, rounds=5)


def test_only_ratios_of_weights_count_for_hazards():
    weight = np.random.default_rng(1).integers(0, 4, ROWS) * 1.0
    plain = trained({}, weight=weight, rounds=5)
    assert trained({}, weight=weight * 2.0**20, rounds=5) == plain
    counted = weight > 0
    np.testing.assert_allclose(plain.forest.count[0], counted.sum())
    again = trained({}, weight=weight / weight[counted].mean(), rounds=5)
    np.testing.assert_allclose(again.predict_raw(X), plain.predict_raw(X), rtol=1e-6)


def test_scores_stand_still_where_the_only_event_is_certain():
    params = LOOSE | {"learning_rate": 1.0}
    model = trained(params, event=ONE_EVENT, rounds=300)
    few, all_rounds = model.predict_raw(X, rounds=100), model.predict_raw(X)
    assert np.abs(all_rounds - few).max() < 3.0
    assert all_rounds.argmax() == 7
