import errno
import os
import signal
import stat
import subprocess
import sys

import pytest

from spinney import safe_io


@pytest.fixture
def old(tmp_path):
    path = tmp_path / "model"
    path.write_bytes(b"old")
    return path


def names_in(folder):
    return sorted(os.listdir(folder))


def test_a_new_file_takes_the_place_of_the_old_one(old, tmp_path):
    safe_io.write_atomically(old, b"new")
    assert old.read_bytes() == b"new"
    assert names_in(tmp_path) == ["model"]


@pytest.mark.parametrize("step", ["replace", "fsync"])
def test_a_failure_leaves_the_old_file_and_no_other(old, tmp_path, monkeypatch, step):
    def fail(*arguments, **options):
        raise OSError("the disk is full")

    monkeypatch.setattr(os, step, fail)
    with pytest.raises(OSError, match="the disk is full"):
        safe_io.write_atomically(old, b"new")
    monkeypatch.undo()
    assert old.read_bytes() == b"old"
    assert names_in(tmp_path) == ["model"]


def test_an_interrupt_leaves_the_old_file_and_no_other(old, tmp_path, monkeypatch):
    def interrupt(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        safe_io.write_atomically(old, b"new")
    assert old.read_bytes() == b"old"
    assert names_in(tmp_path) == ["model"]


def test_the_bytes_reach_the_disk_before_the_old_file_goes(old, monkeypatch):
    steps = []
    replace, fsync = os.replace, os.fsync
    monkeypatch.setattr(os, "fsync", lambda descriptor: (steps.append("fsync"), fsync(descriptor)))
    monkeypatch.setattr(os, "replace", lambda *paths: (steps.append("replace"), replace(*paths)))
    safe_io.write_atomically(old, b"new")
    assert steps[:2] == ["fsync", "replace"]


def test_a_folder_that_cannot_be_synced_does_no_harm(old, monkeypatch):
    fsync = os.fsync

    def sync(descriptor):
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError("no syncing of folders here")
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", sync)
    safe_io.write_atomically(old, b"new")
    assert old.read_bytes() == b"new"


def test_a_missing_folder_is_a_file_not_found_error_that_names_the_file(tmp_path):
    path = tmp_path / "nowhere" / "model"
    with pytest.raises(FileNotFoundError) as error:
        safe_io.write_atomically(path, b"new")
    assert (error.value.filename, error.value.filename2) == (str(path), None)
    assert names_in(tmp_path) == []


def test_a_file_in_place_of_the_folder_is_named_with_what_was_to_be_written(old):
    with pytest.raises(NotADirectoryError) as error:
        safe_io.write_atomically(old / "model", b"new")
    assert error.value.filename == str(old / "model")


@pytest.mark.parametrize(
    ("step", "number", "kind"),
    [
        ("open", errno.EROFS, OSError),
        ("open", errno.EACCES, PermissionError),
        ("fsync", errno.ENOSPC, OSError),
        ("replace", errno.EACCES, PermissionError),
    ],
)
def test_a_folder_that_cannot_be_written_and_a_full_disk_are_told_with_the_name_of_the_file(
    old, monkeypatch, step, number, kind
):
    def fail(*arguments):
        paths = [argument for argument in arguments if isinstance(argument, str)]
        named = (paths[0], None, paths[1]) if len(paths) == 2 else paths
        raise OSError(number, os.strerror(number), *named)

    monkeypatch.setattr(os, step, fail)
    with pytest.raises(kind) as error:
        safe_io.write_atomically(old, b"new")
    assert str(error.value) == f"[Errno {number}] {os.strerror(number)}: {str(old)!r}"


def test_a_folder_in_the_way_is_an_is_a_directory_error(tmp_path):
    (tmp_path / "model").mkdir()
    with pytest.raises(IsADirectoryError):
        safe_io.write_atomically(tmp_path / "model", b"new")
    assert names_in(tmp_path) == ["model"]
    assert names_in(tmp_path / "model") == []


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
def test_an_empty_path_is_named_and_not_taken_for_the_current_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileNotFoundError, match=r": ''$"):
        safe_io.write_atomically("", b"new")
    assert names_in(tmp_path) == []


def test_a_pipe_is_not_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="not a regular file"):
        safe_io.write_atomically(tmp_path / "pipe", b"new")
    assert stat.S_ISFIFO(os.stat(tmp_path / "pipe").st_mode)


