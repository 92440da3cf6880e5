"""Whole trainings whose leaf values the loss itself finds."""

import numpy as np
import pytest

import spinney as sp
from spinney.errors import DataError, ParameterError

RNG = np.random.default_rng(0)
X = RNG.normal(size=(600, 4))
Y = 100.0 * X[:, 0] + 40.0 * np.abs(X[:, 1]) + 10.0 * RNG.standard_t(2, size=600)
SMALL = {"max_leaves": 8, "min_child_samples": 5}


def trained(params, rounds=8, y=Y, **given):
    return sp.train({**SMALL, **params}, sp.Dataset(X, y, **given), rounds)


@pytest.mark.parametrize("method", ["hist", "approx", "exact"])
def test_a_leaf_holds_the_median_of_its_rows_by_every_method(method):
    model = trained({"objective": "absolute_error", "tree_method": method, "learning_rate": 1.0}, rounds=1)
    leaves, predicted = model.predict_leaf(X)[:, 0], model.predict(X)
    for leaf in np.unique(leaves):
        own = leaves == leaf
        np.testing.assert_allclose(predicted[own], np.median(Y[own]), rtol=1e-12)


@pytest.mark.parametrize("level", [0.1, 0.8])
def test_a_share_of_the_rows_lies_below_a_quantile(level):
    model = trained({"objective": "quantile", "quantile_alpha": level}, rounds=60)
    assert np.mean(model.predict(X) > Y) == pytest.approx(level, abs=0.03)


def test_a_row_of_weight_two_counts_as_two_rows():
    weight = RNG.integers(1, 4, 600) * 1.0
    twice = np.repeat(np.arange(600), weight.astype(int))
    params = {"objective": "absolute_error", "min_child_samples": 1, "min_child_weight": 12.0, **SMALL}
    params["min_child_samples"] = 1
    weighted = sp.train(params, sp.Dataset(X, Y, weight=weight, max_bin=63), 5)
    repeated = sp.train(params, sp.Dataset(X[twice], Y[twice], max_bin=63), 5)
    np.testing.assert_allclose(weighted.predict(X).mean(), repeated.predict(X).mean(), rtol=0.02)


@pytest.mark.parametrize("objective", ["absolute_error", "quantile", "huber", "mape"])
@pytest.mark.parametrize("direction", [1, -1])
def test_refitted_values_keep_the_direction_of_a_column(objective, direction):
    y = -direction * 30.0 * X[:, 0] + Y  # against the direction, or not
    params = {"objective": objective, "monotone_constraints": [direction, 0, 0, 0], "max_leaves": 16}
    model = trained(params, rounds=20, y=y)
    line = np.linspace(-3, 3, 60)
    for row in X[:15]:
        moved = np.tile(row, (60, 1))
        moved[:, 0] = line
        assert (direction * np.diff(model.predict(moved)) >= -1e-9).all()


@pytest.mark.parametrize("objective", ["absolute_error", "huber"])
@pytest.mark.parametrize(
    "sampling",
    [
        {"subsample": 0.5},
        {"sampling_method": "goss", "goss_warm_up": False},
        {"sampling_method": "gradient_based", "subsample": 0.5},
        {"subsample": 0.5, "leaf_values": "all"},
        {"sampling_method": "goss", "goss_warm_up": False, "leaf_values": "all"},
    ],
    ids=["uniform", "goss", "gradient_based", "uniform, all", "goss, all"],
)
@pytest.mark.parametrize("method", ["hist", "exact"])
def test_every_way_to_draw_rows_learns_and_is_the_same_on_any_number_of_threads(objective, sampling, method):
    params = {
        "objective": objective,
        "tree_method": method,
        "learning_rate": 0.5,
        "reg_lambda": 1.0,
        **sampling,
    }
    models = [trained({**params, "n_jobs": jobs}, rounds=10) for jobs in (1, 3)]
    assert models[0] == models[1]
    error = np.abs(models[0].predict(X) - Y).mean()
    assert error < 0.4 * np.abs(Y - np.median(Y)).mean()


def test_values_from_all_rows_are_medians_of_all_rows():
    params = {"objective": "absolute_error", "subsample": 0.3, "leaf_values": "all", "learning_rate": 1.0}
    for method in ("hist", "exact"):
        model = trained({**params, "tree_method": method}, rounds=1)
        leaves, predicted = model.predict_leaf(X)[:, 0], model.predict(X)
        for leaf in np.unique(leaves):
            own = leaves == leaf
            np.testing.assert_allclose(predicted[own], np.median(Y[own]), rtol=1e-12)


def test_a_limit_on_steps_holds_for_refitted_values():
    model = trained({"objective": "absolute_error", "max_delta_step": 2.0, "learning_rate": 1.0}, rounds=1)
    assert np.abs(model.predict(X) - np.median(Y)).max() <= 2.0


