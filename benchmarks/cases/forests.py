"""Whole fits of forests, binning included, against the same forests of other libraries."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.bench import Action, Bench, Comparison, Contender
from benchmarks.data import DataMissingError, real
from benchmarks.generate import TEST, make_continuous, make_continuous_numbers
from benchmarks.peers import OUR_FOREST
from benchmarks.quality import Judge, scores
from benchmarks.rows import Row
from benchmarks.settings import Options, Settings
from benchmarks.timing import Sample, interleave, timed
from benchmarks.verdict import AtLeast, Target

Array = npt.NDArray[Any]
COLUMNS, HELD_OUT = 28, 50_000
WARM_ROWS = 1_000
FEW_TREES = 4  # of a smoke test

# scikit-learn's defaults: a hundred trees, leaves of one row.
GROWN = Settings(rounds=100, leaves=0, min_child_samples=1, min_child_weight=0.0, reg_lambda=0.0)
NUMBERS = replace(GROWN, objective="squared_error")
CLASSES = replace(GROWN, objective="softmax", classes=7)
EXACT = replace(GROWN, method="exact")
AUC = Judge("auc", 0.002, bigger_is_better=True)
ACCURACY = Judge("accuracy", 0.003, bigger_is_better=True)
RMSE = Judge("rmse", 0.01)


@dataclass(frozen=True)
class Split:
    """Rows to train on, and rows to judge by."""

    X: Array
    y: Array
    held_out: Array
    target: Array


def generated(make: Callable[..., tuple[Array, Array]], rows: int, options: Options) -> Split:
    """Return a table that is made here."""
    train = make(options.size(rows, 3_000), COLUMNS)
    return Split(*train, *make(options.size(HELD_OUT, 2_000), COLUMNS, part=TEST))


def covtype(rows: int, options: Options) -> Split:
    """Return rows of covtype, drawn in an order that is always the same."""
    table = real("covtype")
    rows, others = options.size(rows, 3_000), options.size(HELD_OUT, 2_000)
    order = np.random.default_rng(0).permutation(len(table.y))
    train, test = order[:rows], order[rows : rows + others]
    return Split(table.X[train], table.y[train], table.X[test], table.y[test])


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A table, what to grow on it, and what to reach against whom."""

    read: Callable[[Options], Split]
    settings: Settings
    judge: Judge
    targets: Mapping[str, Target]
    repeats: int = 3

    def sized(self, options: Options) -> "Plan":
        """Return the plan for these options: a smoke test grows few trees."""
        trees = options.size(self.settings.rounds, FEW_TREES)
        return replace(self, settings=replace(self.settings, rounds=trees, threads=options.threads))


def against(twin: float, intelex: float | None = None) -> dict[str, Target]:
    """Return the ratios to reach against scikit-learn's twin, and against scikit-learn-intelex where it has one."""
    more: dict[str, Target] = {} if intelex is None else {"intelex-forest": AtLeast(intelex)}
    return {"sklearn-forest": AtLeast(twin), **more}


BINARY = partial(generated, make_continuous, 100_000)
PLANS = {
    "forest": Plan(read=BINARY, settings=GROWN, judge=AUC, targets=against(15.0, 4.0)),
    "forest-covtype": Plan(
        read=partial(covtype, 100_000), settings=CLASSES, judge=ACCURACY, targets=against(6.0, 4.0)
    ),
    "forest-regression": Plan(
        read=partial(generated, make_continuous_numbers, 100_000),
        settings=NUMBERS,
        judge=RMSE,
        targets=against(10.0, 3.0),
        repeats=2,
    ),
    "forest-exact": Plan(read=BINARY, settings=EXACT, judge=AUC, targets=against(3.0)),
    "extra-trees": Plan(
        read=BINARY, settings=replace(GROWN, splitter="random"), judge=AUC, targets=against(4.0)
    ),
    "extra-trees-covtype": Plan(
        read=partial(covtype, 100_000),
        settings=replace(CLASSES, splitter="random"),
        judge=ACCURACY,
        targets=against(3.0),
    ),
}
# Twenty trees: time is linear in them, and what is done once counts for more, not for less.
LARGE = Plan(
    read=partial(generated, make_continuous, 1_000_000),
    settings=replace(GROWN, rounds=20),
    judge=AUC,
    targets=against(15.0, 4.0),
    repeats=2,
)
DEPTH = 20
LIMITED = replace(
    LARGE,
    settings=replace(LARGE.settings, depth=DEPTH),
    targets={name: AtLeast(2.0) for name in ("xgboost-forest", "lightgbm-forest")},
)


def run(bench: Bench, case: str) -> list[Row]:
    """Measure one plan with every library."""
    return _planned(bench, case, {"fit": PLANS[case]})


def run_large(bench: Bench, case: str) -> list[Row]:
    """Measure fully grown forests, and those of limited depth with the libraries that need a limit."""
    return _planned(bench, case, {"fit": LARGE, f"fit: depth {DEPTH}": LIMITED})


def of_forests(bench: Bench) -> Bench:
    """Return the bench with our forests in the place of our boosting."""
    return replace(bench, ours=None if bench.ours is None else OUR_FOREST())


def _planned(bench: Bench, case: str, plans: Mapping[str, Plan]) -> list[Row]:
    """Measure plans that share a table."""
    bench = of_forests(bench)
    bench.say("reading the table")
    try:
        table = next(iter(plans.values())).read(bench.options)
    except DataMissingError as missing:
        bench.say(str(missing))
        return []
    rows = []
    for measure, plan in plans.items():
        limited = plan.settings.depth > 0
        peers = [peer for peer in bench.peers if (peer.name in LIMITED.targets) == limited]
        found = compare(replace(bench, peers=peers), case, plan.sized(bench.options), table)
        rows += found.rows("fit", plan.targets, name=measure)
    return rows


def compare(bench: Bench, case: str, plan: Plan, table: Split) -> Comparison:
    """Fit with every library, and judge the forests by the held-out rows."""
    qualities: dict[str, dict[str, float]] = {}
    actions = {c.label: _action(c, plan.settings, table, qualities) for c in bench.contenders()}
    for contender in bench.contenders():
        bench.say(f"warming up {contender.label}")
        few = replace(plan.settings, rounds=2)
        contender.peer.fit(table.X[:WARM_ROWS], table.y[:WARM_ROWS], few, contender.mode)
    samples = interleave(actions, bench.options.times(plan.repeats), bench.say)
    return Comparison(bench, case, samples, qualities, plan.judge)


def _action(
    contender: Contender, settings: Settings, table: Split, qualities: dict[str, dict[str, float]]
) -> Action:
    """Return what fits, and the first time also judges the forest."""
    peer, mode = contender.peer, contender.mode

    def action() -> Sample:
        model, seconds = timed(lambda: peer.fit(table.X, table.y, settings, mode))
        if contender.label not in qualities:
            found = peer.predict(model, table.held_out, settings)
            qualities[contender.label] = scores(settings.objective, table.target, found)
        return {"fit": seconds}

    return action
