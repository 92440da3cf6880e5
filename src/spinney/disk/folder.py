"""The folders of a data set: files that are written once, checked when they are read, and whole or not there at all.

The header is written last: a folder without it is no data set.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
import tempfile
import weakref
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.errors import DataError, DatasetFormatError, DataTypeError
from spinney.messages import shown
from spinney.params.parameter import is_iterable
from spinney.safe_io import check_path, write_atomically

HEADER, MARK = "dataset.json", "pages.json"
WRITING = "writing"  # stands in a folder as long as somebody writes a data set there
PAGE = re.compile(r"(page|draft)-\d{6,}\.bin")
Folder = str | os.PathLike[str]


def folders_of(given: Folder | Iterable[Folder]) -> list[Path]:
    """The folders that are meant by one path or several, wherever the process goes to from here."""
    paths = [given] if isinstance(given, str | os.PathLike) else given
    if not is_iterable(paths) or isinstance(paths, bytes):
        raise DataTypeError(f"folder must be a path or a list of paths, got {type(given).__name__}")
    found = []
    for path in paths:
        text = os.fspath(path) if isinstance(path, str | os.PathLike) else None
        if not isinstance(text, str) or not text:
            raise DataTypeError(f"folder holds {shown(path)}, which is no path")
        check_path(text, f"folder={text!r:.60}")
        found.append(Path(text).absolute())
    if not found or len({os.path.realpath(path) for path in found}) < len(found):
        raise DataError("folder must name at least one folder, and each only once")
    return found


def page_name(page: int, draft: bool = False) -> str:
    """File of a page; a draft is written anew before the data set is whole."""
    return f"{'draft' if draft else 'page'}-{page:06d}.bin"


def home_of(folders: list[Path], page: int) -> Path:
    """The folder of a page: each takes the next page in turn."""
    return folders[page % len(folders)]


class FolderWriter:
    """Writes the files of a data set; the header comes last.

    Meanwhile the folders belong to this writer alone: it holds a file that only one can create.

    Parameters
    ----------
    folders : list of Path
        They must be empty, or not there yet.
    sync : bool
        Whether what was written must survive a loss of power.
    """

    def __init__(self, folders: list[Path], *, sync: bool) -> None:
        self.folders, self._sync = folders, sync
        self._made: list[Path] = []
        self._created: list[Path] = []
        self._claimed: list[Path] = []
        _check_apart(folders)
        for folder in folders:
            _check_empty(folder)
        try:
            for folder in folders:
                with self.failures():
                    self._create(folder)
                self._claim(folder)
        except BaseException:
            self.undo()
            raise

    def _create(self, folder: Path) -> None:
        """Make a folder, and those that it is in, where they are not there yet."""
        if not folder.exists():
            self._create(folder.parent)
            with suppress(FileExistsError):  # somebody else was faster
                folder.mkdir()
                self._created.append(folder)

    def _claim(self, folder: Path) -> None:
        """Make a folder this writer's own, if it is still empty."""
        with self.failures():
            try:
                os.close(os.open(folder / WRITING, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))
            except FileExistsError:
                raise _in_use(folder) from None
        self._claimed.append(folder / WRITING)
        _check_empty(folder, claimed=True)  # another writer may have been there since it was looked at

    @contextmanager
    def failures(self) -> Iterator[None]:
        """Errors of the system about the folders become errors of ours."""
        try:
            yield
        except OSError as error:
            shown = ", ".join(str(folder) for folder in self.folders)
            raise DataError(
                f"folder {shown!r} cannot be written to: {error.strerror or error}; nothing was kept of the data set"
            ) from error

    def write(self, folder: Path, name: str, data: Any) -> int:
        """Write a file; gives its checksum."""
        path = folder / name
        with self.failures():
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
            self._made.append(path)
            try:
                view = memoryview(data).cast("B")
                while len(view):
                    view = view[os.write(descriptor, view) :]
                if self._sync:
                    os.fsync(descriptor)
            finally:
                os.close(descriptor)
        return zlib.crc32(data)

    def array(self, name: str, values: NDArray[Any]) -> dict[str, int]:
        """Write an array; gives what the header has about it."""
        data = np.ascontiguousarray(values).reshape(-1)
        crc = self.write(
            self.folders[0], f"{name}.bin", data.astype(data.dtype.newbyteorder("<"), copy=False)
        )
        return {"items": len(data), "checksum": crc}

    def page(self, page: int, data: Any, *, draft: bool) -> int:
        """Write a page; gives its checksum."""
        return self.write(home_of(self.folders, page), page_name(page, draft), data)

    def accept(self, pages: int) -> None:
        """Make drafts the pages of the data set."""
        for page in range(pages):
            home = home_of(self.folders, page)
            draft, final = home / page_name(page, draft=True), home / page_name(page)
            with self.failures():
                os.rename(draft, final)
            self._made[self._made.index(draft)] = final

    def drop(self, page: int) -> None:
        """Remove a draft."""
        path = home_of(self.folders, page) / page_name(page, draft=True)
        with self.failures():
            path.unlink()
        self._made.remove(path)

    def finish(self, header: str, marks: list[str]) -> None:
        """Write the header, in one step: from then on the data set is whole. Other folders than the first get their marks."""
        for folder, mark in zip(self.folders[1:], marks, strict=True):
            self.write(folder, MARK, mark.encode())
        with self.failures():
            write_atomically(self.folders[0] / HEADER, header.encode())
        for path in self._claimed:
            with suppress(OSError):  # the data set is whole in any case
                path.unlink()

    def undo(self) -> None:
        """Remove all that was written, and nothing else."""
        for path in [*self._made, *self._claimed]:
            with suppress(OSError):
                path.unlink()
        for folder in reversed(self._created):
            with suppress(OSError):
                folder.rmdir()


