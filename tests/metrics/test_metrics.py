import math

import numpy as np
import pytest

from judging import CONFIG, PAIRS, judged, problem
from metric_oracle import LINKS, METRICS, predictions
from spinney import metrics
from spinney.data import Labels
from spinney.errors import ParameterError
from spinney.jit.team import Team
from spinney.metrics import Outcome
from spinney.params.metrics import METRICS as ROWS

LOSSES = [(name, kind) for name, kind in PAIRS if ROWS[name].form in ("mean", "root_mean")]


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
    assert judged(name, scores, target, weight, kind=kind) == pytest.approx(expected, rel=1e-12)


@pytest.mark.kernels
@pytest.mark.parametrize("name", [row.name for row in ROWS.values() if "many" in row.fits])
def test_one_score_a_class_gives_normalised_probabilities(name):
    scores, target, weight = problem("many", 60, True)
    expected = METRICS[name](scores, predictions(scores, "one_vs_rest"), target, weight)
    assert judged(name, scores, target, weight, link="one_vs_rest") == pytest.approx(expected, rel=1e-12)


def test_far_scores_of_one_class_against_the_rest_keep_their_probabilities():
    loss = judged("mlogloss", [[-800.0], [-801.0]], [1.0], link="one_vs_rest")
    assert loss == pytest.approx(np.log(1 + np.e), rel=1e-12)


@pytest.mark.parametrize("link", ["identity", "exp", "logistic", "softmax", "one_vs_rest"])
def test_predictions_are_made_by_the_link(link):
    scores = np.random.default_rng(1).normal(size=(3 if link in ("softmax", "one_vs_rest") else 1, 50))
    with Team(2) as team:
        found = Outcome(scores, link, team).predictions
    np.testing.assert_allclose(found, predictions(scores, link), rtol=1e-14)


@pytest.mark.parametrize(("name", "kind"), LOSSES)
def test_losses_do_not_change_when_all_weights_grow_or_shrink(name, kind):
    scores, target, weight = problem(kind, 50, True, name)
    for scale in (2.0**100, 2.0**-100, 2.0**1000, 2.0**-1000):
        expected = judged(name, scores, target, weight, kind=kind)
        assert judged(name, scores, target, weight * scale, kind=kind) == expected


@pytest.mark.parametrize("weight", [1e290, 1e-290])
def test_the_losses_of_far_scores_are_finite_under_extreme_weights(weight):
    weights = np.array([weight, 3 * weight])
    assert judged("rmse", [1e30, 0.0], [0.0, 1.0], weights) == pytest.approx(5e29, rel=1e-15)
    assert judged("mae", [1e30, 0.0], [0.0, 1.0], weights) == pytest.approx(2.5e29, rel=1e-15)
    assert judged("logloss", [1e30, 0.0], [0.0, 1.0], weights) == pytest.approx(2.5e29, rel=1e-15)


def test_weights_of_an_ordinary_size_keep_every_bit_of_a_loss():
    scores, target, weight = problem("numbers", 200, weighted=True)
    plain = math.sqrt(math.fsum([sum_in_order(weight * (scores[0] - target) ** 2)]) / math.fsum(weight))
    assert judged("rmse", scores, target, weight) == plain


@pytest.mark.parametrize(("name", "kind"), PAIRS)
def test_a_row_of_weight_zero_is_as_good_as_absent(name, kind):
    scores, target, weight = problem(kind, 300, True, name)
    kept = weight > 0
    alone = judged(name, scores[:, kept].copy(), target[kept], weight[kept], kind=kind)
    assert judged(name, scores, target, weight, kind=kind) == pytest.approx(alone, rel=1e-12)


@pytest.mark.parametrize(("name", "kind"), PAIRS)
def test_any_number_of_threads_gives_the_same_number(name, kind):
    scores, target, weight = problem(kind, 30_000, True, name)
    assert len({judged(name, scores, target, weight, threads, kind=kind) for threads in (1, 2, 5)}) == 1


