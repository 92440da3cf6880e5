"""Quantile sketches: how long ten million values take, against sorting them."""

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.bench import Bench
from benchmarks.rows import Row
from benchmarks.timing import best, interleave, timed
from benchmarks.verdict import AtMost

VALUES = 10_000_000
RATE = 20e6  # values a second


def run(bench: Bench, case: str) -> list[Row]:
    """Sketch values of both types, with and without weights, and in batches; NumPy sorts the same values on one thread."""
    import spinney as sp

    count = bench.options.size(VALUES, 200_000)
    rng = np.random.default_rng(0)
    values, weights = rng.normal(size=count), rng.random(count)
    single = values.astype(np.float32)

    def sketch(*arguments: Any, batch: int = count) -> Callable[[], Any]:
        def make() -> Any:
            made = sp.QuantileSketch(0.001, n_jobs=bench.options.threads)
            for i in range(0, count, batch):
                made.update(*(argument[i : i + batch] for argument in arguments))
            return made

        return make

    makers = {
        "float64": sketch(values),
        "float32": sketch(single),
        "weighted": sketch(values, weights),
        "batches of 100 000": sketch(values, batch=100_000),
    }
    actions = {name: lambda make=make: {"time": timed(make)[1]} for name, make in makers.items()}
    sort = {"np.sort": lambda: {"time": timed(lambda: np.sort(values))[1]}}
    samples = interleave({**actions, **sort}, bench.options.times(5), bench.say)
    rows = []
    for name, make in makers.items():
        seconds = best(samples[name], "time")
        made = make()
        facts = {
            "nbytes": made.nbytes,
            "error": made.error,
            "millions a second": count / 1e6 / (seconds or 1.0),
        }
        rows.append(
            Row(
                case=case, measure=name, peer="np.sort", ours=seconds, theirs=best(samples["np.sort"], "time"),
                target=AtMost(count / RATE, "s"), facts=facts,
            )
        )  # fmt: skip
    return rows
