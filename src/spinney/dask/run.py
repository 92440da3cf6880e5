"""`run_ranks`: the same work on every rank, again and again until it is done or cannot be; and the partitions of each rank."""

from __future__ import annotations

import secrets
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import CancelledError
from dataclasses import dataclass
from typing import Any

import numpy as np
from distributed import Client, Future
from distributed.scheduler import KilledWorker

from spinney import __version__
from spinney.dask.callbacks import OwnError
from spinney.dask.client import answered
from spinney.dask.communicator import RankAssignment, RankPlugin, TransferStats
from spinney.dask.ranks import Rank, Run, Work, WorkerMismatchError, alive_of, run_rank, running_of
from spinney.dask.tasks import pickled
from spinney.errors import ClusterError, SpinneyError


@dataclass(frozen=True)
class Parts:
    """A table in partitions.

    Attributes
    ----------
    futures : sequence of Future
        The partitions, in the order of their rows.
    rows : sequence of int
        The rows of each.
    """

    futures: Sequence[Any]
    rows: Sequence[int]


def cut(rows: Sequence[int], size: int, *, least: int = 0) -> list[range]:
    """Consecutive partitions for each rank, about equally many rows, and at least so many partitions for each."""
    ends = np.concatenate([[0], np.cumsum(np.asarray(rows, dtype=np.int64))])
    places = [0]
    for rank in range(1, size):
        nearest = int(np.argmin(np.abs(ends - ends[-1] * rank / size)))
        places.append(min(max(nearest, places[-1] + least), len(rows) - least * (size - rank)))
    places.append(len(rows))
    return [range(places[rank], places[rank + 1]) for rank in range(size)]


def place(rows_at: Sequence[Mapping[str, int]], workers: Sequence[str]) -> list[str]:
    """A worker for each rank, where most of its rows are already.

    `rows_at` has for each rank how many of its rows are at which worker.
    """
    free = dict.fromkeys(workers)
    placed: dict[int, str] = {}
    known = [
        (-rows, rank, worker)
        for rank, at in enumerate(rows_at)
        for worker, rows in at.items()
        if worker in free
    ]
    for _, rank, worker in sorted(known):
        if rank not in placed and worker in free:
            placed[rank] = worker
            del free[worker]
    for rank in range(len(rows_at)):
        if rank not in placed:
            placed[rank] = next(iter(free))
            del free[placed[rank]]
    return [placed[rank] for rank in range(len(rows_at))]


# In a row, with no piece said in between: runs that broke though no worker was lost, and runs that lost one.
_FAILURES = 3
_LOSSES = 10

# Bytes of one task's argument; Dask warns from 10 MB on.
_CHUNK = 4 << 20


@dataclass(frozen=True)
class RunResult:
    """What the ranks gave, how many runs it took, and what rank 0 sent and received in the last."""

    value: Any
    runs: int
    traffic: TransferStats


def run_ranks(client: Client, tables: Sequence[Parts], work: Work, *, patience: float = 120.0) -> RunResult:
    """Do the same work on every rank, and go on after losses.

    Ranks are workers: all that are there, at most as many as the first table has partitions. Each holds consecutive partitions of
    every table. When one is lost, the run is broken off. The next run starts with the workers there are then, from all pieces
    that were said before.

    Parameters
    ----------
    client : distributed.Client
    tables : sequence of Parts
        The first says how many ranks there can be; of the others a rank may hold nothing.
    work : function
        `work(held, communicator, start, say)`, see `Work`. It travels to the workers.
    patience : float, default=120
        Seconds to wait for a worker when there is none.

    Returns
    -------
    RunResult

    Raises
    ------
    ClusterError
        When it cannot go on: why is in its message.
    """
    if client.asynchronous:
        raise ClusterError("client is asynchronous; training needs one that is not")
    return _Driver(client, tables, work, patience).drive()


