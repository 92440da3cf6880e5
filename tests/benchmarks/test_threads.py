"""The case that measures how learners scale with threads."""

import pytest

from benchmarks.bench import Bench
from benchmarks.cases import threads
from benchmarks.peers import Peer
from benchmarks.settings import Options


@pytest.mark.parametrize(
    ("cores", "counts"), [(1, [1]), (2, [1, 2]), (6, [1, 2, 4, 6]), (16, [1, 2, 4, 8, 16])]
)
def test_threads_double_up_to_the_cores(cores, counts):
    assert threads.thread_counts(cores) == counts


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5])
@pytest.mark.parametrize("count", [2, 8])
def test_the_serial_share_is_that_of_amdahls_law(share, count):
    speed_up = 1.0 / (share + (1.0 - share) / count)
    assert threads.serial_share(speed_up, count) == pytest.approx(share)


class Counted(Peer):
    """A library that only notes what it was asked for."""

    name = "lightgbm"

    def __init__(self):
        self.trained = []

    def dataset(self, X, y, settings, mode):
        return X

    def train(self, dataset, settings, mode):
        self.trained.append(settings.threads)
        return sum(i * i for i in range(20_000))

    def predict(self, model, X, settings):
        return self.train(X, settings, "")

    def fit(self, X, y, settings, mode):
        raise AssertionError("nobody asks for it")


class Ours(Counted):
    name = "spinney"


def test_every_number_of_threads_is_measured_and_compared_with_one(monkeypatch):
    ours, peer = Ours(), Counted()
    monkeypatch.setattr(threads, "WORKS", {"31 leaves": threads.WORKS["31 leaves"]})
    monkeypatch.setattr(threads.os, "sched_getaffinity", lambda process: {0, 1, 2}, raising=False)
    rows = threads.run(Bench(Options(quick=True), ours, [peer], lambda text: None), "threads")
    assert (sorted(ours.trained), sorted(peer.trained)) == ([1, 2, 3, 12], [1, 2, 3])
    assert [row.measure for row in rows] == [
        "31 leaves: 2 threads",
        "31 leaves: 3 threads",
        "31 leaves: work of 12 threads",
    ]
    assert all(row.ours is not None and row.ours > 0.0 for row in rows)
    assert set(rows[0].facts) == {"speed-up", "serial share", "processor time"}
