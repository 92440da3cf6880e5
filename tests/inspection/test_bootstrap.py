import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.metrics import (
    accuracy_score,
    f1_score,
    log_loss,
    make_scorer,
    mean_pinball_loss,
    mean_poisson_deviance,
    mean_squared_error,
    mean_tweedie_deviance,
    roc_auc_score,
)

import spinney as sp
from spinney.errors import DataError, ParameterError, ParameterTypeError
from spinney.sampling.bags import bag_counts

ROWS = 80
RNG = np.random.default_rng(0)
NUMBERS = RNG.normal(size=ROWS)
GUESS = NUMBERS + RNG.normal(size=ROWS)
LABELS = np.where(NUMBERS > 0, "yes", "no")
CHANCE = 1 / (1 + np.exp(-GUESS))
CODES = np.digitize(NUMBERS, [-0.5, 0.5])
SHARES = RNG.dirichlet(np.ones(3), ROWS) + np.eye(3)[CODES]
SHARES /= SHARES.sum(axis=1, keepdims=True)
COUNTS = RNG.integers(0, 4, ROWS)
WEIGHT = RNG.random(ROWS)

CASES = {
    "rmse": (NUMBERS, GUESS, lambda y, p, w: np.sqrt(mean_squared_error(y, p, sample_weight=w))),
    "auc": (LABELS, GUESS, lambda y, p, w: roc_auc_score(y == "yes", p, sample_weight=w)),
    "logloss": (LABELS, CHANCE, lambda y, p, w: log_loss(y == "yes", p, sample_weight=w)),
    "log_loss": (CODES, SHARES, lambda y, p, w: log_loss(y, p, sample_weight=w, labels=[0, 1, 2])),
    "brier": (LABELS, CHANCE, lambda y, p, w: mean_squared_error(y == "yes", p, sample_weight=w)),
    "accuracy": (CODES, SHARES, lambda y, p, w: accuracy_score(y, p.argmax(axis=1), sample_weight=w)),
    "f1": (LABELS, CHANCE, lambda y, p, w: f1_score(y == "yes", p > 0.5, sample_weight=w)),
    "poisson_deviance": (
        COUNTS,
        np.exp(GUESS / 3),
        lambda y, p, w: mean_poisson_deviance(y, p, sample_weight=w),
    ),
}


def resampled(y, prediction, weight, function, repeats, seed=0):
    """The metric of resamples, rows copied as often as they were drawn."""
    found = []
    for repeat in range(repeats):
        rows = np.repeat(np.arange(len(y)), bag_counts(seed, repeat, len(y), len(y), replace=True))
        found.append(function(y[rows], prediction[rows], None if weight is None else weight[rows]))
    return np.array(found)


@pytest.mark.parametrize("weight", [None, WEIGHT])
@pytest.mark.parametrize("name", CASES)
def test_an_interval_holds_quantiles_of_the_metric_over_resamples(name, weight):
    y, prediction, function = CASES[name]
    found = sp.bootstrap_interval(name, y, prediction, weight=weight, repeats=40, level=0.8)
    expected = resampled(y, prediction, weight, function, 40)
    np.testing.assert_allclose(found.values, expected, rtol=1e-10, atol=1e-12)
    assert found.estimate == pytest.approx(function(y, prediction, weight), rel=1e-10)
    assert (found.low, found.high) == pytest.approx(tuple(np.quantile(expected, [0.1, 0.9])), rel=1e-10)
    assert found.std == pytest.approx(expected.std(ddof=1), rel=1e-9)
    assert (found.level, found.undefined, len(found.values)) == (0.8, 0, 40)


def test_a_function_gets_the_rows_that_were_drawn():
    name = "rmse"
    y, prediction, function = CASES[name]
    by_name = sp.bootstrap_interval(name, y, prediction, weight=WEIGHT, repeats=20)
    without_name = sp.bootstrap_interval(
        lambda y, p, weight: function(y, p, weight), y, prediction, weight=WEIGHT, repeats=20
    )
    np.testing.assert_allclose(without_name.values, by_name.values, rtol=1e-10)

    def likeness(y, prediction):
        return "likeness", float(np.mean(y == prediction)), True

    found = sp.bootstrap_interval(likeness, list(LABELS), pd.Series(np.roll(LABELS, 1)), repeats=5)
    assert found.metric == "likeness"
    assert found.estimate == np.mean(np.roll(LABELS, 1) == LABELS)


def test_the_interval_of_a_mean_is_as_wide_as_in_theory():
    rng = np.random.default_rng(1)
    y = rng.normal(size=2000)
    found = sp.bootstrap_interval("mse", y, np.zeros(2000), repeats=1500)
    # Squares of a normal number have variance 2.
    error = np.sqrt(2 / 2000)
    assert found.std == pytest.approx(error, rel=0.1)
    assert found.high - found.low == pytest.approx(2 * 1.96 * error, rel=0.1)
    assert found.low < 1 < found.high


