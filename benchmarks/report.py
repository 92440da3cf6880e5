"""The table on the terminal and the file beside it."""

import json
import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from importlib import import_module, metadata
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.rows import Row
from benchmarks.settings import Options

RESULTS = Path(__file__).resolve().parent / "results"
LIBRARIES = (
    "spinney", "lightgbm", "xgboost", "catboost", "scikit-learn", "scikit-learn-intelex", "chimeraboost", "numpy", "numba",
)  # fmt: skip
LEFT, RIGHT = ("case", "measure", "peer"), ("ours", "theirs", "ratio")


def show(console: Console, rows: Sequence[Row]) -> None:
    """Print the rows; the ratio is theirs / ours, so bigger is better."""
    table = Table(title="ratio = theirs / ours, bigger is better", title_justify="left")
    for name in LEFT:
        table.add_column(name, overflow="fold")
    for name in RIGHT:
        table.add_column(name, justify="right", no_wrap=True)
    for name in ("target", "reached", "quality: ours / theirs"):
        table.add_column(name, overflow="fold")
    for row in rows:
        table.add_row(*cells(row))
    console.print(table)
    for note in notes(rows):
        console.print(note, style="dim", markup=False)


def notes(rows: Sequence[Row]) -> list[str]:
    """Return, once for each peer, where its settings could not be made equal."""
    return list(dict.fromkeys(f"{row.peer}: {row.note}" for row in rows if row.note))


def cells(row: Row) -> list[str]:
    """Return the row as text."""
    found = row.ratio
    return [
        row.case,
        row.measure,
        row.peer,
        amount(row.ours, row.unit),
        amount(row.theirs, row.unit),
        "" if found is None else f"{found:.2f}x",
        "" if row.target is None else str(row.target),
        answer(row),
        _details(row),
    ]


def answer(row: Row) -> str:
    """Return yes or no, and nothing where the question could not be asked."""
    if row.reached is None:
        return ""
    if not row.reached:
        fast_enough = row.target is not None and row.target.reached(row.ours, row.theirs)
        return "no (quality)" if fast_enough else "no"
    return "yes (stretch)" if row.stretched else "yes"


def amount(value: float | None, unit: str) -> str:
    """Return a number with its unit; three digits that matter are enough."""
    if value is None:
        return ""
    text = f"{value:.0f}" if value >= 1000 else f"{value:.3g}"
    return f"{text} {unit}".rstrip()


def _details(row: Row) -> str:
    lines = [f"{name} {_number(a)} / {_number(b)}" for name, (a, b) in row.quality.items()]
    lines += [f"{name} {_fact(value)}" for name, value in row.facts.items()]
    return "\n".join(lines)


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.5f}"


def _fact(value: float | str | bool) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def environment() -> dict[str, Any]:
    """Return what a reader needs to judge the numbers."""
    return {
        "python": platform.python_version(),
        "system": platform.platform(),
        "cpu": _cpu(),
        "cores": os.cpu_count(),
        "versions": {name: version(name) for name in LIBRARIES},
    }


def version(name: str) -> str | None:
    """Return the version of a library that is installed, be it only the part of it for CPUs."""
    for package in (name, f"{name}-cpu"):
        try:
            if package == "spinney":
                return str(
                    import_module(package).__version__
                )  # of the source that runs, whatever is installed
            return metadata.version(package)
        except (ImportError, metadata.PackageNotFoundError):
            continue
    return None


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")


def write(rows: Mapping[str, Sequence[Row]], options: Options, path: Path | None) -> list[Path]:
    """Write each case to its own file in the results folder, or all of them to one path."""
    about = {"environment": environment(), "options": asdict(options)}
    files = {}
    if path is not None:
        files[path] = [row for case in rows.values() for row in case]
    else:
        files = {RESULTS / f"{case}.json": list(found) for case, found in rows.items()}
    for file, found in files.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        content = {**about, "rows": [row.as_dict() for row in found]}
        file.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return list(files)
