"""The cases about data on disk, run small."""

import numpy as np
import pytest

from benchmarks.bench import Bench
from benchmarks.cases import disk
from benchmarks.peers import OURS, PEERS
from benchmarks.registry import CASES
from benchmarks.scripts.disk import batches
from benchmarks.settings import Options


def run(name):
    bench = Bench(Options(quick=True, threads=1), OURS(), [PEERS["xgboost"]()], lambda text: None)
    return CASES[name].run(bench, name)


def test_batches_are_written_and_read_again(tmp_path):
    disk.write_batches(tmp_path, 250, 100)
    found = list(batches(tmp_path))
    assert [X.shape for X, _ in found] == [(100, 28), (100, 28), (50, 28)]
    assert not np.array_equal(found[0][0], found[1][0])


@pytest.mark.slow
def test_training_from_disk_is_compared_with_memory_and_with_a_peer(monkeypatch):
    monkeypatch.setattr(disk, "SHAPES", ("255 leaves",))
    rows = run("disk")
    assert [row.measure.removeprefix("255 leaves: ") for row in rows] == [
        "train, pages in memory", "train, a quarter in memory", "train", "build", "peak memory", "file",
    ]  # fmt: skip
    assert rows[-1].holds
    assert all(row.ours > 0 and row.theirs > 0 for row in rows[:-1])


def test_peak_memory_is_measured_in_a_process_of_its_own():
    (row,) = run("disk-memory")
    assert row.ours > 0
    assert row.target.bound == 700