def test_groups_are_drawn_whole():
    group = np.repeat(list("abcdefgh"), 10)
    found = sp.bootstrap_interval("rmse", NUMBERS, GUESS, group=group, repeats=30, seed=2)
    expected = []
    for repeat in range(30):
        counts = np.repeat(bag_counts(2, repeat, 8, 8, replace=True), 10)
        expected.append(np.sqrt(np.average((NUMBERS - GUESS) ** 2, weights=counts)))
    np.testing.assert_allclose(found.values, expected, rtol=1e-10)
    one_each = sp.bootstrap_interval("rmse", NUMBERS, GUESS, group=np.arange(ROWS), repeats=30, seed=2)
    alone = sp.bootstrap_interval("rmse", NUMBERS, GUESS, repeats=30, seed=2)
    assert np.array_equal(one_each.values, alone.values)


def test_resamples_without_a_value_are_left_out_and_counted():
    y = np.array([1, 0, 0, 0])
    score = np.array([0.9, 0.1, 0.95, 0.3])
    found = sp.bootstrap_interval("auc", y, score, repeats=200)
    both = [0 < (y * bag_counts(0, r, 4, 4, replace=True)).sum() < 4 for r in range(200)]
    assert found.undefined == 200 - sum(both)
    assert 40 < found.undefined < 100  # each of four draws misses one row by 3/4: .32
    assert len(found.values) == sum(both)
    assert f"{found.undefined} more had no value" in repr(found)

    def area(y, prediction):
        return float("nan") if len(set(y)) < 2 else ("area", roc_auc_score(y, prediction), True)

    own = sp.bootstrap_interval(area, y, score, repeats=200)
    assert own.undefined == found.undefined
    np.testing.assert_allclose(own.values, found.values, rtol=1e-12)
    no_weight = sp.bootstrap_interval("mse", y, score, weight=[1, 0, 0, 0], repeats=50)
    assert no_weight.undefined > 5


def test_labels_will_do_where_only_classes_count():
    predicted = np.roll(LABELS, 1)
    found = sp.bootstrap_interval("accuracy", LABELS, predicted, repeats=10)
    assert found.estimate == np.mean(predicted == LABELS)
    many = sp.bootstrap_interval("error", CODES + 5, np.roll(CODES, 1) + 5, repeats=10)
    assert many.metric == "error"
    assert many.estimate == pytest.approx(np.mean(np.roll(CODES, 1) != CODES))
    binary = sp.bootstrap_interval("accuracy", [0, 1, 1, 0], [0, 1, 0, 0], repeats=10)
    assert binary.estimate == 0.75
    given = sp.bootstrap_interval("f1_macro", LABELS, predicted, classes=["no", "yes", "never"], repeats=10)
    assert given.estimate == pytest.approx(f1_score(LABELS, predicted, average="macro"))


def test_classes_give_the_order_of_the_columns():
    order = [2, 0, 1]
    plain = sp.bootstrap_interval("mlogloss", CODES, SHARES, repeats=5)
    other = sp.bootstrap_interval("mlogloss", CODES, SHARES[:, order], classes=order, repeats=5)
    np.testing.assert_allclose(other.values, plain.values, rtol=1e-12)
    two = sp.bootstrap_interval("logloss", LABELS, np.column_stack([1 - CHANCE, CHANCE]), repeats=5)
    one = sp.bootstrap_interval("logloss", LABELS, CHANCE, repeats=5)
    np.testing.assert_allclose(two.values, one.values, rtol=1e-12)


def test_a_metric_may_have_parameters():
    found = sp.bootstrap_interval("pinball", NUMBERS, GUESS, params={"quantile_alpha": 0.9}, repeats=4)
    assert found.estimate == pytest.approx(mean_pinball_loss(NUMBERS, GUESS, alpha=0.9))
    counts = sp.bootstrap_interval(
        "tweedie_deviance", COUNTS, np.exp(GUESS), params={"tweedie_variance_power": 1.2}, repeats=4
    )
    assert counts.estimate == pytest.approx(mean_tweedie_deviance(COUNTS, np.exp(GUESS), power=1.2))
    with pytest.raises(ParameterError, match="quantile_alpha=2"):
        sp.bootstrap_interval("pinball", NUMBERS, GUESS, params={"quantile_alpha": 2})
    with pytest.raises(ParameterError, match="needs objective"):
        sp.bootstrap_interval("rmse", NUMBERS, GUESS, params={"huber_delta": 2.0})


