"""Work in a process of its own."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


class ChildError(Exception):
    """A child process that ended with an error."""


def run_child(script: str, *arguments: str, environment: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Run `benchmarks/scripts/<script>.py` in a new interpreter and return the JSON of its last line."""
    output = run_command([sys.executable, "-m", f"benchmarks.scripts.{script}", *arguments], environment)
    found: dict[str, Any] = json.loads(output.strip().splitlines()[-1])
    return found


def run_command(command: list[str], environment: Mapping[str, str] | None = None) -> str:
    """Run a command in the project's root, with more in its environment, and return what it printed."""
    told = {**os.environ, **(environment or {})}
    done = subprocess.run(command, cwd=ROOT, env=told, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise ChildError(f"{' '.join(command)} ended with {done.returncode}:\n{done.stderr[-2000:]}")
    return done.stdout
