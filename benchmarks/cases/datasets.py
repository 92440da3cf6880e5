"""Building the Dataset: finding cuts and writing bins."""

from dataclasses import replace

from benchmarks.bench import Action, Bench, Comparison, Contender
from benchmarks.cases.training import BIG
from benchmarks.generate import Floats, make_binary
from benchmarks.rows import Row
from benchmarks.timing import Sample, interleave, timed
from benchmarks.verdict import AtLeast

ROWS, COLUMNS = 500_000, 28


def run(bench: Bench, case: str) -> list[Row]:
    """Measure the libraries that build a dataset as a step of its own."""
    table = make_binary(bench.options.size(ROWS, 4_000), COLUMNS)
    contenders = [contender for contender in bench.contenders() if contender.peer.separate]
    for contender in contenders:
        _action(bench, contender, (table[0][:1_000], table[1][:1_000]))()
    actions = {contender.label: _action(bench, contender, table) for contender in contenders}
    samples = interleave(actions, bench.options.times(7), bench.say)
    return Comparison(bench, case, samples, {}).rows("dataset", {"lightgbm": AtLeast(1.5)})


def _action(bench: Bench, contender: Contender, table: tuple[Floats, Floats]) -> Action:
    settings = replace(BIG, threads=bench.options.threads)

    def action() -> Sample:
        return {"dataset": timed(lambda: contender.peer.dataset(*table, settings, contender.mode))[1]}

    return action
