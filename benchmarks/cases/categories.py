"""Native categorical columns against LightGBM's: time on flights, loss on three tables."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.bench import Bench
from benchmarks.cases.flights import QUICK_ROWS, settings_of
from benchmarks.data import DataMissingError
from benchmarks.frames import FrameTable, adult, census, flights, halves
from benchmarks.quality import auc, log_loss
from benchmarks.rows import Row
from benchmarks.settings import LIKE_LIGHTGBM, Settings
from benchmarks.timing import Sample, best, interleave, timed
from benchmarks.verdict import AtLeast, Claim, paired

SPLITS = 5
DEFAULTS = Settings(leaves=31, reg_lambda=1.0)


def run(bench: Bench, case: str) -> list[Row]:
    """Measure the time on flights, then compare losses."""
    if not _has_both(bench):
        return []
    judged = [_judged(bench, case, read) for read in (adult, census, flights)]
    return [*_timed(bench, case), *(row for row in judged if row is not None)]


def run_timed(bench: Bench, case: str) -> list[Row]:
    """Measure the time on flights alone."""
    return _timed(bench, case) if _has_both(bench) else []


def _has_both(bench: Bench) -> bool:
    return bench.ours is not None and any(peer.name == "lightgbm" for peer in bench.peers)


def _trainers(settings: Settings) -> dict[str, Callable[..., tuple[Any, Callable[[], Any]]]]:
    """Return, for both libraries, what builds a dataset and gives a function that trains on it."""
    import lightgbm

    import spinney as sp

    def ours(X: Any, y: Any, weight: Any) -> tuple[Any, Callable[[], Any]]:
        dataset = sp.Dataset(X, y, weight=weight, n_jobs=settings.threads)
        params = {
            "objective": "log_loss", "max_leaves": settings.leaves, "reg_lambda": settings.reg_lambda,
            "min_child_samples": settings.min_child_samples, "n_jobs": settings.threads, **LIKE_LIGHTGBM,
        }  # fmt: skip
        return dataset, lambda: sp.train(params, dataset, settings.rounds)

    def theirs(X: Any, y: Any, weight: Any) -> tuple[Any, Callable[[], Any]]:
        params = {
            "objective": "binary", "num_leaves": settings.leaves, "lambda_l2": settings.reg_lambda,
            "min_child_samples": settings.min_child_samples, "num_threads": settings.threads, "verbosity": -1,
        }  # fmt: skip
        dataset = lightgbm.Dataset(X, y, weight=weight, params=params).construct()
        return dataset, lambda: lightgbm.train(params, dataset, settings.rounds)

    return {"spinney": ours, "lightgbm": theirs}


def _timed(bench: Bench, case: str) -> list[Row]:
    try:
        table = flights()
    except DataMissingError as missing:
        bench.say(str(missing))
        return []
    rows = bench.options.size(len(table.y), QUICK_ROWS)
    train, test = halves(rows, seed=0)
    settings = settings_of(bench)
    judged: dict[str, float] = {}

    def action(name: str, trainer: Callable[..., Any]) -> Callable[[], Sample]:
        def act() -> Sample:
            (_, fit), building = timed(lambda: trainer(table.X.iloc[train], table.y[train], None))
            model, training = timed(fit)
            judged.setdefault(name, auc(table.y[test], model.predict(table.X.iloc[test])))
            return {"round": training / settings.rounds, "dataset": building}

        return act

    actions = {name: action(name, trainer) for name, trainer in _trainers(settings).items()}
    samples = interleave(actions, bench.options.times(3), bench.say)
    return [
        Row(
            case=case, measure=f"flights, {measure}", peer="lightgbm", ours=best(samples["spinney"], measure),
            theirs=best(samples["lightgbm"], measure), target=AtLeast(1.2) if measure == "round" else None,
            holds=judged["spinney"] >= judged["lightgbm"] - 0.001,
            quality={"auc": (judged["spinney"], judged["lightgbm"])},
        )
        for measure in ("round", "dataset")
    ]  # fmt: skip


def _judged(bench: Bench, case: str, read: Callable[[], FrameTable]) -> Row | None:
    try:
        table = read()
    except DataMissingError as missing:
        bench.say(str(missing))
        return None
    settings = replace(DEFAULTS, threads=bench.options.threads, rounds=bench.options.size(100, 3))
    losses: dict[str, list[float]] = {}
    rows = bench.options.size(len(table.y), QUICK_ROWS)
    for seed in range(bench.options.size(SPLITS, 2)):
        train, test = halves(rows, seed, share=0.75)
        for name, trainer in _trainers(settings).items():
            bench.say(f"{table.name}, split {seed + 1}: {name}")
            weight = None if table.weight is None else table.weight[train]
            _, fit = trainer(table.X.iloc[train], table.y[train], weight)
            chance = fit().predict(table.X.iloc[test])
            losses.setdefault(name, []).append(log_loss(table.y[test], chance))
    difference = paired(losses["spinney"], losses["lightgbm"])
    return Row(
        case=case, measure=table.name, peer="lightgbm", ours=float(np.mean(losses["spinney"])),
        theirs=float(np.mean(losses["lightgbm"])), unit="log_loss", target=Claim("mean difference ≤ 2 standard errors"),
        holds=difference.accepted,
        facts={"mean difference": difference.mean, "standard error": difference.error, "verdict": difference.verdict},
    )  # fmt: skip