def test_huber_reaches_far_targets_though_its_gradients_are_small():
    model = trained({"objective": "huber", "huber_delta": 1.0, "reg_lambda": 1.0}, rounds=60)
    assert np.abs(model.predict(X) - Y).mean() < 0.25 * np.abs(Y - np.median(Y)).mean()


@pytest.mark.parametrize("objective", ["squared_error", "log_loss", "poisson", "softmax"])
def test_line_searches_are_the_same_on_any_number_of_threads(objective):
    y = {"squared_error": Y, "poisson": np.abs(Y).round()}.get(objective, np.digitize(Y, [0.0]) * 1.0)
    params = {"objective": objective, "leaf_estimation": "line_search"}
    if objective == "softmax":
        y, params["num_class"] = np.digitize(Y, [-40.0, 60.0]) * 1.0, 3
    models = [trained({**params, "n_jobs": jobs}, y=y) for jobs in (1, 2, 5)]
    assert models[0] == models[1] == models[2]


def test_line_search_is_newton_where_the_loss_is_a_square():
    searched = trained({"leaf_estimation": "line_search", "reg_alpha": 3.0})
    newton = trained({"reg_alpha": 3.0})
    np.testing.assert_allclose(searched.predict(X), newton.predict(X), rtol=1e-6)


def test_first_order_boosting_of_twelve_points_step_by_step():
    x = np.array([0, 0.5, 0.7, 0.9, 3, 3.2, 3.5, 5.2, 5.5, 5.6, 6, 6.2]).reshape(-1, 1)
    y = np.array([0.5, 0.2, 0.3, 0.6, 5, 5.2, 5.1, 3.3, 2.1, 2.2, 2, 1.9])
    params = {"leaf_estimation": "line_search", "reg_lambda": 0.0, "max_leaves": 3, "learning_rate": 0.5}
    params |= {"min_child_samples": 1, "min_child_weight": 0.0}
    data = sp.Dataset(x, y)
    start = sp.train(params, data, 0)
    np.testing.assert_allclose(start.predict(x), 2.3667, atol=5e-5)
    whole = sp.train({**params, "learning_rate": 1.0}, data, 1)
    steps = whole.predict(x) - start.predict(x)
    np.testing.assert_allclose(steps[[0, 4, 7]], [-1.967, 2.733, -0.067], atol=5e-4)
    assert len(np.unique(steps.round(9))) == 3
    inner = whole.forest.threshold[whole.forest.feature >= 0]
    assert 0.9 < inner.min() < 3 < 3.5 < inner.max() < 5.2
    residuals = y - sp.train(params, data, 1).predict(x)
    expected = [-0.883, -1.183, -1.083, -0.783, 1.267, 1.467, 1.367, 0.967, -0.233, -0.133, -0.333, -0.433]
    np.testing.assert_allclose(residuals, expected, atol=5e-4)


def test_a_function_as_objective_has_no_line_search():
    with pytest.raises(ParameterError, match="line_search"):
        trained({"objective": lambda scores, labels: (scores, scores), "leaf_estimation": "line_search"})


@pytest.mark.parametrize("level", [0.1, 0.3, 0.7, 0.9])
def test_scores_start_at_the_quantile_that_a_leaf_of_all_rows_would_have(level):
    y = np.arange(1.0, 11.0)
    params = {"objective": "quantile", "quantile_alpha": level, "min_child_samples": 20, "learning_rate": 1.0}
    data = sp.Dataset(np.zeros((10, 1)), y)
    start = sp.train(params, data, 0).base_score[0]
    assert start == np.quantile(y, level, method="averaged_inverted_cdf")
    assert sp.train(params | {"base_score": 0.0}, data, 1).predict(np.zeros((1, 1)))[0] == start


def test_the_metric_of_percentage_errors_is_their_loss():
    y = RNG.normal(size=600) + X[:, 0]
    data = sp.Dataset(X, y)
    history = sp.History()
    sp.train({"objective": "mape"}, data, 30, valid={"train": data}, callbacks=[history])
    found = history.evals["train"]["mape_floored"]
    assert found[-1] < 0.9 * found[0]
    assert found == sorted(found, reverse=True)


def test_a_target_that_does_not_fit_the_loss_is_told_before_a_metric_that_does_not():
    counts = np.abs(Y).round()
    data = sp.Dataset(X, counts)
    other = sp.Dataset(X, np.where(np.arange(600) == 7, -1.0, counts), reference=data)
    with pytest.raises(DataError, match=r"valid\['other'\]: objective poisson"):
        sp.train({"objective": "poisson"}, data, 3, valid={"other": other})
