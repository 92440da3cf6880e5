"""Three quantiles in one model, against a model for each level. Everybody's Dataset is built once, and is not timed."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from benchmarks.bench import Action, Bench, Comparison, Contender
from benchmarks.generate import TEST, TRAIN, Floats, make_numbers
from benchmarks.losses import LEVELS, LOSSES
from benchmarks.peers.base import Array, WeighingPeer
from benchmarks.quality import Judge
from benchmarks.rows import Row
from benchmarks.settings import Settings
from benchmarks.timing import Sample, interleave, timed
from benchmarks.verdict import AtLeast

ROWS, TEST_ROWS, COLUMNS = 200_000, 50_000, 28
TARGET = AtLeast(1.3)
JUDGE = Judge("pinball", 0.0005)


def run(bench: Bench, case: str) -> list[Row]:
    """Train three levels with every library, in one model where it can."""
    sizes = bench.options.size(ROWS, 4_000), bench.options.size(TEST_ROWS, 1_000)
    train, test = (
        make_numbers(rows, COLUMNS, part=part) for rows, part in zip(sizes, (TRAIN, TEST), strict=True)
    )
    settings = Settings(
        objective="quantiles", rounds=bench.options.size(100, 5), threads=bench.options.threads
    )
    qualities: dict[str, dict[str, float]] = {}
    actions = {}
    for contender in bench.contenders():
        if isinstance(contender.peer, WeighingPeer):
            bench.say(f"warming up {contender.label}")
            few = train[0][:4_000], train[1][:4_000]
            _action(contender, few, few, replace(settings, rounds=2), {})()
            actions[contender.label] = _action(contender, train, test, settings, qualities)
    samples = interleave(actions, bench.options.times(3), bench.say)
    return Comparison(bench, case, samples, qualities, JUDGE).rows("train", {"lightgbm": TARGET})


def _action(
    contender: Contender,
    train: tuple[Floats, Floats],
    test: tuple[Floats, Floats],
    settings: Settings,
    qualities: dict[str, dict[str, float]],
) -> Action:
    """Return what trains all levels, and notes the mean pinball loss of test rows."""
    peer, mode = contender.peer, contender.mode
    assert isinstance(peer, WeighingPeer)
    dataset = peer.dataset(*train, settings if peer.has("quantiles") else _alone(settings, 0), mode)

    def together() -> Callable[[], Array]:
        model = peer.train(dataset, settings, mode)
        return lambda: peer.predict(model, test[0], settings)

    def apart() -> Callable[[], Array]:
        models = [peer.train(dataset, _alone(settings, k), mode) for k in range(len(LEVELS))]
        return lambda: np.column_stack([peer.predict(model, test[0], settings) for model in models])

    def action() -> Sample:
        predict, seconds = timed(together if peer.has("quantiles") else apart)
        qualities[contender.label] = {"pinball": LOSSES["quantiles"].mean(test[1], predict())}
        return {"train": seconds}

    return action


def _alone(settings: Settings, level: int) -> Settings:
    """Return the settings of one level."""
    return replace(settings, objective=f"quantile {LEVELS[level]}")
