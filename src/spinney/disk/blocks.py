"""Reading pages: one at a time, or as blocks of codes that are read ahead while others are worked on.

A page has codes by column; the copy by rows is made when it is read. The team that works on a page unpacks it, but for codes that
are bytes, which are used where they were read.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Container, Generator, Iterator
from contextlib import closing
from copy import copy
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from spinney.binning.binned import BinnedData
from spinney.binning.encode import ColumnCodes, fill_rows
from spinney.binning.matrix import BinnedMatrix, ColumnLayout, aligned
from spinney.disk.folder import Stamp, TemporaryFolder, home_of, page_name, read_file
from spinney.disk.header import Pages
from spinney.disk.memory import spare_memory
from spinney.disk.page import PLAIN, PageLayout, unpack
from spinney.errors import DataError, DatasetFormatError
from spinney.jit.team import Team


@dataclass(frozen=True, eq=False)
class PageBytes:
    """A page as it was read: its number, its bytes, and the stamp of its file."""

    page: int
    data: NDArray[np.uint8]
    stamp: Stamp


@dataclass(eq=False)
class PageBuffer:
    """Memory for one page, which other pages may use after it; for codes by column only where they cannot stay where they are.

    Matrices that were made of it are kept: by where their codes by column are, and their rows.
    """

    by_column: NDArray[Any] | None
    by_row: NDArray[Any]
    matrices: dict[tuple[int, int], BinnedMatrix] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class PageStore:
    """Pages in folders.

    Attributes
    ----------
    folders : list of Path
        Where they are.
    pages : Pages
        What is known of each.
    form : PageLayout
        How they are written.
    draft : bool
        Whether they are drafts.
    stamps : dict
        Of the files that were compared with their checksums.
    sound : dict
        Of those whose codes were looked at, too.
    """

    folders: list[Path]
    pages: Pages
    form: PageLayout
    draft: bool = False
    stamps: dict[int, Stamp] = field(default_factory=dict)
    sound: dict[int, Stamp] = field(default_factory=dict)

    def path(self, page: int) -> Path:
        """File of a page."""
        return home_of(self.folders, page) / page_name(page, self.draft)

    def buffer(self) -> PageBuffer:
        """Memory for any page, whose bytes stay as long as it is used."""
        return self._buffer(max(self.pages.rows), apart=not self._as_written)

    @property
    def _as_written(self) -> bool:
        """Whether codes by column can stay where they were read."""
        return self.form.in_bytes and set(self.pages.codec) == {PLAIN}

    @property
    def buffer_bytes(self) -> int:
        """Bytes of memory for any page, at most."""
        form, pages = self.form, self.pages
        most = max(form.memory(*facts) for facts in zip(pages.rows, pages.entries, strict=True))
        return most - (len(form.widths) * max(pages.rows) if self._as_written else 0)

    def own_buffer(self, page: int) -> PageBuffer:
        """Memory for one page, with all that it needs."""
        return self._buffer(self.pages.rows[page], apart=True)

    def _buffer(self, rows: int, *, apart: bool) -> PageBuffer:
        form = self.form
        by_row = aligned(rows, form.stride, form.dtype)
        return PageBuffer(np.empty(len(form.widths) * rows, form.dtype) if apart else None, by_row)

    def raw_buffer(self) -> NDArray[np.uint8]:
        """Memory for the bytes of any page."""
        return np.empty(max(self.pages.bytes), np.uint8)

    def raw(self, page: int, buffer: NDArray[np.uint8]) -> PageBytes:
        """Bytes of a page as they are in its file, in memory that is given and may be larger."""
        pages = self.pages
        data, stamp = read_file(
            self.path(page), pages.bytes[page], pages.checksum[page], buffer, self.stamps.get(page)
        )
        self.stamps[page] = stamp
        return PageBytes(page, data, stamp)

    def columns(self, raw: PageBytes, into: NDArray[Any] | None, team: Team) -> ColumnCodes:
        """Codes by column of a page from its bytes, into flat memory that may be larger; see `PageLayout.unpack`."""
        pages, form, page = self.pages, self.form, raw.page
        rows, entries = pages.rows[page], pages.entries[page]
        try:
            unpacked = unpack(pages.codec[page], raw.data, form.size(rows, entries))
            codes = form.unpack(unpacked, rows, entries, into, team, sound=self.sound.get(page) == raw.stamp)
            self.sound[page] = raw.stamp
            return codes
        except DatasetFormatError as error:
            raise DatasetFormatError(f"{str(self.path(page))!r} is damaged: {error}") from error

    def decoded(self, raw: PageBytes, buffer: PageBuffer, team: Team) -> BinnedMatrix:
        """Codes of a page from its bytes. A matrix that was made of the same memory is given again."""
        codes, rows = self.columns(raw, buffer.by_column, team), self.pages.rows[raw.page]
        matrix = fill_rows(codes, self.form.features, buffer.by_row[:rows], team)
        if len(self.form.listed):
            return matrix
        return buffer.matrices.setdefault((codes.groups.ctypes.data, rows), matrix)


AHEAD = 1  # pages that are read before they are needed

T = TypeVar("T")
Bytes = NDArray[np.uint8]
# A page and the memory that its bytes are in, or what went wrong.
Read = tuple[PageBytes, Bytes] | BaseException


class PagedBlocks:
    """The codes of a data set on disk, a page a block.

    As many pages as fit into `memory` stay there once they were read, spread evenly over all. The others are read anew by every
    scan, forward and backward in turn, so that what the system still holds of them comes first. A thread of its own reads the
    bytes of the next page ahead. The threads that work on pages unpack them: one more that computes would make them wait for
    each other, and it alone could not keep up with many.

    Parameters
    ----------
    store : PageStore
        Where pages are read from.
    memory : int, optional
        Bytes that pages may take; without it what is to spare when the first scan begins.
    home : TemporaryFolder, optional
        Where pages are, if it is to be removed when nothing holds them any more.
    key : str, default=""
        That of the folder's header, by which a pickle makes sure that it opens the same pages.
    """

    matrix = None

    def __init__(
        self, store: PageStore, memory: int | None, home: TemporaryFolder | None = None, key: str = ""
    ) -> None:
        self._store, form, pages = store, store.form, store.pages
        self._home, self._key = home, key
        self._opener = FolderOpener([str(folder) for folder in store.folders], memory, key)
        self.begins: NDArray[np.int64] = pages.begins
        self.rows = int(self.begins[-1])
        self.features: ColumnLayout = form.features
        self.columns, self.bins = form.features.columns, form.features.bins
        self.wide, self.from_sparse = bool(form.dtype == np.uint16), form.from_sparse
        self.values = self.rows * len(form.widths) + sum(pages.entries)
        sizes = [form.memory(*facts) for facts in zip(pages.rows, pages.entries, strict=True)]
        self.nbytes = sum(sizes)
        self.entries = sum(pages.entries)
        self._sizes, self._memory = sizes, memory
        self._keep: set[int] | None = None
        self._resident: dict[int, BinnedMatrix] = {}
        self._buffers: list[PageBuffer] = []
        self._raw: list[Bytes] = []
        self._backward = False

    @property
    def folders(self) -> list[Path]:
        """Where the pages are."""
        return self._store.folders

    def storage(self) -> dict[str, int]:
        """Pages, pages that stay in memory, compressed pages, and bytes on disk."""
        pages = self._store.pages
        return {
            "pages": pages.count,
            "resident_pages": self.resident,
            "compressed_pages": sum(codec != PLAIN for codec in pages.codec),
            "disk_bytes": sum(pages.bytes),
        }

    @property
    def resident(self) -> int:
        """Pages that are in memory, or will stay there once they were read, if that is known; else those that would stay now."""
        return len(self._kept())

    def _kept(self) -> set[int]:
        """Pages that stay in memory once they were read."""
        if self._keep is not None:
            return self._keep
        memory = spare_memory() if self._memory is None else self._memory
        return _chosen(
            self._sizes, self._store.buffer_bytes + (AHEAD + 1) * max(self._store.pages.bytes), memory
        )

    def scan(self, team: Team | None = None, but: Container[int] = ()) -> Iterator[tuple[int, BinnedMatrix]]:
        """Every block once, but for some: its number and its codes, which are valid until the iterator goes on."""
        self._keep = keep = self._kept()
        order = [page for page in range(self._store.pages.count) if page not in but]
        if self._backward:
            order.reverse()
        self._backward = not self._backward
        resident = dict(self._resident)  # as it is now: another scan may read pages meanwhile
        wanted = [page for page in order if page not in resident]
        with closing(self._read(wanted, keep, team or Team(1))) as reading:
            for page in order:
                if page in resident:
                    yield page, resident[page]
                else:
                    yield next(reading)

    def release(self, block: int) -> bool:
        """Whether a page is one of those there is memory for; it is then no longer kept here."""
        self._resident.pop(block, None)
        return block in self._kept()

    def _read(self, wanted: list[int], keep: set[int], team: Team) -> Generator[tuple[int, BinnedMatrix]]:
        """Read the bytes of pages on another thread, and unpack them by the team."""
        if not wanted:
            return
        store = self._store
        buffer = _taken(self._buffers, store.buffer) if any(page not in keep for page in wanted) else None
        try:
            with closing(self._read_bytes(wanted)) as reading:
                for raw in reading:
                    page = raw.page
                    into = buffer if buffer is not None and page not in keep else store.own_buffer(page)
                    matrix = store.decoded(raw, into, team)
                    if page in keep:
                        self._resident[page] = matrix
                    yield page, matrix
        finally:
            if buffer is not None:
                self._buffers.append(buffer)

    def _read_bytes(self, wanted: list[int]) -> Generator[PageBytes]:
        """The bytes of pages, of which the next are read meanwhile; they are valid until the iterator goes on."""
        free: queue.SimpleQueue[Bytes | None] = queue.SimpleQueue()
        ready: queue.Queue[Read] = queue.Queue(AHEAD)
        raw = [_taken(self._raw, self._store.raw_buffer) for _ in range(min(AHEAD + 1, len(wanted)))]
        for one in raw:
            free.put(one)
        stop = threading.Event()
        work = partial(_work, self._store, free=free, ready=ready, stop=stop)
        reader = threading.Thread(target=work, args=(wanted,), daemon=True)
        alone = not _started(reader)
        try:
            for one_page in wanted:
                if alone:
                    work([one_page])
                found = ready.get()
                if isinstance(found, BaseException):
                    raise found
                page, buffer = found
                yield page
                free.put(buffer)
        finally:
            stop.set()
            free.put(None)
            while reader.is_alive():
                _drain(ready)
                reader.join(0.01)
            self._raw += raw

    def opener(self) -> FolderOpener:
        """Opens the folders again, for pickles."""
        if self._home is not None:
            raise DataError(
                "this data set cannot be pickled: it is in a temporary folder, which is removed with it. Give from_files or "
                "from_batches a folder"
            )
        return self._opener

    def __copy__(self) -> PagedBlocks:
        """A copy over the same folders, with nothing in memory."""
        return PagedBlocks(self._store, self._memory, self._home, self._key)

    def __deepcopy__(self, memo: object) -> PagedBlocks:
        return copy(self)


class FolderOpener:
    """Opens the folders of a pickle, which must hold the data set that it was made of.

    Parts that are in one pickle share it, so they share their pages afterwards.
    """

    def __init__(self, folders: list[str], memory: int | None, key: str) -> None:
        self._arguments = folders, memory, key
        self._opened: BinnedData | None = None

    def __call__(self) -> BinnedData:
        """The data, opened once."""
        from spinney.disk.open import open_folders

        if self._opened is None:
            folders, memory, key = self._arguments
            data = open_folders([Path(folder) for folder in folders], memory)
            assert isinstance(data.codes, PagedBlocks)
            if data.codes._key != key:
                raise DatasetFormatError(
                    f"{folders[0]!r} holds another data set than the one that was pickled"
                )
            self._opened = data
        return self._opened


def _work(
    store: PageStore,
    wanted: list[int],
    free: queue.SimpleQueue[Bytes | None],
    ready: queue.Queue[Read],
    stop: threading.Event,
) -> None:
    """Read the bytes of pages, one after another, as there is memory for them."""
    try:
        for page in wanted:
            buffer = free.get()
            if buffer is None or stop.is_set():
                return
            ready.put((store.raw(page, buffer), buffer))
            if stop.is_set():
                return
    except BaseException as error:
        ready.put(error)


def _started(thread: threading.Thread) -> bool:
    """Whether the system has a thread to give; else pages are read when they are needed."""
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


def _chosen(sizes: list[int], ahead: int, memory: int) -> set[int]:
    """Pages that stay in memory, spread evenly; what is read ahead has its part of the memory first."""
    total, pages = sum(sizes), len(sizes)
    if total <= memory:
        return set(range(pages))
    count = max((memory - ahead) // max(sizes), 0)
    return {page for page in range(pages) if (page + 1) * count // pages > page * count // pages}
