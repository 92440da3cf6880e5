"""Held-out loss on small tables: does trying every value pay there?"""

import importlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from benchmarks.bench import Bench
from benchmarks.data import Array, DataMissingError, RealTable, real
from benchmarks.peers import Peer
from benchmarks.quality import scores
from benchmarks.rows import Row
from benchmarks.settings import Settings
from benchmarks.timing import timed
from benchmarks.verdict import paired

SPLITS = 5
SAMPLE, MOST_HELD_OUT = 1_000, 20_000
DEFAULTS = Settings()  # the library's own, with the method named
OBJECTIVES = {
    "breast_cancer": "log_loss",
    "diabetes": "squared_error",
    "wine": "softmax",
    "digits": "softmax",
}
SAMPLED = ("adult", "electricity", "diamonds", "letter")

Split = Callable[
    [int, int], tuple[Array, Array]
]  # rows of the table, seed → rows to train on, and to judge by


@dataclass
class Fits:
    """What one method reached on each split, and the seconds each fit took."""

    losses: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    loss: str = ""


def run(bench: Bench, case: str) -> list[Row]:
    """Compare exact with hist on every table that can be had."""
    if bench.ours is None:
        bench.say(f"{case} is skipped: it needs spinney")
        return []
    rows = [_row(bench, case, bench.ours, included(name), quarters) for name in OBJECTIVES]
    for name in SAMPLED:
        bench.say(f"reading {name}")
        try:
            table = real(name)
        except DataMissingError as missing:
            bench.say(str(missing))
            continue
        rows.append(_row(bench, case, bench.ours, table, sampled))
    return rows


def included(name: str) -> RealTable:
    """Return a table that comes with scikit-learn."""
    X, y = getattr(importlib.import_module("sklearn.datasets"), f"load_{name}")(return_X_y=True)
    objective = OBJECTIVES[name]
    classes = 1 if objective == "squared_error" else int(y.max()) + 1
    return RealTable(name, X.astype(np.float32), y.astype(np.float32), objective, classes)


def quarters(rows: int, seed: int) -> tuple[Array, Array]:
    """Train on three quarters."""
    order = np.random.default_rng(seed).permutation(rows)
    return order[: rows * 3 // 4], order[rows * 3 // 4 :]


def sampled(rows: int, seed: int) -> tuple[Array, Array]:
    """Train on a small sample; what is left of the table judges."""
    order = np.random.default_rng(seed).permutation(rows)
    return order[:SAMPLE], order[SAMPLE : SAMPLE + MOST_HELD_OUT]


def _fits(bench: Bench, ours: Peer, method: str, table: RealTable, split: Split) -> Fits:
    settings = replace(
        DEFAULTS,
        method=method,
        objective=table.objective,
        classes=table.classes,
        threads=bench.options.threads,
        rounds=bench.options.size(DEFAULTS.rounds, 5),
    )
    found = Fits()
    for seed in range(bench.options.size(SPLITS, 2)):
        bench.say(f"{table.name}, split {seed + 1}: {method}")
        train, test = split(len(table.y), seed)
        X, y = table.X[train], table.y[train]
        dataset, building = timed(lambda X=X, y=y: ours.dataset(X, y, settings, ""))  # type: ignore[misc]
        model, training = timed(lambda dataset=dataset: ours.train(dataset, settings, ""))  # type: ignore[misc]
        reached = scores(table.objective, table.y[test], ours.predict(model, table.X[test], settings))
        found.loss = next(iter(reached))
        found.losses.append(reached[found.loss])
        found.seconds.append(building + training)
    return found


def _row(bench: Bench, case: str, ours: Peer, table: RealTable, split: Split) -> Row:
    exact, hist = (_fits(bench, ours, method, table, split) for method in ("exact", "hist"))
    difference = paired(exact.losses, hist.losses)
    return Row(
        case=case,
        measure=table.name,
        peer="spinney hist",
        ours=float(np.mean(exact.losses)),
        theirs=float(np.mean(hist.losses)),
        unit=exact.loss,
        facts={
            "rows": len(split(len(table.y), 0)[0]),
            "spread of exact": float(np.std(exact.losses, ddof=1)),
            "spread of hist": float(np.std(hist.losses, ddof=1)),
            "mean difference": difference.mean,
            "standard error": difference.error,
            "verdict": difference.verdict,
            "fit exact, s": min(exact.seconds),
            "fit hist, s": min(hist.seconds),
        },
        samples={"ours": exact.losses, "theirs": hist.losses},
    )
