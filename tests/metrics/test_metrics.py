import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics as sk

import oracles
from spinney import metrics
from spinney.data import Labels
from spinney.errors import ParameterError
from spinney.jit.team import Team
from spinney.metrics.auc import auc

RNG = np.random.default_rng(0)
BINARY, MULTI = ("logloss", "auc", "error"), ("mlogloss", "merror")


def judged(name, scores, target, weight=None, threads=1):
    with Team(threads) as team:
        return metrics.get(name)(np.atleast_2d(scores), Labels(np.asarray(target, float), weight), team)


def problem(name, rows, weighted, seed=0):
    rng = np.random.default_rng(seed)
    outputs = 3 if name in MULTI else 1
    target = rng.integers(0, outputs + 1 if name in BINARY else 3, rows) * 1.0
    scores = rng.normal(size=(outputs, rows)).round(1) * 2
    return scores, target, rng.integers(0, 4, rows) * 0.7 if weighted else None


def sum_in_order(values):
    total = 0.0
    for value in values:
        total += value
    return total


@pytest.mark.kernels
@pytest.mark.parametrize("name", list(oracles.METRICS))
@pytest.mark.parametrize("weighted", [False, True])
def test_metrics_are_those_of_the_oracle(name, weighted):
    scores, target, weight = problem(name, 70, weighted)
    given = np.ones(70) if weight is None else weight
    expected = oracles.METRICS[name](scores, target, given)
    assert judged(name, scores, target, weight) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
def test_metrics_are_those_of_scikit_learn(weighted):
    rows = 500
    y, f = RNG.normal(size=rows), RNG.normal(size=rows)
    labels, classes = RNG.integers(0, 2, rows), RNG.integers(0, 4, rows)
    scores = RNG.normal(size=(4, rows))
    weight = RNG.random(rows) if weighted else None
    by = {"sample_weight": weight}
    expected = {
        "rmse": (f, y, sk.root_mean_squared_error(y, f, **by)),
        "mae": (f, y, sk.mean_absolute_error(y, f, **by)),
        "logloss": (f, labels, sk.log_loss(labels, 1 / (1 + np.exp(-f)), **by)),
        "auc": (f.round(1), labels, sk.roc_auc_score(labels, f.round(1), **by)),
        "error": (f, labels, 1 - sk.accuracy_score(labels, f > 0, **by)),
        "mlogloss": (scores, classes, sk.log_loss(classes, oracles.probabilities(scores).T, **by)),
        "merror": (scores, classes, 1 - sk.accuracy_score(classes, scores.argmax(axis=0), **by)),
    }
    for name, (raw, target, value) in expected.items():
        assert judged(name, raw, target, weight) == pytest.approx(value, rel=1e-10), name


@settings(derandomize=True, deadline=None, max_examples=150)
@given(
    st.lists(
        st.tuples(st.integers(-2, 2), st.booleans(), st.sampled_from([0.0, 1.0, 0.5, 3.0])),
        min_size=1,
        max_size=25,
    )
)
def test_auc_counts_pairs_in_order_with_ties_and_weights(rows):
    scores, target, weight = np.array(rows, float).T
    assert auc(scores, target, weight) == pytest.approx(
        oracles.auc(scores[None], target, weight), rel=1e-12, nan_ok=True
    )


@pytest.mark.parametrize("target", [[0.0, 0.0], [1.0, 1.0]])
def test_auc_of_a_lone_class_is_no_number(target):
    assert np.isnan(judged("auc", [0.1, 0.9], target))


def test_auc_does_not_change_when_all_weights_grow_or_shrink():
    scores, target, weight = problem("auc", 50, weighted=True)
    expected = judged("auc", scores, target, weight)
    for scale in (2.0**100, 2.0**-100, 2.0**600, 2.0**-600):
        assert judged("auc", scores, target, weight * scale) == expected


def test_auc_does_not_lose_light_rows_beside_heavy_ones():
    for weight in ([1.0, 1.0, 1e20], [1e20, 1e20, 1.0]):
        assert auc(np.array([0.1, 0.7, 0.5]), np.array([0.0, 0.0, 1.0]), np.array(weight)) == 0.5


@pytest.mark.parametrize("name", [name for name in oracles.METRICS if name != "auc"])
def test_losses_do_not_change_when_all_weights_grow_or_shrink(name):
    scores, target, weight = problem(name, 50, weighted=True)
    for scale in (2.0**100, 2.0**-100, 2.0**1000, 2.0**-1000):
        assert judged(name, scores, target, weight * scale) == judged(name, scores, target, weight)


@pytest.mark.parametrize("weight", [1e290, 1e-290])
def test_the_losses_of_far_scores_are_finite_under_extreme_weights(weight):
    weights = np.array([weight, 3 * weight])
    assert judged("rmse", [1e30, 0.0], [0.0, 1.0], weights) == pytest.approx(5e29, rel=1e-15)
    assert judged("mae", [1e30, 0.0], [0.0, 1.0], weights) == pytest.approx(2.5e29, rel=1e-15)
    assert judged("logloss", [1e30, 0.0], [0.0, 1.0], weights) == pytest.approx(2.5e29, rel=1e-15)


def test_weights_of_an_ordinary_size_keep_every_bit_of_a_loss():
    scores, target, weight = problem("rmse", 200, weighted=True)
    plain = math.sqrt(math.fsum([sum_in_order(weight * (scores[0] - target) ** 2)]) / math.fsum(weight))
    assert judged("rmse", scores, target, weight) == plain


@pytest.mark.parametrize("name", list(oracles.METRICS))
def test_a_row_of_weight_zero_is_as_good_as_absent(name):
    scores, target, weight = problem(name, 300, weighted=True)
    kept = weight > 0
    assert judged(name, scores, target, weight) == pytest.approx(
        judged(name, scores[:, kept].copy(), target[kept], weight[kept]), rel=1e-12
    )


@pytest.mark.parametrize("name", list(oracles.METRICS))
def test_any_number_of_threads_gives_the_same_number(name):
    scores, target, weight = problem(name, 40_000, weighted=True)
    assert len({judged(name, scores, target, weight, threads) for threads in (1, 2, 3, 8)}) == 1


@pytest.mark.parametrize("rows", [1, 8191, 8192, 8193])
def test_losses_are_right_at_the_ends_of_a_block(rows):
    scores, target, _ = problem("rmse", rows, weighted=False)
    expected = oracles.METRICS["rmse"](scores, target, np.ones(rows))
    assert judged("rmse", scores, target) == pytest.approx(expected, rel=1e-12)


def test_log_loss_of_far_scores_is_finite():
    assert judged("logloss", [1000.0, -1000.0], [0.0, 0.0]) == 500.0
    assert judged("logloss", [1000.0, -1000.0], [1.0, 0.0]) == 0.0
    assert judged("mlogloss", [[1000.0, 0.0], [0.0, 1000.0]], [1.0, 1.0]) == 500.0


def test_probabilities_as_target_have_a_log_loss():
    assert judged("logloss", [0.0, 0.0], [0.3, 0.9]) == pytest.approx(np.log(2))


def test_a_score_of_zero_speaks_for_the_first_class():
    assert judged("error", [0.0, 0.0], [0.0, 1.0]) == 0.5
    assert judged("merror", [[1.0], [1.0], [0.0]], [0.0]) == 0.0


def test_only_the_area_is_better_when_higher():
    assert [name for name in oracles.METRICS if metrics.get(name).higher_is_better] == ["auc"]


def test_an_unknown_metric_is_refused():
    with pytest.raises(ParameterError, match="eval_metric = 'gini' is unknown; there are rmse, mae"):
        metrics.get("gini")
