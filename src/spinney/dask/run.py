"""`run_ranks`: the same work on all ranks, run after run until one finishes or none can; partitions and workers of the ranks.

After a run that was interrupted, partitions are assigned to ranks and ranks to workers anew. The next run starts from the
checkpoint records of all runs before, or an error is raised with the reason why it cannot.
"""

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
from spinney.dask.callbacks import RemoteCallbackError
from spinney.dask.client import call_scheduler
from spinney.dask.communicator import RankAssignment, RankPlugin, TransferStats
from spinney.dask.ranks import Rank, Run, Work, WorkerMismatchError, run_rank, running_workers, workers_of
from spinney.dask.tasks import pickled
from spinney.errors import ClusterError, SpinneyError


@dataclass(frozen=True)
class PartitionedTable:
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


def assign_partitions(rows: Sequence[int], size: int, *, min_partitions: int = 0) -> list[range]:
    """Consecutive partitions for each rank: about equally many rows, and at least so many partitions.

    `rows` has the rows of each partition, and `size` is the number of ranks.
    """
    ends = np.concatenate([[0], np.cumsum(np.asarray(rows, dtype=np.int64))])
    begins = [0]
    for rank in range(1, size):
        nearest = int(np.argmin(np.abs(ends - ends[-1] * rank / size)))
        begins.append(
            min(max(nearest, begins[-1] + min_partitions), len(rows) - min_partitions * (size - rank))
        )
    begins.append(len(rows))
    return [range(begins[rank], begins[rank + 1]) for rank in range(size)]


def assign_workers(rows_at: Sequence[Mapping[str, int]], workers: Sequence[str]) -> list[str]:
    """A worker for each rank, where most of its rows are already.

    `rows_at` has for each rank how many of its rows each worker has.
    """
    free = dict.fromkeys(workers)
    assigned: dict[int, str] = {}
    options = [
        (-rows, rank, worker)
        for rank, at in enumerate(rows_at)
        for worker, rows in at.items()
        if worker in free
    ]
    for _, rank, worker in sorted(options):
        if rank not in assigned and worker in free:
            assigned[rank] = worker
            del free[worker]
    for rank in range(len(rows_at)):
        if rank not in assigned:
            assigned[rank] = next(iter(free))
            del free[assigned[rank]]
    return [assigned[rank] for rank in range(len(rows_at))]


# The training fails after so many runs in a row without a new checkpoint record: runs that ended though no worker was lost, and
# runs that lost one.
_MOST_FAILURES = 3
_MOST_LOSSES = 10

# Bytes of one task's argument; Dask warns from 10 MB on.
_CHUNK_BYTES = 4 << 20


@dataclass(frozen=True)
class RunResult:
    """The value of rank 0's work, the number of runs that it took, and what rank 0 sent and received in the last."""

    value: Any
    runs: int
    traffic: TransferStats


def run_ranks(
    client: Client, tables: Sequence[PartitionedTable], work: Work, *, patience: float = 120.0
) -> RunResult:
    """Do the same work on every rank, and go on after losses.

    Every worker is a rank, but there are at most as many ranks as the first table has partitions. Each rank has consecutive
    partitions of every table. When one is lost, the run is interrupted. The next run starts with the workers there are then, from
    the checkpoint records of all runs before.

    Parameters
    ----------
    client : distributed.Client
    tables : sequence of PartitionedTable
        Every rank has a partition of the first; of the others a rank may have none.
    work : function
        `work(inputs, communicator, records, on_record)`, see `Work`. It is pickled and sent to the workers.
    patience : float, default=120
        Seconds to wait for a worker when there is none.

    Returns
    -------
    RunResult

    Raises
    ------
    ClusterError
        It cannot go on; the message has the reason.
    """
    if client.asynchronous:
        raise ClusterError("client is asynchronous; training needs one that is not")
    return _Driver(client, tables, work, patience).drive()


