"""Exact trees against XGBoost's, tree for tree, on real tables."""

from collections.abc import Callable
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from benchmarks.bench import Bench
from benchmarks.data import DataMissingError, real
from benchmarks.frames import agaricus
from benchmarks.parity import POSITIVE, SETTINGS, Compared, compare
from benchmarks.rows import Row
from benchmarks.verdict import Claim

ROUNDS = 10
SHOWN = 3


def run(bench: Bench, case: str) -> list[Row]:
    """Compare the trees of every setting on every table that can be had."""
    if bench.ours is None or all(peer.name != "xgboost" for peer in bench.peers):
        bench.say(f"{case} is skipped: it needs spinney and xgboost")
        return []
    tables: dict[str, tuple[Callable[[], tuple[Any, Any]], str]] = {
        "agaricus": (agaricus, "missing"),
        "adult": (lambda: _real("adult"), "zero"),
        "electricity": (lambda: _real("electricity"), "zero"),
    }
    rows = []
    for name, (read, absent) in tables.items():
        bench.say(f"reading {name}")
        try:
            X, y = read()
        except DataMissingError as missing:
            bench.say(str(missing))
            continue
        rows.append(_row(bench, case, name, X, y, absent))
    return rows


def _real(name: str) -> tuple[Any, Any]:
    table = real(name)
    return table.X, table.y


def _row(bench: Bench, case: str, name: str, X: Any, y: Any, absent: str) -> Row:
    size = bench.options.size(len(y), 1_000)
    rounds = bench.options.size(ROUNDS, 2)
    X, y = X[:size], np.asarray(y[:size], np.float64)
    found = []
    for setting, params in {**SETTINGS, "positive weight": POSITIVE}.items():
        bench.say(f"{name}: {setting}")
        found.append(compare(X, y, params, "log_loss", rounds, absent=absent))
        for difference in found[-1].wrong[:SHOWN]:
            bench.say(f"  {difference}")
    total = reduce(add, found, Compared())
    return Row(
        case=case,
        measure=name,
        peer="xgboost exact",
        target=Claim("every difference a tie or a rounding"),
        holds=not total.wrong,
        facts={
            "trees": total.trees,
            "the same": total.same,
            "nodes": total.nodes,
            "of": total.theirs,
            "mirrored": total.mirrored,
            "rounded leaves": total.rounded,
            "ties": total.ties,
            "other differences": len(total.wrong),
        },
    )
