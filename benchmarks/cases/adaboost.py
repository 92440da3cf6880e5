"""Whole fits of AdaBoost, binning included, against scikit-learn's."""

from dataclasses import replace

from benchmarks.bench import Bench
from benchmarks.cases.forests import AUC, BINARY, GROWN, Plan, compare
from benchmarks.peers import OUR_ADABOOST
from benchmarks.rows import Row
from benchmarks.verdict import AtLeast

PLANS = {
    f"fit: {name}": Plan(
        read=BINARY,
        settings=replace(GROWN, depth=depth),
        judge=AUC,
        targets={"sklearn-adaboost": AtLeast(ratio)},
        repeats=1,
    )
    for name, depth, ratio in (("stumps", 1, 40.0), ("depth 4", 4, 10.0))
}


def run(bench: Bench, case: str) -> list[Row]:
    """Boost trees of each depth with both libraries, on the same table."""
    bench = replace(bench, ours=None if bench.ours is None else OUR_ADABOOST())
    bench.say("making the table")
    table = BINARY(bench.options)
    rows = []
    for measure, plan in PLANS.items():
        found = compare(bench, case, plan.sized(bench.options), table)
        rows += found.rows("fit", plan.targets, name=measure)
    return rows
