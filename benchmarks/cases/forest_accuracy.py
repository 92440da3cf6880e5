"""Held-out scores of forests: seed by seed against scikit-learn's twin, and where values are missing."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.bench import Bench
from benchmarks.cases.accuracy import Scores, compared
from benchmarks.cases.forests import FEW_TREES, GROWN, of_forests
from benchmarks.cases.small import included
from benchmarks.data import DataMissingError, RealTable, real
from benchmarks.generate import TEST, TRAIN, make_continuous
from benchmarks.peers import Peer
from benchmarks.peers.base import library
from benchmarks.quality import auc, rmse
from benchmarks.rows import Row
from benchmarks.settings import Settings

SEEDS = 5
MOST = 100_000  # rows to train on
TABLES: dict[str, Callable[[], RealTable]] = {
    **{name: partial(real, name) for name in ("covtype", "adult", "letter", "diamonds")},
    **{name: partial(included, name) for name in ("digits", "breast_cancer")},
}
WAYS = {"random forest": "best", "extra trees": "random"}

SHARES = (0.0, 0.1, 0.3, 0.5)
GAPS = ("any", "largest")  # which values of a column are missing
MISSING_ROWS, MISSING_COLUMNS = 20_000, 28
ROUNDS = 200


def run(bench: Bench, case: str) -> list[Row]:
    """Compare both kinds of forest on every table that can be had."""
    bench = of_forests(bench)
    rows: list[Row] = []
    for name, read in TABLES.items():
        bench.say(f"reading {name}")
        try:
            table = read()
        except DataMissingError as missing:
            bench.say(str(missing))
            continue
        for way, splitter in WAYS.items():
            settings = replace(GROWN, objective=table.objective, classes=table.classes, splitter=splitter)
            losses = {peer.name: _losses(bench, peer, table, settings) for peer in bench.libraries()}
            ours = losses.get("spinney", [])
            for peer in bench.peers:
                rows.append(
                    in_deviations(compared(case, f"{name}, {way}", (peer.name, ""), ours, losses[peer.name]))
                )
    return rows


def in_deviations(row: Row) -> Row:
    """Add the difference in units of its deviation from seed to seed."""
    if "deviation" not in row.facts:
        return row
    apart, deviation = float(row.facts["mean difference"]), float(row.facts["deviation"])
    return replace(row, facts={**row.facts, "in deviations": apart / deviation if deviation else 0.0})


def _losses(bench: Bench, peer: Peer, table: RealTable, settings: Settings) -> Scores:
    """Return what is wrong on the held-out rows, seed by seed: a seed is a split and a forest."""
    found = []
    for seed in range(bench.options.size(SEEDS, 2)):
        bench.say(f"{table.name}, {settings.splitter} splits, seed {seed}: {peer.name}")
        train, test = split(len(table.y), seed, bench.options.size(MOST, 1_000))
        trees = bench.options.size(settings.rounds, FEW_TREES)
        asked = replace(settings, seed=seed, rounds=trees, threads=bench.options.threads)
        model = peer.fit(table.X[train], table.y[train], asked, "")
        prediction = peer.predict(model, table.X[test], asked)
        found.append({"rmse" if table.classes == 1 else "error": wrong(table, test, prediction)})
    return found


def split(rows: int, seed: int, most: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return three quarters to train on, but so many rows at most, and half as many others or less to judge by."""
    order = np.random.default_rng(seed).permutation(rows)
    count = min(rows * 3 // 4, most)
    return order[:count], order[count : count + most // 2]


def wrong(table: RealTable, rows: npt.NDArray[np.int64], prediction: npt.NDArray[Any]) -> float:
    """Return the root mean squared error, or the share of rows in a wrong class."""
    target = table.y[rows]
    if table.classes == 1:
        return rmse(target, prediction)
    chosen = prediction > 0.5 if prediction.ndim == 1 else prediction.argmax(axis=1)
    return float(np.mean(chosen != target))


def run_missing(bench: Bench, case: str) -> list[Row]:
    """Take values away, of the rows that judge as of those that train."""
    if bench.ours is None:
        bench.say(f"{case} is skipped: it needs spinney")
        return []
    size = bench.options.size(MISSING_ROWS, 2_000)
    trees, rounds = bench.options.size(GROWN.rounds, FEW_TREES), bench.options.size(ROUNDS, 5)
    common = {"n_jobs": bench.options.threads, "random_state": 0}
    spinney, ensemble = library("spinney"), library("sklearn.ensemble")
    makers: dict[str, Callable[[], Any]] = {
        "boosting": lambda: spinney.GBMClassifier(n_estimators=rounds, **common),
        "forest": lambda: spinney.RandomForestClassifier(n_estimators=trees, **common),
        "sklearn, means": lambda: library("sklearn.pipeline").make_pipeline(
            library("sklearn.impute").SimpleImputer(),
            ensemble.RandomForestClassifier(n_estimators=trees, **common),
        ),
    }
    rows = []
    for gaps, share in [(gaps, share) for gaps in GAPS for share in SHARES if share or gaps == GAPS[0]]:
        (X, y), (held_out, target) = (with_gaps(size, share, gaps, part) for part in (TRAIN, TEST))
        found = {}
        for name, make in makers.items():
            bench.say(f"{share:.0%} missing, {gaps}: {name}")
            model = make().fit(X, y.astype(np.int64))
            found[name] = auc(target, model.predict_proba(held_out)[:, 1])
        rows.append(
            Row(
                case=case,
                measure=f"{share:.0%}, {gaps}",
                peer="sklearn on means",
                ours=found["forest"],
                theirs=found["sklearn, means"],
                unit="auc",
                facts={"boosting": found["boosting"], "rows": size},
            )
        )
    return rows


def with_gaps(rows: int, share: float, gaps: str, part: int) -> tuple[Any, Any]:
    """Return a table that lacks a share of each column's values: any of them, or the largest."""
    X, y = make_continuous(rows, MISSING_COLUMNS, part=part)
    if gaps == "any":
        X[np.random.default_rng([part, 3]).random(X.shape) < share] = np.nan
    elif share:
        X[np.quantile(X, 1.0 - share, axis=0) < X] = np.nan
    return X, y
