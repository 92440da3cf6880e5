"""The client of a cluster: which one, and calls of its scheduler that end whatever becomes of it."""

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

_PATIENCE = 120.0  # seconds for an adaptive cluster to start a worker


def checked_client(client: Any) -> Client:
    """The client that is given, or else Dask's default one, once every worker was asked for its version of spinney.

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
    if not client.nthreads() and not _comes(client):
        raise ParameterError(
            "client has no workers; start some, and wait for them with client.wait_for_workers(1)"
        )
    _check_versions(client)
    return client


def _comes(client: Client) -> bool:
    """Whether an adaptive cluster starts a worker for a task, which it does for nothing else."""
    if getattr(client.cluster, "_adaptive", None) is None:
        return False
    try:
        client.submit(int, pure=False).result(timeout=_PATIENCE)
    except TimeoutError:
        return False
    return True


def _check_versions(client: Client) -> None:
    def version() -> (
        str | None
    ):  # a function within a function travels by value: a worker without spinney can run it
        try:
            import spinney
        except ImportError:
            return None
        return spinney.__version__

    found: dict[str, Any] = client.run(version, on_error="return")
    # A worker that is lost while it is asked does not matter: what it held is computed again.
    found = {worker: told for worker, told in found.items() if not isinstance(told, OSError)}
    for worker, told in found.items():
        if isinstance(told, Exception):
            raise ParameterError(
                f"the worker {worker} cannot be asked for its version of spinney: {told!r:.200}"
            )
    wrong = Counter(told for told in found.values() if told != __version__)
    if wrong:
        version_, count = wrong.most_common(1)[0]
        worker = next(one for one, told in found.items() if told == version_)
        has = "no spinney" if version_ is None else f"spinney {version_}"
        others = "" if count == 1 else f" ({count} workers have)"
        raise ParameterError(
            f"the worker {worker} has {has}{others}, but this process has {__version__}; install spinney=={__version__} on every "
            "worker"
        )


T = TypeVar("T")

_LOOK = 0.2  # seconds between two looks at the client
_LAST = 2.0  # seconds that a call may take once its client is closed


def begun(call: Callable[[], T]) -> waiting.Future[T]:
    """A call on a thread of its own; whoever asks its future raises what it raises."""
    answer: waiting.Future[T] = waiting.Future()

    def ask() -> None:
        try:
            answer.set_result(call())
        except BaseException as error:
            answer.set_exception(error)

    threading.Thread(target=ask, daemon=True).start()
    return answer


def answered(client: Client, call: Callable[[], T]) -> T:
    """What a call of the client gives.

    Dask lets a call wait for ever if another thread closes the client at the wrong moment. So a thread of its own waits.

    Raises
    ------
    ClusterError
        The client was closed, and there is no answer.
    """
    answer = begun(call)
    closed: float | None = None
    while not waiting.wait([answer], _LOOK).done:
        if client.status in ("closing", "closed"):
            closed = time.monotonic() if closed is None else closed
            if time.monotonic() - closed >= _LAST:
                raise ClusterError(f"client is {client.status}; its scheduler no longer answers")
    return answer.result()


def cancel(client: Client, futures: Sequence[Future]) -> None:
    """Say that nobody wants these tasks. A client that is closed, or that has lost its scheduler, has none left."""
    with contextlib.suppress(Exception):
        answered(client, lambda: client.cancel(list(futures)))
