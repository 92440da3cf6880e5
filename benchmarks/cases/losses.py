"""Losses beside the usual ones: training time on generated tables, held-out loss on real ones."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache, partial

import numpy as np
import numpy.typing as npt

from benchmarks.bench import Bench
from benchmarks.cases.accuracy import DEFAULTS, SPLITS, Scores, compared
from benchmarks.cases.training import BIG, Plan, measure
from benchmarks.data import DataMissingError
from benchmarks.losses import LOSSES
from benchmarks.peers import Peer, WeighingPeer
from benchmarks.quality import Judge, scores
from benchmarks.rows import Row
from benchmarks.settings import Settings
from benchmarks.tasks import TASKS, Task
from benchmarks.verdict import AtLeast

TIMED = ("absolute_error", "quantile 0.9", "huber", "poisson")
WORSE = 0.002  # of a held-out loss, that is let pass as equal
TARGET = AtLeast(1.3)
# The L2 penalty of each peer's defaults, which ours is given too. Without it XGBoost's leaves of few rows run away.
PENALTIES = {"lightgbm": 0.0, "xgboost": 1.0}
# Losses that no peer has: trained for them, ours must be better than trained for another one.
STAND_INS = {"focal": "log_loss", "expectile 0.9": "squared_error"}


def plan_of(loss: str) -> Plan:
    """Return what is trained for a loss."""
    return Plan(
        rows=500_000,
        columns=28,
        settings=replace(BIG, objective=loss),
        lightgbm=TARGET,
        repeats=3,
        judge=Judge(LOSSES[loss].measure, WORSE),
    )


def run_timed(bench: Bench, case: str) -> list[Row]:
    """Train for each loss in turn."""
    rows = []
    for loss in TIMED:
        bench.say(loss)
        comparison = measure(bench, case, plan_of(loss).sized(bench.options))
        rows.extend(comparison.rows("train", {"lightgbm": TARGET}, name=loss))
    return rows


def run_real(bench: Bench, case: str) -> list[Row]:
    """Compare held-out losses on every table that can be had."""
    rows: list[Row] = []
    for name, (read, losses) in TASKS.items():
        bench.say(f"reading {name}")
        try:
            task = read()
        except DataMissingError as missing:
            bench.say(str(missing))
            continue
        if bench.options.quick:
            task = task.first(4_000)
        for loss in losses:
            rows.extend(_rows(bench, case, f"{name}: {loss}", task, loss))
    return rows


def _rows(bench: Bench, case: str, measure: str, task: Task, loss: str) -> Iterator[Row]:
    def held_out(peer: Peer | None, trained: str, penalty: float) -> Scores:
        return _held_out(bench, peer, task, replace(DEFAULTS, objective=trained, reg_lambda=penalty), loss)

    ours = cache(partial(held_out, bench.ours, loss))
    for peer in bench.peers:
        penalty = PENALTIES.get(peer.name, 0.0)
        theirs = held_out(peer, loss, penalty)
        if theirs:
            yield compared(case, measure, (peer.name, peer.note), ours(penalty), theirs)
    if loss in STAND_INS and bench.ours is not None:
        theirs = held_out(bench.ours, STAND_INS[loss], 0.0)
        yield compared(case, measure, (f"spinney {STAND_INS[loss]}", ""), ours(0.0), theirs)


def _held_out(bench: Bench, peer: Peer | None, task: Task, defaults: Settings, judged: str) -> Scores:
    """Return the quality numbers of each split: three quarters train, the rest is held out. None without such a loss."""
    trained = defaults.objective
    if not isinstance(peer, WeighingPeer) or not peer.has(trained):
        return []
    settings = replace(
        defaults,
        classes=task.classes,
        threads=bench.options.threads,
        rounds=bench.options.size(defaults.rounds, 5),
    )
    found = []
    for seed in range(bench.options.size(SPLITS, 2)):
        order = np.random.default_rng(seed).permutation(len(task.y))
        train, test = (task.take(rows) for rows in np.split(order, [len(order) * 3 // 4]))
        bench.say(f"{trained}, split {seed + 1}: {peer.name}")
        prediction = _predicted(peer, train, test, settings)
        found.append(scores(judged, test.y, prediction, test.weight))
    return found


def _predicted(peer: WeighingPeer, train: Task, test: Task, settings: Settings) -> npt.NDArray[np.float64]:
    """Return predictions of held-out rows."""
    start, other = first_scores(train, test)
    dataset = peer.build(train.X, train.y, settings, peer.modes[0], train.weight, start)
    model = peer.train(dataset, settings, peer.modes[0])
    return peer.predict_from(model, test.X, settings, other)


def first_scores(train: Task, test: Task) -> tuple[npt.NDArray[np.float64], ...] | tuple[None, None]:
    """Return the logarithms of the counts that exposures alone would make one expect, of both parts by the rate of one."""
    if train.exposure is None or test.exposure is None:
        return None, None
    rate = train.y.sum() / train.exposure.sum()
    return tuple(np.log(part * rate) for part in (train.exposure, test.exposure))
