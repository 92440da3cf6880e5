"""Metrics by form: against the oracle, against scikit-learn, and at the edges."""

import math

import numpy as np
import pytest
from sklearn import metrics as sk

from metric_cases import CONFIG, PAIRS, problem, value_of
from metric_oracle import LINKS, METRICS, PARAMETERS, predictions
from spinney import metrics
from spinney.data import Labels
from spinney.errors import ParameterError
from spinney.jit.team import Team
from spinney.metrics import Predictions
from spinney.params.metrics import METRICS as DECLARED

LOSSES = [(name, kind) for name, kind in PAIRS if DECLARED[name].form in ("mean", "root_mean")]


def sum_in_order(values):
    total = 0.0
    for value in values:
        total += value
    return total


@pytest.mark.kernels
@pytest.mark.parametrize(("name", "kind"), PAIRS)
@pytest.mark.parametrize("weighted", [False, True])
def test_metrics_are_those_of_the_oracle(name, kind, weighted):
    scores, target, weight = problem(kind, 70, weighted, name)
    given = np.ones(70) if weight is None else weight
    expected = METRICS[name](scores, predictions(scores, LINKS[kind]), target, given)
    assert value_of(name, scores, target, weight, kind=kind) == pytest.approx(expected, rel=1e-12)


@pytest.mark.kernels
@pytest.mark.parametrize("name", [row.name for row in DECLARED.values() if "many" in row.fits])
def test_one_score_a_class_gives_normalised_probabilities(name):
    scores, target, weight = problem("many", 60, True)
    expected = METRICS[name](scores, predictions(scores, "one_vs_rest"), target, weight)
    assert value_of(name, scores, target, weight, link="one_vs_rest") == pytest.approx(expected, rel=1e-12)


def test_far_scores_of_one_class_against_the_rest_keep_their_probabilities():
    loss = value_of("mlogloss", [[-800.0], [-801.0]], [1.0], link="one_vs_rest")
    assert loss == pytest.approx(np.log(1 + np.e), rel=1e-12)


@pytest.mark.parametrize("link", ["identity", "exp", "logistic", "softmax", "one_vs_rest"])
def test_predictions_are_made_by_the_link(link):
    scores = np.random.default_rng(1).normal(size=(3 if link in ("softmax", "one_vs_rest") else 1, 50))
    with Team(2) as team:
        found = Predictions(scores, link, team).values
    np.testing.assert_allclose(found, predictions(scores, link), rtol=1e-14)


@pytest.mark.parametrize(("name", "kind"), LOSSES)
def test_losses_do_not_change_when_all_weights_grow_or_shrink(name, kind):
    scores, target, weight = problem(kind, 50, True, name)
    for scale in (2.0**100, 2.0**-100, 2.0**1000, 2.0**-1000):
        expected = value_of(name, scores, target, weight, kind=kind)
        assert value_of(name, scores, target, weight * scale, kind=kind) == expected


@pytest.mark.parametrize("weight", [1e290, 1e-290])
def test_the_losses_of_far_scores_are_finite_under_extreme_weights(weight):
    weights = np.array([weight, 3 * weight])
    assert value_of("rmse", [1e30, 0.0], [0.0, 1.0], weights) == pytest.approx(5e29, rel=1e-15)
    assert value_of("mae", [1e30, 0.0], [0.0, 1.0], weights) == pytest.approx(2.5e29, rel=1e-15)
    assert value_of("logloss", [1e30, 0.0], [0.0, 1.0], weights) == pytest.approx(2.5e29, rel=1e-15)


def test_weights_of_an_ordinary_size_keep_every_bit_of_a_loss():
    scores, target, weight = problem("numbers", 200, weighted=True)
    plain = math.sqrt(math.fsum([sum_in_order(weight * (scores[0] - target) ** 2)]) / math.fsum(weight))
    assert value_of("rmse", scores, target, weight) == plain


@pytest.mark.parametrize(("name", "kind"), PAIRS)
def test_a_row_of_weight_zero_is_as_good_as_absent(name, kind):
    scores, target, weight = problem(kind, 300, True, name)
    kept = weight > 0
    alone = value_of(name, scores[:, kept].copy(), target[kept], weight[kept], kind=kind)
    assert value_of(name, scores, target, weight, kind=kind) == pytest.approx(alone, rel=1e-12)


@pytest.mark.parametrize(("name", "kind"), PAIRS)
def test_any_number_of_threads_gives_the_same_number(name, kind):
    scores, target, weight = problem(kind, 30_000, True, name)
    assert len({value_of(name, scores, target, weight, threads, kind=kind) for threads in (1, 2, 5)}) == 1


@pytest.mark.parametrize("rows", [1, 8191, 8192, 8193])
@pytest.mark.parametrize("name", ["rmse", "accuracy"])
def test_sums_are_right_at_the_ends_of_a_block(name, rows):
    kind = DECLARED[name].fits[0]
    scores, target, _ = problem(kind, rows, weighted=False)
    expected = METRICS[name](scores, predictions(scores, LINKS[kind]), target, np.ones(rows))
    assert value_of(name, scores, target) == pytest.approx(expected, rel=1e-12)


