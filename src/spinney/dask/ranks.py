"""A run of ranks: the task of a rank, which does not occupy a slot of its worker, and the client's monitor of the run.

A connection that breaks when a worker dies, a rank that fails, a task that is no longer wanted: each aborts the run at its
`RankEndpoint`, and so for all ranks. The client checks the tasks and the workers meanwhile, and keeps the checkpoint records of
ranks (`Run.monitor`).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import CancelledError
from dataclasses import dataclass, field
from typing import Any

from distributed import Client, Future, get_worker, secede
from distributed.protocol import pickle
from distributed.scheduler import KilledWorker

from spinney import __version__
from spinney.collective import Communicator, RankLostError
from spinney.dask.callbacks import RemoteCallbackError
from spinney.dask.client import call_scheduler, cancel
from spinney.dask.communicator import (
    NAME,
    STARTED,
    DaskCommunicator,
    RankAssignment,
    RankPlugin,
    TransferStats,
)
from spinney.errors import ClusterError, SpinneyError


@dataclass(frozen=True)
class RankInput:
    """A rank's rows of a table.

    Attributes
    ----------
    parts : list
        Consecutive partitions, maybe none.
    first : int
        Number of their first row in the whole table.
    total : int
        Rows of the whole table.
    """

    parts: list[Any]
    first: int
    total: int


# work(inputs, communicator, records, on_record): `inputs` has an entry for each table. `records` are the checkpoint records of
# interrupted runs, none at the first run; `on_record` adds another one. All ranks add the same records. Only the value of rank 0
# is used.
Work = Callable[[list[RankInput], Communicator, list[bytes], Callable[[bytes], None]], Any]


@dataclass(frozen=True)
class Finished:
    """The result of rank 0's task after its work: the value of the work."""

    value: Any
    traffic: TransferStats


@dataclass(frozen=True)
class Interrupted:
    """The result of a task whose rank was interrupted, or is not rank 0: the checkpoint records of this run, and why it ended."""

    records: list[bytes]
    reason: str


@dataclass(frozen=True)
class Failed:
    """The result of a task whose rank failed by an error for the user. An error that is raised would be logged by Dask."""

    error: SpinneyError | RemoteCallbackError


class WorkerMismatchError(RuntimeError):
    """A worker cannot take part: it has another version of spinney, or its plugin did not start."""


def run_rank(
    assignment: RankAssignment,
    work_chunks: Sequence[bytes],
    checkpoint: Sequence[Sequence[bytes]],
    parts: Sequence[list[Any]],
    positions: Sequence[tuple[int, int]],
) -> Finished | Interrupted | Failed:
    """Task: the work of a rank.

    It is one long task that secedes at once: the worker goes on with other tasks, such as partitions that were lost elsewhere.

    Parameters
    ----------
    assignment : RankAssignment
        The rank.
    work_chunks : sequence of bytes
        The pickle of the work.
    checkpoint : sequence of sequences of bytes
        Checkpoint records of the runs before, in chunks.
    parts : sequence of list
        Of each table the partitions that the rank has.
    positions : sequence of (int, int)
        Of each table the number of their first row, and the number of all rows.
    """
    secede()
    plugin: RankPlugin | None = get_worker().extensions.get(NAME)
    if plugin is None or assignment.version != __version__:
        raise WorkerMismatchError(
            f"the worker {get_worker().address} has spinney {__version__}, expected {assignment.version} and its plugin"
        )
    endpoint = plugin.register(assignment)
    try:
        work: Work = pickle.loads(b"".join(work_chunks))
        inputs = [
            RankInput(held, first, total) for held, (first, total) in zip(parts, positions, strict=True)
        ]
        records = [record for chunk in checkpoint for record in chunk]
        value = work(inputs, DaskCommunicator(endpoint), records, endpoint.records.append)
    except RankLostError as error:
        endpoint.finish(str(error))
        return Interrupted(endpoint.records, str(error))
    except BaseException as error:
        endpoint.finish(
            f"rank {assignment.rank} at {get_worker().address} failed: {type(error).__name__}: {error}"
        )
        if isinstance(error, SpinneyError | RemoteCallbackError):
            return Failed(error)
        raise
    endpoint.finish()
    return (
        Finished(value, endpoint.traffic)
        if assignment.rank == 0
        else Interrupted(endpoint.records, "rank 0 was lost after the last join")
    )


def records_since(run: str, count: int) -> list[bytes]:
    """Task: the checkpoint records of a run that this worker's rank has, without the first so many."""
    plugin: RankPlugin = get_worker().extensions[NAME]
    endpoint = plugin.endpoints.get(run)
    return endpoint.records[count:] if endpoint is not None else []


