"""Calls to the scheduler that come back even when their client is closed meanwhile."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Sequence
from concurrent import futures as waiting
from typing import TypeVar

from distributed import Client, Future

from spinney.errors import ClusterError

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
