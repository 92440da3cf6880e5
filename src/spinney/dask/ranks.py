"""A run of ranks: the task of a rank, in a thread that leaves the slots of its worker free, and the run as its client sees it."""

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
from spinney.dask.callbacks import OwnError
from spinney.dask.client import answered, cancel
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
    """What a rank holds of a table: consecutive partitions, the number of their first row, and the rows of the whole table."""

    parts: list[Any]
    first: int
    total: int


# work(held, communicator, start, say): `held` has an entry for each table. `start` has the pieces that an interrupted run kept,
# at the first run none; `say` keeps another piece. All ranks keep the same pieces. What counts is the value of rank 0.
Work = Callable[[list[RankInput], Communicator, list[bytes], Callable[[bytes], None]], Any]


@dataclass(frozen=True)
class Finished:
    """Rank 0 came to its end."""

    value: Any
    traffic: TransferStats


@dataclass(frozen=True)
class Interrupted:
    """A rank was broken off, or one that is not rank 0 finished: what it said in this run, and why it ended."""

    pieces: list[bytes]
    why: str


@dataclass(frozen=True)
class Failed:
    """A rank failed by an error that the user is to see. Dask would log one that is raised."""

    error: SpinneyError | OwnError


class WorkerMismatchError(RuntimeError):
    """A worker cannot take part: it has another version of spinney, or its plugin did not start."""


def run_rank(
    order: RankAssignment,
    recipe: Sequence[bytes],
    start: Sequence[Sequence[bytes]],
    parts: Sequence[list[Any]],
    places: Sequence[tuple[int, int]],
) -> Finished | Interrupted | Failed:
    """The task of a rank: the partitions that it holds of each table, and the first row and all rows of each.

    It is one long task of Dask's that secedes at once: the worker goes on computing other tasks, such as partitions that were
    lost elsewhere.
    """
    secede()
    plugin: RankPlugin | None = get_worker().extensions.get(NAME)
    if plugin is None or order.version != __version__:
        raise WorkerMismatchError(
            f"the worker {get_worker().address} has spinney {__version__}, expected {order.version} and its plugin"
        )
    seat = plugin.sit(order)
    try:
        work: Work = pickle.loads(b"".join(recipe))
        held = [RankInput(own, first, total) for own, (first, total) in zip(parts, places, strict=True)]
        pieces = [piece for chunk in start for piece in chunk]
        value = work(held, DaskCommunicator(seat), pieces, seat.said.append)
    except RankLostError as error:
        seat.leave(str(error))
        return Interrupted(seat.said, str(error))
    except BaseException as error:
        seat.leave(f"rank {order.rank} at {get_worker().address} failed: {type(error).__name__}: {error}")
        if isinstance(error, SpinneyError | OwnError):
            return Failed(error)
        raise
    seat.leave()
    return (
        Finished(value, seat.traffic)
        if order.rank == 0
        else Interrupted(seat.said, "rank 0 was lost after the last join")
    )


def said_since(run: str, count: int) -> list[bytes]:
    """Task: what this worker's rank of a run has said, but for the first pieces."""
    plugin: RankPlugin = get_worker().extensions[NAME]
    seat = plugin.seats.get(run)
    return seat.said[count:] if seat is not None else []


def state_of(keys: Mapping[str, str], dask_worker: Any) -> str | None:
    """The state of the task that a worker was given, by the worker's address. Run on the event loop of each."""
    task = dask_worker.state.tasks.get(keys[dask_worker.address])
    return None if task is None else task.state


def end_run(run: str, why: str) -> None:
    """Task: end a run at this worker."""
    plugin: RankPlugin = get_worker().extensions[NAME]
    plugin.end(run, why)


# Seconds: between two looks at the cluster; between two askings for news; until ranks that outlast the others are told to end;
# until they are not waited for any longer; until a rank must have started though its worker is paused; and though another worker
# is paused, which may have its partitions to compute.
_LOOK = 1.0
_NEWS = 2.0
_TELL = 0.3
_GRACE = 10.0
_STUCK = 30.0
_HOPELESS = 120.0

_OPEN = ("pending", "lost")

# What a value cannot be fetched by, once its worker or its task is gone.
_LOST = (OSError, CancelledError, KilledWorker)


@dataclass
class Rank:
    """A rank of a run: its worker and its task."""

    worker: str
    future: Future[Any]


class Fetch(threading.Thread):
    """The value of a future, brought by a thread of its own, so that nobody waits for a worker that is gone."""

    def __init__(self, future: Future[Any], ring: Callable[[], None]) -> None:
        super().__init__(daemon=True)
        self.future, self.value, self._ring = future, None, ring
        self.error: Exception | None = None
        self.start()

    def run(self) -> None:
        """Wait for the value. Without one, it stays None."""
        # Whatever hinders it (the worker was lost, the future was cancelled, the client closed), there is no value.
        try:
            self.value = self.future.result()
        except Exception as error:
            self.error = error
        self._ring()


