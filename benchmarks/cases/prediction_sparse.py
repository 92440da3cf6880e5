"""Prediction of sparse tables, and of one sparse row, on one thread and by processor time."""

import time
from collections.abc import Callable
from typing import Any

from benchmarks.bench import Bench, Comparison, Contender, Model
from benchmarks.generate import TEST, make_sparse
from benchmarks.quality import scores
from benchmarks.rows import Row
from benchmarks.settings import Settings
from benchmarks.timing import Sample, interleave, timed
from benchmarks.verdict import AtLeast

TRAINING_ROWS, ROWS = 20_000, 200_000
SHAPES = {"90 000 columns": (90_000, 30), "4 000 columns": (4_000, 10)}  # columns, and entries of a row
# Trees split on frequent columns, with few bins: XGBoost would train on all of them for ten minutes.
TRAINED, BINS = 2_000, 15
CALLS = 200  # of one row in one sample


def run(bench: Bench, case: str) -> list[Row]:
    """Predict 200 000 rows of either shape with 100 trees of 63 leaves, then some of them one by one."""
    rows = []
    for shape, (columns, entries) in SHAPES.items():
        X, y = make_sparse(bench.options.size(ROWS, 2_000), columns, entries, part=TEST)
        settings, models = _models(bench, columns, entries)
        predictions = {c.label: c.peer.predict(model, X, settings) for c, model in models}
        qualities = {label: scores(settings.objective, y, found) for label, found in predictions.items()}
        singles = [X[[i]] for i in range(bench.options.size(CALLS, 20))]
        actions = {c.label: _action(c, m, X, singles, settings) for c, m in models}
        samples = interleave(actions, bench.options.times(7), bench.say)
        comparison = Comparison(bench, case, samples, qualities)
        better, equal = AtLeast(1.5), AtLeast(1.0)
        rows += comparison.rows("predict", {"lightgbm": better, "xgboost": better}, name=shape)
        rows += comparison.rows("one row", {"lightgbm": equal}, unit="µs", name=f"one row, {shape}")
    return rows


def _action(
    contender: Contender, model: Model, X: Any, singles: list[Any], settings: Settings
) -> Callable[[], Sample]:
    predict = contender.peer.predict

    def once() -> Sample:
        _, whole = timed(lambda: predict(model, X, settings), time.process_time)
        _, alone = timed(lambda: [predict(model, row, settings) for row in singles], time.process_time)
        return {"predict": whole, "one row": alone / len(singles) * 1e6}

    return once


def _models(bench: Bench, columns: int, entries: int) -> tuple[Settings, list[tuple[Contender, Model]]]:
    """Train a model with every library, in its first mode: the mode does not change prediction."""
    settings = Settings(leaves=63, bins=BINS, threads=1, rounds=bench.options.size(100, 5))
    X, y = make_sparse(bench.options.size(TRAINING_ROWS, 2_000), columns, entries)
    X.data[X.indices >= TRAINED] = 0.0
    X.eliminate_zeros()
    models = []
    for peer in bench.libraries():
        bench.say(f"training {peer.name}")
        mode = peer.modes[0]
        models.append((Contender(peer, mode), peer.train(peer.dataset(X, y, settings, mode), settings, mode)))
    return settings, models