def state_of(keys: Mapping[str, str], dask_worker: Any) -> str | None:
    """The state of a worker's task, whose key is found by the worker's address. It runs on the event loop of each worker."""
    task = dask_worker.state.tasks.get(keys[dask_worker.address])
    return None if task is None else task.state


def abort_run(run: str, reason: str) -> None:
    """Task: abort a run at this worker."""
    plugin: RankPlugin = get_worker().extensions[NAME]
    plugin.abort_run(run, reason)


# All in seconds.
_CHECK_INTERVAL = 1.0  # between two checks of the workers
_PROGRESS_INTERVAL = 2.0  # between two requests of checkpoint records
_ABORT_DELAY = 0.3  # from the end of the first rank until the others are aborted
_GRACE_PERIOD = 10.0  # from the end of the first rank until the others are no longer waited for
_PAUSED_RANK_TIMEOUT = 30.0  # that a worker is paused until its rank is given up, if that has not started
# that a worker is paused until the training fails, if the rank of another has not started: its partitions may wait there
_PAUSED_CLUSTER_TIMEOUT = 120.0

_UNFINISHED = ("pending", "lost")

# Errors of fetching a value whose worker or task is gone.
_LOST_ERRORS = (OSError, CancelledError, KilledWorker)


@dataclass
class Rank:
    """A rank of a run: its worker and its task."""

    worker: str
    future: Future[Any]


class Fetch(threading.Thread):
    """A thread that fetches the value of a future, so that the client's thread never waits for a worker that is gone."""

    def __init__(self, future: Future[Any], wake: Callable[[], None]) -> None:
        super().__init__(daemon=True)
        self.future, self.value, self._wake = future, None, wake
        self.error: Exception | None = None
        self.start()

    def run(self) -> None:
        """Wait for the value. Without one, it stays None."""
        # Every error means that there is no value: the worker was lost, the future was cancelled, or the client was closed.
        try:
            self.value = self.future.result()
        except Exception as error:
            self.error = error
        self._wake()


