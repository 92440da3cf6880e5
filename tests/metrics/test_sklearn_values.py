"""Metrics that scikit-learn has too are the same number."""

import numpy as np
import pytest
from sklearn import metrics as sk

from judging import judged
from metric_oracle import PARAMETERS, predictions
from spinney.params.metrics import METRICS

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
    found = judged(name, raw, target, weight, kind=kind)
    assert kind in METRICS[name].fits
    assert found == pytest.approx(expected(sample_weight=weight), rel=1e-12)


def test_balanced_accuracy_of_many_classes_is_the_mean_recall_of_those_present():
    found = judged("balanced_accuracy", MANY, CLASSES, kind="many")
    recalls = sk.recall_score(CLASSES, MANY.argmax(axis=0), labels=range(3), average=None)
    assert found == pytest.approx(recalls.mean(), rel=1e-12)
