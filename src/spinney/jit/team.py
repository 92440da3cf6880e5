"""A team of threads that run one kernel together.

Every thread of a team calls the same kernel with its own rank; they meet at barriers inside it. A team lives as long as
one `with` block and belongs to the code that opened it, so that fits in several threads, nested fits and forked processes
never share one. Opening a team of two costs about 0.1 ms. OpenMP is not used: it would not survive a fork, and would fight with
the pools of other libraries.

A thread that has done its part of a job looks for the next one for a while, in machine code and without the interpreter's lock
(`jit.kernels`). Then it sleeps until something is put into its inbox.
"""

from __future__ import annotations

import os
import queue
import threading
from collections import deque
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from spinney.errors import SpinneyError
from spinney.jit import barrier
from spinney.jit.cores import available_cores, most_for, threads_for
from spinney.jit.kernel import Bound, MachineCode
from spinney.jit.kernels import announce_job, lead_job, serve_jobs
from spinney.jit.library import has_machine_code, runs_as_python
from spinney.jit.types import aligned_bytes

__all__ = ["Team", "available_cores", "most_for", "parallel_map", "run_alone", "threads_for"]

AGAIN = 0.05  # seconds after which a waiting thread handles signals; one that was interrupted sets the abort flag anew
# How often a thread looks for a job before it sleeps (700 looks take some 70 µs), where every thread has a core: about as long as
# Python takes between two kernels of a round. Time / processor time of a round on two threads with 0, 600, 700, 2 000 looks (AMD
# EPYC): 5 000 x 50, 31 leaves .741/1.370, .697/1.357, .694/1.355, .693/1.370 ms; 200 000 x 28 3.89/7.52, 3.84/7.51, 3.83/7.52,
# 3.83/7.56 ms.
LOOKS = 700
# A job that is called by way of Python, and where a thread reports that it has done its part: None, or what went wrong. Each run
# has a queue of its own, so that what is left of an interrupted one cannot be taken for the end of the next.
Done = queue.SimpleQueue[BaseException | None]
Call = tuple[Bound, Done]
WAKE = "wake"  # there is a job of machine code

T = TypeVar("T")
R = TypeVar("R")


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
        self._workers: list[_Worker] = []
        self._process = os.getpid()
        self._lead, self._announce = lead_job.bind(), announce_job.bind()

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
        # In a forked process there are no threads to wait for, only the parent's records of them.
        if self._process == os.getpid():
            self._take_code_away()
            for worker in self._workers:
                worker.inbox.put(None)
            join_all([worker.thread for worker in self._workers])
        self._workers = []

    def run(self, job: Bound) -> None:
        """Run a bound kernel on all threads and return when all have finished.

        What one of them raises, or an interrupt, frees the others from waiting for it and is raised here. The team can be
        used again afterwards, and in a process forked off while it was open.
        """
        if self.size > 1 and (not self._workers or self._process != os.getpid()):
            self._start()
        self.sync[barrier.BUSY] = 0
        self.sync[barrier.ABORT] = 0
        if self.size == 1:
            job(0, 1, self.sync)
            return
        code = job.machine_code(self.size)
        self.sync[barrier.ARRIVED :: barrier.APART] = 0
        self.sync[barrier.SIZE] = self.size
        self.sync[barrier.FAILED] = 0
        try:
            if code is None:
                self._run_calls(job)
            else:
                self._run_code(code)
        except BaseException:
            # Whatever came, an interrupt in the line before this one too: no thread is left at work.
            self.close()
            raise
        if self.sync[barrier.FAILED] != 0:
            raise SpinneyError(f"kernel {job.kernel.name} failed")

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

    def _run_code(self, code: MachineCode) -> None:
        """Run machine code. Threads that are awake take it up by themselves."""
        self.sync[barrier.CODE], self.sync[barrier.WORDS] = code
        for worker in self._workers:
            worker.jobs += 1
            if worker.asleep:
                worker.asleep = False
                worker.inbox.put(WAKE)
        self._lead(0, self.size, self.sync)

    def _run_calls(self, job: Bound) -> None:
        """Run what each thread must call by way of Python."""
        done: Done = queue.SimpleQueue()
        self._take_code_away()
        try:
            for worker in self._workers:
                worker.inbox.put((job, done))
            job(0, self.size, self.sync)
            for _ in self._workers:
                failure = done.get()
                if failure is not None:
                    raise failure
        finally:
            failure = None  # its traceback holds this frame

    def _take_code_away(self) -> None:
        """Let threads that look for machine code look into their inboxes."""
        self.sync[barrier.CODE] = 0
        if self._workers and has_machine_code():
            self._announce(0, self.size, self.sync)
        for worker in self._workers:
            worker.jobs = int(self.sync[barrier.JOB])

    def _start(self) -> None:
        self._process = os.getpid()
        # Each time another place: a thread of an earlier start that could not be waited for finds no job there.
        delay, self.sync = self.sync[barrier.DELAY], _meeting_place()
        self.sync[barrier.DELAY] = delay
        looks = LOOKS if self.size <= available_cores() else 0
        self._workers = [_Worker(rank, self.sync, looks) for rank in range(1, self.size)]
        try:
            started = start_all([worker.thread for worker in self._workers])
        except BaseException:
            self.close()
            raise
        for worker in self._workers[started:]:
            # A thread that runs, though its start was reported as failed, ends at once.
            worker.inbox.put(None)
        # Where there are fewer than requested, the result is the same.
        del self._workers[started:]
        self.size = 1 + started


