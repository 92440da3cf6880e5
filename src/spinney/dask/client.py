"""The client of a cluster: checks, and calls of its scheduler that end even if another thread closes the client."""

from __future__ import annotations

import contextlib
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent import futures as waiting
from typing import Any, TypeVar

from distributed import Client, Future, default_client

from spinney import __version__
from spinney.errors import ClusterError, ParameterError, ParameterTypeError

_ADAPTIVE_TIMEOUT = 120.0  # seconds for an adaptive cluster to start a worker


def checked_client(client: Any) -> Client:
    """The client that is given, or else Dask's default one, once every worker has reported its version of spinney.

    Raises
    ------
    ParameterError
        There is no client, it is closed or asynchronous, it has no workers, or one of them has no spinney or another one.
    ParameterTypeError
        It is no client.
    """
    if client is None:
        try:
            client = default_client()
        except ValueError:
            raise ParameterError(
                "client=None means Dask's default client, but there is none; make one first: client = dask.distributed.Client()"
            ) from None
    if not isinstance(client, Client):
        raise ParameterTypeError(
            f"client must be a dask.distributed.Client, got {type(client).__name__}; give the client first, then the data"
        )
    if client.asynchronous:
        raise ParameterError("client is asynchronous; give one that is not, Client(..., asynchronous=False)")
    if client.status != "running":
        raise ParameterError(f"client is {client.status}; give one that is connected to its scheduler")
    if not client.nthreads() and not _adaptive_starts_worker(client):
        raise ParameterError(
            "client has no workers; start some, and wait for them with client.wait_for_workers(1)"
        )
    _check_versions(client)
    return client


def _adaptive_starts_worker(client: Client) -> bool:
    """Whether an adaptive cluster starts a worker for a task, which it does for nothing else."""
    if getattr(client.cluster, "_adaptive", None) is None:
        return False
    try:
        client.submit(int, pure=False).result(timeout=_ADAPTIVE_TIMEOUT)
    except TimeoutError:
        return False
    return True


def _check_versions(client: Client) -> None:
    # A nested function is pickled by value: a worker without spinney can run it.
    def version() -> str | None:
        try:
            import spinney
        except ImportError:
            return None
        return spinney.__version__

    versions: dict[str, Any] = client.run(version, on_error="return")
    # A worker that is lost during this call does not matter: what it held is computed again.
    versions = {worker: found for worker, found in versions.items() if not isinstance(found, OSError)}
    for worker, found in versions.items():
        if isinstance(found, Exception):
            raise ParameterError(f"the worker {worker} cannot report its version of spinney: {found!r:.200}")
    wrong = Counter(found for found in versions.values() if found != __version__)
    if wrong:
        wrong_version, count = wrong.most_common(1)[0]
        worker = next(one for one, found in versions.items() if found == wrong_version)
        has = "no spinney" if wrong_version is None else f"spinney {wrong_version}"
        others = "" if count == 1 else f" ({count} workers have)"
        raise ParameterError(
            f"the worker {worker} has {has}{others}, but this process has {__version__}; install spinney=={__version__} on every "
            "worker"
        )


T = TypeVar("T")

_CHECK_INTERVAL = 0.2  # seconds between two checks of the client's status
_CLOSED_TIMEOUT = 2.0  # seconds that a call may take once its client is closed


def in_thread(call: Callable[[], T]) -> waiting.Future[T]:
    """A call on a thread of its own, as a future: its `result()` is that of the call, and raises what the call raises."""
    future: waiting.Future[T] = waiting.Future()

    def run() -> None:
        try:
            future.set_result(call())
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return future


def call_scheduler(client: Client, call: Callable[[], T]) -> T:
    """The result of a call of the client, such as one that needs its scheduler.

    Such a call waits for ever if another thread closes the client at the wrong moment. So it runs on a thread of its own.

    Raises
    ------
    ClusterError
        The client was closed, and there is no answer.
    """
    future = in_thread(call)
    closed: float | None = None
    while not waiting.wait([future], _CHECK_INTERVAL).done:
        if client.status in ("closing", "closed"):
            closed = time.monotonic() if closed is None else closed
            if time.monotonic() - closed >= _CLOSED_TIMEOUT:
                raise ClusterError(f"client is {client.status}; its scheduler no longer answers")
    return future.result()


def cancel(client: Client, futures: Sequence[Future]) -> None:
    """Cancel tasks. A client that is closed, or that has lost its scheduler, has none left."""
    with contextlib.suppress(Exception):
        call_scheduler(client, lambda: client.cancel(list(futures)))
