"""The CPU levels that kernels are built for, against each other: which of them earn their place in the wheel."""

from collections.abc import Sequence
from itertools import pairwise

from benchmarks.bench import Action, Bench
from benchmarks.cases.child import run_child
from benchmarks.peers.base import library
from benchmarks.rows import Row
from benchmarks.timing import Sample, Samples, best, interleave
from benchmarks.verdict import Claim, earns_its_place

# Rows of each table: a work takes about half a second on two cores.
WORKS = {
    "train, 31 leaves": 200_000,
    "train, 255 leaves": 200_000,
    "predict, 31 leaves": 200_000,
    "predict, 255 leaves": 200_000,
    "train, sparse": 100_000,
    "train, categories": 100_000,
    "train, exact": 50_000,
}
QUICK_ROWS = 1_000
REPEATS = 5
MARGIN = 0.05  # two runs of one level differ by less on a quiet machine


def run(bench: Bench, case: str) -> list[Row]:
    """Do every work with the kernels of every level that this CPU can run, each time in a new process."""
    levels: tuple[str, ...] = () if bench.ours is None else library("spinney.jit.library").supported_levels()
    if len(levels) < 2:
        bench.say(f"{case} is skipped: it needs spinney and a CPU that can run two levels at least")
        return []
    threads = str(bench.options.threads)
    digests: dict[str, set[str]] = {work: set() for work in WORKS}

    def action(level: str, work: str, rows: int) -> Action:
        def once() -> Sample:
            found = run_child("levels", work, str(rows), threads, environment={"SPINNEY_KERNELS": level})
            digests[work].add(found["digest"])
            return {work: found["seconds"]}

        return once

    samples: Samples = {level: [] for level in levels}
    for work, rows in WORKS.items():
        bench.say(work)
        for level in levels:  # which builds a library that is not there yet
            action(level, work, QUICK_ROWS)()
        digests[work].clear()
        actions = {level: action(level, work, bench.options.size(rows, QUICK_ROWS)) for level in levels}
        for level, found in interleave(actions, bench.options.times(REPEATS), bench.say).items():
            samples[level] += found
    same = {work: len(found) == 1 for work, found in digests.items()}
    return [row for pair in pairwise(levels) for row in compare(case, *pair, samples, same)]


def compare(case: str, below: str, level: str, samples: Samples, same: dict[str, bool]) -> list[Row]:
    """Return a row for each work, a level against the one below it, and one with the verdict."""
    rows = [
        Row(
            case=case,
            measure=f"{work}: {level}",
            peer=f"spinney {below}",
            ours=best(samples[level], work),
            theirs=best(samples[below], work),
            facts={"same bits": identical},
            samples={
                "ours": [sample[work] for sample in samples[level] if work in sample],
                "theirs": [sample[work] for sample in samples[below] if work in sample],
            },
        )
        for work, identical in same.items()
    ]
    ratios = [row.ratio for row in rows if row.ratio is not None]
    return [*rows, _verdict(case, below, level, ratios)]


def _verdict(case: str, below: str, level: str, ratios: Sequence[float]) -> Row:
    return Row(
        case=case,
        measure=f"{level} has a place in the wheel",
        peer=f"spinney {below}",
        unit="",
        target=Claim(f"one work {MARGIN:.0%} faster, none slower by more than {MARGIN:.0%}"),
        holds=earns_its_place(ratios, MARGIN),
        facts={"best": max(ratios), "worst": min(ratios)},
    )
