"""Tasks of Dask: what they are given is made sound, and errors of ours are returned to the client as values."""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable
from concurrent import futures as waiting
from concurrent.futures import CancelledError
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import cloudpickle
import numpy as np
from dask.sizeof import sizeof
from distributed import Client, Future
from distributed.scheduler import KilledWorker
from numpy.typing import NDArray

from spinney.dask.client import cancel, in_thread
from spinney.dask.ranks import running_workers
from spinney.errors import ClusterError, ParameterTypeError, SpinneyError

P = ParamSpec("P")
T = TypeVar("T")

PATIENCE = 120.0  # seconds without a worker
LOOK = 1.0  # seconds between two looks at the cluster


@dataclass(frozen=True)
class TaskError:
    """What a task has in place of its result."""

    error: SpinneyError


def as_task(task: Callable[P, T]) -> Callable[P, T | TaskError]:
    """Let a task give a `TaskError` for an error of ours, and hand on one that it is given: Dask would log what is raised."""

    @wraps(task)
    def told(*args: P.args, **given: P.kwargs) -> T | TaskError:
        for value in (*args, *given.values()):
            for one in value if isinstance(value, list) else (value,):
                if isinstance(one, TaskError):
                    return one
        args, given = sound(args), sound(given)
        try:
            return task(*args, **given)
        except SpinneyError as error:
            return TaskError(error)

    return told


def raised(value: T | TaskError) -> T:
    """Give a result back, or raise what was told in its place."""
    if isinstance(value, TaskError):
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
    gathering: waiting.Future[list[Any]] = in_thread(lambda: client.gather(futures))
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
        return bool(running_workers(client))
    except OSError:  # the scheduler does not answer
        return False


CHUNK = 4 << 20  # bytes of one task's argument; Dask warns from 10 MB on
WORD = 8  # bytes that some kernels look at in one go


def sound(value: T) -> T:
    """The same value with every array in it aligned, as kernels want it; what is sound already is not copied.

    Arrays that came from another worker may stand anywhere in memory.

    Examples
    --------
    >>> odd = np.zeros(17, np.uint8)[1:].view(np.float64)
    >>> odd.flags.aligned, sound([odd])[0].flags.aligned
    (False, True)
    """
    found: Any = value
    if isinstance(value, np.ndarray):
        found = _aligned(value)
    elif isinstance(value, list | tuple) and not hasattr(value, "_fields"):
        parts = [sound(one) for one in value] if _may_hold_arrays(value) else value
        if any(one is not two for one, two in zip(parts, value, strict=True)):
            found = type(value)(parts)
    elif isinstance(value, dict):
        found = {name: sound(one) for name, one in value.items()}
    elif is_dataclass(value) and not isinstance(value, type):
        own = {one.name: getattr(value, one.name) for one in fields(value) if one.init}
        new = {name: sound(one) for name, one in own.items()}
        changed = {name: one for name, one in new.items() if one is not own[name]}
        found = replace(value, **changed) if changed else value
    same: T = found
    return same


def _aligned(array: NDArray[Any]) -> NDArray[Any]:
    odd = array.flags.c_contiguous and array.ctypes.data % WORD
    return array.copy() if not array.flags.aligned or odd else array


def _may_hold_arrays(values: list[Any] | tuple[Any, ...]) -> bool:
    """Whether it is worth looking into a sequence: those of names and numbers may be long."""
    return bool(values) and not isinstance(values[0], str | int | float | bytes)


def array_bytes(value: Any) -> int:
    """Bytes of all arrays in a value.

    Examples
    --------
    >>> array_bytes([np.zeros(3), (np.zeros(2, np.uint8), "text")])
    26
    """
    if isinstance(value, np.ndarray):
        return int(value.nbytes)
    if isinstance(value, list | tuple):
        return sum(array_bytes(one) for one in value) if _may_hold_arrays(value) else 0
    if is_dataclass(value) and not isinstance(value, type):
        return sum(array_bytes(getattr(value, one.name)) for one in fields(value))
    return 0


def pickled(value: Any, what: str = "something that is given") -> bytes:
    """The pickle of a value that goes to the workers.

    Raises
    ------
    ParameterTypeError
        It cannot be pickled, as open files, locks and clients, and functions that use them, cannot.
    """
    try:
        made: bytes = cloudpickle.dumps(value)
    except Exception as error:  # what a class of the user's raises
        raise ParameterTypeError(
            f"{what} cannot travel to a worker, since it cannot be pickled: {type(error).__name__}: {error}"
        ) from error
    return made


def kept(client: Client, value: Any) -> Future:
    """A value of the client's on the cluster: once, in pieces that Dask likes, and there again after a worker was lost."""
    data = pickled(value)
    chunks = [client.submit(itself, data[at : at + CHUNK], pure=False) for at in range(0, len(data), CHUNK)]
    return client.submit(unpickled, chunks, pure=False)


def itself(value: T) -> T:
    """Task: a value."""
    return value


def unpickled(chunks: list[bytes]) -> Any:
    """Task: a value from the pieces of its pickle."""
    return pickle.loads(b"".join(chunks))


def weighed(*kinds: type[Any]) -> None:
    """Let Dask know how many bytes values of these kinds have; by itself it would count those of the object alone."""
    for kind in kinds:
        sizeof.register(kind)(array_bytes)
