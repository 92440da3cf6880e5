"""Hidden files that bytes go to before they take the place of a file, and what a killed process left of them."""

from __future__ import annotations

import hashlib
import os
import secrets
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO, NamedTuple


class Hidden(NamedTuple):
    """A hidden file, open for writing."""

    path: str
    file: IO[bytes]

    def move_to(self, target: str | os.PathLike[str]) -> None:
        """Take the place of a file."""
        if sys.platform == "win32":  # where no open file can be moved
            self.file.close()
        os.replace(self.path, target)


@contextmanager
def hidden_beside(target: str, mode: int = 0o666) -> Iterator[Hidden]:
    """Open a new hidden file in the folder of a target, for as long as the block lasts.

    The file is locked while it is open, and the lock ends with the process. So a file that can be locked is one that a process
    left when it was killed: those of the same target are removed first. Where there are no locks, nothing is removed.

    Parameters
    ----------
    target : str
        Whose place the hidden file is to take. Links are not followed.
    mode : int
        Permissions, less those of the umask.

    Yields
    ------
    Hidden
        The file. It is removed in the end, unless it was moved.
    """
    folder, name = os.path.split(target)
    mark = hashlib.blake2b(
        os.fsencode(name), digest_size=8
    ).hexdigest()  # a name may be as long as the system allows
    prefix = f".spinney-{mark}-"
    _clear(folder, prefix)
    while True:
        path = os.path.join(folder, f"{prefix}{secrets.token_hex(8)}.tmp")
        with open(path, "xb", opener=lambda path, flags: os.open(path, flags, mode)) as file:
            try:
                _lock(file.fileno())
                # Another process may have seen the file before it was locked, and have removed it.
                if os.fstat(file.fileno()).st_nlink:
                    yield Hidden(path, file)
                    return
            finally:
                with suppress(OSError):
                    os.unlink(path)


def _clear(folder: str, prefix: str) -> None:
    """Remove the hidden files of a target that no process holds."""
    if sys.platform == "win32":
        return
    with suppress(OSError), os.scandir(folder or ".") as entries:
        for entry in entries:
            if entry.name.startswith(prefix) and entry.is_file(follow_symlinks=False):
                with suppress(OSError):
                    _remove_unheld(entry.path)


if sys.platform == "win32":

    def _lock(descriptor: int) -> None:
        """Do without: a file is closed before it is moved, and a lock would end with that."""

else:
    import fcntl

    def _lock(descriptor: int) -> None:
        with suppress(OSError):  # a file system without locks
            fcntl.flock(descriptor, fcntl.LOCK_EX)

    def _remove_unheld(path: str) -> None:
        """Remove a file unless somebody holds its lock; its name is nobody else's, so that nothing else can be removed."""
        descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.unlink(path)
        finally:
            os.close(descriptor)
