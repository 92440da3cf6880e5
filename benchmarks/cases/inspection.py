"""Inspecting a finished model: the importance of shuffled columns, against scikit-learn's of the same model."""

from typing import Any

import numpy as np

from benchmarks.bench import Bench
from benchmarks.generate import TEST, make_binary
from benchmarks.rows import Row
from benchmarks.timing import best, interleave, timed
from benchmarks.verdict import AtLeast

ROWS, COLUMNS, TREES, REPEATS = 100_000, 28, 100, 5
# By name here and there.
METRICS = {"auc": "roc_auc", "accuracy": "accuracy"}


def run_permutation(bench: Bench, case: str) -> list[Row]:
    """Shuffle every column five times, by two metrics."""
    if bench.ours is None:
        bench.say(f"{case} is skipped: it needs spinney")
        return []
    try:
        from sklearn.inspection import permutation_importance as theirs
    except ImportError as error:
        bench.say(f"{case} is skipped: {error}")
        return []
    import spinney

    rows, threads = bench.options.size(ROWS, 2_000), bench.options.threads
    trees = bench.options.size(TREES, 10)
    X, y = make_binary(rows, COLUMNS)
    bench.say("training the model")
    model = spinney.GBMClassifier(n_estimators=trees, n_jobs=threads).fit(X, y)
    X, y = make_binary(rows, COLUMNS, part=TEST)

    def shuffle(metric: str, other: bool) -> Any:
        if other:
            return theirs(model, X, y, scoring=METRICS[metric], n_repeats=REPEATS, random_state=0)
        return spinney.permutation_importance(model, X, y, metric=metric, repeats=REPEATS, n_jobs=threads)

    return [_row(bench, case, metric, shuffle) for metric in METRICS]


def _row(bench: Bench, case: str, metric: str, shuffle: Any) -> Row:
    """Time of both; the importances must agree but for what chance leaves."""
    found = {"spinney": shuffle(metric, False), "sklearn": shuffle(metric, True)}
    actions = {
        label: lambda other=other: {"time": timed(lambda: shuffle(metric, other))[1]}
        for label, other in (("spinney", False), ("sklearn", True))
    }
    samples = interleave(actions, bench.options.times(3), bench.say)
    means = {label: one.importances_mean for label, one in found.items()}
    noise = np.sqrt(sum(one.importances_std**2 for one in found.values()) / (REPEATS - 1))
    apart = float(np.max(np.abs(means["spinney"] - means["sklearn"]) / (noise + 1e-9)))
    return Row(
        case=case, measure=metric, peer="sklearn", ours=best(samples["spinney"], "time"),
        theirs=best(samples["sklearn"], "time"), target=AtLeast(3.0), holds=apart < 12.0,
        quality={"largest": (float(means["spinney"].max()), float(means["sklearn"].max()))},
        facts={"largest difference over its deviation": round(apart, 2)},
        samples={side: [one["time"] for one in samples[label]] for side, label in (("ours", "spinney"), ("theirs", "sklearn"))},
    )  # fmt: skip
