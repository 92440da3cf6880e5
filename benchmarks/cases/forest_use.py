"""What a finished forest takes: time to predict, memory, and room in a file."""

import tempfile
from collections.abc import Callable
from pathlib import Path

from benchmarks.bench import Action, Bench, Comparison, Contender, Model
from benchmarks.cases.child import run_child
from benchmarks.cases.forests import AUC, PLANS, of_forests
from benchmarks.generate import TEST, make_continuous
from benchmarks.quality import scores
from benchmarks.rows import Row
from benchmarks.timing import Sample, interleave, timed
from benchmarks.verdict import AtLeast, AtMostTimes

ROWS = 100_000


def run_predict(bench: Bench, case: str) -> list[Row]:
    """Predict 100 000 rows with 100 fully grown trees."""
    bench = of_forests(bench)
    plan = PLANS["forest"].sized(bench.options)
    bench.say("making the table")
    table = plan.read(bench.options)
    X, y = make_continuous(bench.options.size(ROWS, 2_000), table.X.shape[1], part=TEST)
    models, qualities = [], {}
    for contender in bench.contenders():
        bench.say(f"growing the forest of {contender.label}")
        model = contender.peer.fit(table.X, table.y, plan.settings, contender.mode)
        found = contender.peer.predict(model, X, plan.settings)
        models.append((contender, model))
        qualities[contender.label] = scores(plan.settings.objective, y, found)

    def action(contender: Contender, model: Model) -> Callable[[], Sample]:
        return lambda: {"predict": timed(lambda: contender.peer.predict(model, X, plan.settings))[1]}

    samples = interleave({c.label: action(c, m) for c, m in models}, bench.options.times(5), bench.say)
    comparison = Comparison(bench, case, samples, qualities, AUC)
    return comparison.rows("predict", {"sklearn-forest": AtLeast(5.0)})


def run_memory(bench: Bench, case: str) -> list[Row]:
    """Measure the forest's file, and how much a fresh process grows when it reads it and predicts."""
    if not Path("/proc/self/status").exists():
        bench.say(f"{case} is skipped: it reads VmRSS from /proc, which this system does not have")
        return []
    bench = of_forests(bench)
    settings = PLANS["forest"].sized(bench.options).settings
    sizes = [str(bench.options.size(ROWS, 3_000)), str(settings.rounds), str(settings.threads)]

    def action(contender: Contender) -> Action:
        def once() -> Sample:
            with tempfile.TemporaryDirectory() as folder:
                written = run_child("forest_file", "write", contender.peer.name, folder, *sizes)
                read = run_child("forest_file", "read", contender.peer.name, folder)
            return {"file": float(written["file"]), "memory": float(read["memory"])}

        return once

    actions = {contender.label: action(contender) for contender in bench.contenders()}
    # Sizes hardly vary between runs: one is enough.
    samples = interleave(actions, bench.options.times(1), bench.say)
    comparison = Comparison(bench, case, samples, {})
    targets = {"sklearn-forest": AtMostTimes(0.2)}
    return [
        *comparison.rows("memory", targets, unit="MB"),
        *comparison.rows("file", targets, unit="MB"),
    ]
