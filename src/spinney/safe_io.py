"""Files that are written whole or not at all, and JSON that is read strictly.

`write_atomically` writes to a hidden file that then takes the place of the file; what a killed process left of one is removed.
`parse_json` takes no duplicate keys, no numbers that are not finite and nothing that is nested deeply. `check_path` refuses paths
that no file can have.
"""

from __future__ import annotations

import errno
import hashlib
import json
import math
import os
import secrets
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from reprlib import repr as short_repr
from typing import IO, NamedTuple

from spinney.errors import DataError, ModelFormatError


def check_path(path: str | os.PathLike[str], title: str) -> None:
    """Refuse a path that no file can have; `title` names it in messages.

    Examples
    --------
    >>> check_path("größe.csv", "out='größe.csv'")
    """
    if "\0" in os.fsdecode(path):
        raise DataError(f"{title} holds a null character, which no path can")
    try:
        os.fsencode(path)
    except UnicodeEncodeError as error:
        raise DataError(f"{title} cannot be written as a path of this system: {error}") from error


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


def write_atomically(path: str | os.PathLike[str], data: bytes) -> None:
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
    ...     write_atomically(pathlib.Path(folder, "model"), b"hello")
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
        # It named the hidden file, which the caller did not give.
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


# The deepest thing a model file holds is an estimator's parameter that is a tuple of tuples: eight levels.
DEEPEST = 8
# No whole number in a model file needs more digits than a signed 64-bit one.
MOST_DIGITS = 20


def parse_json(text: str, what: str) -> object:
    """Read JSON text of a model file.

    Parameters
    ----------
    text : str
        The JSON text.
    what : str
        What it is, for the error.

    Returns
    -------
    object
        Dictionaries, lists, strings, finite numbers, booleans and None.

    Raises
    ------
    ModelFormatError
        The text is not JSON, names a key twice, nests too deeply, or holds NaN, an infinity, a number too
        long or a string that is not text.

    Examples
    --------
    >>> parse_json('{"rounds": 3}', "the header")
    {'rounds': 3}
    """
    try:
        value = json.loads(
            text,
            object_pairs_hook=_without_duplicates,
            parse_int=_whole_number,
            parse_float=_finite_number,
            parse_constant=_no_constant,
        )
        _check_contents(value)
    except (ValueError, RecursionError) as error:
        raise ModelFormatError(f"{what} is not sound JSON: {error}") from error
    return value


def _without_duplicates(pairs: list[tuple[str, object]]) -> dict[str, object]:
    seen = dict(pairs)
    if len(seen) < len(pairs):
        raise ValueError("a key is given twice")
    return seen


def _whole_number(digits: str) -> int:
    if len(digits) > MOST_DIGITS:
        raise ValueError(f"a whole number has {len(digits)} digits")
    return int(digits)


def _finite_number(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError(f"the number {short_repr(digits)} is too large")
    return number


def _no_constant(name: str) -> float:
    raise ValueError(f"it holds {name}")


def _check_contents(value: object) -> None:
    """Refuse broken text and deep nesting, level by level so that the check needs no deep stack itself."""
    level = [value]
    for _ in range(DEEPEST):
        below: list[object] = []
        for item in level:
            if isinstance(item, dict):
                below.extend(item)
                below.extend(item.values())
            elif isinstance(item, list):
                below.extend(item)
            elif isinstance(item, str):
                item.encode()  # half of a surrogate pair is no text, and no file could hold it
        level = below
    if level:
        raise ValueError(f"it nests more than {DEEPEST} levels deep")
