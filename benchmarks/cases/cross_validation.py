"""Cross-validation, given a built Dataset; building it too is reported beside it. Everybody gets the same folds."""

from dataclasses import replace

import numpy as np

from benchmarks.bench import Action, Bench, Comparison, Contender
from benchmarks.generate import TRAIN, Floats, make_binary
from benchmarks.peers.base import Fold, FoldingPeer
from benchmarks.quality import Judge
from benchmarks.rows import Row
from benchmarks.settings import Settings
from benchmarks.timing import Sample, interleave, timed
from benchmarks.verdict import AtLeast

ROWS, COLUMNS, FOLDS = 100_000, 28, 5
TARGET = AtLeast(1.5)
JUDGE = Judge("log_loss", 0.002)


def run(bench: Bench, case: str) -> list[Row]:
    """Cross-validate with every library that does it by itself."""
    table = make_binary(bench.options.size(ROWS, 4_000), COLUMNS, part=TRAIN)
    settings = Settings(rounds=bench.options.size(100, 5), threads=bench.options.threads)
    folds = _folds(len(table[1]))
    qualities: dict[str, dict[str, float]] = {}
    actions = {}
    for contender in bench.contenders():
        if isinstance(contender.peer, FoldingPeer):
            bench.say(f"warming up {contender.label}")
            few = table[0][:4_000], table[1][:4_000]
            _action(contender, few, _folds(len(few[1])), replace(settings, rounds=2), {})()
            actions[contender.label] = _action(contender, table, folds, settings, qualities)
    samples = interleave(actions, bench.options.times(5), bench.say)
    comparison = Comparison(bench, case, samples, qualities, JUDGE)
    return [*comparison.rows("cv", {"lightgbm": TARGET}), *comparison.rows("dataset + cv", {})]


def _folds(rows: int) -> list[Fold]:
    order = np.random.default_rng(0).permutation(rows)
    parts = [np.sort(part) for part in np.array_split(order, FOLDS)]
    return [(np.setdiff1d(order, part), part) for part in parts]


def _action(
    contender: Contender,
    table: tuple[Floats, Floats],
    folds: list[Fold],
    settings: Settings,
    qualities: dict[str, dict[str, float]],
) -> Action:
    """Return what builds the Dataset and cross-validates on it, and notes the log loss of test rows."""
    peer, mode = contender.peer, contender.mode
    assert isinstance(peer, FoldingPeer)

    def action() -> Sample:
        dataset, building = timed(lambda: peer.dataset(*table, settings, mode))
        found, training = timed(lambda: peer.cross_validate(dataset, folds, settings, mode))
        qualities[contender.label] = {"log_loss": found}
        return {"cv": training, "dataset + cv": building + training}

    return action
