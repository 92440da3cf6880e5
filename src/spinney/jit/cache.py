"""The folders where built libraries are kept, and the lock that lets one process build while others wait."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO


def cache_folder() -> Path:
    """Folder to build into: the user's cache, or a private temporary one where that cannot be written.

    Examples
    --------
    >>> cache_folder().is_dir()
    True
    """
    for folder, private in _candidates():
        if _usable(folder, private):
            return folder
    return Path(tempfile.mkdtemp(prefix="spinney-"))


def places() -> Iterator[Path]:
    """Folders to look for a built library in, also those that cannot be written to."""
    for folder, private in _candidates():
        if folder.is_dir() and (not private or _is_private(folder)):
            yield folder


def _candidates() -> Iterator[tuple[Path, bool]]:
    """Folders, best first, and whether one must belong to this user alone.

    A library is code that will run, so a folder that others could write to is not used, unless the user names it.
    """
    named = os.environ.get("SPINNEY_CACHE_DIR", "")
    if named:
        yield Path(named).absolute(), False
    else:
        home = _user_cache()
        if home.is_absolute():
            yield home / "spinney", True
    user = os.getuid() if hasattr(os, "getuid") else 0
    yield Path(tempfile.gettempdir()).absolute() / f"spinney-{user}", True


def _user_cache() -> Path:
    """The system's folder for caches; a relative path where there is no home."""
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", ""))
    if sys.platform == "darwin":
        return Path(os.path.expanduser("~/Library/Caches"))
    named = Path(os.environ.get("XDG_CACHE_HOME", ""))
    # By the XDG rules a relative path is ignored.
    return named if named.is_absolute() else Path(os.path.expanduser("~/.cache"))


def _usable(folder: Path, private: bool) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        if private and not _is_private(folder):
            return False
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def _is_private(folder: Path) -> bool:
    """Whether nobody else can put a library into a folder, nor could have put the folder there."""
    if not hasattr(os, "getuid"):
        return True
    link, status = folder.lstat(), folder.stat()
    return link.st_uid == status.st_uid == os.getuid() and not status.st_mode & 0o022


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold an exclusive lock that ends with the process.

    Where the file system has no locks, go on without: a library is moved into place whole, so that the worst is a
    second build.
    """
    with path.open("a+b") as file:
        held = _lock(file)
        try:
            yield
        finally:
            # Closing would not do: a process forked meanwhile still has the file open.
            if held:
                _unlock(file)


if sys.platform == "win32":
    import msvcrt

    def _lock(file: IO[bytes]) -> bool:
        while True:
            file.seek(0)
            try:
                msvcrt.locking(file.fileno(), msvcrt.LK_LOCK, 1)
            except PermissionError:
                return False
            except OSError:
                continue  # it gives up after ten seconds
            return True

    def _unlock(file: IO[bytes]) -> None:
        file.seek(0)
        msvcrt.locking(file.fileno(), msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _lock(file: IO[bytes]) -> bool:
        try:
            fcntl.flock(file, fcntl.LOCK_EX)
        except OSError:
            return False
        return True

    def _unlock(file: IO[bytes]) -> None:
        fcntl.flock(file, fcntl.LOCK_UN)
