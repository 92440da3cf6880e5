"""Areas under curves, and the sort behind them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics as sk

import metric_oracle
from metric_cases import problem, value_of
from spinney.jit import barrier
from spinney.jit.team import Team
from spinney.metrics.forms import Predictions, sorted_rows

AREAS = [("auc", "two"), ("average_precision", "two"), ("auc_ovr", "many"), ("auc_ovo", "many")]
SCORES = {
    "many ties": lambda rng: rng.integers(-2, 3, 500) * 1.0,
    "both signs": lambda rng: rng.normal(size=500),
    "far apart": lambda rng: rng.normal(size=500) * 10.0 ** rng.integers(-300, 300, 500),
    "close together": lambda rng: 1.0 + rng.integers(0, 50, 500) * 2.0**-52,
    "close together, falling": lambda rng: 1.0 - np.arange(500) * 2.0**-50,
    "some close together": lambda rng: np.round(rng.normal(size=500)) + rng.integers(0, 3, 500) * 2.0**-40,
    "constant": lambda rng: np.full(500, -0.3),
    "zeros of both signs": lambda rng: np.where(rng.random(500) < 0.5, 0.0, -0.0),
}


@pytest.mark.kernels
@pytest.mark.parametrize("made", SCORES.values(), ids=SCORES)
def test_rows_are_sorted_by_score_and_equal_ones_by_number(made):
    scores = made(np.random.default_rng(0))[:120]
    with Team(2) as team:
        keys, order = sorted_rows(scores, team)
    expected = np.argsort(scores, kind="stable")
    assert order.tolist() == expected.tolist()
    assert (np.diff(keys) == 0).tolist() == (np.diff(scores[expected]) == 0).tolist()


@pytest.mark.kernels
@pytest.mark.parametrize("rows", [1, 2, 3])
def test_fewer_rows_than_threads_are_sorted(rows):
    scores = np.array([0.5, -0.5, 0.5])[:rows]
    with Team(3) as team:
        _, order = sorted_rows(scores, team)
    assert order.tolist() == np.argsort(scores, kind="stable").tolist()


@pytest.mark.parametrize("threads", [1, 2, 3, 7])
def test_threads_that_come_late_sort_the_same(threads):
    rng = np.random.default_rng(1)
    # What sets rows apart is in the leading bits; mostly there; in the last bits alone.
    close = 1.0 + rng.integers(0, 3, 3000) * 2.0**-50
    for scores in (rng.normal(size=3000).round(2), np.sort(close) * rng.choice([-1, 1], 3000), close):
        with Team(threads) as team:
            team.sync[barrier.DELAY] = 1
            _, order = sorted_rows(scores, team)
        assert order.tolist() == np.argsort(scores, kind="stable").tolist()


@pytest.mark.parametrize("made", SCORES.values(), ids=SCORES)
@pytest.mark.parametrize("weighted", [False, True])
def test_areas_of_two_classes_are_those_of_scikit_learn(made, weighted):
    rng = np.random.default_rng(2)
    scores, target = made(rng), rng.integers(0, 2, 500)
    for scale in (1.0, 1e-200, 1e150):
        weight = rng.random(500) * scale if weighted else None
        auc = sk.roc_auc_score(target, scores, sample_weight=weight)
        assert value_of("auc", scores, target, weight) == pytest.approx(auc, rel=1e-12)
        precision = sk.average_precision_score(target, scores, sample_weight=weight)
        assert value_of("average_precision", scores, target, weight) == pytest.approx(precision, rel=1e-12)


@pytest.mark.parametrize("link", ["softmax", "one_vs_rest"])
@pytest.mark.parametrize("weighted", [False, True])
def test_areas_of_many_classes_are_those_of_scikit_learn(link, weighted):
    scores, target, weight = problem("many", 400, weighted)
    with Team(1) as team:
        shares = Predictions(scores, link, team).values.T
    by = {"sample_weight": weight}
    expected = {
        "auc": sk.roc_auc_score(target, shares, multi_class="ovr", **by),
        "auc_ovr": sk.roc_auc_score(target, shares, multi_class="ovr", **by),
        "average_precision": sk.average_precision_score(target.astype(int), shares, **by),
    }
    if not weighted:  # which scikit-learn refuses for pairs of classes
        expected["auc_ovo"] = sk.roc_auc_score(target, shares, multi_class="ovo")
    for name, value in expected.items():
        assert value_of(name, scores, target, weight, link=link) == pytest.approx(value, rel=1e-12)


@settings(derandomize=True, deadline=None, max_examples=150)
@given(
    st.lists(
        st.tuples(st.integers(-2, 2), st.booleans(), st.sampled_from([0.0, 1.0, 0.5, 3.0])),
        min_size=1,
        max_size=25,
    )
)
def test_auc_counts_pairs_in_order_with_ties_and_weights(rows):
    scores, target, weight = (np.ascontiguousarray(part) for part in np.array(rows, float).T)
    found = value_of("auc", scores, target, weight if weight.any() else None)
    weight = weight if weight.any() else np.ones(len(weight))
    assert found == pytest.approx(metric_oracle.auc(scores, target > 0.5, weight), rel=1e-12, nan_ok=True)


@pytest.mark.parametrize("name", ["auc", "average_precision"])
@pytest.mark.parametrize("target", [[0.0, 0.0], [1.0, 1.0]])
def test_the_area_of_one_class_alone_is_no_number(name, target):
    assert np.isnan(value_of(name, [0.1, 0.9], target))


@pytest.mark.parametrize("name", ["auc_ovr", "auc_ovo"])
def test_the_areas_of_many_classes_need_all_of_them(name):
    assert np.isnan(value_of(name, np.eye(3)[:, :2].copy(), [0.0, 1.0]))


@pytest.mark.parametrize(("name", "kind"), AREAS)
def test_areas_do_not_change_when_all_weights_grow_or_shrink(name, kind):
    scores, target, weight = problem(kind, 50, True)
    expected = value_of(name, scores, target, weight)
    for scale in (2.0**100, 2.0**-100, 2.0**600, 2.0**-600):
        assert value_of(name, scores, target, weight * scale) == expected


def test_auc_does_not_lose_rows_of_small_weights_beside_large_ones():
    for weight in ([1.0, 1.0, 1e20], [1e20, 1e20, 1.0]):
        assert value_of("auc", [0.1, 0.7, 0.5], [0.0, 0.0, 1.0], np.array(weight)) == 0.5


def test_a_perfect_order_has_the_whole_area():
    assert value_of("auc", [0.1, 0.2, 0.3], [0.0, 1.0, 1.0]) == 1.0
    assert value_of("average_precision", [0.1, 0.2, 0.3], [0.0, 1.0, 1.0]) == 1.0
    assert value_of("auc_ovo", np.eye(3), [0.0, 1.0, 2.0]) == 1.0
