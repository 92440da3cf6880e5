"""Areas under curves of a million rows, against scikit-learn's."""

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.bench import Bench
from benchmarks.rows import Row
from benchmarks.timing import best, interleave, timed
from benchmarks.verdict import AtLeast

ROWS = 1_000_000
CLOSE = 1e-9


def run(bench: Bench, case: str) -> list[Row]:
    """Compute each metric with both libraries, of the same scores."""
    if bench.ours is None:
        bench.say(f"{case} is skipped: it needs spinney")
        return []
    try:
        from sklearn import metrics
    except ImportError as error:
        bench.say(f"{case} is skipped: {error}")
        return []
    target, scores, weight = make_scores(bench.options.size(ROWS, 10_000))
    works: dict[str, tuple[Callable[[], float], Callable[[], float]]] = {
        "auc": (_ours(bench, "auc", target, scores), lambda: metrics.roc_auc_score(target, scores)),
        "auc, weighted": (
            _ours(bench, "auc", target, scores, weight),
            lambda: metrics.roc_auc_score(target, scores, sample_weight=weight),
        ),
        "average precision": (
            _ours(bench, "average_precision", target, scores),
            lambda: metrics.average_precision_score(target, scores),
        ),
    }
    return [_row(bench, case, name, *pair) for name, pair in works.items()]


def make_scores(rows: int) -> tuple[Any, Any, Any]:
    """Return labels, scores with some ties among them, and weights."""
    rng = np.random.default_rng(12)
    scores = rng.normal(size=rows)
    scores[::10] = np.round(scores[::10], 2)
    target = (rng.random(rows) < 1.0 / (1.0 + np.exp(2.0 - 2.0 * scores))).astype(np.float64)
    return target, scores, rng.random(rows) + 0.1


def _ours(bench: Bench, name: str, target: Any, scores: Any, weight: Any = None) -> Callable[[], float]:
    from spinney.data import Labels
    from spinney.jit.team import Team
    from spinney.metrics import Predictions, get
    from spinney.params import Config

    metric, labels = get(name, Config(objective="log_loss")), Labels(target, weight)
    team = Team(bench.options.threads)
    # Predictions keep the order of their rows, so that each call needs new ones.
    return lambda: metric.compute(Predictions(scores[None, :], "logistic", team), labels).value


def _row(bench: Bench, case: str, name: str, ours: Callable[[], float], theirs: Callable[[], float]) -> Row:
    found = {"spinney": ours(), "sklearn": theirs()}
    actions = {
        label: lambda compute=compute: {"time": timed(compute)[1]}
        for label, compute in (("spinney", ours), ("sklearn", theirs))
    }
    samples = interleave(actions, bench.options.times(5), bench.say)
    return Row(
        case=case, measure=name, peer="sklearn", ours=best(samples["spinney"], "time"),
        theirs=best(samples["sklearn"], "time"), target=AtLeast(3.0),
        holds=abs(found["spinney"] - found["sklearn"]) <= CLOSE, quality={name: (found["spinney"], found["sklearn"])},
        samples={side: [one["time"] for one in samples[label]] for side, label in (("ours", "spinney"), ("theirs", "sklearn"))},
    )  # fmt: skip
