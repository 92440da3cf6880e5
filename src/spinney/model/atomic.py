"""Writing a file so that a reader sees the old one or the new one, whole, and never a part."""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress
from typing import IO

from spinney.model.hidden import hidden_beside


def write(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a file in one step.

    The bytes go to a hidden file in the same folder, reach the disk, and then take the place of `path`. On
    failure `path` is as it was and the hidden file is gone; what a process left that was killed is removed by the next one
    that writes to `path`. A symbolic link is followed. A file that was there
    keeps its permissions, which hold for the hidden file too; a new one gets those that the umask grants.

    Parameters
    ----------
    path : str or path-like
        Where to write; its folder must exist.
    data : bytes
        What to write.

    Raises
    ------
    OSError
        The folder is missing, `path` is empty, a folder or a device, the disk is full, ... It names the file that was to be
        written.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write(pathlib.Path(folder, "model"), b"hello")
    ...     pathlib.Path(folder, "model").read_bytes()
    b'hello'
    """
    if not os.fspath(path):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), "")  # not the current folder
    target = os.path.realpath(path)
    try:
        old = _old_status(target)
        # Until it is whole, only its owner can read what takes the place of a file that not everybody could read.
        with hidden_beside(target, 0o666 if old is None else old.st_mode & 0o700) as hidden:
            _write_through(hidden.file, data, old)
            hidden.move_to(target)
    except OSError as error:
        if error.errno is None:
            raise
        # It named the hidden file, of which the caller knows nothing.
        raise OSError(error.errno, error.strerror, target) from None
    _sync_folder(os.path.dirname(target))


def _old_status(target: str) -> os.stat_result | None:
    """Status of the file that will be replaced, if there is one.

    What `os.replace` would destroy (a device) or refuse too late with an odd message (a folder) is refused here.
    """
    try:
        status = os.stat(target)
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), target)
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "not a regular file", target)
    return status


def _write_through(file: IO[bytes], data: bytes, old: os.stat_result | None) -> None:
    file.write(data)
    file.flush()
    if old is not None and hasattr(os, "fchown"):
        _grant(file.fileno(), old)
    os.fsync(file.fileno())


def _grant(descriptor: int, old: os.stat_result) -> None:
    """Give a file the permissions of an old one, and its owner and group where the system allows that."""
    mode = old.st_mode & 0o777
    new = os.fstat(descriptor)
    if new.st_uid != old.st_uid:
        with suppress(OSError):
            os.fchown(descriptor, old.st_uid, -1)
    if new.st_gid != old.st_gid:
        try:
            os.fchown(descriptor, -1, old.st_gid)
        except OSError:
            mode &= 0o707  # what one group could do is not given to another
    if stat.S_IMODE(os.fstat(descriptor).st_mode) != mode:
        os.fchmod(descriptor, mode)


def _sync_folder(folder: str) -> None:
    # Some file systems cannot sync a folder; the file is whole either way.
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
