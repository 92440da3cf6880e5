"""Metrics of times that are not all known."""

import mpmath
import numpy as np
import pytest

import survival_oracle
from spinney import metrics
from spinney.data import Labels
from spinney.data.labels import by_column
from spinney.errors import DataError
from spinney.jit.team import Team
from spinney.metrics import Predictions
from spinney.params import Config

DISTRIBUTIONS = ["normal", "logistic", "extreme"]


def value_of(name, scores, target, weight=None, threads=1, **params):
    labels = Labels(by_column(np.asarray(target, float)), weight)
    with Team(threads) as team:
        return (
            metrics.get(name, Config(**params))
            .compute(Predictions(np.array([scores], float), "exp", team), labels)
            .value
        )


def problem(rows, seed, weighted):
    """Scores, times and events with ties, and weights of which some are 0."""
    rng = np.random.default_rng(seed)
    time, event = rng.integers(0, rows // 3, rows) * 1.0, rng.integers(0, 2, rows) * 1.0
    return rng.normal(size=rows).round(1), time, event, rng.integers(0, 4, rows) * 0.7 if weighted else None


@pytest.mark.kernels
@pytest.mark.parametrize("weighted", [False, True])
def test_concordance_of_hazards_is_the_share_of_pairs_in_order(weighted):
    scores, time, event, weight = problem(50, 1, weighted)
    found = value_of("concordance", scores, np.column_stack([time, event]), weight, objective="cox")
    upper = np.where(event > 0, time, np.inf)
    given = np.ones(50) if weight is None else weight
    assert found == pytest.approx(survival_oracle.concordance(-scores, time, upper, given), rel=1e-12)


@pytest.mark.kernels
@pytest.mark.parametrize("weighted", [False, True])
def test_concordance_of_times_compares_intervals_that_do_not_meet(weighted):
    scores, time, event, weight = problem(60, 2, weighted)
    upper = np.where(event > 0, time, time + np.arange(60) % 3)
    upper[::7] = np.inf
    found = value_of("concordance", scores, np.column_stack([time, upper]), weight, objective="aft")
    given = np.ones(60) if weight is None else weight
    assert found == pytest.approx(survival_oracle.concordance(scores, time, upper, given), rel=1e-12)


@pytest.mark.kernels
def test_at_one_time_an_event_comes_before_what_is_censored_and_two_events_have_no_order():
    cox = {"objective": "cox"}
    assert value_of("concordance", [2.0, 1.0], [[5.0, 1.0], [5.0, 0.0]], **cox) == 1.0
    assert value_of("concordance", [1.0, 2.0], [[5.0, 1.0], [5.0, 0.0]], **cox) == 0.0
    assert value_of("concordance", [1.0, 1.0], [[5.0, 1.0], [6.0, 0.0]], **cox) == 0.5
    assert np.isnan(value_of("concordance", [1.0, 2.0], [[5.0, 1.0], [5.0, 1.0]], **cox))
    assert np.isnan(value_of("concordance", [1.0, 2.0], [[4.0, 0.0], [5.0, 1.0]], **cox))


@pytest.mark.kernels
@pytest.mark.parametrize("weighted", [False, True])
def test_the_partial_likelihood_is_that_of_a_risk_set_for_every_event(weighted):
    scores, time, event, weight = problem(50, 3, weighted)
    found = value_of("cox_nloglik", scores, np.column_stack([time, event]), weight, objective="cox")
    given = np.ones(50) if weight is None else weight
    assert found == pytest.approx(survival_oracle.cox_nloglik(scores, time, event, given), rel=1e-12)


@pytest.mark.kernels
def test_a_row_of_weight_two_is_worth_two_rows():
    scores, time, event, _ = problem(40, 4, weighted=False)
    target = np.column_stack([time, event])
    for name in ("cox_nloglik", "concordance"):
        doubled = value_of(name, scores, target, np.full(40, 2.0), objective="cox")
        twice = value_of(name, np.tile(scores, 2), np.tile(target, (2, 1)), objective="cox")
        assert doubled == pytest.approx(twice, rel=1e-12)


@pytest.mark.kernels
def test_extreme_weights_and_far_scores_leave_the_partial_likelihood_finite():
    target = [[1.0, 1.0], [2.0, 1.0], [3.0, 0.0]]
    far = value_of("cox_nloglik", [-150.0, 150.0, 0.0], target, objective="cox")
    assert far == pytest.approx(150.0)
    for weight in (1e-290, 1e290):
        found = value_of("cox_nloglik", np.zeros(3), target, np.full(3, weight), objective="cox")
        assert found == pytest.approx(np.log(6) / 2 + np.log(weight), rel=1e-12)


@pytest.mark.kernels
@pytest.mark.parametrize("scale", [1.0, 0.4])
@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
def test_the_likelihood_of_intervals_is_that_of_the_distribution(distribution, scale):
    rng = np.random.default_rng(5)
    z = np.concatenate([rng.normal(size=30) * 2, [-35.0, -12.0, 5.0, 8.0]])
    lower = np.exp(z * scale)
    upper = np.choose(np.arange(34) % 4, [lower, np.full(34, np.inf), lower * 1.3, lower * (1 + 1e-9)])
    lower[::6] = 0.0
    upper[0] = 2.0
    weight = rng.random(34)
    params = {"aft_loss_distribution": distribution, "aft_loss_distribution_scale": scale}
    found = value_of(
        "aft_nloglik", np.zeros(34), np.column_stack([lower, upper]), weight, objective="aft", **params
    )
    with mpmath.workdps(700):
        losses = [
            float(survival_oracle.aft_loss(0.0, a, b, distribution, scale))
            for a, b in zip(lower, upper, strict=True)
        ]
    assert found == pytest.approx(np.sum(losses * weight) / weight.sum(), rel=1e-9)


@pytest.mark.kernels
@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
def test_far_scores_leave_the_likelihood_of_intervals_finite(distribution):
    target = [[1.0, 1.0], [1.0, np.inf], [0.0, 1.0], [1.0, 1.5], [0.0, np.inf]]
    for score in (700.0, -700.0):
        given = {"objective": "aft", "aft_loss_distribution": distribution}
        assert np.isfinite(value_of("aft_nloglik", np.full(5, score), target, **given))


@pytest.mark.kernels
def test_a_time_at_an_end_of_its_interval_lies_in_it():
    target = [[1.0, 2.0], [0.0, 1.0], [2.0, np.inf], [1.5, 1.5]]
    assert value_of("interval_regression_accuracy", np.zeros(4), target, objective="aft") == 0.5
    weight = np.array([1.0, 1.0, 6.0, 0.0])
    assert value_of("interval_regression_accuracy", np.zeros(4), target, weight, objective="aft") == 0.25


@pytest.mark.parametrize(
    "name", ["concordance", "cox_nloglik", "aft_nloglik", "interval_regression_accuracy"]
)
def test_any_number_of_threads_gives_the_same_number(name):
    scores, time, event, weight = problem(30_000, 6, weighted=True)
    objective = "aft" if name in ("aft_nloglik", "interval_regression_accuracy") else "cox"
    target = np.column_stack([time, event if objective == "cox" else np.where(event > 0, time, np.inf)])
    target[:, 0] += 1.0
    target[:, 1] += objective == "aft"
    found = {value_of(name, scores, target, weight, threads, objective=objective) for threads in (1, 2, 5)}
    assert len(found) == 1
    assert np.isfinite(found.pop())


@pytest.mark.parametrize(
    ("name", "target", "message"),
    [
        ("cox_nloglik", [[1.0, 0.0], [2.0, 0.0]], "every row is censored"),
        ("concordance", [[1.0, 0.0], [2.0, 1.0]], "one certainly comes first"),
        ("concordance", [[2.0, 1.0], [2.0, 1.0]], "one certainly comes first"),
    ],
)
def test_rows_without_an_event_or_a_pair_are_an_error_that_names_the_metric(name, target, message):
    with pytest.raises(DataError, match=f"eval_metric='{name}'.*{message}"):
        metrics.get(name, Config(objective="cox")).check(Labels(np.array(target)))


def test_an_event_and_a_censored_row_of_its_time_are_a_pair():
    metric = metrics.get("concordance", Config(objective="cox"))
    metric.check(Labels(np.array([[2.0, 1.0], [2.0, 0.0]])))
    with pytest.raises(DataError, match="one certainly comes first"):
        metric.check(Labels(np.array([[2.0, 1.0], [2.0, 0.0]]), np.array([1.0, 0.0])))
