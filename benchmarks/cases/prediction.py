"""Prediction of many rows at once, and of one row."""

from collections.abc import Callable
from dataclasses import replace

from benchmarks.bench import Bench, Comparison, Contender, Model
from benchmarks.cases.training import BIG
from benchmarks.generate import TEST, Floats, make_binary
from benchmarks.quality import scores
from benchmarks.rows import Row
from benchmarks.settings import Settings
from benchmarks.timing import Sample, interleave, timed
from benchmarks.verdict import AtLeast

TRAINING_ROWS, ROWS, COLUMNS = 200_000, 500_000, 28
CALLS = 200  # of one row in one sample: a clock reading is then a thousandth of it


def run_many(bench: Bench, case: str) -> list[Row]:
    """Predict 500 000 rows with 100 trees of 255 leaves."""
    X, y = make_binary(bench.options.size(ROWS, 4_000), COLUMNS, part=TEST)
    settings, models = _models(bench)
    qualities = {
        c.label: scores(settings.objective, y, c.peer.predict(model, X, settings)) for c, model in models
    }

    def action(contender: Contender, model: Model) -> Callable[[], Sample]:
        return lambda: {"predict": timed(lambda: contender.peer.predict(model, X, settings))[1]}

    samples = interleave({c.label: action(c, m) for c, m in models}, bench.options.times(7), bench.say)
    comparison = Comparison(bench, case, samples, qualities)
    return comparison.rows("predict", {"lightgbm": AtLeast(3.0), "xgboost": AtLeast(1.3)})


def run_one(bench: Bench, case: str) -> list[Row]:
    """Predict one row at a time, and report one call."""
    X, _ = make_binary(CALLS, COLUMNS, part=TEST)
    settings, models = _models(bench)
    calls = bench.options.size(CALLS, 20)

    def action(contender: Contender, model: Model) -> Callable[[], Sample]:
        rows: list[Floats] = [X[i : i + 1] for i in range(calls)]

        def once() -> Sample:
            _, seconds = timed(lambda: [contender.peer.predict(model, row, settings) for row in rows])
            return {"one row": seconds / calls * 1e6}

        once()
        return once

    samples = interleave({c.label: action(c, m) for c, m in models}, bench.options.times(20), bench.say)
    return Comparison(bench, case, samples, {}).rows("one row", {"lightgbm": AtLeast(1.0)}, unit="µs")


def _models(bench: Bench) -> tuple[Settings, list[tuple[Contender, Model]]]:
    """Train a model with every library, in its first mode: the mode does not change prediction."""
    settings = replace(BIG, threads=bench.options.threads, rounds=bench.options.size(BIG.rounds, 5))
    X, y = make_binary(bench.options.size(TRAINING_ROWS, 4_000), COLUMNS)
    models = []
    for peer in bench.libraries():
        bench.say(f"training {peer.name}")
        mode = peer.modes[0]
        models.append((Contender(peer, mode), peer.train(peer.dataset(X, y, settings, mode), settings, mode)))
    return settings, models