def test_log_loss_of_far_scores_is_finite():
    assert value_of("logloss", [1000.0, -1000.0], [0.0, 0.0]) == 500.0
    assert value_of("logloss", [1000.0, -1000.0], [1.0, 0.0]) == 0.0
    assert value_of("mlogloss", [[1000.0, 0.0], [0.0, 1000.0]], [1.0, 1.0]) == 500.0


def test_probabilities_as_target_have_a_log_loss():
    assert value_of("logloss", [0.0, 0.0], [0.3, 0.9]) == pytest.approx(np.log(2))


def test_a_score_of_zero_predicts_the_first_class():
    assert value_of("error", [0.0, 0.0], [0.0, 1.0]) == 0.5
    assert value_of("accuracy", [0.0, 0.0, 0.0], [0.0, 0.0, 1.0]) == pytest.approx(2 / 3)
    assert value_of("merror", [[1.0], [1.0], [0.0]], [0.0]) == 0.0
    assert value_of("accuracy", [[1.0], [1.0], [0.0]], [0.0], kind="many") == 1.0


def test_a_prediction_that_has_no_logarithm_is_lifted():
    assert value_of("rmsle", [-5.0], [0.0]) == pytest.approx(np.log(1e6), rel=1e-9)


def test_a_constant_target_is_explained_wholly_or_not_at_all():
    assert value_of("r2", [2.0, 2.0], [2.0, 2.0]) == 1.0
    assert value_of("r2", [2.0, 2.1], [2.0, 2.0]) == 0.0


@pytest.mark.parametrize(("power", "other"), [(1.0, "poisson_deviance"), (2.0, "gamma_deviance")])
def test_tweedie_meets_its_neighbours(power, other):
    scores, target, _ = problem("positive", 50, False, "gamma_deviance")
    config = type(CONFIG)(**vars(CONFIG) | {"tweedie_variance_power": power})
    with Team(1) as team:
        found = (
            metrics.get("tweedie_deviance", config)
            .compute(Predictions(scores, "exp", team), Labels(target))
            .value
        )
    assert found == value_of(other, scores, target)


@pytest.mark.kernels
def test_focal_loss_without_a_factor_weighs_both_classes_alike():
    scores, target, _ = problem("two", 40, weighted=False)
    config = type(CONFIG)(**vars(CONFIG) | {"focal_gamma": 0.0, "focal_alpha": None})
    with Team(1) as team:
        found = (
            metrics.get("focal", config).compute(Predictions(scores, "logistic", team), Labels(target)).value
        )
    assert found == pytest.approx(value_of("logloss", scores, target), rel=1e-12)


def test_small_errors_keep_their_digits_in_robust_losses():
    tiny = 1e-6
    assert value_of("pseudo_huber", [tiny], [0.0]) == pytest.approx(tiny**2 / 2, rel=1e-10)
    assert value_of("fair", [tiny], [0.0]) == pytest.approx(tiny**2 / 2, rel=1e-5)


def test_gains_are_better_when_higher_and_losses_when_lower():
    higher = {name for name in DECLARED if metrics.get(name, CONFIG).higher_is_better}
    gains = {
        "auc",
        "auc_ovr",
        "auc_ovo",
        "average_precision",
        "accuracy",
        "balanced_accuracy",
        "f1",
        "f1_macro",
        "r2",
        "concordance",
        "interval_regression_accuracy",
    }
    rankings = {name for name, row in DECLARED.items() if row.form == "by_query"}
    assert higher == gains | rankings


def test_an_unknown_metric_is_refused():
    with pytest.raises(ParameterError, match="eval_metric = 'gini' is unknown; there are rmse, mse"):
        metrics.get("gini", CONFIG)


def test_every_metric_has_an_oracle():
    assert set(METRICS) == {name for name, _ in PAIRS}


# --- Metrics that scikit-learn has too

ROWS = 500
RNG = np.random.default_rng(0)
RAW = RNG.normal(size=ROWS)
MANY = RNG.normal(size=(4, ROWS))
NUMBERS = RNG.normal(size=ROWS)
COUNTS = RNG.poisson(2.0, ROWS) * 1.0
AMOUNTS = RNG.gamma(2.0, size=ROWS)
LABELS, CLASSES = RNG.integers(0, 2, ROWS), RNG.integers(0, 3, ROWS)  # the last of four classes has no rows
P, SHARES = predictions(RAW, "logistic"), predictions(MANY, "softmax").T
POWER = PARAMETERS["tweedie_variance_power"]

