"""The `spinney` command.

Inputs: words typed in a terminal. Outputs: tables, progress bars, an exit code; 1 with one line on standard error where
something cannot be done. Must not depend on: kernels, bins, gradients; it calls the public names and `jit.build`.

`app.py` declares the commands, `demo.py` and `kernels.py` do them. All of it is imported when the command runs.
"""

from __future__ import annotations


def main() -> None:
    """Run the command; an error that spinney raises on purpose becomes one line and exit code 1."""
    import io
    import sys

    from spinney.cli.app import app
    from spinney.errors import SpinneyError

    # Whatever a path holds, a terminal of ASCII alone is no reason to stop.
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        app()
    except SpinneyError as error:
        sys.stderr.write(f"spinney: {error}\n")
        raise SystemExit(1) from None
