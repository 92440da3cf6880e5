import numpy as np
import pytest
from sklearn.metrics import ndcg_score

import ranking_oracle
from spinney import metrics
from spinney.data import Labels
from spinney.jit.team import Team
from spinney.metrics import Predictions
from spinney.params import Config
from spinney.params.metrics import METRICS

NAMES = [name for name, one in METRICS.items() if one.form == "by_query"]


def problem(rows=90, queries=8, weighted=False, seed=0):
    """Scores with ties; the rows of a query do not stand together, one query has no relevant row and one has one row."""
    rng = np.random.default_rng(seed)
    numbers = np.unique(rng.integers(0, queries, rows), return_inverse=True)[1]
    target = rng.integers(0, 4, rows) * (rng.random(rows) < 0.4)
    target[numbers == 1] = 0
    numbers = np.append(numbers, numbers.max() + 1)
    scores, target = rng.normal(size=rows + 1).round(1), np.append(target, 2) * 1.0
    return scores, target, numbers, rng.random(rows + 1) if weighted else None


def value_of(name, scores, target, queries=None, weight=None, threads=1, **params):
    config = Config(objective="rank_ndcg", **params)
    labels = Labels(np.array(target, float), weight, queries=queries)
    with Team(threads) as team:
        predictions = Predictions(np.array(scores, float)[None], "identity", team)
        return metrics.get(name, config).compute(predictions, labels).value


@pytest.mark.kernels
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("depth", [None, 1, 3, 1000])
@pytest.mark.parametrize("weighted", [False, True])
def test_metrics_are_those_of_a_loop_over_queries(name, depth, weighted):
    given = problem(weighted=weighted)
    found = value_of(name if depth is None else f"{name}@{depth}", *given)
    assert found == pytest.approx(ranking_oracle.metric(name, *given, depth=depth or 10**6), rel=1e-12)


@pytest.mark.kernels
@pytest.mark.parametrize("name", NAMES)
def test_without_queries_all_rows_are_one_list(name):
    scores, target, _, _ = problem()
    assert value_of(name, scores, target) == pytest.approx(
        ranking_oracle.metric(name, scores, target, None), rel=1e-12
    )


@pytest.mark.kernels
@pytest.mark.parametrize("name", NAMES)
def test_a_query_without_relevant_rows_counts_1_and_so_does_one_row(name):
    assert value_of(name, [0.3, 0.1], [0, 0]) == 1.0
    assert value_of(f"{name}@1", [0.3], [2]) == 1.0


@pytest.mark.kernels
def test_gains_of_relevances_are_those_of_training():
    given = problem()
    found = value_of("ndcg@5", *given, label_gain=[0, 1, 2, 3])
    assert found == pytest.approx(
        ranking_oracle.metric("ndcg", *given, depth=5, gains=[0, 1, 2, 3]), rel=1e-12
    )


@pytest.mark.kernels
def test_of_equal_scores_the_first_row_comes_first():
    assert value_of("mrr", [1.0, 1.0, 1.0], [0, 1, 0]) == 0.5
    assert value_of("mrr", [0.0, -0.0], [0, 1]) == 0.5


def test_ndcg_is_that_of_scikit_learn():
    rng = np.random.default_rng(3)
    target, scores = rng.integers(0, 5, (20, 30)), rng.normal(size=(20, 30))
    queries = np.repeat(np.arange(20), 30)
    for depth in (1, 5, 30):
        found = value_of(f"ndcg@{depth}", scores.ravel(), target.ravel(), queries)
        assert found == pytest.approx(ndcg_score(2.0**target - 1, scores, k=depth), rel=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_metrics_are_the_same_for_any_number_of_threads(name):
    given = problem(rows=2000, queries=150, weighted=True)
    one = value_of(f"{name}@7", *given)
    assert all(value_of(f"{name}@7", *given, threads=threads) == one for threads in (2, 3, 8))


@pytest.mark.parametrize("name", NAMES)
def test_metrics_do_not_change_when_all_weights_grow_or_shrink(name):
    *given, weight = problem(weighted=True)
    for scale in (2.0**1000, 2.0**-1000):
        assert value_of(name, *given, weight * scale) == value_of(name, *given, weight)


def test_lists_longer_than_a_few_runs_are_sorted():
    rng = np.random.default_rng(1)
    scores, target = rng.normal(size=1000).round(1), rng.integers(0, 3, 1000) * 1.0
    assert value_of("ndcg@100", scores, target) == pytest.approx(
        ranking_oracle.metric("ndcg", scores, target, None, depth=100), rel=1e-12
    )
