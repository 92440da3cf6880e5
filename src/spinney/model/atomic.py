"""Writing a file so that a reader sees the old one or the new one, whole, and never a part."""

from __future__ import annotations

import errno
import os
import secrets
import stat
from contextlib import suppress


def write(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a file in one step.

    The bytes go to a hidden file in the same folder, reach the disk, and then take the place of `path`. On
    failure `path` is as it was and the hidden file is gone. A symbolic link is followed; a new file gets the
    permissions that the umask grants.

    Parameters
    ----------
    path : str or path-like
        Where to write; its folder must exist.
    data : bytes
        What to write.

    Raises
    ------
    OSError
        The folder is missing, `path` is a folder or a device, the disk is full, ...

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write(pathlib.Path(folder, "model"), b"hello")
    ...     pathlib.Path(folder, "model").read_bytes()
    b'hello'
    """
    target = os.path.realpath(path)
    _refuse_special(target)
    folder = os.path.dirname(target)
    temporary = os.path.join(folder, f".spinney-{secrets.token_hex(8)}.tmp")
    try:
        _write_through(temporary, data)
        os.replace(temporary, target)
    finally:
        with suppress(FileNotFoundError):
            os.unlink(temporary)
    _sync_folder(folder)


def _refuse_special(target: str) -> None:
    """Refuse what `os.replace` would destroy (a device) or refuse too late with an odd message (a folder)."""
    with suppress(FileNotFoundError):
        mode = os.stat(target).st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), target)
        if not stat.S_ISREG(mode):
            raise OSError(errno.EINVAL, "not a regular file", target)


def _write_through(temporary: str, data: bytes) -> None:
    # Opened here and not by tempfile, whose files only their owner can read.
    with open(temporary, "xb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _sync_folder(folder: str) -> None:
    # Some file systems cannot sync a folder; the file is whole either way.
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