def test_a_symbolic_link_is_followed(old, tmp_path):
    (tmp_path / "link").symlink_to(old)
    safe_io.write_atomically(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert old.read_bytes() == b"new"


@pytest.mark.parametrize(("mask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_permissions_follow_the_umask(tmp_path, mask, mode):
    before = os.umask(mask)
    try:
        safe_io.write_atomically(tmp_path / "model", b"new")
    finally:
        os.umask(before)
    assert stat.S_IMODE(os.stat(tmp_path / "model").st_mode) == mode


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o400, 0o666, 0o755])
@pytest.mark.parametrize("mask", [0o022, 0o077])
def test_a_file_that_was_there_keeps_its_permissions(old, mask, mode):
    old.chmod(mode)
    before = os.umask(mask)
    try:
        safe_io.write_atomically(old, b"new")
    finally:
        os.umask(before)
    assert (old.read_bytes(), stat.S_IMODE(old.stat().st_mode)) == (b"new", mode)


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o666])
def test_nobody_else_can_read_the_new_bytes_before_they_are_whole(old, tmp_path, monkeypatch, mode):
    old.chmod(mode)
    seen = []
    make = os.open

    def look(path, *arguments):
        descriptor = make(path, *arguments)
        seen.append(stat.S_IMODE(os.fstat(descriptor).st_mode))
        return descriptor

    monkeypatch.setattr(os, "open", look)
    safe_io.write_atomically(old, b"new")
    assert seen[0] == 0o600


def test_what_one_group_could_do_is_not_given_to_another(old, monkeypatch):
    def refuse(*arguments):
        raise PermissionError(errno.EPERM, "not yours")

    status = list(old.stat())
    status[0], status[4], status[5] = stat.S_IFREG | 0o644, status[4] + 1, status[5] + 1
    monkeypatch.setattr(os, "fchown", refuse)
    monkeypatch.setattr(os, "stat", lambda path: os.stat_result(status))
    safe_io.write_atomically(old, b"new")
    monkeypatch.undo()
    assert stat.S_IMODE(old.stat().st_mode) == 0o604


def test_a_name_as_long_as_the_file_system_allows_can_be_written(tmp_path):
    path = tmp_path / ("m" * 255)
    safe_io.write_atomically(path, b"new")
    assert path.read_bytes() == b"new"


def test_a_path_without_a_folder_is_written_to_the_current_one(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    safe_io.write_atomically("model", b"new")
    assert names_in(tmp_path) == ["model"]


KILLED = """
import os, signal, sys
from spinney import safe_io
os.replace = lambda *paths: os.kill(os.getpid(), signal.SIGKILL)
safe_io.write_atomically(sys.argv[1], b"never whole")
"""


def kill_while_writing(path):
    done = subprocess.run([sys.executable, "-c", KILLED, str(path)], check=False)
    assert done.returncode == -signal.SIGKILL


@pytest.mark.skipif(sys.platform == "win32", reason="files cannot be locked while they are moved")
def test_what_a_killed_process_left_is_removed_by_the_next_one_that_writes_there(old, tmp_path):
    kill_while_writing(old)
    left = [name for name in names_in(tmp_path) if name != "model"]
    assert len(left) == 1
    assert old.read_bytes() == b"old"
    safe_io.write_atomically(tmp_path / "another", b"new")
    assert names_in(tmp_path) == [*left, "another", "model"]
    safe_io.write_atomically(old, b"new")
    assert old.read_bytes() == b"new"
    assert names_in(tmp_path) == ["another", "model"]


def test_two_who_write_to_one_place_at_once_both_succeed(old, tmp_path, monkeypatch):
    replace = os.replace

    def meanwhile(*paths):
        monkeypatch.setattr(os, "replace", replace)
        safe_io.write_atomically(old, b"second")
        replace(*paths)

    monkeypatch.setattr(os, "replace", meanwhile)
    safe_io.write_atomically(old, b"first")
    assert old.read_bytes() == b"first"
    assert names_in(tmp_path) == ["model"]


@pytest.mark.skipif(sys.platform == "win32", reason="nothing is removed where files are not locked")
def test_a_file_that_was_taken_for_a_left_one_before_it_was_locked_is_made_again(old, tmp_path, monkeypatch):
    lock = safe_io._lock

    def too_late(descriptor):
        monkeypatch.setattr(safe_io, "_lock", lock)
        (path,) = tmp_path.glob(".spinney-*")
        safe_io._remove_unheld(str(path))
        lock(descriptor)

    monkeypatch.setattr(safe_io, "_lock", too_late)
    safe_io.write_atomically(old, b"new")
    assert old.read_bytes() == b"new"
    assert names_in(tmp_path) == ["model"]


def test_a_file_of_the_users_that_looks_like_a_hidden_one_of_another_target_stays(old, tmp_path):
    (tmp_path / ".spinney-0123456789abcdef.tmp").write_bytes(b"mine")
    safe_io.write_atomically(old, b"new")
    assert names_in(tmp_path) == [".spinney-0123456789abcdef.tmp", "model"]
