"""Calls to a scheduler whose client is closed meanwhile."""

import threading

import pytest

from spinney.dask import client as client_module
from spinney.errors import ClusterError


class Closing:
    """A client that another thread closes during a call."""

    status = "running"

    def __init__(self):
        self.never = threading.Event()

    def nthreads(self):
        self.status = "closed"
        self.never.wait()

    def cancel(self, futures):
        self.nthreads()


@pytest.fixture
def client(monkeypatch):
    monkeypatch.setattr(client_module, "_CHECK_INTERVAL", 0.0)
    monkeypatch.setattr(client_module, "_CLOSED_TIMEOUT", 0.0)
    made = Closing()
    yield made
    made.never.set()


def test_a_client_that_is_closed_meanwhile_is_an_error(client):
    with pytest.raises(ClusterError, match=r"client is closed; its scheduler no longer answers"):
        client_module.call_scheduler(client, client.nthreads)


def test_tasks_of_a_client_that_is_closed_meanwhile_need_no_cancelling(client):
    client_module.cancel(client, [])


def test_what_a_call_gives_or_raises_comes_back(client):
    assert client_module.call_scheduler(client, lambda: 3) == 3
    with pytest.raises(ZeroDivisionError):
        client_module.call_scheduler(client, lambda: 1 // 0)
