"""What each method costs and reaches on a large table, each in its own process."""

from pathlib import Path
from typing import Any

from benchmarks.bench import Action, Bench
from benchmarks.cases.child import run_child
from benchmarks.rows import Row
from benchmarks.timing import Sample, Samples, best, interleave

WAYS = {
    "hist": ("hist", "global"),
    "approx": ("approx", "global"),
    "approx local": ("approx", "local"),
    "exact": ("exact", "global"),
}
ROWS, COLUMNS, HELD_OUT, ROUNDS = 1_000_000, 100, 100_000, 5
MEASURES = {"train": "s", "dataset + train": "s", "peak memory": "MB"}


def run(bench: Bench, case: str) -> list[Row]:
    """Measure every method; the others are compared with hist."""
    if bench.ours is None or not Path("/proc/self/status").exists():
        bench.say(f"{case} is skipped: it needs spinney, and reads VmHWM from /proc")
        return []
    options = bench.options
    rounds = options.size(ROUNDS, 2)
    sizes = [
        str(n)
        for n in (
            options.size(ROWS, 4_000),
            options.size(COLUMNS, 20),
            options.size(HELD_OUT, 2_000),
            rounds,
            options.threads,
        )
    ]

    def action(way: str) -> Action:
        def once() -> Sample:
            found: dict[str, Any] = run_child("methods", *WAYS[way], *sizes)
            return {
                "train": found["train"],
                "dataset + train": found["dataset"] + found["train"],
                "peak memory": found["peak"],
                "raw": found["raw"],
                "auc": found["auc"],
            }

        return once

    samples = interleave({way: action(way) for way in WAYS}, options.times(2), bench.say)
    return [_row(case, way, measure, samples, rounds) for measure in MEASURES for way in WAYS]


def _row(case: str, way: str, measure: str, samples: Samples, rounds: int) -> Row:
    alone = way == "hist"
    more = measure == "train"
    auc = {name: best(samples[name], "auc") for name in (way, "hist")}
    return Row(
        case=case,
        measure=f"{measure}: {way}",
        peer="-" if alone else "spinney hist",
        ours=best(samples[way], measure),
        theirs=None if alone else best(samples["hist"], measure),
        unit=MEASURES[measure],
        quality={"auc": (auc[way], None if alone else auc["hist"])} if more else {},
        facts={"rounds": rounds, "raw table, MB": best(samples[way], "raw") or 0.0} if more else {},
        samples={"ours": [sample[measure] for sample in samples[way]]},
    )
