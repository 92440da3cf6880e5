"""Blocks of codes that are read ahead while others are worked on."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from functools import partial
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from spinney.binning.features import Features
from spinney.binning.matrix import BinnedMatrix
from spinney.jit.team import Team
from spinney.pages.store import PageRoom, PageStore

AHEAD = 2  # pages that are read before they are asked for

T = TypeVar("T")
# A page that was read with the memory it is in, or what went wrong.
Read = tuple[int, BinnedMatrix, PageRoom | None] | BaseException


class PagedBlocks:
    """The codes of a data set on disk, a page a block.

    As many pages as fit into `memory` stay there once they were read, spread evenly over all. The others are read anew by every
    scan, on a thread of its own, forward and backward in turn, so that what the system still holds of them comes first.

    Parameters
    ----------
    store : PageStore
        Where pages are read from.
    memory : int
        Bytes that pages may take.
    """

    def __init__(self, store: PageStore, memory: int) -> None:
        self._store, form, pages = store, store.form, store.pages
        self.begins: NDArray[np.int64] = pages.begins
        self.rows = int(self.begins[-1])
        self.features: Features = form.features
        self.columns, self.bins = form.features.columns, form.features.bins
        self.wide, self.from_sparse = bool(form.dtype == np.uint16), form.from_sparse
        self.values = self.rows * len(form.widths) + sum(pages.entries)
        sizes = [form.memory(*facts) for facts in zip(pages.rows, pages.entries, strict=True)]
        self.nbytes = sum(sizes)
        self._keep = _kept(sizes, memory)
        self._resident: dict[int, BinnedMatrix] = {}
        self._rooms: list[PageRoom] = []
        self._raw: list[NDArray[np.uint8]] = []
        self._backward = False

    @property
    def entries(self) -> int:
        """Entries of sparse columns."""
        return sum(self._store.pages.entries)

    @property
    def resident(self) -> int:
        """Pages that are in memory, or will stay there once they were read."""
        return len(self._keep)

    def scan(self) -> Iterator[tuple[int, BinnedMatrix]]:
        """Every block once: its number and its codes, which are valid until the iterator goes on."""
        order = list(range(self._store.pages.count))
        if self._backward:
            order.reverse()
        self._backward = not self._backward
        resident = dict(self._resident)  # as it is now: another scan may read pages meanwhile
        with closing(self._read([page for page in order if page not in resident])) as reading:
            for page in order:
                if page in resident:
                    yield page, resident[page]
                else:
                    yield next(reading)

    def _read(self, wanted: list[int]) -> Generator[tuple[int, BinnedMatrix]]:
        """Read pages on another thread."""
        if not wanted:
            return
        raw = _taken(self._raw, self._store.raw_room)
        free: queue.SimpleQueue[PageRoom | None] = queue.SimpleQueue()
        ready: queue.Queue[Read] = queue.Queue(AHEAD)
        streamed = sum(page not in self._keep for page in wanted)
        rooms = [_taken(self._rooms, self._store.room) for _ in range(min(AHEAD + 1, streamed))]
        for one in rooms:
            free.put(one)
        stop = threading.Event()
        work = partial(_work, self._store, keep=self._keep, raw=raw, free=free, ready=ready, stop=stop)
        reader = threading.Thread(target=work, args=(wanted,), daemon=True)
        alone = not _started(reader)
        try:
            for one_page in wanted:
                if alone:
                    work([one_page])
                found = ready.get()
                if isinstance(found, BaseException):
                    raise found
                page, matrix, room = found
                if room is None:
                    self._resident[page] = matrix
                yield page, matrix
                if room is not None:
                    free.put(room)
        finally:
            stop.set()
            free.put(None)
            while reader.is_alive():
                _drain(ready)
                reader.join(0.01)
            self._rooms += rooms
            self._raw.append(raw)

    def __getstate__(self) -> dict[str, object]:
        """Copies begin with nothing in memory."""
        return {**self.__dict__, "_resident": {}, "_rooms": [], "_raw": []}


def _work(
    store: PageStore,
    wanted: list[int],
    keep: set[int],
    raw: NDArray[np.uint8],
    free: queue.SimpleQueue[PageRoom | None],
    ready: queue.Queue[Read],
    stop: threading.Event,
) -> None:
    """Read pages, one after another, as there is memory for them."""
    team = Team(1)
    try:
        for page in wanted:
            own = page in keep
            room = store.own_room(page) if own else free.get()
            if room is None or stop.is_set():
                return
            matrix = store.read(page, raw, room, team)
            ready.put((page, matrix, None if own else room))
            if stop.is_set():
                return
    except BaseException as error:
        ready.put(error)


def _started(thread: threading.Thread) -> bool:
    """Whether the system has a thread to give; else pages are read when they are asked for."""
    try:
        thread.start()
    except (RuntimeError, MemoryError):
        return False
    return True


def _taken(pool: list[T], make: Callable[[], T]) -> T:
    """Something of a pool that scans share, or a new one."""
    try:
        return pool.pop()
    except IndexError:
        return make()


def _drain(ready: queue.Queue[Read]) -> None:
    while True:
        try:
            ready.get_nowait()
        except queue.Empty:
            return


def _kept(sizes: list[int], memory: int) -> set[int]:
    """Pages that stay in memory, spread evenly; what is read ahead has its part of the memory first."""
    total, pages = sum(sizes), len(sizes)
    if total <= memory:
        return set(range(pages))
    left = memory - (AHEAD + 1) * max(sizes)
    count = max(int(left // max(sizes)), 0)
    return {page for page in range(pages) if (page + 1) * count // pages > page * count // pages}
