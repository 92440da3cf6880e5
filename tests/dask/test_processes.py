"""Workers that are processes of their own: arrays that are sent between them become aligned, and each reports its version."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from typing import Any

import dask
import numpy as np
import pandas as pd
import pytest
from distributed import Client, LocalCluster
from scipy import sparse

import spinney as sp
import spinney.dask as sd
from clusters import PATIENCE, cluster_of
from dask_data import array, check_alike, file_of, frame, pieces
from spinney.binning.encode import Counts
from spinney.dask import tasks
from spinney.errors import ClusterError, ParameterError

ROWS = 240
CHUNKS = (37, 100, 3, 100)
RNG = np.random.default_rng(0)
X = np.where(RNG.random((ROWS, 6)) < 0.7, 0.0, RNG.normal(size=(ROWS, 6)))
Y = X[:, 0] - X[:, 1]
QUERIES = np.sort(RNG.integers(0, 25, ROWS))


@pytest.fixture(scope="module")
def cluster() -> Iterator[Client]:
    with cluster_of(2) as client:
        yield client


@pytest.fixture
def client(cluster: Client) -> Client:
    cluster.wait_for_workers(2, timeout=PATIENCE)
    return cluster


@pytest.mark.slow
def test_codes_of_sparse_parts_that_are_cut_at_queries_are_those_of_one_machine(client: Client) -> None:
    parts = [client.submit(_itself, one, pure=False) for one in pieces(sparse.csr_array(X), CHUNKS)]
    found = sd.Dataset(client, parts, array(Y, CHUNKS), qid=array(QUERIES, CHUNKS))
    check_alike(found, sp.Dataset(sparse.csr_array(X), Y, qid=QUERIES))


@pytest.mark.slow
def test_an_adaptive_cluster_starts_workers_for_a_data_set() -> None:
    with (
        LocalCluster(n_workers=0, threads_per_worker=1, dashboard_address=":0", memory_limit=0) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        cluster.adapt(minimum=0, maximum=1)
        found = sd.Dataset(client, array(X.astype(float), (ROWS,)), array(Y, (ROWS,)))
        assert found.rows == ROWS


def test_a_fit_on_processes_gives_the_file_of_one_machine(client: Client) -> None:
    table = pd.DataFrame(X, columns=list("abcdef")).assign(text=np.where(Y > 0, "oak", "ash"))
    given: dict[str, Any] = {
        "n_estimators": 4,
        "max_leaves": 5,
        "validation_fraction": 0.2,
        "random_state": 0,
    }
    here = sp.GBMClassifier(**given).fit(table, table.text)
    there = sd.GBMClassifier(client=client, **given).fit(frame(table, CHUNKS), frame(table.text, CHUNKS))
    assert file_of(there.model_) == file_of(here.model_)
    with dask.config.set(scheduler=client.get):
        predicted = there.predict_proba(frame(table, CHUNKS)).compute()
    assert np.array_equal(predicted, here.predict_proba(table))
    assert there.score(frame(table, CHUNKS), frame(table.text, CHUNKS)) == here.score(table, table.text)


def test_sketches_are_sent_between_processes(client: Client) -> None:
    check_alike(sd.Dataset(client, array(X, CHUNKS), cuts="sketch"), sp.Dataset(X))


def test_a_value_is_sent_in_chunks(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "CHUNK_BYTES", 100)
    value = {"numbers": np.arange(99), "text": "x" * 250}
    found = tasks.put(client, value).result()
    assert np.array_equal(found["numbers"], value["numbers"])
    assert found["text"] == value["text"]


@pytest.mark.parametrize("dtype", [np.uint8, np.int32, np.float64])
def test_arrays_at_any_address_are_aligned_wherever_they_are(dtype: Any) -> None:
    bytes_ = np.arange(64 * np.dtype(dtype).itemsize + 1, dtype=np.uint8)
    odd = bytes_[1:].view(dtype)
    value = tasks.aligned({"counts": [Counts(odd, np.zeros(2, np.int64), odd), ("text", 1)]})
    found = value["counts"][0].zeros
    assert found.ctypes.data % 8 == 0
    assert np.array_equal(found, odd)
    aligned = [Counts(found, found, found)]
    assert tasks.aligned(aligned) is aligned


def test_every_worker_must_have_this_version_of_spinney(client: Client) -> None:
    workers = list(client.nthreads())

    def become(version: str | None) -> None:
        import sys
        from importlib import import_module

        if "kept_spinney" not in sys.__dict__:
            sys.__dict__["kept_spinney"] = import_module("spinney")
        module = sys.__dict__["kept_spinney"]
        sys.modules["spinney"] = module if version is not None else None
        if version is not None:
            module.__version__ = version

    try:
        client.run(become, "0.0.1", workers=workers[:1])
        with pytest.raises(
            ParameterError, match=rf"the worker {workers[0]} has spinney 0\.0\.1, but this process has"
        ):
            sd.Dataset(client, array(X, CHUNKS))
        client.run(become, None, workers=workers)
        with pytest.raises(
            ParameterError, match=r"has no spinney \(2 workers have\), but .* install spinney=="
        ):
            sd.GBMRegressor(client=client).fit(array(X, CHUNKS), array(Y, CHUNKS))
    finally:
        client.run(become, sp.__version__, workers=workers)
    assert len(sd.Dataset(client, array(X, CHUNKS)).parts) == 4


def test_rows_that_kill_every_worker_end_in_an_error_of_ours(client: Client) -> None:
    def forgive(failures: int, dask_scheduler: Any) -> int:
        before: int = dask_scheduler.allowed_failures
        dask_scheduler.allowed_failures = failures
        return before

    before = client.run_on_scheduler(forgive, 0)
    try:
        with pytest.raises(ClusterError, match="all those workers died while running it"):
            sd.Dataset(client, [dask.delayed(_die)()])
    finally:
        client.run_on_scheduler(forgive, before)


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _itself(value: Any) -> Any:
    return value
