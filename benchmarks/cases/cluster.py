"""Training on a Dask cluster of this machine: time, bytes of the model file, what travels, and what faults do."""

from functools import partial
from typing import Any

from benchmarks.bench import Bench
from benchmarks.cases.child import ChildError, run_child
from benchmarks.rows import Row
from benchmarks.timing import Sample, Samples, best, interleave
from benchmarks.verdict import AtLeast, AtMost, AtMostTimes, Claim, Target

ROWS, ROUNDS, WORKERS = 2_000_000, 20, 2
OTHERS = (1, 4)
TRAININGS, SEED = 200, 20


def run(bench: Bench, case: str) -> list[Row]:
    """Train with two workers against the peers and against one process, and with one and four workers."""
    if bench.ours is None:
        bench.say(f"{case} is skipped: it needs spinney")
        return []
    found: dict[str, dict[str, Any]] = {}

    def action(name: str, mode: str, workers: int) -> Sample:
        told = run_child("cluster", mode, str(workers), str(bench.options.size(ROWS, 4_000)), _rounds(bench))
        found[name] = told
        return {measure: told[measure] for measure in ("build", "train", "fit")}

    plans = {"ours": ("ours", WORKERS), "local": ("local", WORKERS)}
    plans |= {peer.name: (peer.name, WORKERS) for peer in bench.peers}
    actions = {name: partial(action, name, mode, workers) for name, (mode, workers) in plans.items()}
    samples = interleave(actions, bench.options.times(3), bench.say)
    for workers in OTHERS:
        bench.say(f"{workers} worker(s)")
        samples[f"ours {workers}"] = [action(f"ours {workers}", "ours", workers)]
    return [*_times(case, bench, samples, found), *_sizes(case, samples, found), _trip(case)]


def run_faults(bench: Bench, case: str) -> list[Row]:
    """Train while workers are killed, halted, added and taken away, and the client is interrupted."""
    if bench.ours is None:
        bench.say(f"{case} is skipped: it needs spinney")
        return []
    trainings = bench.options.size(TRAININGS, 4)
    try:
        told = run_child("cluster_faults", str(trainings), str(SEED))
    except ChildError as error:
        bench.say(str(error))
        told = {"hangs": 1}
    facts = {name: float(value) for name, value in told.items()}
    hangs, wrong = facts.get("hangs", 0.0), facts.get("wrong", 0.0)
    return [
        Row(case=case, measure=f"hangs in {trainings} trainings", peer="", ours=hangs, unit="", target=AtMost(0), facts=facts),
        Row(case=case, measure="files of those that finished", peer="", target=Claim("same bytes"), holds=wrong + hangs == 0),
    ]  # fmt: skip


def _rounds(bench: Bench) -> str:
    return str(bench.options.size(ROUNDS, 2))


def _times(case: str, bench: Bench, samples: Samples, found: dict[str, dict[str, Any]]) -> list[Row]:
    def row(measure: str, name: str, peer: str, target: Target | None, ours: str = "ours") -> Row:
        loss = {"log loss": (found[ours]["loss"], found[peer]["loss"])}
        times = [best(samples[label], measure) for label in (ours, peer)]
        return Row(
            case=case, measure=name, peer=peer, ours=times[0], theirs=times[1], target=target, quality=loss
        )

    rows = [row("fit", "fit, 2 workers", peer.name, AtLeast(1.5)) for peer in bench.peers]
    rows.append(row("train", "train, 2 workers", "local", AtMostTimes(1.5)))
    rows += [
        row("train", f"train, {workers} worker(s)", "ours", None, f"ours {workers}") for workers in OTHERS
    ]
    return rows


def _sizes(case: str, samples: Samples, found: dict[str, dict[str, Any]]) -> list[Row]:
    """What one of the workers that are not rank 0 sends and receives for a tree; all files are one."""
    told = found["ours"]
    trees = told["trees"]
    up, down = (told[way] / trees / (WORKERS - 1) / 1e6 for way in ("received", "sent"))
    calls = told["calls"] / trees
    digests = {name: one["digest"][:8] for name, one in found.items() if "digest" in one}
    return [
        Row(case=case, measure="up, a tree and worker", peer="", ours=up, unit="MB", facts={"calls": calls}),
        Row(case=case, measure="down, a tree and worker", peer="", ours=down, unit="MB"),
        Row(
            case=case,
            measure="file: local, 1, 2 and 4 workers",
            peer="",
            target=Claim("same bytes"),
            holds=len(set(digests.values())) == 1,
            facts=digests,
        ),
    ]


def _trip(case: str) -> Row:
    told = run_child("cluster", "trip", str(WORKERS), "0", "0")
    return Row(
        case=case, measure="allreduce of 84 KB, 2 workers", peer="", ours=told["median"], unit="ms", facts={"best": told["best"]}
    )  # fmt: skip