def test_the_interval_depends_on_the_seed_and_not_on_threads():
    y = np.tile(NUMBERS, 600)
    prediction = np.tile(GUESS, 600)
    found = [
        sp.bootstrap_interval("auc", y > 0, prediction, repeats=4, n_jobs=n).values.tobytes()
        for n in (1, 2, 3)
    ]
    assert found[0] == found[1] == found[2]
    other = sp.bootstrap_interval("auc", y > 0, prediction, repeats=4, seed=1)
    assert other.values.tobytes() != found[0]
    frame = sp.bootstrap_interval("rmse", pl.Series(NUMBERS), pd.DataFrame({"p": GUESS}), repeats=4)
    assert np.array_equal(frame.values, sp.bootstrap_interval("rmse", NUMBERS, GUESS, repeats=4).values)


def test_the_interval_is_shown_in_one_line():
    text = repr(sp.bootstrap_interval("rmse", NUMBERS, GUESS, repeats=20))
    assert text.startswith("BootstrapInterval(rmse ")
    assert "95 % within [" in text
    assert text.endswith("20 resamples)")


def test_wrong_arguments_are_refused():
    def refused(kind, match, metric="rmse", y=NUMBERS, prediction=GUESS, **given):
        with pytest.raises(kind, match=match):
            sp.bootstrap_interval(metric, y, prediction, **given)

    refused(ParameterError, "metric='best' is unknown; there are rmse, mse", "best")
    refused(ParameterTypeError, "metric=3 must be a name or a function", 3)
    refused(ParameterTypeError, "is a scorer, which takes an estimator", make_scorer(accuracy_score))
    refused(
        ParameterError, "metric='rmse' does not fit predictions of more than two", y=CODES, prediction=SHARES
    )
    refused(
        DataError,
        r"needs the probability of every class; prediction must be \(rows, classes\)",
        "mlogloss",
        CODES,
    )
    refused(DataError, "prediction has 79 rows, but y has 80", prediction=GUESS[1:])
    refused(DataError, "prediction has 79 rows, but y has 80", lambda y, p: 0.0, prediction=GUESS[1:])
    refused(DataError, "Input prediction contains NaN", prediction=np.where(GUESS > 0, np.nan, 0))
    refused(DataError, "needs probabilities, from 0 to 1; prediction holds", "logloss", LABELS)
    refused(DataError, "needs predictions above 0, got prediction", "poisson_deviance", COUNTS)
    refused(DataError, "metric='auc' needs rows of both classes", "auc", np.ones(ROWS))
    refused(DataError, "prediction is of 3 classes, but y has 2", "mlogloss", LABELS, SHARES)
    refused(DataError, "classes names 2", "mlogloss", CODES, SHARES, classes=[0, 1])
    refused(DataError, "must be a list of distinct labels", "mlogloss", CODES, SHARES, classes=[0, 1, 1])
    refused(DataError, "they must be of one kind", "accuracy", LABELS, CODES + 5)
    refused(ParameterError, "level=1.5 is out of range", level=1.5)
    refused(ParameterTypeError, "level='much' must be a number", level="much")
    refused(ParameterError, "repeats=0 is out of range: it must be 2 or more", repeats=0)
    refused(ParameterError, "seed=-5 is out of range", seed=-5)
    refused(DataError, "weight holds only zeros", weight=np.zeros(ROWS))
    refused(DataError, "weight has 2 values", weight=[1.0, 2.0])
    refused(DataError, r"group has shape \(2,\); it must be \(80,\)", group=[1, 2])
    refused(DataError, "group has one group only", group=np.zeros(ROWS))
    refused(DataError, r"y has 1 row\(s\); an interval needs 2", y=[1.0], prediction=[1.0])
    refused(DataError, "auc has a value in 0 of 2 resamples", "auc", [0, 1], [0.1, 0.9], repeats=2, seed=SAME)


SAME = next(s for s in range(1000) if all(bag_counts(s, r, 2, 2, replace=True).max() == 2 for r in (0, 1)))


@pytest.mark.parametrize("kind", [int, float])
@pytest.mark.parametrize(
    ("y", "predicted", "right"),
    [
        ([1] * 9 + [2], [1] * 10, 0.9),
        ([0, 1, 2] * 10, [0, 1, 1] * 10, 2 / 3),
        ([1, 2, 3] * 10, [1] * 30, 1 / 3),
    ],
)
def test_labels_of_which_some_are_never_predicted_are_labels(y, predicted, right, kind):
    y, predicted = np.array(y, kind), np.array(predicted, int)
    assert sp.bootstrap_interval("accuracy", y, predicted, repeats=20).estimate == pytest.approx(right)


@pytest.mark.parametrize("kind", [float, object])
def test_rows_without_a_group_are_refused(kind):
    group = np.arange(20.0).astype(kind)
    group[3] = np.nan
    with pytest.raises(DataError, match="group holds NaN in row 3"):
        sp.bootstrap_interval("rmse", np.arange(20.0), np.zeros(20), group=group, repeats=5)


def test_parameters_of_a_metric_are_a_mapping():
    with pytest.raises(ParameterTypeError, match="params=3 must be a mapping"):
        sp.bootstrap_interval("rmse", np.arange(9.0), np.zeros(9), params=3)
