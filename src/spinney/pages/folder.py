"""The folders of a data set: files that are written once, checked when they are read, and whole or not there at all."""

from __future__ import annotations

import os
import shutil
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.errors import DataError, DatasetFormatError, DataTypeError
from spinney.model import atomic

HEADER, MARK = "dataset.json", "pages.json"
Folder = str | os.PathLike[str]


def folders_of(given: Folder | Iterable[Folder]) -> list[Path]:
    """The folders that are meant by one path or several."""
    paths = [given] if isinstance(given, str | os.PathLike) else given
    if not isinstance(paths, Iterable) or isinstance(paths, bytes):
        raise DataTypeError(f"folder must be a path or a list of paths, got {type(given).__name__}")
    found = []
    for path in paths:
        if not isinstance(path, str | os.PathLike) or not os.fspath(path):
            raise DataTypeError(f"folder holds {path!r:.60}, which is no path")
        found.append(Path(path))
    if not found or len({path.absolute() for path in found}) < len(found):
        raise DataError("folder must name at least one folder, and each only once")
    return found


def page_name(page: int, draft: bool = False) -> str:
    """File of a page; a draft is written anew before the data set is whole."""
    return f"{'draft' if draft else 'page'}-{page:06d}.bin"


def home_of(folders: list[Path], page: int) -> Path:
    """The folder of a page: pages are dealt out in turn."""
    return folders[page % len(folders)]


class FolderWriter:
    """Writes the files of a data set; the header comes last.

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
        for folder in folders:
            _check_empty(folder)
        with self.failures():
            for folder in folders:
                if not folder.exists():
                    folder.mkdir(parents=True)
                    self._created.append(folder)

    @contextmanager
    def failures(self) -> Iterator[None]:
        """What the system says of the folders becomes an error of ours."""
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
        """Write an array; gives what the header says of it."""
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
            atomic.write(self.folders[0] / HEADER, header.encode())

    def undo(self) -> None:
        """Remove all that was written."""
        for path in self._made:
            with suppress(OSError):
                path.unlink()
        for folder in reversed(self._created):
            with suppress(OSError):
                folder.rmdir()


def _check_empty(folder: Path) -> None:
    try:
        names = os.listdir(folder)
    except FileNotFoundError:
        return
    except OSError as error:
        raise DataError(f"folder {str(folder)!r} cannot be written to: {error.strerror}") from error
    if HEADER in names:
        raise DataError(f"folder {str(folder)!r} holds a data set: open it with open_dataset, or remove it")
    if page_name(0) in names or page_name(0, draft=True) in names:
        raise DataError(
            f"folder {str(folder)!r} holds a data set whose writing was broken off; remove the folder, or give another one"
        )
    if names:
        raise DataError(
            f"folder {str(folder)!r} is not empty (it holds {names[0]!r}); give an empty or a new one"
        )


def remove_folders(folders: list[Path], process: int) -> None:
    """Remove temporary folders, in the process that made them."""
    if os.getpid() == process:
        for folder in folders:
            shutil.rmtree(folder, ignore_errors=True)


Stamp = tuple[int, int, int, int]


def read_file(
    path: Path, size: int, checksum: int, room: NDArray[np.uint8], known: Stamp | None = None
) -> tuple[NDArray[np.uint8], Stamp]:
    """Read a file of known size and checksum into memory that is given, which may be larger.

    Gives the part that was filled, and a stamp of the file. A file that still has the stamp that is known of it was compared with
    its checksum before.
    """
    data = room[:size]
    view = data.data
    try:
        descriptor = os.open(path, os.O_RDONLY)
        try:
            status = os.fstat(descriptor)
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