class _Worker:
    """A thread of a team other than the calling one.

    Attributes
    ----------
    inbox : SimpleQueue
        Calls, WAKE, or None to end.
    jobs : int
        The number of the latest job that was announced, or is about to be.
    asleep : bool
        Whether the thread waits for something in its inbox. The thread sets it, then looks at `jobs`; the team sets `jobs`, then
        looks at it; both have the interpreter's lock. So no job is missed.
    """

    def __init__(self, rank: int, sync: NDArray[np.int64], looks: int) -> None:
        self.inbox: queue.SimpleQueue[Call | str | None] = queue.SimpleQueue()
        self.jobs, self.asleep = int(sync[barrier.JOB]), False
        self._rank, self._sync = rank, sync
        self._seen = np.array([self.jobs])
        self._serve = serve_jobs.bind(looks, self._seen)
        if has_machine_code():
            self._serve.machine_code(
                1
            )  # found here: a thread that cannot find it would leave the others waiting
        self.thread = threading.Thread(target=self._work, daemon=True, name=f"spinney-{rank}")

    def _work(self) -> None:
        while (call := self._next_call()) is not None:
            job, done = call
            try:
                job(self._rank, int(self._sync[barrier.SIZE]), self._sync)
            except BaseException as error:
                self._sync[barrier.ABORT] = 1
                done.put(error)
            else:
                done.put(None)
            del job, done, call

    def _next_call(self) -> Call | None:
        """Do this thread's part of jobs of machine code, until there is something else to do."""
        while True:
            if has_machine_code():
                self._serve(self._rank, 1, self._sync)
                self.asleep = True
                if self.jobs > self._seen[0]:
                    self.asleep = False
                    continue
            received = self.inbox.get()
            self.asleep = False
            if not isinstance(received, str):
                # It came with an announcement that there is no code. Else code that is written for the next job, but not yet
                # announced, would be taken for it. The team waits for this call, so `jobs` is still of that announcement.
                self._seen[0] = self.jobs
                return received


def _meeting_place() -> NDArray[np.int64]:
    return aligned_bytes(8 * barrier.CELLS).view(np.int64)


_ALONE = _meeting_place()  # one thread meets nobody: never written to


def run_alone(job: Bound) -> None:
    """Run a team kernel on the calling thread."""
    job(0, 1, _ALONE)


def parallel_map(
    work: Callable[[T], R], items: Iterable[T], threads: int, stop: Callable[[], None] = lambda: None
) -> list[R]:
    """Do some work for every item, on several threads.

    Parameters
    ----------
    work : callable
        Takes an item.
    items : iterable
        What to do it for.
    threads : int
        How many threads. Where the system allows fewer, there are fewer; the calling one works where there would be no other.
    stop : callable, optional
        Called when something goes wrong, to end what other threads are at.

    Returns
    -------
    list
        What `work` returned, in the order of the items. What it raises is raised here, and no other item is begun.

    Examples
    --------
    >>> parallel_map(str.upper, ["oak", "ash"], threads=2)
    ['OAK', 'ASH']
    """
    left = deque(enumerate(items))
    found: dict[int, R] = {}
    failures: list[BaseException] = []

    def work_off() -> None:
        try:
            while left:
                try:
                    place, item = left.popleft()
                except IndexError:  # another thread was faster
                    return
                found[place] = work(item)
        except BaseException as error:
            failures.append(error)
            left.clear()
            stop()

    # The calling thread only waits where it has others: an interrupt would find it in the middle of an item.
    wanted = min(threads, len(left))
    helpers = [threading.Thread(target=work_off, daemon=True) for _ in range(wanted if wanted > 1 else 0)]
    try:
        if start_all(helpers) == 0:
            work_off()
        join_all(helpers)
    except BaseException:
        left.clear()
        stop()
        join_all(helpers)
        raise
    if failures:
        raise failures[0]
    return [found[place] for place in range(len(found))]


def start_all(threads: list[threading.Thread]) -> int:
    """Start threads, or the first of them where no more are to be had; returns how many run."""
    for started, thread in enumerate(threads):
        try:
            thread.start()
        except (RuntimeError, MemoryError):
            return started
    return len(threads)


def join_all(threads: list[threading.Thread]) -> None:
    """Wait for the end of those threads that were started."""
    for thread in threads:
        if thread.ident is not None:
            thread.join()