def _check_apart(folders: list[Path]) -> None:
    real = [Path(os.path.realpath(folder)) for folder in folders]
    for one in real:
        around = next((other for other in real if other in one.parents), None)
        if around is not None:
            raise DataError(
                f"folder names {str(one)!r}, which is inside {str(around)!r}; give folders side by side"
            )


def _in_use(folder: Path) -> DataError:
    return DataError(
        f"folder {str(folder)!r} holds a data set that another job is writing, or whose writing was interrupted; give another "
        "one, or remove it if nobody writes there"
    )


def _check_empty(folder: Path, *, claimed: bool = False) -> None:
    """Refuse a folder that holds anything, but for the claim of this writer."""
    try:
        names = os.listdir(folder)
    except FileNotFoundError:
        return
    except OSError as error:
        raise DataError(f"folder {str(folder)!r} cannot be written to: {error.strerror}") from error
    if HEADER in names:
        raise DataError(f"folder {str(folder)!r} holds a data set: open it with open_dataset, or remove it")
    if MARK in names:
        raise DataError(f"folder {str(folder)!r} holds a part of a data set; give another one, or remove it")
    if claimed:
        names.remove(WRITING)
    if WRITING in names:
        raise _in_use(folder)
    if any(PAGE.fullmatch(name) for name in names):
        raise DataError(
            f"folder {str(folder)!r} holds a data set whose writing was interrupted; remove the folder, or give another one"
        )
    if names:
        raise DataError(
            f"folder {str(folder)!r} is not empty (it holds {names[0]!r}); give an empty or a new one"
        )


class TemporaryFolder:
    """A folder that is removed when nobody holds this object any more, or with the process that made it."""

    def __init__(self) -> None:
        try:
            self.path = Path(tempfile.mkdtemp(prefix="spinney-")).absolute()
        except OSError as error:
            raise DataError(
                f"there is no temporary folder to be had ({error.strerror or error}); give a folder to keep the data set in"
            ) from error
        self.remove = weakref.finalize(self, _remove, self.path, os.getpid())


def _remove(folder: Path, process: int) -> None:
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)


Stamp = tuple[int, int, int, int]


def read_file(
    path: Path, size: int, checksum: int, buffer: NDArray[np.uint8], known: Stamp | None = None
) -> tuple[NDArray[np.uint8], Stamp]:
    """Read a file of known size and checksum into memory that is given, which may be larger.

    Gives the part that was filled, and a stamp of the file. A file that still has the stamp that is known of it was compared with
    its checksum before.
    """
    data = buffer[:size]
    view = data.data
    try:
        descriptor, status = open_regular(path)
        try:
            if status.st_size != size:
                raise _damaged(path, f"it has {status.st_size} bytes, not {size}")
            at = 0
            while at < size:
                read = os.preadv(descriptor, [view[at:]], at)
                if read == 0:
                    raise _damaged(path, f"it ends after {at} of {size} bytes")
                at += read
        finally:
            os.close(descriptor)
    except OSError as error:
        raise gone(path, error) from error
    stamp = status.st_dev, status.st_ino, status.st_mtime_ns, status.st_ctime_ns
    if stamp != known and zlib.crc32(view) != checksum:
        raise _damaged(path, "its checksum is not what it was when it was written")
    return data, stamp


def open_regular(path: Path) -> tuple[int, os.stat_result]:
    """Open a file for reading, and give its status. Whatever else has its name, such as a pipe, is refused."""
    # A pipe would wait for somebody to write.
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        os.close(descriptor)
        raise _damaged(path, "it is no regular file")
    return descriptor, status


def check_size(path: Path, size: int) -> None:
    """Refuse a file that is gone or has another size, before anything of its size is allocated."""
    try:
        found = path.stat().st_size
    except OSError as error:
        raise gone(path, error) from error
    if found != size:
        raise _damaged(path, f"it has {found} bytes, not {size}")


def gone(path: Path, error: OSError) -> DatasetFormatError:
    """Make the error for a file that cannot be read."""
    return DatasetFormatError(f"{str(path)!r}, a part of the data set, cannot be read: {error.strerror}")


def _damaged(path: Path, why: str) -> DatasetFormatError:
    return DatasetFormatError(f"{str(path)!r} is damaged: {why}")
