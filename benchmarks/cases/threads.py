"""How much faster each learner is on several threads, against its peers' own scaling, and what that costs.

Processor time that grows with threads is lost to waiting: for cache lines that others write, or at meetings. Beyond the cores of
the machine only the sum of work can be compared.
"""

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any
from unittest.mock import patch

from benchmarks.bench import Action, Bench, Contender
from benchmarks.cases.forests import GROWN, NUMBERS
from benchmarks.generate import make_binary, make_continuous, make_continuous_numbers
from benchmarks.peers import OUR_FOREST, OUR_ISOLATION, Peer
from benchmarks.rows import Row
from benchmarks.settings import Options, Settings
from benchmarks.timing import Sample, Samples, best, interleave
from benchmarks.verdict import AtMost
from spinney.jit import cores as limits

COLUMNS = 28
CROWD = 4  # threads for each core, where only the sum of work is compared
MORE_WORK = AtMost(1.15, "x work of 1")
FORESTS = ("sklearn-forest",)
BOOSTING = ("lightgbm", "xgboost")
ISOLATION = ("sklearn-isolation",)


@dataclass(frozen=True, kw_only=True)
class Work:
    """Something that threads share: a table, settings, against whom, and how much faster two threads should be."""

    make: Callable[..., Any]
    rows: int
    settings: Settings
    peers: Sequence[str]
    goal: float
    ours: Callable[[], Peer] | None = None  # in the place of our boosting
    predicts: bool = False

    def table(self, options: Options) -> Any:
        """Make the rows and their target."""
        return self.make(options.size(self.rows, 2_000), COLUMNS)


BINARY = Settings(leaves=31, rounds=30)
WORKS = {
    "31 leaves": Work(make=make_binary, rows=500_000, settings=BINARY, peers=BOOSTING, goal=1.85),
    "255 leaves": Work(
        make=make_binary, rows=500_000, settings=replace(BINARY, leaves=255), peers=BOOSTING, goal=1.85
    ),
    "exact, depth 6": Work(
        make=make_binary,
        rows=100_000,
        settings=replace(BINARY, method="exact", leaves=0, depth=6, rounds=10),
        peers=("xgboost",),
        goal=1.8,
    ),
    "predict": Work(
        make=make_binary,
        rows=500_000,
        settings=replace(BINARY, leaves=255),
        peers=BOOSTING,
        goal=1.85,
        predicts=True,
    ),
    "random forest": Work(
        make=make_continuous,
        rows=100_000,
        settings=replace(GROWN, rounds=40),
        peers=FORESTS,
        goal=1.9,
        ours=OUR_FOREST,
    ),
    "regression forest": Work(
        make=make_continuous_numbers,
        rows=100_000,
        settings=replace(NUMBERS, rounds=6),
        peers=FORESTS,
        goal=1.9,
        ours=OUR_FOREST,
    ),
    "extra trees": Work(
        make=make_continuous,
        rows=100_000,
        settings=replace(GROWN, rounds=40, splitter="random"),
        peers=FORESTS,
        goal=1.9,
        ours=OUR_FOREST,
    ),
    "isolation forest": Work(
        make=make_binary,
        rows=500_000,
        settings=Settings(rounds=100),
        peers=ISOLATION,
        goal=1.9,
        ours=OUR_ISOLATION,
        predicts=True,
    ),
}


def thread_counts(cores: int) -> list[int]:
    """1, 2, 4, ... up to the cores.

    Examples
    --------
    >>> thread_counts(6)
    [1, 2, 4, 6]
    """
    counts = [1]
    while counts[-1] * 2 <= cores:
        counts.append(counts[-1] * 2)
    return counts if counts[-1] == cores else [*counts, cores]


def serial_share(speed_up: float, threads: int) -> float:
    """The share of the work that one thread does alone, by Amdahl's law.

    Examples
    --------
    >>> round(serial_share(1.6, 2), 3)
    0.25
    """
    return (1.0 / speed_up - 1.0 / threads) / (1.0 - 1.0 / threads)


