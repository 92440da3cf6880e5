"""What a release costs: compiling the kernels of every CPU level, and the size of the wheel."""

import sys
import tempfile
from pathlib import Path

from benchmarks.bench import Bench
from benchmarks.cases.child import run_command
from benchmarks.peers.base import library
from benchmarks.rows import Row
from benchmarks.timing import timed
from benchmarks.verdict import AtMost


def run(bench: Bench, case: str) -> list[Row]:
    """Build the kernels into an empty folder, then the wheel."""
    if bench.ours is None:
        bench.say(f"{case} is skipped: it needs spinney")
        return []
    rows = [_kernels(bench, case)]
    # A smoke test compiles one level; the wheel would compile them all.
    return rows if bench.options.quick else [*rows, _wheel(bench, case)]


def _kernels(bench: Bench, case: str) -> Row:
    build = library("spinney.jit.build")
    levels = build.default_levels()[: 1 if bench.options.quick else None]
    bench.say(f"compiling the kernels for {', '.join(levels)}")
    with tempfile.TemporaryDirectory() as folder:
        _, seconds = timed(lambda: build.build_levels(Path(folder), levels))
        size = sum(file.stat().st_size for file in Path(folder).iterdir() if file.is_file()) / 1e6
    return Row(
        case=case,
        measure="kernels",
        peer="",
        ours=seconds,
        target=AtMost(120, "s"),
        facts={"levels": ", ".join(levels), "MB": size},
    )


def _wheel(bench: Bench, case: str) -> Row:
    bench.say("building the wheel")
    with tempfile.TemporaryDirectory() as folder:
        pip = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "--quiet"]
        run_command([*pip, "--wheel-dir", folder, "."])
        wheel = next(Path(folder).glob("*.whl"))
        size, name = wheel.stat().st_size / 1e6, wheel.name
    return Row(
        case=case,
        measure="wheel",
        peer="",
        ours=size,
        unit="MB",
        target=AtMost(5, "MB"),
        facts={"file": name},
    )
