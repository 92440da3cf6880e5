"""Where libraries are kept: never where somebody else could put one."""

import os
import tempfile
from pathlib import Path

import pytest

from spinney.jit import cache
from spinney.jit.cache import cache_folder, places

pytestmark = pytest.mark.skipif(os.name != "posix", reason="folders have no owners here")


@pytest.fixture
def home(monkeypatch, tmp_path):
    """A user with a home and a temporary folder of their own."""
    for name in ("SPINNEY_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setattr(cache.sys, "platform", "linux")
    return tmp_path / "home"


@pytest.fixture
def temporary(tmp_path):
    return tmp_path / "temporary" / f"spinney-{os.getuid()}"


def test_the_user_s_cache_is_private(home):
    assert cache_folder() == home / ".cache" / "spinney"
    assert cache_folder().stat().st_mode & 0o777 == 0o700


def test_the_environment_may_name_the_folder(home, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_folder() == tmp_path / "xdg" / "spinney"
    monkeypatch.setenv("SPINNEY_CACHE_DIR", str(tmp_path / "named"))
    assert cache_folder() == tmp_path / "named"
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SPINNEY_CACHE_DIR", "beside")
    assert cache_folder() == tmp_path / "beside"


def test_empty_and_relative_names_do_not_count(home, monkeypatch):
    monkeypatch.setenv("SPINNEY_CACHE_DIR", "")
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert cache_folder() == home / ".cache" / "spinney"


def test_macos_has_a_folder_of_its_own(home, monkeypatch):
    monkeypatch.setattr(cache.sys, "platform", "darwin")
    assert cache_folder() == home / "Library" / "Caches" / "spinney"


@pytest.mark.parametrize("where", ["/dev/null", "/proc/none"])
def test_a_home_that_cannot_be_written_is_replaced_by_a_private_temporary_folder(
    home, temporary, monkeypatch, where
):
    monkeypatch.setenv("HOME", where)
    assert cache_folder() == temporary
    assert temporary.stat().st_mode & 0o777 == 0o700
    assert cache_folder() == temporary


def test_a_user_without_a_home_is_no_obstacle(home, temporary, monkeypatch):
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)
    assert cache_folder() == temporary


@pytest.mark.parametrize("mode", [0o770, 0o707, 0o777])
def test_a_folder_that_others_can_write_to_is_not_used(home, temporary, monkeypatch, mode):
    (home / ".cache" / "spinney").mkdir(parents=True)
    (home / ".cache" / "spinney").chmod(mode)
    assert cache_folder() == temporary
    assert list(places()) == [temporary]
    temporary.chmod(mode)
    assert list(places()) == []
    other = cache_folder()
    assert other.parent == temporary.parent
    assert other != temporary
    assert other.stat().st_mode & 0o777 == 0o700


def test_a_folder_of_somebody_else_is_not_used(home, temporary, monkeypatch):
    assert cache_folder() == home / ".cache" / "spinney"
    owner = os.getuid()
    monkeypatch.setattr(os, "getuid", lambda: owner + 1)
    assert list(places()) == []
    other = cache_folder()
    assert other.name.startswith("spinney-")
    assert other not in (temporary, temporary.with_name(f"spinney-{owner + 1}"))


def test_a_link_that_somebody_else_made_is_not_followed(home, temporary, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", "/dev/null")
    (tmp_path / "mine").mkdir(mode=0o700)
    temporary.symlink_to(tmp_path / "mine")
    assert cache_folder() == temporary  # one's own link may lead to another disk
    real = Path.lstat

    def foreign(path):
        status = list(real(path))
        status[4] += 1
        return os.stat_result(status)

    monkeypatch.setattr(Path, "lstat", foreign)
    assert cache_folder() != temporary


def test_a_folder_that_cannot_be_written_is_still_read(home, temporary, monkeypatch):
    assert cache_folder() == home / ".cache" / "spinney"

    def refuse(dir):
        raise PermissionError("a file system for reading")

    monkeypatch.setattr(tempfile, "TemporaryFile", refuse)
    assert list(places()) == [home / ".cache" / "spinney"]


def test_a_lock_keeps_others_out_until_it_is_given_back(tmp_path):
    import fcntl

    with (tmp_path / "lock").open("a+b") as other:
        with cache.locked(tmp_path / "lock"), pytest.raises(BlockingIOError):
            fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_a_lock_ends_although_a_forked_process_still_has_its_file(tmp_path):
    import fcntl

    with cache.locked(tmp_path / "lock"):
        copies = [os.dup(number) for number in open_files(tmp_path / "lock")]
    with (tmp_path / "lock").open("a+b") as other:
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
    assert copies
    for number in copies:
        os.close(number)


def open_files(path):
    """Numbers of the open files of this process that are `path`."""
    wanted = path.stat()
    for number in range(256):
        try:
            found = os.fstat(number)
        except OSError:
            continue
        if (found.st_dev, found.st_ino) == (wanted.st_dev, wanted.st_ino):
            yield number


def test_a_file_system_without_locks_is_no_obstacle(tmp_path, monkeypatch):
    import fcntl

    def refuse(file, kind):
        raise OSError("no locks available")

    monkeypatch.setattr(fcntl, "flock", refuse)
    with cache.locked(tmp_path / "lock"):
        pass
