"""A team of threads that run one kernel together.

Every thread of a team calls the same kernel with its own rank; they meet at barriers inside it. A team lives as long as
one `with` block and belongs to whoever opened it, so that fits in several threads, nested fits and forked processes never
share one. Opening a team of two costs about 0.1 ms.
"""

from __future__ import annotations

import os
import queue
import threading
from types import TracebackType

import numpy as np

from spinney.errors import ParameterError
from spinney.jit import barrier
from spinney.jit.kernel import Bound
from spinney.jit.library import runs_as_python


class Team:
    """Threads that run kernels together, to be used in a `with` block.

    Parameters
    ----------
    threads : int
        How many threads, the calling one included.
    """

    def __init__(self, threads: int) -> None:
        self.size = 1 if runs_as_python() else threads
        self.sync = np.zeros(barrier.CELLS, dtype=np.int64)
        self._inboxes: list[queue.SimpleQueue[Bound | None]] = []
        self._done: queue.SimpleQueue[BaseException | None] = queue.SimpleQueue()
        self._threads: list[threading.Thread] = []

    def __enter__(self) -> Team:
        try:
            for rank in range(1, self.size):
                inbox: queue.SimpleQueue[Bound | None] = queue.SimpleQueue()
                thread = threading.Thread(target=self._work, args=(rank, inbox), daemon=True, name=f"spinney-{rank}")
                self._inboxes.append(inbox)
                self._threads.append(thread)
                thread.start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let the threads end. The team cannot be used afterwards."""
        for inbox in self._inboxes:
            inbox.put(None)
        for thread in self._threads:
            if thread.ident is not None:
                thread.join()
        self._inboxes, self._threads = [], []

    def run(self, job: Bound) -> None:
        """Run a bound kernel on all threads and return when all have finished."""
        if self.size == 1:
            job(0, 1, self.sync)
            return
        self.sync[barrier.ARRIVED] = 0
        self.sync[barrier.ABORT] = 0
        waiting = 0
        failure: BaseException | None = None
        try:
            for inbox in self._inboxes:
                waiting += 1
                inbox.put(job)
            job(0, self.size, self.sync)
        except BaseException as error:
            self.sync[barrier.ABORT] = 1
            failure = error
        while waiting:
            # An interrupt may come while this waits: free the others, go on waiting for them, then raise it.
            try:
                failure = self._done.get() or failure
                waiting -= 1
            except KeyboardInterrupt as error:
                self.sync[barrier.ABORT] = 1
                failure = error
        if failure is not None:
            raise failure

    def _work(self, rank: int, inbox: queue.SimpleQueue[Bound | None]) -> None:
        while (job := inbox.get()) is not None:
            try:
                job(rank, self.size, self.sync)
            except BaseException as error:
                self.sync[barrier.ABORT] = 1
                self._done.put(error)
            else:
                self._done.put(None)
            del job


def available_cores() -> int:
    """Cores that this process may use: CPU affinity, the cgroup's quota and OMP_NUM_THREADS all count."""
    affinity = getattr(os, "sched_getaffinity", None)
    cores = len(affinity(0)) if affinity else os.cpu_count() or 1
    quota = _cgroup_cores()
    if quota is not None:
        cores = min(cores, max(1, int(quota)))
    # Not our own knob, but joblib's workers, Dask and batch systems say with it how many cores are theirs.
    told = os.environ.get("OMP_NUM_THREADS", "")
    if told.isdecimal() and int(told) > 0:
        cores = min(cores, int(told))
    return max(1, cores)


def threads_for(n_jobs: int | None) -> int:
    """Number of threads meant by an `n_jobs` parameter: None and -1 are all cores, -2 all but one."""
    if n_jobs is None:
        return available_cores()
    if n_jobs == 0:
        raise ParameterError("n_jobs = 0 has no meaning: give a number of threads, or None for all cores")
    if n_jobs < 0:
        return max(1, available_cores() + 1 + n_jobs)
    return n_jobs


def _cgroup_cores() -> float | None:
    """CPU quota of the cgroup in cores, if there is one."""
    try:
        with open("/sys/fs/cgroup/cpu.max", encoding="ascii") as file:
            quota, period = file.read().split()
            return None if quota == "max" else int(quota) / int(period)
    except (OSError, ValueError):
        pass
    try:
        with open("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", encoding="ascii") as file:
            limit = int(file.read())
        with open("/sys/fs/cgroup/cpu/cpu.cfs_period_us", encoding="ascii") as file:
            return limit / int(file.read()) if limit > 0 else None
    except (OSError, ValueError):
        return None


def run_alone(job: Bound) -> None:
    """Run a team kernel on the calling thread."""
    job(0, 1, np.zeros(barrier.CELLS, dtype=np.int64))
