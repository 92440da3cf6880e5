"""Waiting for tasks ends, even if the workers or the client of a cluster are lost."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from distributed import Client, Event, Status

from clusters import PATIENCE, another_client, cluster_of
from spinney.dask.tasks import TaskError, result, results
from spinney.errors import ClusterError, DataError


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with cluster_of(1, processes=False) as client:
        yield client


def test_results_come_in_order_and_the_first_error_is_raised(client: Client) -> None:
    assert results(client, client.map(abs, [-3, -4], pure=False)) == [3, 4]
    futures = [client.submit(TaskError, DataError(text), pure=False) for text in ("first", "second")]
    with pytest.raises(DataError, match="first"):
        results(client, futures)


def test_tasks_without_a_worker_are_given_up_and_cancelled() -> None:
    with cluster_of(0, processes=False) as client:
        future = client.submit(abs, -1)
        with pytest.raises(ClusterError, match="no score: no worker that can compute for 0 s"):
            result(client, future, what="no score", patience=0)
        assert future.cancelled()


def test_workers_that_dask_has_paused_do_not_count(client: Client) -> None:
    client.run(_set_status, Status.paused)
    try:
        with pytest.raises(ClusterError, match="the data set cannot be made: no worker"):
            result(client, client.submit(abs, -1, pure=False), patience=0)
    finally:
        client.run(_set_status, Status.running)


def test_a_worker_that_computes_is_waited_for(client: Client) -> None:
    looks: list[Client] = []
    event = Event("waited-for", client)
    future = client.submit(_waits, "waited-for", pure=False)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(
            "spinney.dask.tasks.running_workers", lambda one: looks.append(one) or event.set() or {"a"}
        )
        assert result(client, future, patience=0) is True
    assert looks


def test_tasks_that_were_cancelled_are_lost(client: Client) -> None:
    future = client.submit(_waits, "never-set", pure=False)
    client.cancel([future])
    with pytest.raises(ClusterError, match="the data set cannot be made: workers were lost"):
        result(client, future)
    Event("never-set", client).set()


def test_a_client_that_is_closed_meanwhile_ends_the_wait(client: Client) -> None:
    other = another_client(client)
    future = other.submit(_waits, "after-close", pure=False)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("spinney.dask.tasks.running_workers", lambda one: one.close())
        with pytest.raises(ClusterError, match="the data set cannot be made: client is closed"):
            result(other, future)
    Event("after-close", client).set()


def _waits(name: str) -> bool:
    return Event(name).wait(PATIENCE)


def _set_status(status, dask_worker):
    dask_worker.status = status
