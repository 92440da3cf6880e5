import numpy as np
import pytest

import ranking_oracle
from spinney import objectives
from spinney.data import Labels
from spinney.data.labels import allocate_gradients
from spinney.jit.team import Team
from spinney.params import Config

PAIRS = ["rank_ndcg", "rank_map", "rank_pairwise"]
NAMES = [*PAIRS, "rank_xendcg"]


def problem(rows=70, queries=6, seed=0, weighted=False, binary=False, spread=1.0):
    """Scores with ties, relevances, and queries of which rows do not stand together."""
    rng = np.random.default_rng(seed)
    scores = (rng.normal(size=rows) * spread).round(1)
    target = rng.integers(0, 2 if binary else 4, rows) * 1.0
    numbers = None
    if queries > 1:
        numbers = rng.integers(0, queries, rows)
        numbers = np.unique(numbers, return_inverse=True)[1]
    return scores, target, numbers, rng.random(rows) if weighted else None


def filled(name, scores, target, queries, weight=None, threads=1, seed=5, **params):
    """Gradients and hessians, (rows, 2)."""
    made = allocate_gradients(np.array(scores, float)[None])
    labels = Labels(np.array(target, float), weight, queries=queries)
    with Team(threads) as team:
        objectives.get(Config(objective=name, **params)).filler(labels, made, team)(seed)
    return made.pairs[0]


def expected(name, scores, target, queries, weight=None, **params):
    if name == "rank_xendcg":
        return ranking_oracle.list_gradients(scores, target, queries, 5, weight, **params)
    return ranking_oracle.pair_gradients(name, scores, target, queries, weight, **params)


def assert_alike(found, wanted):
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6 * np.abs(wanted).max())


@pytest.mark.kernels
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("weighted", [False, True])
def test_gradients_are_those_of_a_loop_over_queries_and_pairs(name, weighted):
    given = problem(weighted=weighted, binary=name == "rank_map")
    assert_alike(filled(name, *given), expected(name, *given))


@pytest.mark.kernels
@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("truncation", [1, 3, 1000])
def test_pairs_count_that_have_a_row_among_the_first_places(name, truncation):
    given = problem(rows=40, queries=2, binary=name == "rank_map")
    found = filled(name, *given, lambdarank_truncation_level=truncation)
    assert_alike(found, expected(name, *given, truncation=truncation))


@pytest.mark.kernels
@pytest.mark.parametrize("name", PAIRS)
def test_pairs_may_go_without_norms_and_with_a_steeper_logistic_function(name):
    given = problem(rows=30, queries=3, binary=name == "rank_map")
    found = filled(name, *given, lambdarank_norm=False, lambdarank_sigmoid=2.0)
    assert_alike(found, expected(name, *given, norm=False, sigmoid=2.0))


@pytest.mark.kernels
@pytest.mark.parametrize("name", ["rank_ndcg", "rank_xendcg"])
def test_gains_of_relevances_may_be_given(name):
    given, gains = problem(rows=30, queries=3), (0.0, 1.0, 2.0, 10.0)
    assert_alike(filled(name, *given, label_gain=gains), expected(name, *given, gains=gains))


@pytest.mark.kernels
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("rows", [2, 5, 16, 17, 33])
def test_queries_may_have_any_length(name, rows):
    given = problem(rows=rows, queries=1, seed=rows, binary=name == "rank_map")
    assert_alike(filled(name, *given), expected(name, *given))


@pytest.mark.kernels
@pytest.mark.parametrize("name", NAMES)
def test_scores_that_are_all_equal_are_in_the_order_of_the_rows(name):
    _, target, queries, _ = problem(rows=40, queries=2, binary=name == "rank_map")
    given = (np.zeros(40), target, queries)
    assert_alike(filled(name, *given), expected(name, *given))


@pytest.mark.kernels
@pytest.mark.parametrize("name", NAMES)
def test_a_query_of_one_row_or_of_one_relevance_has_no_gradients(name):
    target = np.array([1.0, 0.0, 0.0, 1.0, 1.0, 1.0])
    queries = np.array([0, 1, 1, 2, 2, 2])
    assert not filled(name, np.arange(6.0), target, queries).any()
    assert not filled(name, [0.5], [1.0], None).any()


@pytest.mark.kernels
@pytest.mark.parametrize("name", NAMES)
def test_gradients_of_far_scores_are_finite_and_hessians_are_not_negative(name):
    target = np.array([1.0, 0.0] * 6)
    for scale in (1e3, 1e15, 1e30):
        scores = np.linspace(-1, 1, 12) * scale
        found = filled(name, scores, target, None)
        assert np.isfinite(found).all()
        assert (found[:, 1] >= 0).all()


@pytest.mark.parametrize("name", NAMES)
def test_gradients_of_a_query_add_up_to_nothing(name):
    found = filled(name, *problem(rows=200, queries=1, binary=name == "rank_map")).astype(float)
    assert abs(found[:, 0].sum()) < 1e-5 * np.abs(found[:, 0]).sum()


@pytest.mark.parametrize("name", NAMES)
def test_gradients_are_the_same_for_any_number_of_threads(name):
    given = problem(rows=3000, queries=40, weighted=True, binary=name == "rank_map")
    one = filled(name, *given).tobytes()
    assert all(filled(name, *given, threads=threads).tobytes() == one for threads in (2, 3, 8))


@pytest.mark.parametrize("name", PAIRS)
def test_gradients_do_not_depend_on_where_the_rows_of_a_query_stand(name):
    scores, target, queries, weight = problem(rows=300, queries=20, weighted=True, binary=name == "rank_map")
    together = np.argsort(queries, kind="stable")
    found = filled(name, scores, target, queries, weight)
    moved = filled(name, scores[together], target[together], queries[together], weight[together])
    assert found[together].tobytes() == moved.tobytes()


def test_what_is_drawn_follows_from_the_seed():
    given = problem()
    first, same = filled("rank_xendcg", *given, seed=1), filled("rank_xendcg", *given, seed=1)
    assert first.tobytes() == same.tobytes()
    assert first.tobytes() != filled("rank_xendcg", *given, seed=2).tobytes()


@pytest.mark.parametrize("name", NAMES)
def test_the_largest_gradients_are_found_by_block(name):
    scores, target, queries, _ = problem(rows=20_000, queries=200, binary=name == "rank_map")
    made = allocate_gradients(scores[None])
    with Team(2) as team:
        objective = objectives.get(Config(objective=name))
        team.run(objective.gradients(Labels(target, queries=queries), made, 2))
    pairs = np.abs(made.pairs[0])
    wanted = [pairs[i : i + 8192].max(axis=0) for i in range(0, 20_000, 8192)]
    np.testing.assert_array_equal(made.largest[0], wanted)


@pytest.mark.parametrize("name", NAMES)
def test_scores_start_from_0(name):
    assert objectives.get(Config(objective=name)).base_score(Labels(np.array([0.0, 1.0]))).tolist() == [0.0]
