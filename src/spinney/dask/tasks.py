"""Tasks of Dask: their arguments become aligned arrays, and spinney's errors are returned to the client as values.

Arrays that were sent may be at any address in memory, and kernels need aligned ones. An error that is raised would be logged by
Dask.
"""

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
CHECK_INTERVAL = 1.0  # seconds between two checks of the cluster


@dataclass(frozen=True)
class TaskError:
    """The result of a task that failed by an error of spinney's."""

    error: SpinneyError


def as_task(task: Callable[P, T]) -> Callable[P, T | TaskError]:
    """Make a task of a function: it gets aligned arrays, and returns an error of spinney's as a `TaskError`.

    If an argument, or an element of a list, is a `TaskError`, the task returns that. An error that is raised would be logged by
    Dask.
    """

    @wraps(task)
    def wrapped(*args: P.args, **given: P.kwargs) -> T | TaskError:
        for value in (*args, *given.values()):
            for one in value if isinstance(value, list) else (value,):
                if isinstance(one, TaskError):
                    return one
        args, given = aligned(args), aligned(given)
        try:
            return task(*args, **given)
        except SpinneyError as error:
            return TaskError(error)

    return wrapped


def unwrap(value: T | TaskError) -> T:
    """The result of a task; the error of a `TaskError` is raised."""
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
    """The results of tasks, brought to the client, so they should be small; the error of the first `TaskError` is raised.

    Parameters
    ----------
    client : Client
        Whose workers compute.
    futures : list of Future
        The tasks.
    what : str
        The consequence of their failure, for messages.
    patience : float, default=120
        Seconds to wait for a worker when there is none.

    Raises
    ------
    ClusterError
        There are no workers, what they held is lost, or the client has lost its scheduler.
    """
    try:
        return [unwrap(value) for value in _gather(client, futures, what, patience)]
    except (KilledWorker, CancelledError) as error:
        _check_running(client, what)
        raise ClusterError(
            f"{what}: workers were lost, and what they held cannot be computed again: {error}"
        ) from error


def result(client: Client, future: Future, **given: Any) -> Any:
    """The result of one task; see `results`."""
    return results(client, [future], **given)[0]


def _gather(client: Client, futures: list[Future], what: str, patience: float) -> list[Any]:
    """Gather the values of tasks, as long as there are workers. A thread of its own waits for them."""
    gathering: waiting.Future[list[Any]] = in_thread(lambda: client.gather(futures))
    try:
        last_seen = time.monotonic()
        while not waiting.wait([gathering], CHECK_INTERVAL).done:
            _check_running(client, what)
            if _may_compute(client):
                last_seen = time.monotonic()
            elif time.monotonic() - last_seen >= patience:
                raise ClusterError(f"{what}: no worker that can compute for {patience:g} s")
    except BaseException:
        cancel(client, futures)
        raise
    return gathering.result()


def _check_running(client: Client, what: str) -> None:
    if client.status != "running":
        raise ClusterError(f"{what}: client is {client.status}")


def _may_compute(client: Client) -> bool:
    """Whether there is a worker that starts tasks."""
    try:
        return bool(running_workers(client))
    except OSError:  # the scheduler does not answer
        return False


CHUNK_BYTES = 4 << 20  # bytes of one task's argument; Dask warns from 10 MB on
WORD_BYTES = 8  # some kernels read so many bytes at once


def aligned(value: T) -> T:
    """The same value with every array in it aligned, as kernels need it; arrays that are aligned already are not copied.

    Arrays that came from another worker may be at any address in memory.

    Examples
    --------
    >>> odd = np.zeros(17, np.uint8)[1:].view(np.float64)
    >>> odd.flags.aligned, aligned([odd])[0].flags.aligned
    (False, True)
    """
    found: Any = value
    if isinstance(value, np.ndarray):
        found = _aligned_array(value)
    elif isinstance(value, list | tuple) and not hasattr(value, "_fields"):
        parts = [aligned(one) for one in value] if _may_hold_arrays(value) else value
        if any(one is not two for one, two in zip(parts, value, strict=True)):
            found = type(value)(parts)
    elif isinstance(value, dict):
        found = {name: aligned(one) for name, one in value.items()}
    elif is_dataclass(value) and not isinstance(value, type):
        values = {one.name: getattr(value, one.name) for one in fields(value) if one.init}
        aligned_values = {name: aligned(one) for name, one in values.items()}
        changed = {name: one for name, one in aligned_values.items() if one is not values[name]}
        found = replace(value, **changed) if changed else value
    same: T = found
    return same


def _aligned_array(array: NDArray[Any]) -> NDArray[Any]:
    odd = array.flags.c_contiguous and array.ctypes.data % WORD_BYTES
    return array.copy() if not array.flags.aligned or odd else array


def _may_hold_arrays(values: list[Any] | tuple[Any, ...]) -> bool:
    """Whether a sequence is worth a search for arrays: those of names and numbers may be long."""
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
        It cannot be pickled. Open files, locks, clients, and functions that use them, cannot be.
    """
    try:
        data: bytes = cloudpickle.dumps(value)
    except Exception as error:  # a custom class may raise any
        raise ParameterTypeError(
            f"{what} cannot travel to a worker, since it cannot be pickled: {type(error).__name__}: {error}"
        ) from error
    return data


def put(client: Client, value: Any) -> Future:
    """Put a value of the client's on the cluster as a future, which tasks share.

    Its pickle is sent in chunks, each an argument of a task that Dask runs again when a worker is lost. Data of `Client.scatter`
    would be lost with the worker.
    """
    data = pickled(value)
    chunks = [
        client.submit(identity, data[at : at + CHUNK_BYTES], pure=False)
        for at in range(0, len(data), CHUNK_BYTES)
    ]
    return client.submit(unpickled, chunks, pure=False)


def identity(value: T) -> T:
    """Task: the value that it is given."""
    return value


def unpickled(chunks: list[bytes]) -> Any:
    """Task: a value from the chunks of its pickle."""
    return pickle.loads(b"".join(chunks))


def register_sizeof(*types: type[Any]) -> None:
    """Register with Dask how many bytes values of these types have; by itself it would not count their arrays."""
    for type_ in types:
        sizeof.register(type_)(array_bytes)