@pytest.mark.parametrize("rows", [1, 8191, 8192, 8193])
@pytest.mark.parametrize("name", ["rmse", "accuracy"])
def test_sums_are_right_at_the_ends_of_a_block(name, rows):
    kind = ROWS[name].fits[0]
    scores, target, _ = problem(kind, rows, weighted=False)
    expected = METRICS[name](scores, predictions(scores, LINKS[kind]), target, np.ones(rows))
    assert judged(name, scores, target) == pytest.approx(expected, rel=1e-12)


def test_log_loss_of_far_scores_is_finite():
    assert judged("logloss", [1000.0, -1000.0], [0.0, 0.0]) == 500.0
    assert judged("logloss", [1000.0, -1000.0], [1.0, 0.0]) == 0.0
    assert judged("mlogloss", [[1000.0, 0.0], [0.0, 1000.0]], [1.0, 1.0]) == 500.0


def test_probabilities_as_target_have_a_log_loss():
    assert judged("logloss", [0.0, 0.0], [0.3, 0.9]) == pytest.approx(np.log(2))


def test_a_score_of_zero_speaks_for_the_first_class():
    assert judged("error", [0.0, 0.0], [0.0, 1.0]) == 0.5
    assert judged("accuracy", [0.0, 0.0, 0.0], [0.0, 0.0, 1.0]) == pytest.approx(2 / 3)
    assert judged("merror", [[1.0], [1.0], [0.0]], [0.0]) == 0.0
    assert judged("accuracy", [[1.0], [1.0], [0.0]], [0.0], kind="many") == 1.0


def test_a_prediction_that_has_no_logarithm_is_lifted():
    assert judged("rmsle", [-5.0], [0.0]) == pytest.approx(np.log(1e6), rel=1e-9)


def test_a_constant_target_is_explained_wholly_or_not_at_all():
    assert judged("r2", [2.0, 2.0], [2.0, 2.0]) == 1.0
    assert judged("r2", [2.0, 2.1], [2.0, 2.0]) == 0.0


@pytest.mark.parametrize(("power", "other"), [(1.0, "poisson_deviance"), (2.0, "gamma_deviance")])
def test_tweedie_meets_its_neighbours(power, other):
    scores, target, _ = problem("positive", 50, False, "gamma_deviance")
    config = type(CONFIG)(**vars(CONFIG) | {"tweedie_variance_power": power})
    with Team(1) as team:
        found = metrics.get("tweedie_deviance", config)(Outcome(scores, "exp", team), Labels(target))
    assert found == judged(other, scores, target)


@pytest.mark.kernels
def test_focal_loss_without_a_factor_weighs_both_classes_alike():
    scores, target, _ = problem("two", 40, weighted=False)
    config = type(CONFIG)(**vars(CONFIG) | {"focal_gamma": 0.0, "focal_alpha": None})
    with Team(1) as team:
        found = metrics.get("focal", config)(Outcome(scores, "logistic", team), Labels(target))
    assert found == pytest.approx(judged("logloss", scores, target), rel=1e-12)


def test_small_errors_keep_their_digits_in_robust_losses():
    tiny = 1e-6
    assert judged("pseudo_huber", [tiny], [0.0]) == pytest.approx(tiny**2 / 2, rel=1e-10)
    assert judged("fair", [tiny], [0.0]) == pytest.approx(tiny**2 / 2, rel=1e-5)


def test_gains_are_better_when_higher_and_losses_when_lower():
    higher = {name for name in ROWS if metrics.get(name, CONFIG).higher_is_better}
    gains = {
        "auc",
        "auc_ovr",
        "auc_ovo",
        "average_precision",
        "accuracy",
        "balanced_accuracy",
        "ndcg",
        "map",
        "mrr",
        "f1",
        "f1_macro",
        "r2",
        "concordance",
        "interval_regression_accuracy",
    }
    assert higher == gains


def test_an_unknown_metric_is_refused():
    with pytest.raises(ParameterError, match="eval_metric = 'gini' is unknown; there are rmse, mse"):
        metrics.get("gini", CONFIG)


def test_every_metric_has_an_oracle():
    assert set(METRICS) == {name for name, _ in PAIRS}