@dataclass
class Run:
    """A run in progress, at its client.

    Attributes
    ----------
    client : Client
        The client.
    run_id : str
        Its identifier, which is in all its messages.
    ranks : sequence of Rank
        Its ranks.
    on_records : callable
        Called with checkpoint records that have arrived.
    received : int
        How many of this run have arrived.
    lost_workers : set of str
        Addresses of the workers that are gone, or that will not start their ranks.
    """

    client: Client
    run_id: str
    ranks: Sequence[Rank]
    on_records: Callable[[list[bytes]], None]
    received: int = 0
    lost_workers: set[str] = field(default_factory=set)
    _wakeup: threading.Event = field(default_factory=threading.Event)
    _aborts: list[Future[Any]] = field(default_factory=list)
    _request: Fetch | None = None
    _requested_rank: int = 0
    _paused: dict[str, float] = field(default_factory=dict)

    def monitor(self) -> None:
        """Wait until all ranks have ended, or until the others have had time to end after the first one."""
        for rank in self.ranks:
            rank.future.add_done_callback(lambda _: self._wakeup.set())
        last_check = last_request = time.monotonic()
        first_end: float | None = None
        while unfinished := [
            rank
            for rank in self.ranks
            if rank.future.status in _UNFINISHED and rank.worker not in self.lost_workers
        ]:
            self._wakeup.wait(_CHECK_INTERVAL if first_end is None else _CHECK_INTERVAL / 10)
            self._wakeup.clear()
            now = time.monotonic()
            if now - last_check >= (_CHECK_INTERVAL if first_end is None else _CHECK_INTERVAL / 10):
                self.check_workers()
                last_check = now
            if first_end is None and (
                self.lost_workers or any(rank.future.status not in _UNFINISHED for rank in self.ranks)
            ):
                first_end = now
                self._wakeup.set()
            if first_end is not None and now - first_end >= _GRACE_PERIOD:
                return
            if first_end is not None and now - first_end >= _ABORT_DELAY and not self._aborts:
                self._abort_unfinished(unfinished)
            if (
                now - last_request >= _PROGRESS_INTERVAL
                and first_end is None
                and self._request_progress(give_up=now - last_request >= _GRACE_PERIOD)
            ):
                last_request = now

    def check_workers(self) -> None:
        """Find the workers of the run that are gone, or that will not start their ranks."""
        alive = workers_of(self.client)
        self.lost_workers = {rank.worker for rank in self.ranks} - alive
        now = time.monotonic()
        self._paused = {
            worker: self._paused.get(worker, now) for worker in alive - running_workers(self.client)
        }
        long = {worker for worker, since in self._paused.items() if now - since >= _PAUSED_RANK_TIMEOUT}
        if long:
            self._give_up_paused(long, max(now - since for since in self._paused.values()))

    def _give_up_paused(self, paused: set[str], seconds: float) -> None:
        """Give up ranks that have not started on workers which Dask has paused for lack of memory."""
        keys = {rank.worker: rank.future.key for rank in self.ranks if rank.worker not in self.lost_workers}
        states = call_scheduler(
            self.client, lambda: self.client.run(state_of, keys, workers=list(keys), on_error="ignore")
        )
        waiting = {worker for worker, state in states.items() if state not in STARTED}
        self.lost_workers |= waiting & paused
        if waiting and not self.lost_workers and seconds >= _PAUSED_CLUSTER_TIMEOUT:
            raise ClusterError(
                f"Dask has paused {', '.join(sorted(paused))} for want of memory, {seconds:.0f} s ago, and the training waits "
                "for partitions; give workers more memory, or take more of them"
            )

    def finished(self) -> Finished | None:
        """The result of rank 0, if it has finished its work."""
        finished: Finished | None = self._first(Finished)
        return finished

    def interrupted(self) -> Interrupted | None:
        """The checkpoint records of a rank that is left. Other ranks may have one more or less."""
        interrupted: Interrupted | None = self._first(Interrupted)
        return interrupted

    def errors(self) -> Iterable[tuple[Rank, BaseException]]:
        """Ranks that failed, and their errors."""
        for rank in self.ranks:
            if rank.future.status == "error":
                yield rank, rank.future.exception()
            elif failed := self._value(rank, Failed):
                yield rank, failed.error

    def close(self) -> None:
        """Cancel all tasks of the run: ranks that still work end at their next collective call."""
        futures = [rank.future for rank in self.ranks] + self._aborts
        if self._request is not None:
            futures.append(self._request.future)
        cancel(self.client, futures)

    def _first(self, type_: type[Any]) -> Any:
        return next((value for rank in self.ranks if (value := self._value(rank, type_)) is not None), None)

    def _value(self, rank: Rank, type_: type[Any]) -> Any:
        """The result of a rank, if it is of that type."""
        finished = rank.future.status == "finished" and rank.future.type is type_
        return self._fetch(rank) if finished and rank.worker not in self.lost_workers else None

    def _fetch(self, rank: Rank) -> Any:
        """The result of a rank, None if its worker is lost meanwhile."""
        fetch = Fetch(rank.future, self._wakeup.set)
        while fetch.is_alive() and rank.worker not in self.lost_workers:
            self._wakeup.wait(_CHECK_INTERVAL)
            self._wakeup.clear()
            self.check_workers()
        if (
            fetch.error is not None
            and rank.future.status == "finished"
            and not isinstance(fetch.error, _LOST_ERRORS)
        ):
            raise ClusterError(
                f"what the rank at {rank.worker} gave cannot travel to the client: {type(fetch.error).__name__}: {fetch.error}"
            ) from fetch.error
        return fetch.value

    def _abort_unfinished(self, ranks: Iterable[Rank]) -> None:
        """Abort the run at ranks that have not ended; they may wait for one that never started."""
        for rank in ranks:
            if rank.worker not in self.lost_workers:
                self._aborts.append(self._submit_to(rank, abort_run, self.run_id, "another rank has ended"))

    def _request_progress(self, *, give_up: bool) -> bool:
        """Take the checkpoint records of the last request, and send one to the next rank.

        If the last request has no answer yet, nothing is done and False is returned, unless it is to be given up.
        """
        if self._request is not None:
            if self._request.is_alive() and not give_up:
                return False
            self._request.future.cancel()
            if self._request.value:
                self.received += len(self._request.value)
                self.on_records(self._request.value)
        self._requested_rank = (self._requested_rank + 1) % len(self.ranks)
        future = self._submit_to(self.ranks[self._requested_rank], records_since, self.run_id, self.received)
        self._request = Fetch(future, self._wakeup.set)
        return True

    def _submit_to(self, rank: Rank, task: Callable[..., Any], *arguments: Any) -> Future[Any]:
        return self.client.submit(task, *arguments, workers=[rank.worker], pure=False, priority=100)


def workers_of(client: Client) -> set[str]:
    """Addresses of the workers that the scheduler has."""
    return set(call_scheduler(client, client.nthreads))


def running_workers(client: Client) -> set[str]:
    """Addresses of the workers that start tasks: they are not paused, and do not close."""
    scheduler: Any = client.scheduler
    return set(call_scheduler(client, lambda: client.sync(scheduler.ncores_running)))
