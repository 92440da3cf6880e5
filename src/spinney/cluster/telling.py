"""Tasks: what they are given is made sound, and errors of ours are told to the client as values."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent import futures as waiting
from concurrent.futures import CancelledError
from dataclasses import dataclass
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from distributed import Client, Future
from distributed.scheduler import KilledWorker

from spinney.cluster.asking import begun, cancel
from spinney.cluster.travel import sound
from spinney.cluster.watch import running_of
from spinney.errors import ClusterError, SpinneyError

P = ParamSpec("P")
T = TypeVar("T")

PATIENCE = 120.0  # seconds without a worker
LOOK = 1.0  # seconds between two looks at the cluster


@dataclass(frozen=True)
class Refusal:
    """What a task has in place of its result."""

    error: SpinneyError


def telling(task: Callable[P, T]) -> Callable[P, T | Refusal]:
    """Let a task give a `Refusal` for an error of ours, and hand on one that it is given: Dask would log what is raised."""

    @wraps(task)
    def told(*args: P.args, **given: P.kwargs) -> T | Refusal:
        for value in (*args, *given.values()):
            for one in value if isinstance(value, list) else (value,):
                if isinstance(one, Refusal):
                    return one
        args, given = sound(args), sound(given)
        try:
            return task(*args, **given)
        except SpinneyError as error:
            return Refusal(error)

    return told


def raised(value: T | Refusal) -> T:
    """Give a result back, or raise what was told in its place."""
    if isinstance(value, Refusal):
        raise value.error
    return value


def results(
    client: Client,
    futures: list[Future],
    *,
    what: str = "the data set cannot be made",
    patience: float = PATIENCE,
) -> list[Any]:
    """What tasks told the client; the first refusal is raised. It is for small results.

    Parameters
    ----------
    client : Client
        Whose workers compute.
    futures : list of Future
        The tasks.
    what : str
        What their failure means, for messages.
    patience : float, default=120
        Seconds to wait for a worker when there is none.

    Raises
    ------
    ClusterError
        There are no workers, what they held is lost, or the client has lost its scheduler.
    """
    try:
        return [raised(value) for value in _gathered(client, futures, what, patience)]
    except (KilledWorker, CancelledError) as error:
        _check_running(client, what)
        raise ClusterError(
            f"{what}: workers were lost, and what they held cannot be computed again: {error}"
        ) from error


def result(client: Client, future: Future, **given: Any) -> Any:
    """The same of one task."""
    return results(client, [future], **given)[0]


def _gathered(client: Client, futures: list[Future], what: str, patience: float) -> list[Any]:
    """The values of tasks, as long as there are workers. A thread of its own waits for them."""
    gathering: waiting.Future[list[Any]] = begun(lambda: client.gather(futures))
    try:
        seen = time.monotonic()
        while not waiting.wait([gathering], LOOK).done:
            _check_running(client, what)
            if _may_compute(client):
                seen = time.monotonic()
            elif time.monotonic() - seen >= patience:
                raise ClusterError(f"{what}: no worker that can compute for {patience:g} s")
    except BaseException:
        cancel(client, futures)
        raise
    return gathering.result()


def _check_running(client: Client, what: str) -> None:
    if client.status != "running":
        raise ClusterError(f"{what}: client is {client.status}")


def _may_compute(client: Client) -> bool:
    """Whether a worker is there that starts tasks."""
    try:
        return bool(running_of(client))
    except OSError:  # the scheduler does not answer
        return False
