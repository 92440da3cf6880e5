"""How the time of a fit grows when trees, rows or columns double."""

from dataclasses import replace

from benchmarks.bench import Action, Bench
from benchmarks.cases.forests import COLUMNS, FEW_TREES, GROWN, of_forests
from benchmarks.cases.scaling import GROWTH
from benchmarks.generate import make_continuous
from benchmarks.rows import Row
from benchmarks.timing import best, interleave, timed

ROWS, TREES = 100_000, 50


def run(bench: Bench, case: str) -> list[Row]:
    """Fit a forest, then one with twice as much of each."""
    ours = of_forests(bench).ours
    if ours is None:
        bench.say(f"{case} is skipped: it needs spinney")
        return []
    rows, trees = bench.options.size(ROWS, 2_000), bench.options.size(TREES, FEW_TREES)
    shapes = {
        "base": (trees, rows, COLUMNS),
        "trees": (2 * trees, rows, COLUMNS),
        "rows": (trees, 2 * rows, COLUMNS),
        "columns": (trees, rows, 2 * COLUMNS),
    }

    def action(trees: int, rows: int, columns: int) -> Action:
        X, y = make_continuous(rows, columns)
        settings = replace(GROWN, rounds=trees, threads=bench.options.threads)
        return lambda: {"fit": timed(lambda: ours.fit(X, y, settings, ""))[1]}

    actions = {name: action(*shape) for name, shape in shapes.items()}
    actions["base"]()
    samples = interleave(actions, bench.options.times(5), bench.say)
    times = {name: best(found, "fit") or 0.0 for name, found in samples.items()}
    return [
        Row(
            case=case,
            measure=f"{name} {shapes['base'][place]} → {shapes[name][place]}",
            peer="",
            ours=times[name] / times["base"],
            unit="x",
            target=GROWTH,
            samples={"ours": [sample["fit"] for sample in samples[name]]},
        )
        for place, name in enumerate(("trees", "rows", "columns"))
    ]
