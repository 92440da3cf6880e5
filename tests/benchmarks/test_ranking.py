"""The cases about ranking, run small; nothing here is timed or downloaded."""

import numpy as np
import pytest
from sklearn.metrics import ndcg_score

from benchmarks import data, generate
from benchmarks.bench import Bench
from benchmarks.cases import ranking
from benchmarks.peers import OURS, PEERS
from benchmarks.peers.rankers import sizes_of
from benchmarks.quality import ndcg
from benchmarks.registry import CASES
from benchmarks.settings import Options


def run(name, said=None):
    say = (lambda text: None) if said is None else said.append
    peers = [PEERS[name]() for name in ("lightgbm-ranker", "xgboost-ranker")]
    return CASES[name].run(Bench(Options(quick=True, threads=1), OURS(), peers, say), name)


def absent(*_):
    raise data.DataMissingError("no network")


@pytest.mark.slow
def test_training_is_timed_and_judged_beside_both_libraries(monkeypatch):
    monkeypatch.setattr(ranking, "mslr", lambda: ranking.generated(1_000))
    rows = run("ranking")
    measures = ["train", "train", "dataset + train", "dataset + train"]
    assert [row.measure for row in rows] == measures + [f"mslr_sample: {measure}" for measure in measures]
    assert all(row.ours > 0 and row.theirs > 0 for row in rows)
    assert min(rows[0].quality["ndcg@10"]) > 0.2


def test_held_out_queries_are_compared_and_a_table_that_lacks_is_left_out(monkeypatch):
    monkeypatch.setattr(ranking, "read_members", absent)
    said = []
    rows = run("ranking-accuracy", said)
    assert "no network" in said
    assert [(row.measure, row.unit) for row in rows] == [("generated", "1 - ndcg@10")] * 2
    assert all(len(row.samples["ours"]) == 2 and 0 < row.ours < 0.9 for row in rows)


def test_relevances_are_as_frequent_as_in_web_search():
    X, y = generate.make_relevance(5_000, 12)
    assert (X.dtype, X.shape) == (np.float32, (5_000, 12))
    np.testing.assert_allclose(np.bincount(y.astype(int)) / 5_000, [0.52, 0.32, 0.13, 0.02, 0.01], atol=0.002)


def test_ndcg_is_that_of_scikit_learn():
    rng = np.random.default_rng(0)
    target, score = rng.integers(0, 5, (7, 20)), rng.normal(size=(7, 20))
    found = ndcg(target.ravel(), score.ravel(), np.repeat(np.arange(7), 20), 10)
    assert found == pytest.approx(ndcg_score(2.0**target - 1, score, k=10))
    assert ndcg(np.zeros(3), np.zeros(3), np.zeros(3), 10) == 1.0


def test_queries_have_their_sizes():
    assert sizes_of(np.array([4, 4, 2, 9, 9, 9])).tolist() == [2, 1, 3]
