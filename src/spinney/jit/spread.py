"""Python functions on several threads, for work that is not a kernel."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")


def spread(
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
    >>> spread(str.upper, ["oak", "ash"], threads=2)
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
