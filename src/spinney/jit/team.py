"""A team of threads that run one kernel together.

Every thread of a team calls the same kernel with its own rank; they meet at barriers inside it. A team lives as long as
one `with` block and belongs to whoever opened it, so that fits in several threads, nested fits and forked processes never
share one. Opening a team of two costs about 0.1 ms.
"""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable
from types import TracebackType

import numpy as np
from numpy.typing import NDArray

from spinney.jit import barrier
from spinney.jit.cores import available_cores, most_for, threads_for
from spinney.jit.kernel import Bound
from spinney.jit.library import runs_as_python
from spinney.jit.spread import join_all, start_all
from spinney.jit.types import aligned_bytes

__all__ = ["Team", "available_cores", "most_for", "run_alone", "threads_for"]

AGAIN = 0.05  # seconds after which a waiting thread looks for signals, and tells others again to give up
# A job, and where a thread says that it has done its part: None, or what went wrong. Each run has a queue of its own, so
# that what is left of one that was broken off cannot be taken for the end of the next.
Done = queue.SimpleQueue[BaseException | None]
Inbox = queue.SimpleQueue[tuple[Bound, Done] | None]


class Team:
    """Threads that run kernels together, to be used in a `with` block.

    Parameters
    ----------
    threads : int
        How many threads, the calling one included. Where the system allows fewer, the team is smaller.

    Attributes
    ----------
    size : int
        How many there are. Kernels run as plain Python have one.
    sync : int64[barrier.CELLS]
        The cells where the threads meet.
    """

    def __init__(self, threads: int) -> None:
        self.size = 1 if runs_as_python() else max(1, threads)
        self.sync = _meeting_place()
        self._inboxes: list[Inbox] = []
        self._threads: list[threading.Thread] = []
        self._process = os.getpid()

    def __enter__(self) -> Team:
        self._start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let the threads end: those that are still at work give up at their next meeting or turn."""
        self.sync[barrier.ABORT] = 1
        # In a forked process there are no threads to wait for, only what the parent knew of them.
        if self._process == os.getpid():
            for inbox in self._inboxes:
                inbox.put(None)
            join_all(self._threads)
        self._inboxes, self._threads = [], []

    def run(self, job: Bound) -> None:
        """Run a bound kernel on all threads and return when all have finished.

        What one of them raises, or an interrupt, frees the others from waiting for it and is raised here. The team can be
        used again afterwards, and in a process forked off while it was open.
        """
        if self.size == 1:
            job(0, 1, self.sync)
            return
        if not self._threads or self._process != os.getpid():
            self._start()
        self.sync[barrier.ARRIVED] = 0
        self.sync[barrier.BUSY] = 0
        self.sync[barrier.ABORT] = 0
        done: Done = queue.SimpleQueue()
        try:
            for inbox in self._inboxes:
                inbox.put((job, done))
            job(0, self.size, self.sync)
            for _ in self._inboxes:
                failure = done.get()
                if failure is not None:
                    raise failure
        except BaseException:
            # Whatever came, an interrupt in the line before this one too: no thread is left at work.
            self.close()
            raise
        finally:
            failure = None  # it knows this frame by its traceback

    def run_apart(self, job: Bound, meanwhile: Callable[[], None] = lambda: None) -> None:
        """Run a bound kernel as `run` does while the calling thread only waits, so that it serves an interrupt at once.

        For kernels that take long and look at `barrier.ABORT` themselves: they return soon after an interrupt, and what they
        were at is lost. `meanwhile` is work that the calling thread does before it waits.
        """
        if runs_as_python() or threading.current_thread() is not threading.main_thread():
            meanwhile()
            self.run(job)  # signals are served by the main thread alone
            return
        failures: list[BaseException] = []
        ended = threading.Event()  # an interrupt while a thread is joined may take it for ended

        def work() -> None:
            try:
                self.run(job)
            except BaseException as error:
                failures.append(error)
            finally:
                ended.set()

        self.sync[barrier.ABORT] = 0
        apart = threading.Thread(target=work, daemon=True, name="spinney-0")
        try:
            if start_all([apart]) == 0:
                work()
            meanwhile()
            while not ended.wait(AGAIN):
                pass  # a signal that another thread was given does not wake this one
            join_all([apart])
        except BaseException:
            while apart.ident is not None and not ended.is_set():
                # Again and again: a run that begins only now clears the cell.
                self.sync[barrier.ABORT] = 1
                ended.wait(AGAIN)
            join_all([apart])
            raise
        if failures:
            raise failures[0]

    def _start(self) -> None:
        self._process = os.getpid()
        self._inboxes = [queue.SimpleQueue() for _ in range(1, self.size)]
        self._threads = [
            threading.Thread(target=self._work, args=(rank, inbox), daemon=True, name=f"spinney-{rank}")
            for rank, inbox in enumerate(self._inboxes, start=1)
        ]
        try:
            started = start_all(self._threads)
        except BaseException:
            self.close()
            raise
        for inbox in self._inboxes[started:]:
            inbox.put(None)  # a thread that runs, though its start was said to have failed, ends at once
        # Where there are fewer than asked for, the result is the same.
        del self._inboxes[started:], self._threads[started:]
        self.size = 1 + started

    def _work(self, rank: int, inbox: Inbox) -> None:
        while (order := inbox.get()) is not None:
            job, done = order
            try:
                job(rank, self.size, self.sync)
            except BaseException as error:
                self.sync[barrier.ABORT] = 1
                done.put(error)
            else:
                done.put(None)
            del job, done, order


def _meeting_place() -> NDArray[np.int64]:
    return aligned_bytes(8 * barrier.CELLS).view(np.int64)


_ALONE = _meeting_place()  # one thread meets nobody: never written to


def run_alone(job: Bound) -> None:
    """Run a team kernel on the calling thread."""
    job(0, 1, _ALONE)
