"""Terminals that know ASCII alone, narrow ones, ones without colours, and pipes."""

import os
import subprocess
import sys

import pytest

COMMANDS = {
    "demo": ["demo", "--rows", "100"],
    "kernels": ["kernels"],
    "build": ["kernels", "build"],
    "help": ["kernels", "--help"],
    "nothing": [],
}


def run(words, **environment):
    """Run the command with its output in a pipe; what it wrote, as bytes."""
    inherited = {name: value for name, value in os.environ.items() if name not in ("PYTHONUTF8", "COLUMNS")}
    done = subprocess.run(
        [sys.executable, "-m", "spinney", *words],
        env=inherited | environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    # Without a word the commands are listed, which is the answer to a mistake.
    assert done.returncode == (0 if words else 2), done.stderr.decode()
    return done.stdout + done.stderr


@pytest.mark.parametrize("width", [80, 24])
@pytest.mark.parametrize("command", COMMANDS)
def test_a_terminal_that_knows_ascii_alone_gets_plain_characters(command, width):
    told = run(
        COMMANDS[command],
        PYTHONIOENCODING="ascii",
        LC_ALL="C",
        FORCE_COLOR="1",  # rich then takes the pipe for a terminal
        COLUMNS=str(width),
    )
    assert told.isascii()
    # Typer cuts its own help short with dots that have to be spelled out.
    assert b"\\u" not in told or (width == 24 and command in ("help", "nothing"))


def test_a_path_that_the_terminal_cannot_show_is_spelled_out(tmp_path):
    told = run(
        ["kernels"],
        PYTHONIOENCODING="ascii",
        SPINNEY_KERNELS="python",
        SPINNEY_CACHE_DIR=str(tmp_path / "größe"),
        PYTHONUTF8="1",
    )
    assert b"gr\\xf6\\xdfe" in told


def test_without_colours_nothing_is_coloured():
    told = run(["demo", "--rows", "100"], NO_COLOR="1", FORCE_COLOR="1", TERM="xterm")
    # What is left is bold, italic, dim, and moving the cursor: no colour is set.
    assert b"\x1b[" in told
    assert b"\x1b[3" not in told.replace(b"\x1b[3m", b"")


def test_a_pipe_gets_no_control_characters():
    assert b"\x1b" not in run(["demo", "--rows", "100"])
