"""Inspecting models that rank: importances of columns and intervals of metrics by query."""

import numpy as np
import pytest

import spinney as sp
from ranking_problems import interleaved, lists, naive_ndcg
from spinney.errors import DataError, ParameterError, ParameterTypeError

TRAIN, TEST = lists(40, seed=3), lists(30, seed=4)
X, Y, QID, GROUP = TEST


@pytest.fixture(scope="module")
def fitted():
    """A ranker of other queries."""
    ranker = sp.GBMRanker(n_estimators=8, max_leaves=5, min_child_samples=2, n_jobs=1)
    return ranker.fit(TRAIN.X, TRAIN.y, qid=TRAIN.qid)


def test_shuffled_columns_are_evaluated_by_query(fitted):
    found = sp.permutation_importance(fitted, X, Y, qid=QID, repeats=3)
    assert (found.metric, found.score) == ("ndcg", fitted.score(X, Y, qid=QID))
    assert found.importances_mean.argmax() == 0
    by_size = sp.permutation_importance(fitted.model_, X, Y, group=GROUP, repeats=3)
    np.testing.assert_array_equal(by_size.importances, found.importances)
    order = interleaved(TEST, seed=0)
    mixed = sp.permutation_importance(fitted, X[order], Y[order], qid=QID[order], columns=[0])
    assert mixed.score == pytest.approx(found.score)


def test_importances_go_by_weights_of_queries_places_and_functions(fitted):
    weight = np.arange(1.0, len(GROUP) + 1)
    found = sp.permutation_importance(fitted, X, Y, qid=QID, weight=weight, columns=[0], repeats=1)
    assert found.score == fitted.score(X, Y, weight, qid=QID)
    at_3 = sp.permutation_importance(fitted, X, Y, qid=QID, metric="ndcg@3", columns=[0], repeats=1)
    assert at_3.metric == "ndcg@3"

    def own(y_true, scores):
        return (
            "own",
            naive_ndcg(np.asarray(y_true), scores - 1e-9 * np.arange(len(Y)), y_true.queries, 3).mean(),
            True,
        )

    by_function = sp.permutation_importance(fitted, X, Y, qid=QID, metric=own, columns=[0], repeats=1)
    assert at_3.score == pytest.approx(by_function.score)
    np.testing.assert_allclose(at_3.importances, by_function.importances)


@pytest.mark.parametrize(
    ("given", "kind", "message"),
    [
        ({"qid": QID[1:]}, DataError, "qid has .* values, but X has"),
        (
            {"metric": "rmse"},
            ParameterError,
            "metric='rmse' does not fit scores that rank the rows of a query; .* ndcg",
        ),
        ({"metric": "rmse@3"}, ParameterError, "metric='rmse@3' is unknown: only ndcg"),
        ({"y": Y - 1}, DataError, "metric='ndcg' needs relevances that are whole numbers from 0 to 30"),
    ],
)
def test_importances_of_what_does_not_fit_are_refused(given, kind, message, fitted):
    with pytest.raises(kind, match=message):
        sp.permutation_importance(fitted, X, **{"y": Y, "qid": QID} | given)


def test_an_interval_draws_whole_queries(fitted):
    scores = fitted.predict(X) - 1e-9 * np.arange(len(Y))
    found = sp.bootstrap_interval("ndcg@5", Y, scores, qid=QID, repeats=400)
    by_query = naive_ndcg(Y, scores, QID, k=5)
    assert found.metric == "ndcg@5"
    assert found.estimate == pytest.approx(by_query.mean())
    # The bootstrap's standard error of a mean is known.
    assert found.std == pytest.approx(by_query.std() / np.sqrt(len(by_query)), rel=0.15)
    order = interleaved(TEST, seed=1)
    mixed = sp.bootstrap_interval("ndcg@5", Y[order], scores[order], qid=QID[order].astype(str), repeats=400)
    assert mixed.std == pytest.approx(found.std, rel=0.2)


def test_an_interval_takes_gains_and_weights(fitted):
    scores = fitted.predict(X) - 1e-9 * np.arange(len(Y))
    gains = {"label_gain": [0, 1, 2, 3, 4]}
    weight = QID + 1.0
    found = sp.bootstrap_interval("ndcg", Y, scores, qid=QID, weight=weight, params=gains, repeats=2)
    expected = np.average(naive_ndcg(Y, scores, QID, gain=lambda y: y), weights=np.unique(weight))
    assert found.estimate == pytest.approx(expected)


@pytest.mark.parametrize(
    ("metric", "given", "kind", "message"),
    [
        ("ndcg", {}, ParameterError, "metric='ndcg' is computed by query; give the query of each row as qid"),
        ("ndcg", {"qid": np.zeros(len(Y))}, DataError, "one group only"),
        ("map", {"qid": QID, "group": QID}, ParameterError, "group is given beside qid"),
        (lambda y, p: 0.0, {"qid": QID}, ParameterError, "qid is given beside the function"),
        ("ndcg@0", {"qid": QID}, ParameterError, "metric='ndcg@0' is unknown"),
        ("ndcg", {"qid": QID, "params": {"label_gain": [0, 1]}}, DataError, "metric='ndcg' needs relevances .* from 0 to 1"),
    ],
)  # fmt: skip
def test_intervals_of_what_does_not_fit_are_refused(metric, given, kind, message):
    with pytest.raises(kind, match=message):
        sp.bootstrap_interval(metric, Y, np.arange(float(len(Y))), **given)


def test_queries_may_be_drawn_for_other_metrics_too():
    by_group = sp.bootstrap_interval("rmse", Y, Y + 1.0 * QID, group=QID, repeats=50)
    by_query = sp.bootstrap_interval("rmse", Y, Y + 1.0 * QID, qid=QID, repeats=50)
    np.testing.assert_array_equal(by_group.values, by_query.values)


def test_a_ranker_has_no_bias():
    with pytest.raises(
        ParameterTypeError, match="GBMRanker predicts no target; give a classifier or a regressor"
    ):
        sp.bias_variance(sp.GBMRanker(), X, Y)
