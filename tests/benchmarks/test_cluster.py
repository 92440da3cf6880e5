"""The cases about a cluster, run small."""

import pytest

from benchmarks.bench import Bench
from benchmarks.cases import cluster
from benchmarks.cases.child import ChildError
from benchmarks.peers import OURS, PEERS
from benchmarks.registry import CASES
from benchmarks.settings import Options


def run(name, *peers):
    bench = Bench(
        Options(quick=True, threads=1), OURS(), [PEERS[peer]() for peer in peers], lambda text: None
    )
    return CASES[name].run(bench, name)


@pytest.mark.slow
def test_a_cluster_is_compared_with_a_peer_and_with_one_process(monkeypatch):
    monkeypatch.setattr(cluster, "OTHERS", ())
    rows = run("dask", "lightgbm")
    assert [(row.measure, row.peer) for row in rows] == [
        ("fit, 2 workers", "lightgbm"),
        ("train, 2 workers", "local"),
        ("up, a tree and worker", ""),
        ("down, a tree and worker", ""),
        ("file: local, 1, 2 and 4 workers", ""),
        ("allreduce of 84 KB, 2 workers", ""),
    ]
    assert rows[4].holds
    assert all(row.ours > 0 for row in rows if row.measure != "file: local, 1, 2 and 4 workers")


def test_trainings_with_faults_are_counted(monkeypatch):
    told = {"trainings": 4, "same": 3, "interrupted": 1, "kill": 5}
    monkeypatch.setattr(cluster, "run_child", lambda *arguments: told)
    hangs, files = run("dask-faults")
    assert (hangs.ours, hangs.reached, files.holds) == (0, True, True)
    assert hangs.facts["kill"] == 5


def test_a_training_that_hangs_or_gives_other_bytes_is_told(monkeypatch):
    def hang(*arguments):
        raise ChildError("where it hangs")

    monkeypatch.setattr(cluster, "run_child", hang)
    hangs, files = run("dask-faults")
    assert (hangs.reached, files.holds) == (False, False)
    monkeypatch.setattr(cluster, "run_child", lambda *arguments: {"trainings": 4, "same": 3, "wrong": 1})
    hangs, files = run("dask-faults")
    assert (hangs.reached, files.holds) == (True, False)
