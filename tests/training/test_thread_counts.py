"""How many threads are started: those asked for, but no more than there is work for, and fewer where there are none."""

import threading

import numpy as np
import pytest
from scipy import sparse

import spinney as sp
from spinney.binning import ingest, sketch
from spinney.jit import cores
from spinney.model import predict
from spinney.model.kernels.walk import BLOCK
from spinney.training import driver

MANY = 20_000
CORES = 1024
X = np.random.default_rng(0).normal(size=(150_000, 5))


class StartError(Exception):
    """How many threads a team would have had."""


@pytest.fixture
def size(monkeypatch):
    """Returns a function that tells with how many threads another one begins its work."""

    def team(threads):
        raise StartError(threads)

    def size(function, *given, **options):
        with monkeypatch.context() as patched:
            for module in (ingest, sketch, predict, driver):
                patched.setattr(module, "Team", team)
            patched.setattr(cores, "THREADS_PER_CORE", 1)
            patched.setattr(cores, "_granted_cores", lambda: CORES)
            with pytest.raises(StartError) as begun:
                function(*given, **options)
        return begun.value.args[0]

    return size


def test_a_table_is_binned_by_no_more_threads_than_have_something_to_do(size):
    tables = [X[:10], X[:9_999], X[:10_000], X[:12_000], X]
    assert [size(sp.Dataset, table, n_jobs=MANY) for table in tables] == [1, 1, 8, 9, 120]
    assert [size(sp.Dataset, X, n_jobs=n_jobs) for n_jobs in (1, 3, 100)] == [1, 3, 100]
    assert size(sp.Dataset, np.zeros((150_000, 100), np.float32), n_jobs=MANY) == CORES
    assert size(sp.Dataset, sparse.random_array((10_000, 50), density=0.01, rng=0), n_jobs=MANY) == 1


def test_a_sketch_is_made_by_no_more_threads_than_it_has_blocks(size):
    update = sp.QuantileSketch(n_jobs=MANY).update
    assert [size(update, X[:rows, 0]) for rows in (10, 131_071, 131_072)] == [1, 1, 2]


@pytest.mark.parametrize("method", ["hist", "exact"])
def test_trees_are_grown_by_no_more_threads_than_have_something_to_do(size, method):
    found = []
    for rows in (100, 10_000, 100_000, 150_000):
        data = sp.Dataset(X[:rows], X[:rows, 0], n_jobs=1)
        found.append(size(sp.train, {"n_jobs": MANY, "tree_method": method}, data))
        assert size(sp.train, {"n_jobs": 2, "tree_method": method}, data) == min(2, found[-1])
    assert found == [1, 1, 8, 12]


@pytest.mark.parametrize("method", ["predict", "predict_raw", "predict_leaf"])
def test_rows_are_predicted_by_no_more_threads_than_have_something_to_do(size, method):
    model = sp.train({"n_jobs": 1}, sp.Dataset(X[:500], X[:500, 0]), rounds=1_000)
    call = getattr(model, method)
    assert [size(call, X[:rows], n_jobs=MANY) for rows in (99, 100, 256, 257, 1_000)] == [1, 1, 1, 2, 4]
    assert [size(call, X, rounds=rounds, n_jobs=MANY) for rounds in (0, 1, 2)] == [1, 12, 24]
    assert size(call, X, n_jobs=MANY) == -(-len(X) // BLOCK)
    assert [size(call, X, n_jobs=n_jobs) for n_jobs in (1, 3, 100)] == [1, 3, 100]


@pytest.mark.parametrize("method", ["hist", "approx", "exact"])
def test_where_no_thread_is_to_be_had_the_model_is_the_same(monkeypatch, capfd, method):
    def run(n_jobs):
        data = sp.Dataset(X[:40_000], X[:40_000, 0], n_jobs=n_jobs, keep_table=True)
        params = {"n_jobs": n_jobs, "tree_method": method, "max_leaves": 200}
        model = sp.train(params, data, 2, progress=True)
        return model, model.predict(X, n_jobs=n_jobs).tobytes()

    def refuse(thread):
        asked.append(thread)
        raise RuntimeError("can't start new thread")

    expected, asked = run(1), []
    monkeypatch.setattr(threading.Thread, "start", refuse)
    assert run(4) == expected
    assert len(asked) >= 2
    assert "2/2" in capfd.readouterr().out