class _Driver:
    """Starts runs until one finishes."""

    def __init__(
        self, client: Client, tables: Sequence[PartitionedTable], work: Work, patience: float
    ) -> None:
        self._client, self._tables, self._patience = client, tables, patience
        self._training_id = secrets.token_hex(8)
        self._runs = self._failures = self._losses = self._records_before = 0
        self._mismatched: set[str] = set()
        self._work: bytes = pickled(work)
        self._records: list[bytes] = []

    def drive(self) -> RunResult:
        """Start run after run."""
        try:
            call_scheduler(self._client, lambda: self._client.register_plugin(RankPlugin()))
            while (result := self._one_run()) is None:
                pass
            return result
        except Exception as error:
            if self._client.status != "running":
                raise ClusterError(f"client is {self._client.status}; the training ended with it") from error
            raise

    def _one_run(self) -> RunResult | None:
        run = self._start_run()
        try:
            run.monitor()
            run.check_workers()
            finished = run.finished()
            if finished is not None:
                return RunResult(finished.value, self._runs, finished.traffic)
            self._after_interruption(run)
            return None
        finally:
            run.close()

    def _start_run(self) -> Run:
        """Start a run with the workers there are."""
        workers = self._workers()
        self._runs += 1
        run_id = f"{self._training_id}-{self._runs}"
        size = min(len(workers), len(self._tables[0].futures))
        ranges = [
            assign_partitions(table.rows, size, min_partitions=int(table is self._tables[0]))
            for table in self._tables
        ]
        futures = [future for table in self._tables for future in table.futures]
        try:
            holders = call_scheduler(self._client, lambda: self._client.who_has(futures))
        except CancelledError as error:
            raise ClusterError(
                "the data set is gone: its partitions were cancelled, or the cluster was restarted "
                f"({str(error)[:200]}); make it again"
            ) from error
        rows_at = [self._rows_at([of_table[rank] for of_table in ranges], holders) for rank in range(size)]
        assigned = assign_workers(rows_at, workers)
        work_chunks = [self._work[at : at + _CHUNK_BYTES] for at in range(0, len(self._work), _CHUNK_BYTES)]
        common = (
            self._distribute(work_chunks, assigned),
            self._distribute(self._checkpoint_chunks(), assigned),
        )
        ranks = []
        for rank, worker in enumerate(assigned):
            assignment = RankAssignment(
                run_id, rank, size, assigned[0], f"spinney-rank-{run_id}-{rank}", __version__
            )
            ranks.append(
                Rank(
                    worker, self._submit(assignment, worker, common, [of_table[rank] for of_table in ranges])
                )
            )
        return Run(self._client, run_id, ranks, self._records.extend)

    def _submit(
        self, assignment: RankAssignment, worker: str, common: tuple[Any, Any], ranges: Sequence[range]
    ) -> Future[Any]:
        parts = [
            [table.futures[part] for part in range_]
            for table, range_ in zip(self._tables, ranges, strict=True)
        ]
        positions = [
            (sum(table.rows[: range_.start]), sum(table.rows))
            for table, range_ in zip(self._tables, ranges, strict=True)
        ]
        arguments = (assignment, *common, parts, positions)
        return self._client.submit(
            run_rank, *arguments, key=assignment.key, workers=[worker], pure=False, priority=100
        )

    def _rows_at(self, ranges: Sequence[range], holders: Any) -> Counter[str]:
        """How many rows of a rank each worker has; one more for each partition, so that empty ones count too."""
        rows: Counter[str] = Counter()
        for table, range_ in zip(self._tables, ranges, strict=True):
            for part in range_:
                for worker in holders.get(table.futures[part].key, ()):
                    rows[worker] += table.rows[part] + 1
        return rows

    def _workers(self) -> list[str]:
        """The workers that can take part. There may be none for a while."""
        deadline = time.monotonic() + self._patience
        while not (workers := running_workers(self._client) - self._mismatched):
            if time.monotonic() >= deadline:
                paused = len(workers_of(self._client) - self._mismatched)
                raise ClusterError(
                    f"client: no worker that can train for {self._patience:g} s; {len(self._mismatched)} have another version of "
                    f"spinney or none, {paused} are paused for want of memory or close"
                )
            time.sleep(0.1)
        return sorted(workers)

    def _after_interruption(self, run: Run) -> None:
        """After a run that has not finished: keep its checkpoint records, and raise if another run would not finish either."""
        interrupted = run.interrupted()
        if interrupted is not None:
            self._records += interrupted.records[run.received :]
        self._check_parts()
        for rank, error in run.errors():
            self._check_error(rank, error)
        if len(self._records) > self._records_before:
            self._failures = self._losses = 0
        self._records_before = len(self._records)
        lost = bool(run.lost_workers)
        self._losses += lost
        self._failures += not lost
        reason = interrupted.reason if interrupted is not None else "no rank is left to report a reason"
        if self._failures >= _MOST_FAILURES:
            raise ClusterError(
                f"the training was interrupted {self._failures} times in a row without progress: {reason}"
            )
        if self._losses >= _MOST_LOSSES:
            raise ClusterError(
                f"workers were lost {self._losses} times in a row without progress; the last time: {reason}"
            )

    def _check_parts(self) -> None:
        """Raise if a partition is lost that cannot be computed again."""
        for table in self._tables:
            for number, future in enumerate(table.futures):
                if future.status == "cancelled":
                    raise ClusterError(
                        f"partition {number} is lost and cannot be computed again: its source was on a worker that is gone, "
                        "or it was cancelled"
                    )
                if future.status == "error":
                    error = future.exception()
                    raise ClusterError(
                        f"partition {number} cannot be computed: {_error_text(error)}"
                    ) from error

    def _check_error(self, rank: Rank, error: BaseException) -> None:
        """Raise the error of a rank, unless its worker is the cause."""
        if isinstance(error, WorkerMismatchError) or (
            isinstance(error, ModuleNotFoundError) and error.name == "spinney"
        ):
            self._mismatched.add(rank.worker)
        elif isinstance(error, RemoteCallbackError):
            raise error.original() from error
        elif isinstance(error, SpinneyError):
            raise error
        elif not isinstance(error, KilledWorker):
            raise ClusterError(f"the rank at {rank.worker} failed: {_error_text(error)}") from error

    def _distribute(self, chunks: Iterable[Any], workers: list[str]) -> list[Future[Any]]:
        """Put chunks that all ranks of a run need at one of their workers; if that is lost, Dask puts them at another."""
        return [
            self._client.submit(_identity, chunk, workers=workers, pure=False, priority=100)
            for chunk in chunks
        ]

    def _checkpoint_chunks(self) -> list[list[bytes]]:
        """The checkpoint records of all runs so far, in chunks."""
        chunks: list[list[bytes]] = []
        free_bytes = 0
        for record in self._records:
            if not chunks or free_bytes < len(record):
                chunks.append([])
                free_bytes = _CHUNK_BYTES
            chunks[-1].append(record)
            free_bytes -= len(record)
        return chunks


def _identity(value: Any) -> Any:
    return value


def _error_text(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"