def run(bench: Bench, case: str) -> list[Row]:
    """Measure every work at 1, 2, ... threads, and with more threads than cores: time, or processor time, in that of one."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    rows: list[Row] = []
    # The library never starts more threads than cores; here it must, to measure what they would cost.
    with patch.object(limits, "THREADS_PER_CORE", CROWD):
        for name, work in WORKS.items():
            bench.say(f"{name}: making the table")
            rows += _rows(_of(bench, work), case, name, work, thread_counts(cores), CROWD * cores)
    return rows


def _of(bench: Bench, work: Work) -> Bench:
    """The bench with the libraries that do this work."""
    ours = bench.ours if work.ours is None or bench.ours is None else work.ours()
    return replace(bench, ours=ours, peers=[peer for peer in bench.peers if peer.name in work.peers])


def _rows(bench: Bench, case: str, name: str, work: Work, counts: list[int], crowd: int) -> list[Row]:
    X, y = work.table(bench.options)
    settings = replace(work.settings, rounds=bench.options.size(work.settings.rounds, 2))
    every = [*counts, crowd] if crowd not in counts else counts
    actions = {
        _label(contender.peer, threads): _action(contender, X, y, replace(settings, threads=threads), work)
        for contender in _first_modes(bench)
        for threads in every
        if contender.peer is bench.ours or threads != crowd
    }
    samples = interleave(actions, bench.options.times(3), bench.say)
    found: list[Row] = []
    for threads in counts[1:]:
        for peer in bench.peers:
            found.append(
                Row(
                    case=case,
                    measure=f"{name}: {threads} threads",
                    peer=peer.name,
                    ours=_of_one(samples, bench.ours, threads, "wall"),
                    theirs=_of_one(samples, peer, threads, "wall"),
                    unit="x",
                    target=AtMost(round(1.0 / work.goal, 3), "x time of 1") if threads == 2 else None,
                    facts=_facts(samples, bench.ours, threads),
                )
            )
    if bench.ours is not None:
        work_done = _of_one(samples, bench.ours, crowd, "cpu")
        found.append(
            Row(
                case=case,
                measure=f"{name}: work of {crowd} threads",
                peer="",
                ours=work_done,
                unit="x",
                target=MORE_WORK,
            )
        )
    return found


def _first_modes(bench: Bench) -> list[Contender]:
    """Every library in its first mode: modes differ in speed, not in what threads do."""
    return [Contender(peer, peer.modes[0]) for peer in bench.libraries()]


def _label(peer: Peer, threads: int) -> str:
    return f"{peer.name} on {threads}"


def _of_one(samples: Samples, peer: Peer | None, threads: int, measure: str) -> float | None:
    """A measure on some threads, as a share of that on one."""
    if peer is None:
        return None
    many = best(samples.get(_label(peer, threads), []), measure)
    one = best(samples.get(_label(peer, 1), []), measure)
    return None if many is None or one is None else many / one


def _facts(samples: Samples, peer: Peer | None, threads: int) -> dict[str, float]:
    wall, cpu = (_of_one(samples, peer, threads, measure) for measure in ("wall", "cpu"))
    if wall is None or cpu is None:
        return {}
    return {
        "speed-up": 1.0 / wall,
        "serial share": serial_share(1.0 / wall, threads),
        "processor time": cpu,
    }


def _action(contender: Contender, X: Any, y: Any, settings: Settings, work: Work) -> Action:
    peer, mode = contender.peer, contender.mode
    dataset = peer.dataset(X, y, settings, mode)
    model = peer.train(dataset, settings, mode) if work.predicts else None

    def action() -> Sample:
        wall, cpu = time.perf_counter(), time.process_time()
        if work.predicts:
            peer.predict(model, X, settings)
        else:
            peer.train(dataset, settings, mode)
        return {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}

    return action
