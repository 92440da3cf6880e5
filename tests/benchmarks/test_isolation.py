"""The cases about isolation forests, run small; nothing here is timed or downloaded."""

import gzip

import numpy as np
import pytest

from benchmarks import data, generate
from benchmarks.bench import Bench
from benchmarks.cases import isolation
from benchmarks.peers import OUR_ISOLATION, OURS, PEERS
from benchmarks.registry import CASES
from benchmarks.settings import Options, Settings


def run(name, said=None):
    say = (lambda text: None) if said is None else said.append
    # What the tests install; isotree is not among it.
    bench = Bench(Options(quick=True, threads=1), OURS(), [PEERS["sklearn-isolation"]()], say)
    return CASES[name].run(bench, name)


def absent(*_):
    raise data.DataMissingError("no network")


def test_the_twin_gets_the_same_settings():
    settings = Settings(rounds=7, threads=2, seed=3)
    ours, theirs = (make().estimator(settings) for make in (OUR_ISOLATION, PEERS["sklearn-isolation"]))
    found = ours.get_params()
    assert {name: found[name] for name in theirs.get_params()} == theirs.get_params()


def test_a_table_has_a_few_rows_that_lie_anywhere():
    X, y = generate.make_odd(5_000, 6)
    assert (X.dtype, X.shape) == (np.float32, (5_000, 6))
    assert 0.02 < y.mean() < 0.04


def test_a_fit_and_scores_are_timed_and_judged_beside_the_twin():
    rows = run("isolation")
    assert [row.measure for row in rows] == ["fit + score", "fit", "score"]
    assert all(row.ours > 0 and row.theirs > 0 for row in rows)
    assert min(rows[0].quality["auc"]) > 0.7


@pytest.mark.slow
def test_memory_is_measured_in_processes_of_their_own():
    (row,) = run("isolation-memory")
    assert (row.measure, row.unit) == ("memory", "MB")
    assert row.ours > 0


def test_areas_are_compared_seed_by_seed_and_a_table_that_lacks_is_left_out(monkeypatch):
    monkeypatch.setattr(isolation, "read_members", absent)
    said = []
    rows = run("isolation-accuracy", said)
    assert "no network" in said
    assert [row.measure for row in rows] == ["clusters", "tails"]
    assert all(len(row.samples["ours"]) == 2 and 0 < row.ours < 0.4 for row in rows)


def test_shuttle_is_read_from_its_file(monkeypatch):
    content = gzip.compress(b"a,b,anomaly\n1,2,0\n3,4,1\n")
    monkeypatch.setattr(isolation, "read_members", lambda archive, members: [content])
    X, y = isolation.shuttle()
    assert X.tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert y.tolist() == [0.0, 1.0]