EXPECTED = {
    ("rmse", "numbers"): (RAW, NUMBERS, lambda **by: sk.root_mean_squared_error(NUMBERS, RAW, **by)),
    ("mse", "numbers"): (RAW, NUMBERS, lambda **by: sk.mean_squared_error(NUMBERS, RAW, **by)),
    ("mse", "two"): (RAW, LABELS, lambda **by: sk.mean_squared_error(LABELS, P, **by)),
    ("mae", "positive"): (RAW, COUNTS, lambda **by: sk.mean_absolute_error(COUNTS, np.exp(RAW), **by)),
    ("r2", "numbers"): (RAW, NUMBERS, lambda **by: sk.r2_score(NUMBERS, RAW, **by)),
    ("r2", "two"): (RAW, LABELS, lambda **by: sk.r2_score(LABELS, P, **by)),
    ("rmsle", "positive"): (
        RAW,
        COUNTS,
        lambda **by: sk.root_mean_squared_log_error(COUNTS, np.exp(RAW), **by),
    ),
    ("msle", "positive"): (RAW, COUNTS, lambda **by: sk.mean_squared_log_error(COUNTS, np.exp(RAW), **by)),
    ("mape", "numbers"): (RAW, COUNTS, lambda **by: sk.mean_absolute_percentage_error(COUNTS, RAW, **by)),
    ("pinball", "numbers"): (RAW, NUMBERS, lambda **by: sk.mean_pinball_loss(NUMBERS, RAW, alpha=0.3, **by)),
    ("poisson_deviance", "positive"): (
        RAW,
        COUNTS,
        lambda **by: sk.mean_poisson_deviance(COUNTS, np.exp(RAW), **by),
    ),
    ("gamma_deviance", "positive"): (
        RAW,
        AMOUNTS,
        lambda **by: sk.mean_gamma_deviance(AMOUNTS, np.exp(RAW), **by),
    ),
    ("tweedie_deviance", "positive"): (
        RAW,
        COUNTS,
        lambda **by: sk.mean_tweedie_deviance(COUNTS, np.exp(RAW), power=POWER, **by),
    ),
    ("logloss", "two"): (RAW, LABELS, lambda **by: sk.log_loss(LABELS, P, **by)),
    ("error", "two"): (RAW, LABELS, lambda **by: sk.zero_one_loss(LABELS, RAW > 0, **by)),
    ("accuracy", "two"): (RAW, LABELS, lambda **by: sk.accuracy_score(LABELS, RAW > 0, **by)),
    ("balanced_accuracy", "two"): (
        RAW,
        LABELS,
        lambda **by: sk.balanced_accuracy_score(LABELS, (RAW > 0) * 1, **by),
    ),
    ("f1", "two"): (RAW, LABELS, lambda **by: sk.f1_score(LABELS, (RAW > 0) * 1, **by)),
    ("f1_macro", "two"): (
        RAW,
        LABELS,
        lambda **by: sk.f1_score(LABELS, (RAW > 0) * 1, average="macro", **by),
    ),
    ("brier", "two"): (RAW, LABELS, lambda **by: sk.brier_score_loss(LABELS, P, **by)),
    ("auc", "two"): (RAW, LABELS, lambda **by: sk.roc_auc_score(LABELS, RAW, **by)),
    ("auc", "numbers"): (RAW, LABELS, lambda **by: sk.roc_auc_score(LABELS, RAW, **by)),
    ("average_precision", "two"): (RAW, LABELS, lambda **by: sk.average_precision_score(LABELS, RAW, **by)),
    ("mlogloss", "many"): (MANY, CLASSES, lambda **by: sk.log_loss(CLASSES, SHARES, labels=range(4), **by)),
    ("merror", "many"): (MANY, CLASSES, lambda **by: sk.zero_one_loss(CLASSES, MANY.argmax(axis=0), **by)),
    ("accuracy", "many"): (MANY, CLASSES, lambda **by: sk.accuracy_score(CLASSES, MANY.argmax(axis=0), **by)),
    ("f1", "many"): (
        MANY,
        CLASSES,
        lambda **by: sk.f1_score(CLASSES, MANY.argmax(axis=0), average="macro", **by),
    ),
    ("f1_macro", "many"): (
        MANY,
        CLASSES,
        lambda **by: sk.f1_score(CLASSES, MANY.argmax(axis=0), average="macro", **by),
    ),
    ("brier", "many"): (
        MANY,
        CLASSES,
        lambda **by: sk.brier_score_loss(CLASSES, SHARES, labels=range(4), **by),
    ),
}


@pytest.mark.parametrize(("name", "kind"), EXPECTED)
@pytest.mark.parametrize("weighted", [False, True])
def test_a_metric_is_that_of_scikit_learn(name, kind, weighted):
    raw, target, expected = EXPECTED[name, kind]
    weight = np.random.default_rng(1).random(ROWS) if weighted else None
    found = value_of(name, raw, target, weight, kind=kind)
    assert kind in DECLARED[name].fits
    assert found == pytest.approx(expected(sample_weight=weight), rel=1e-12)


def test_balanced_accuracy_of_many_classes_is_the_mean_recall_of_those_present():
    found = value_of("balanced_accuracy", MANY, CLASSES, kind="many")
    recalls = sk.recall_score(CLASSES, MANY.argmax(axis=0), labels=range(3), average=None)
    assert found == pytest.approx(recalls.mean(), rel=1e-12)
