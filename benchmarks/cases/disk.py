"""Training from batches on disk: against XGBoost's external memory, against our own memory, and how much of it is taken."""

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.bench import Bench
from benchmarks.cases.child import run_child
from benchmarks.generate import make_binary
from benchmarks.rows import Row
from benchmarks.scripts.disk import SHAPES
from benchmarks.timing import Samples, best, interleave
from benchmarks.verdict import AtLeast, AtMost, AtMostTimes, Claim

ROWS, BATCH, COLUMNS, ROUNDS = 5_000_000, 500_000, 28, 20
LONG_ROWS, LONG_ROUNDS, BUDGET = 20_000_000, 5, 500
# Name of each contender: mode of the script, and memory for pages.
OURS = {"memory": ("memory", ""), "resident": ("pages", "100GB"), "quarter": ("pages", "quarter")}


def run(bench: Bench, case: str) -> list[Row]:
    """Train trees of both shapes from the same batches with every library."""
    if bench.ours is None:
        bench.say(f"{case} is skipped: it needs spinney")
        return []
    rows = bench.options.size(ROWS, 4_000)
    with tempfile.TemporaryDirectory() as folder:
        write_batches(Path(folder), rows, bench.options.size(BATCH, 1_000))
        return [row for shape in SHAPES for row in _rows(bench, case, folder, shape)]


def run_memory(bench: Bench, case: str) -> list[Row]:
    """Train on many rows with little memory for pages."""
    if bench.ours is None or not Path("/proc/self/status").exists():
        bench.say(f"{case} is skipped: it needs spinney, and reads VmHWM from /proc")
        return []
    rows = bench.options.size(LONG_ROWS, 4_000)
    with tempfile.TemporaryDirectory() as folder:
        write_batches(Path(folder), rows, bench.options.size(BATCH, 1_000))
        bench.say(f"{rows} rows with memory={BUDGET}MB")
        found = _child(bench, folder, "pages", "255 leaves", LONG_ROUNDS, f"{BUDGET}MB")
    bound = AtMost(round(BUDGET + 48 * rows / 1e6 + 200), "MB")
    facts = {name: float(found[name]) for name in ("build", "train")}
    return [
        Row(
            case=case,
            measure="peak memory",
            peer="",
            ours=found["peak"],
            unit="MB",
            target=bound,
            facts=facts,
        )
    ]


def write_batches(folder: Path, rows: int, size: int) -> None:
    """Write a table as batches, each with a seed of its own."""
    for number, first in enumerate(range(0, rows, size)):
        X, y = make_binary(min(size, rows - first), COLUMNS, seed=7 + number)
        np.savez(folder / f"batch-{number:04d}.npz", X=X, y=y)


def _child(bench: Bench, folder: str, mode: str, shape: str, rounds: int, memory: str) -> dict[str, Any]:
    rounds = bench.options.size(rounds, 2)
    return run_child("disk", folder, mode, shape, str(rounds), str(bench.options.threads), memory)


def _rows(bench: Bench, case: str, folder: str, shape: str) -> list[Row]:
    digests: dict[str, str] = {}

    def action(name: str, mode: str, memory: str) -> dict[str, float]:
        found = _child(bench, folder, mode, shape, ROUNDS, memory)
        if "digest" in found:
            digests[name] = str(found["digest"])
        return {measure: float(found[measure]) for measure in ("build", "train", "peak")}

    plans = dict(OURS)
    if any(peer.name == "xgboost" for peer in bench.peers):
        plans["xgboost"] = ("xgboost", "")
    actions = {
        name: (lambda name=name, mode=mode, memory=memory: action(name, mode, memory))
        for name, (mode, memory) in plans.items()
    }
    samples = interleave(actions, bench.options.times(2), bench.say)
    rows = [
        _pair(case, f"{shape}: train, pages in memory", samples, "resident", "memory", "train", AtMostTimes(1.3)),
        _pair(case, f"{shape}: train, a quarter in memory", samples, "quarter", "memory", "train", AtMostTimes(2)),
    ]  # fmt: skip
    if "xgboost" in samples:
        rows += [
            _pair(case, f"{shape}: train", samples, "resident", "xgboost", "train", AtLeast(2)),
            _pair(case, f"{shape}: build", samples, "resident", "xgboost", "build", AtLeast(1.5)),
            _pair(case, f"{shape}: peak memory", samples, "quarter", "xgboost", "peak", AtMostTimes(1)),
        ]
    same = len(set(digests.values())) == 1
    facts = {name: digest[:8] for name, digest in digests.items()}
    claim = Row(
        case=case, measure=f"{shape}: file", peer="", target=Claim("same bytes"), holds=same, facts=facts
    )
    return [*rows, claim]


def _pair(
    case: str, name: str, samples: Samples, ours: str, theirs: str, measure: str, target: AtLeast | AtMostTimes
) -> Row:  # fmt: skip
    return Row(
        case=case, measure=name, peer=theirs, ours=best(samples[ours], measure), theirs=best(samples[theirs], measure),
        unit="MB" if measure == "peak" else "s", target=target,
    )  # fmt: skip
