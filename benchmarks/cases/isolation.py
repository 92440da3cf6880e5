"""Isolation forests: a fit and the scores of all rows, what memory they take, and how well abnormal rows are found."""

import gzip
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.bench import Action, Bench, Comparison, Contender
from benchmarks.cases.accuracy import Scores, compared
from benchmarks.cases.child import run_child
from benchmarks.cases.forest_accuracy import in_deviations
from benchmarks.data import Archive, DataMissingError, read_members
from benchmarks.generate import make_odd
from benchmarks.peers import OUR_ISOLATION, Peer
from benchmarks.quality import Judge, auc
from benchmarks.rows import Row
from benchmarks.settings import Options, Settings
from benchmarks.timing import Sample, interleave, timed
from benchmarks.verdict import AtLeast, AtMostTimes

Array = npt.NDArray[Any]
Table = tuple[Array, Array]
ROWS, COLUMNS, TREES = 500_000, 28, 300
SEEDS = 10
WARM_ROWS = 1_000
AUC = Judge("auc", 0.01, bigger_is_better=True)
TARGETS = {"sklearn-isolation": AtLeast(6.0), "isotree": AtLeast(1.0)}
RIVER = Archive(
    "river==0.26.1",
    "river-0.26.1-cp311-cp311-manylinux_2_28_x86_64.whl",
    "6a11e1a9749beec3ea138efeb0205b2c5cea8d424e9deee306c8980faec01bef",
    ("--python-version=311", "--implementation=cp", "--abi=cp311", "--platform=manylinux_2_28_x86_64"),
)


def shuttle() -> Table:
    """Return 9 columns, and which rows are anomalies."""
    (content,) = read_members(RIVER, ("river/datasets/shuttle.csv.gz",))
    table = np.loadtxt(gzip.decompress(content).decode().splitlines(), delimiter=",", skiprows=1)
    return table[:, :-1].astype(np.float32), table[:, -1]


def clustered(rows: int = 20_000) -> Table:
    """Return clouds of several sizes, and 3 % of rows that lie anywhere."""
    return make_odd(rows, 10)


def tailed(rows: int = 20_000) -> Table:
    """Return columns with long tails that hang together, and 3 % of rows that break it."""
    rng = np.random.default_rng(5)
    X = rng.lognormal(size=(rows, 1)) * rng.gamma(5.0, size=(rows, 6))
    odd = rng.random(rows) < 0.03
    X[odd] *= rng.choice([0.1, 6.0], (int(odd.sum()), 6))
    return X.astype(np.float32), odd.astype(np.float32)


TABLES: dict[str, Callable[[], Table]] = {"shuttle": shuttle, "clusters": clustered, "tails": tailed}


def of_isolation(bench: Bench) -> Bench:
    """Return the bench with our isolation forest in the place of our boosting."""
    return replace(bench, ours=None if bench.ours is None else OUR_ISOLATION())


def settings_of(options: Options) -> Settings:
    """Return what every library is asked for."""
    return Settings(rounds=options.size(TREES, 5), threads=options.threads)


def run(bench: Bench, case: str) -> list[Row]:
    """Fit 300 trees on 500 000 × 28 and score all rows."""
    bench = of_isolation(bench)
    settings = settings_of(bench.options)
    bench.say("making the table")
    X, y = make_odd(bench.options.size(ROWS, 2_000), COLUMNS)
    qualities: dict[str, dict[str, float]] = {}

    def action(contender: Contender) -> Action:
        peer, mode = contender.peer, contender.mode

        def once() -> Sample:
            model, fitted = timed(lambda: peer.fit(X, y, settings, mode))
            found, scored = timed(lambda: peer.predict(model, X, settings))
            qualities.setdefault(contender.label, {"auc": auc(y, found)})
            return {"fit + score": fitted + scored, "fit": fitted, "score": scored}

        return once

    for contender in bench.contenders():
        bench.say(f"warming up {contender.label}")
        few = contender.peer.fit(X[:WARM_ROWS], y[:WARM_ROWS], settings, contender.mode)
        contender.peer.predict(few, X[:WARM_ROWS], settings)
    actions = {contender.label: action(contender) for contender in bench.contenders()}
    samples = interleave(actions, bench.options.times(3), bench.say)
    comparison = Comparison(bench, case, samples, qualities, AUC)
    return [
        *comparison.rows("fit + score", TARGETS),
        *comparison.rows("fit", {}),
        *comparison.rows("score", {}),
    ]


def run_memory(bench: Bench, case: str) -> list[Row]:
    """Measure how much a process grows that fits and scores, beyond the table."""
    if not Path("/proc/self/status").exists():
        bench.say(f"{case} is skipped: it reads VmHWM from /proc, which this system does not have")
        return []
    bench = of_isolation(bench)
    settings = settings_of(bench.options)
    sizes = [str(bench.options.size(ROWS, 2_000)), str(settings.rounds), str(settings.threads)]

    def action(contender: Contender) -> Action:
        return lambda: {"memory": float(run_child("isolation_memory", contender.peer.name, *sizes)["memory"])}

    actions = {contender.label: action(contender) for contender in bench.contenders()}
    samples = interleave(actions, bench.options.times(1), bench.say)
    return Comparison(bench, case, samples, {}).rows(
        "memory", {"sklearn-isolation": AtMostTimes(0.5)}, unit="MB"
    )


def run_accuracy(bench: Bench, case: str) -> list[Row]:
    """Compare areas under the ROC curve over ten seeds on every table that can be had."""
    bench = of_isolation(bench)
    rows: list[Row] = []
    for name, read in TABLES.items():
        bench.say(f"reading {name}")
        try:
            table = read()
        except DataMissingError as missing:
            bench.say(str(missing))
            continue
        found = {peer.name: _areas(bench, peer, table) for peer in bench.libraries()}
        for peer in bench.peers:
            ours = found.get("spinney", [])
            rows.append(in_deviations(compared(case, name, (peer.name, ""), ours, found[peer.name])))
    return rows


def _areas(bench: Bench, peer: Peer, table: Table) -> Scores:
    """Return what lies above the curve, seed by seed: the share of pairs in the wrong order."""
    X, y = table
    few = bench.options.size(len(y), 2_000)
    X, y = X[:few], y[:few]
    found = []
    for seed in range(bench.options.size(SEEDS, 2)):
        settings = Settings(rounds=bench.options.size(100, 10), threads=bench.options.threads, seed=seed + 1)
        model = peer.fit(X, y, settings, "")
        area = auc(y, peer.predict(model, X, settings))
        found.append({"1 - auc": 1.0 - area, "auc": area})
    return found