@dataclass
class Run:
    """A run that is going on.

    Attributes
    ----------
    number : str
        What its messages carry.
    ranks : list of Rank
    known : int
        How many of the pieces said in this run the client has.
    """

    client: Client
    number: str
    ranks: Sequence[Rank]
    news: Callable[[list[bytes]], None]
    known: int = 0
    gone: set[str] = field(default_factory=set)
    _bell: threading.Event = field(default_factory=threading.Event)
    _told: list[Future[Any]] = field(default_factory=list)
    _asked: Fetch | None = None
    _turn: int = 0
    _paused: dict[str, float] = field(default_factory=dict)

    def watch(self) -> None:
        """Wait until all ranks have ended, or until those that have not are not worth waiting for."""
        for rank in self.ranks:
            rank.future.add_done_callback(lambda _: self._bell.set())
        looked = asked = time.monotonic()
        first_end: float | None = None
        while open_ranks := [
            rank for rank in self.ranks if rank.future.status in _OPEN and rank.worker not in self.gone
        ]:
            self._bell.wait(_LOOK if first_end is None else _LOOK / 10)
            self._bell.clear()
            now = time.monotonic()
            if now - looked >= (_LOOK if first_end is None else _LOOK / 10):
                self.look()
                looked = now
            if first_end is None and (
                self.gone or any(rank.future.status not in _OPEN for rank in self.ranks)
            ):
                first_end = now
                self._bell.set()
            if first_end is not None and now - first_end >= _GRACE:
                return
            if first_end is not None and now - first_end >= _TELL and not self._told:
                self._tell(open_ranks)
            if now - asked >= _NEWS and first_end is None and self._ask(give_up=now - asked >= _GRACE):
                asked = now

    def look(self) -> None:
        """Which workers of the run are gone, or will not start their ranks."""
        alive = alive_of(self.client)
        self.gone = {rank.worker for rank in self.ranks} - alive
        now = time.monotonic()
        self._paused = {worker: self._paused.get(worker, now) for worker in alive - running_of(self.client)}
        long = {worker for worker, since in self._paused.items() if now - since >= _STUCK}
        if long:
            self._pass_by(long, max(now - since for since in self._paused.values()))

    def _pass_by(self, paused: set[str], seconds: float) -> None:
        """Give up ranks that have not started on workers which Dask has paused, for they are short of memory."""
        keys = {rank.worker: rank.future.key for rank in self.ranks if rank.worker not in self.gone}
        states = answered(
            self.client, lambda: self.client.run(state_of, keys, workers=list(keys), on_error="ignore")
        )
        waiting = {worker for worker, state in states.items() if state not in STARTED}
        self.gone |= waiting & paused
        if waiting and not self.gone and seconds >= _HOPELESS:
            raise ClusterError(
                f"Dask has paused {', '.join(sorted(paused))} for want of memory, {seconds:.0f} s ago, and the training waits "
                "for partitions; give workers more memory, or take more of them"
            )

    def finished(self) -> Finished | None:
        """What rank 0 gave, if it came to its end."""
        finished: Finished | None = self._first(Finished)
        return finished

    def ended(self) -> Interrupted | None:
        """What a rank knows that is left. Others may know of a round more or less."""
        ended: Interrupted | None = self._first(Interrupted)
        return ended

    def errors(self) -> Iterable[tuple[Rank, BaseException]]:
        """Ranks that failed."""
        for rank in self.ranks:
            if rank.future.status == "error":
                yield rank, rank.future.exception()
            elif failed := self._value(rank, Failed):
                yield rank, failed.error

    def close(self) -> None:
        """Nobody wants the ranks any more: those that still run end at their next join."""
        futures = [rank.future for rank in self.ranks] + self._told
        if self._asked is not None:
            futures.append(self._asked.future)
        cancel(self.client, futures)

    def _first(self, kind: type[Any]) -> Any:
        return next((value for rank in self.ranks if (value := self._value(rank, kind)) is not None), None)

    def _value(self, rank: Rank, kind: type[Any]) -> Any:
        """What a rank gave, if it is of that kind."""
        finished = rank.future.status == "finished" and rank.future.type is kind
        return self._fetch(rank) if finished and rank.worker not in self.gone else None

    def _fetch(self, rank: Rank) -> Any:
        """A rank's value, unless its worker goes."""
        fetch = Fetch(rank.future, self._bell.set)
        while fetch.is_alive() and rank.worker not in self.gone:
            self._bell.wait(_LOOK)
            self._bell.clear()
            self.look()
        if (
            fetch.error is not None
            and rank.future.status == "finished"
            and not isinstance(fetch.error, _LOST)
        ):
            raise ClusterError(
                f"what the rank at {rank.worker} gave cannot travel to the client: {type(fetch.error).__name__}: {fetch.error}"
            ) from fetch.error
        return fetch.value

    def _tell(self, ranks: Iterable[Rank]) -> None:
        """Tell ranks that are left over that the run is over; they may wait for one that never came."""
        for rank in ranks:
            if rank.worker not in self.gone:
                self._told.append(self._at(rank, end_run, self.number, "another rank has ended"))

    def _ask(self, *, give_up: bool) -> bool:
        """Take the news that were asked for, and ask the next rank; unless one has been asked that may still answer."""
        if self._asked is not None:
            if self._asked.is_alive() and not give_up:
                return False
            self._asked.future.cancel()
            if self._asked.value:
                self.known += len(self._asked.value)
                self.news(self._asked.value)
        self._turn = (self._turn + 1) % len(self.ranks)
        asked = self._at(self.ranks[self._turn], said_since, self.number, self.known)
        self._asked = Fetch(asked, self._bell.set)
        return True

    def _at(self, rank: Rank, task: Callable[..., Any], *arguments: Any) -> Future[Any]:
        return self.client.submit(task, *arguments, workers=[rank.worker], pure=False, priority=100)


def alive_of(client: Client) -> set[str]:
    """Addresses of the workers that are there, as the scheduler knows them."""
    return set(answered(client, client.nthreads))


def running_of(client: Client) -> set[str]:
    """Those that start tasks: they are not paused, and do not close."""
    scheduler: Any = client.scheduler
    return set(answered(client, lambda: client.sync(scheduler.ncores_running)))