class _Driver:
    """Starts runs until one finishes."""

    def __init__(self, client: Client, tables: Sequence[Parts], work: Work, patience: float) -> None:
        self._client, self._tables, self._patience = client, tables, patience
        self._name = secrets.token_hex(8)
        self._runs = self._failures = self._losses = self._known = 0
        self._unfit: set[str] = set()
        self._recipe: bytes = pickled(work)
        self._said: list[bytes] = []

    def drive(self) -> RunResult:
        """Run after run."""
        try:
            answered(self._client, lambda: self._client.register_plugin(RankPlugin()))
            while (outcome := self._one_run()) is None:
                pass
            return outcome
        except Exception as error:
            if self._client.status != "running":
                raise ClusterError(f"client is {self._client.status}; the training ended with it") from error
            raise

    def _one_run(self) -> RunResult | None:
        run = self._begin()
        try:
            run.watch()
            run.look()
            finished = run.finished()
            if finished is not None:
                return RunResult(finished.value, self._runs, finished.traffic)
            self._judge(run)
            return None
        finally:
            run.close()

    def _begin(self) -> Run:
        """Start a run with the workers there are."""
        workers = self._workers()
        self._runs += 1
        number = f"{self._name}-{self._runs}"
        size = min(len(workers), len(self._tables[0].futures))
        spans = [cut(table.rows, size, least=int(table is self._tables[0])) for table in self._tables]
        futures = [future for table in self._tables for future in table.futures]
        try:
            where = answered(self._client, lambda: self._client.who_has(futures))
        except CancelledError as error:
            raise ClusterError(
                "the data set is gone: its partitions were cancelled, or the cluster was restarted "
                f"({str(error)[:200]}); make it again"
            ) from error
        rows_at = [self._rows_at([own[rank] for own in spans], where) for rank in range(size)]
        places = place(rows_at, workers)
        recipe = [self._recipe[at : at + _CHUNK] for at in range(0, len(self._recipe), _CHUNK)]
        common = (self._sent(recipe, places), self._sent(self._start(), places))
        ranks = []
        for rank, worker in enumerate(places):
            order = RankAssignment(
                number, rank, size, places[0], f"spinney-rank-{number}-{rank}", __version__
            )
            ranks.append(Rank(worker, self._submit(order, worker, common, [own[rank] for own in spans])))
        return Run(self._client, number, ranks, self._said.extend)

    def _submit(
        self, order: RankAssignment, worker: str, common: tuple[Any, Any], spans: Sequence[range]
    ) -> Future[Any]:
        parts = [
            [table.futures[part] for part in span] for table, span in zip(self._tables, spans, strict=True)
        ]
        places = [
            (sum(table.rows[: span.start]), sum(table.rows))
            for table, span in zip(self._tables, spans, strict=True)
        ]
        arguments = (order, *common, parts, places)
        return self._client.submit(
            run_rank, *arguments, key=order.key, workers=[worker], pure=False, priority=100
        )

    def _rows_at(self, spans: Sequence[range], where: Any) -> Counter[str]:
        """How many rows of a rank are at which worker."""
        rows: Counter[str] = Counter()
        for table, span in zip(self._tables, spans, strict=True):
            for part in span:
                for worker in where.get(table.futures[part].key, ()):
                    rows[worker] += table.rows[part] + 1
        return rows

    def _workers(self) -> list[str]:
        """The workers that can take part. There may be none for a while."""
        until = time.monotonic() + self._patience
        while not (workers := running_of(self._client) - self._unfit):
            if time.monotonic() >= until:
                paused = len(alive_of(self._client) - self._unfit)
                raise ClusterError(
                    f"client: no worker that can train for {self._patience:g} s; {len(self._unfit)} have another version of "
                    f"spinney or none, {paused} are paused for want of memory or close"
                )
            time.sleep(0.1)
        return sorted(workers)

    def _judge(self, run: Run) -> None:
        """A run has not finished: keep what it said, and raise if another cannot do better."""
        ended = run.ended()
        if ended is not None:
            self._said += ended.pieces[run.known :]
        self._check_parts()
        for rank, error in run.errors():
            self._check_error(rank, error)
        if len(self._said) > self._known:
            self._failures = self._losses = 0
        self._known = len(self._said)
        lost = bool(run.gone)
        self._losses += lost
        self._failures += not lost
        why = ended.why if ended is not None else "no rank is left to say why"
        if self._failures >= _FAILURES:
            raise ClusterError(
                f"the training was broken off {self._failures} times in a row without progress: {why}"
            )
        if self._losses >= _LOSSES:
            raise ClusterError(
                f"workers were lost {self._losses} times in a row without progress; the last time: {why}"
            )

    def _check_parts(self) -> None:
        """Raise if a partition is lost that nobody can compute again."""
        for table in self._tables:
            for number, future in enumerate(table.futures):
                if future.status == "cancelled":
                    raise ClusterError(
                        f"partition {number} is lost and cannot be computed again: its source was on a worker that is gone, "
                        "or it was cancelled"
                    )
                if future.status == "error":
                    error = future.exception()
                    raise ClusterError(f"partition {number} cannot be computed: {_told(error)}") from error

    def _check_error(self, rank: Rank, error: BaseException) -> None:
        """Raise what a rank failed by, unless it is the worker's fault."""
        if isinstance(error, WorkerMismatchError) or (
            isinstance(error, ModuleNotFoundError) and error.name == "spinney"
        ):
            self._unfit.add(rank.worker)
        elif isinstance(error, OwnError):
            raise error.original() from error
        elif isinstance(error, SpinneyError):
            raise error
        elif not isinstance(error, KilledWorker):
            raise ClusterError(f"the rank at {rank.worker} failed: {_told(error)}") from error

    def _sent(self, chunks: Iterable[Any], workers: list[str]) -> list[Future[Any]]:
        """What all ranks of a run get, at one of their workers; should that be lost, another has it again."""
        return [
            self._client.submit(_itself, chunk, workers=workers, pure=False, priority=100) for chunk in chunks
        ]

    def _start(self) -> list[list[bytes]]:
        """What was said so far, in chunks."""
        chunks: list[list[bytes]] = []
        room = 0
        for piece in self._said:
            if not chunks or room < len(piece):
                chunks.append([])
                room = _CHUNK
            chunks[-1].append(piece)
            room -= len(piece)
        return chunks


def _itself(value: Any) -> Any:
    return value


def _told(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"
