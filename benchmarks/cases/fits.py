"""Small fits: warm through the estimator, and the first one of a new process."""

from benchmarks.bench import Action, Bench, Comparison, Contender
from benchmarks.cases.child import run_child
from benchmarks.generate import make_binary
from benchmarks.rows import Row
from benchmarks.settings import Settings
from benchmarks.timing import Sample, best, interleave, timed
from benchmarks.verdict import AtLeast, AtMost, Claim

ROWS, COLUMNS = 1_000, 10
NATIVE = "spinney train"


def run_small(bench: Bench, case: str) -> list[Row]:
    """Fit 1 000 rows through the estimator, everything loaded."""
    X, y = make_binary(ROWS, COLUMNS)
    labels = y.astype("int64")
    settings = Settings(threads=bench.options.threads, rounds=bench.options.size(100, 10))

    def action(contender: Contender) -> Action:
        peer, mode = contender.peer, contender.mode
        return lambda: {"fit": timed(lambda: peer.fit(X, labels, settings, mode))[1]}

    actions = {contender.label: action(contender) for contender in bench.contenders()}
    for warm in actions.values():
        warm()
    samples = interleave(actions, bench.options.times(20), bench.say)
    return Comparison(bench, case, samples, {}).rows("fit", {"lightgbm": AtLeast(1.0)})


def run_first(bench: Bench, case: str) -> list[Row]:
    """Start a process, import, fit, end: the time a user waits for a first model."""
    facts: dict[str, dict[str, bool]] = {}

    def action(label: str, *arguments: str) -> Action:
        def once() -> Sample:
            modules, seconds = timed(lambda: run_child("first_fit", *arguments))
            facts[label] = {name: bool(modules[name]) for name in ("numba", "sklearn")}
            return {"first fit": seconds}

        return once

    threads = str(bench.options.threads)
    actions = {
        contender.label: action(contender.label, "fit", contender.peer.name, contender.mode, threads)
        for contender in bench.contenders()
    }
    if bench.ours is not None:
        actions[NATIVE] = action(NATIVE, "train", "spinney", "", threads)
    for warm in actions.values():
        warm()  # files in the page cache, kernels built
    samples = interleave(actions, bench.options.times(7), bench.say)
    comparison = Comparison(bench, case, samples, {})
    rows = comparison.rows("first fit", {"lightgbm": AtLeast(1.0)}, name="estimator")
    if bench.ours is None:
        return rows
    native = Row(
        case=case,
        measure="sp.train",
        peer="",
        ours=best(samples[NATIVE], "first fit"),
        target=AtMost(0.5, "s"),
        samples={"ours": [sample["first fit"] for sample in samples[NATIVE]]},
    )
    return [*rows, native, *_imports(case, facts)]


def _imports(case: str, facts: dict[str, dict[str, bool]]) -> list[Row]:
    """Say which heavy modules the first fit imported."""
    absent = [
        ("sp.train", "no numba", not facts[NATIVE]["numba"]),
        ("sp.train", "no sklearn", not facts[NATIVE]["sklearn"]),
        ("estimator", "no numba", not facts["spinney"]["numba"]),
    ]
    return [
        Row(case=case, measure=measure, peer="", target=Claim(text), holds=holds)
        for measure, text, holds in absent
    ]
