"""How the work is done never shows in the tree: subtraction or not, threads, delays."""

import numpy as np
import pytest

import problems
import spinney as sp
from spinney.growth import grower
from spinney.tree import concatenate


def test_histograms_by_subtraction_and_from_rows_give_the_same_tree(monkeypatch):
    problem = [problems.random_problem(seed) for seed in range(60)]
    for seed, (X, _, _, params, _) in enumerate(problem[30:]):
        params |= problems.column_parameters(np.random.default_rng(seed), X.shape[1])
    kept = [problems.fast_tree(data, pairs, params, **given)[0] for _, data, pairs, params, given in problem]
    monkeypatch.setattr(grower, "KEPT_HISTOGRAMS", 0)
    built = [problems.fast_tree(data, pairs, params, **given)[0] for _, data, pairs, params, given in problem]
    assert concatenate(kept).equal(concatenate(built))


def large_problem(wide=False):
    rng = np.random.default_rng(20)
    rows = 20_000
    X = np.where(rng.random((rows, 5)) < 0.05, np.nan, rng.normal(size=(rows, 5)))
    pairs = np.stack([rng.normal(size=rows) - np.nan_to_num(X[:, 0] * X[:, 1]), rng.random(rows)], axis=1)
    return sp.Dataset(X, max_bin=300 if wide else 255), pairs.astype(np.float32)


@pytest.mark.parametrize("kept", [0, 40_000, 512 * 2**20])
@pytest.mark.parametrize("policy", ["lossguide", "depthwise"])
def test_any_room_for_histograms_gives_the_same_large_tree(monkeypatch, kept, policy):
    data, pairs = large_problem()
    params = {"max_leaves": 40, "grow_policy": policy}
    expected, _ = problems.forest(data, pairs, params, 1)
    monkeypatch.setattr(grower, "KEPT_HISTOGRAMS", kept)
    for threads in (1, 2):
        assert problems.forest(data, pairs, params, threads)[0].equal(expected)


@pytest.mark.slow
@pytest.mark.parametrize("more", [-30, -1, 0, 1, 2, 3, 20])
def test_room_for_about_as_many_histograms_as_leaves_gives_the_same_tree(monkeypatch, more):
    data, pairs = large_problem()
    params = {"max_leaves": 40}
    expected, _ = problems.forest(data, pairs, params, 1)
    size = 12 * int(data.matrix.features.group_codes.sum())
    for threads, delay in ((2, 0), (3, 8), (8, 0)):
        beside = 2 + 2 * threads
        monkeypatch.setattr(grower, "KEPT_HISTOGRAMS", (40 + more + beside) * size)
        assert problems.forest(data, pairs, params, threads, delay)[0].equal(expected)


@pytest.mark.parametrize("wide", [False, True], ids=["bytes", "wide"])
@pytest.mark.parametrize(
    "params",
    [
        {"max_leaves": 25},
        {"grow_policy": "depthwise", "max_depth": 4, "colsample_bynode": 0.6},
        {
            "monotone_constraints": [1, 0, -1, 0, 1],
            "interaction_constraints": [[0, 1, 2], [2, 3, 4]],
            "max_leaves": 25,
        },
        {
            "monotone_constraints": [1, 1, 0, 0, 0],
            "feature_weights": [1, 2, 3, 0, 1],
            "colsample_bynode": 0.6,
        },
    ],
    ids=str,
)
def test_threads_and_delays_before_their_meetings_do_not_change_a_tree(wide, params):
    data, pairs = large_problem(wide)
    expected, moved = problems.forest(data, pairs, params, 1)
    for threads, delay in ((2, 0), (3, 0), (8, 0), (2, 12_345), (3, 77)):
        found, scores = problems.forest(data, pairs, params, threads, delay)
        assert found.equal(expected)
        assert scores.tobytes() == moved.tobytes()
