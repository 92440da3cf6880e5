"""One-hot flights, about 4 200 columns: what bundling and GOSS bring, and how peers fare on the same matrix."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from benchmarks.bench import Bench
from benchmarks.cases.training import BIG
from benchmarks.clock import kernel_times
from benchmarks.data import DataMissingError
from benchmarks.frames import flights, halves, one_hot
from benchmarks.quality import auc
from benchmarks.rows import Row
from benchmarks.settings import Settings
from benchmarks.timing import Sample, best, interleave, timed
from benchmarks.verdict import AtLeast, AtMost, Claim, Target

ROUNDS = 100
LONG_ROUNDS = 1_000
DENSE_ROUNDS = 3  # of the plain algorithm, each of which takes about as long as a hundred bundled ones
GOSS = {"sampling_method": "goss", "top_rate": 0.1, "other_rate": 0.1}
ALL_ROWS = GOSS | {"leaf_values": "all"}
CHANCE = {"sampling_method": "gradient_based", "subsample": 0.2}
QUICK_ROWS = 3_000


@dataclass(frozen=True)
class Split:
    """One-hot rows to train on and to judge by."""

    X: Any
    y: Any
    X_test: Any
    y_test: Any


def split(bench: Bench) -> Split:
    """Return the one-hot table, a fifth of it held out."""
    table = flights()
    rows = bench.options.size(len(table.y), QUICK_ROWS)
    X, y = one_hot(table.X.iloc[:rows]), table.y[:rows]
    train, test = halves(rows, seed=0)
    return Split(X[train], y[train], X[test], y[test])


def settings_of(bench: Bench) -> Settings:
    """Return 255 leaves and 100 rounds."""
    return replace(BIG, rounds=bench.options.size(ROUNDS, 3), threads=bench.options.threads)


def run(bench: Bench, case: str) -> list[Row]:
    """Compare ways to keep and to sample the table with each other, then with the peers."""
    try:
        data = split(bench)
    except DataMissingError as missing:
        bench.say(str(missing))
        return []
    return [*_own(bench, case, data), *_peers(bench, case, data)]


def params_of(settings: Settings) -> dict[str, Any]:
    return {
        "objective": "log_loss",
        "learning_rate": settings.learning_rate,
        "max_leaves": settings.leaves,
        "min_child_samples": settings.min_child_samples,
        "min_child_weight": settings.min_child_weight,
        "reg_lambda": settings.reg_lambda,
        "n_jobs": settings.threads,
    }


def _own(bench: Bench, case: str, data: Split) -> list[Row]:
    import spinney as sp

    settings = settings_of(bench)
    threads = bench.options.threads
    bench.say("binning the table bundled, sparse and dense")
    ways = {
        "bundled": sp.Dataset(data.X, data.y, n_jobs=threads),
        "sparse": sp.Dataset(data.X, data.y, bundle=False, n_jobs=threads),
        "dense": sp.Dataset(data.X.toarray(), data.y, bundle=False, n_jobs=threads),
    }
    judged: dict[str, float] = {}

    def action(name: str, dataset: Any, rounds: int, more: dict[str, Any]) -> Callable[[], Sample]:
        def act() -> Sample:
            with kernel_times() as spent:
                model, seconds = timed(lambda: sp.train(params_of(settings) | more, dataset, rounds))
            if name not in judged and rounds == settings.rounds:
                judged[name] = auc(data.y_test, model.predict(data.X_test))
            return {"round": seconds / rounds, "growth": spent["grow_tree"] / rounds}

        return act

    actions = {
        "bundled": action("bundled", ways["bundled"], settings.rounds, {}),
        "goss": action("goss", ways["bundled"], settings.rounds, GOSS),
        "goss all rows": action("goss all rows", ways["bundled"], settings.rounds, ALL_ROWS),
        # The rounds of the warm-up use all rows; without them every round is one of GOSS.
        "goss cold": action("goss cold", ways["bundled"], settings.rounds, GOSS | {"goss_warm_up": False}),
        "chance": action("chance", ways["bundled"], settings.rounds, CHANCE),
        "sparse": action("sparse", ways["sparse"], settings.rounds, {}),
        "dense": action("dense", ways["dense"], DENSE_ROUNDS, {}),
    }
    samples = interleave(actions, bench.options.times(3), bench.say)
    # How much less work GOSS is shows best on one thread: more of them also wait for each other.
    alone = {
        "bundled alone": action("alone", ways["bundled"], settings.rounds, {"n_jobs": 1}),
        "goss alone": action(
            "alone", ways["bundled"], settings.rounds, GOSS | {"goss_warm_up": False, "n_jobs": 1}
        ),
    }
    samples |= interleave(alone, bench.options.times(3), bench.say)
    found = {name: {m: best(samples[name], m) for m in ("round", "growth")} for name in samples}
    facts: dict[str, float | str | bool] = dict(ways["bundled"].describe())

    def row(ours: str, theirs: str, measure: str, target: Target | None, holds: bool | None = None) -> Row:
        quality = {"auc": (judged.get(ours), judged.get(theirs))} if theirs in judged else {}
        return Row(
            case=case, measure=f"{measure}: {ours}", peer=f"spinney {theirs}", ours=found[ours][measure],
            theirs=found[theirs][measure], target=target, holds=holds, quality=quality, facts=facts,
        )  # fmt: skip

    close = judged["bundled"] - judged["goss"] <= 0.002

    def share(ours: str, theirs: str, measure: str) -> Row:
        ratio = (found[ours]["growth"] or 0.0) / (found[theirs]["growth"] or 1.0)
        return Row(
            case=case, measure=measure, peer="spinney bundled", ours=ratio, unit="x", target=AtMost(0.35)
        )

    return [
        row("bundled", "dense", "round", AtLeast(10.0)),
        row("bundled", "sparse", "round", AtLeast(1.0), judged["bundled"] == judged["sparse"]),
        row("goss cold", "bundled", "growth", AtLeast(1.8)),
        row("goss cold", "bundled", "round", None),
        share("goss cold", "bundled", "growth: share of goss"),
        share("goss alone", "bundled alone", "growth: share of goss, one thread"),
        Row(
            case=case, measure="auc of goss", peer="spinney bundled", ours=judged["goss"], theirs=judged["bundled"],
            unit="", target=Claim("within .002"), holds=close,
        ),
        Row(
            case=case, measure="auc of goss, leaf values of all rows", peer="spinney bundled", ours=judged["goss all rows"],
            theirs=judged["bundled"], unit="",
        ),
        *_long(bench, case, data, ways["bundled"], params_of(settings)),
        Row(
            case=case, measure="auc of gradient_based", peer="spinney bundled", ours=judged["chance"],
            theirs=judged["bundled"], unit="",
        ),
        *_goss_of_lightgbm(bench, case, data, settings, judged["goss"]),
    ]  # fmt: skip


def _long(bench: Bench, case: str, data: Split, dataset: Any, params: dict[str, Any]) -> list[Row]:
    """Return what GOSS comes to after many more rounds; nothing is judged, as without GOSS these are too many."""
    import spinney as sp

    rounds = bench.options.size(LONG_ROUNDS, 6)
    judged = {}
    for name, more in {"bundled": {}, "goss": GOSS, "goss all rows": ALL_ROWS}.items():
        bench.say(f"{rounds} rounds: {name}")
        judged[name] = auc(data.y_test, sp.train(params | more, dataset, rounds).predict(data.X_test))
    return [
        Row(
            case=case, measure=f"auc of {name}, {rounds} rounds", peer="spinney bundled", ours=judged[name],
            theirs=judged["bundled"], unit="",
        )
        for name in ("goss", "goss all rows")
    ]  # fmt: skip


def _goss_of_lightgbm(bench: Bench, case: str, data: Split, settings: Settings, ours: float) -> list[Row]:
    """Return what LightGBM's GOSS reaches at the same settings."""
    if all(peer.name != "lightgbm" for peer in bench.peers):
        return []
    import lightgbm

    params = {
        "objective": "binary", "num_leaves": settings.leaves, "lambda_l2": settings.reg_lambda, "verbosity": -1,
        "num_threads": settings.threads, "data_sample_strategy": "goss", "top_rate": 0.1, "other_rate": 0.1,
    }  # fmt: skip
    bench.say("lightgbm with goss")
    model = lightgbm.train(params, lightgbm.Dataset(data.X, data.y, params=params), settings.rounds)
    theirs = auc(data.y_test, np.asarray(model.predict(data.X_test)))
    return [
        Row(
            case=case, measure="auc of goss", peer="lightgbm goss", ours=ours, theirs=theirs, unit="",
            target=Claim("better or equal"), holds=ours >= theirs,
        )
    ]  # fmt: skip


def _peers(bench: Bench, case: str, data: Split) -> list[Row]:
    settings = settings_of(bench)
    targets: dict[str, tuple[Target, Target | None]] = {
        "lightgbm": (AtLeast(1.2), AtLeast(1.0)),
        "xgboost": (AtLeast(2.5), None),
    }
    judged: dict[str, float] = {}
    actions = {}
    for contender in bench.contenders():
        if contender.peer.name in (*targets, "spinney"):
            actions[contender.label] = _peer_action(contender, data, settings, judged)
    samples = interleave(actions, bench.options.times(3), bench.say)
    rows = []
    for peer in bench.peers:
        labels = [label for label in samples if label.split()[0] == peer.name]
        for measure, target in zip(("round", "dataset"), targets.get(peer.name, (None, None)), strict=True):
            times = {label: best(samples[label], measure) or np.inf for label in labels}
            if not times:
                continue
            label = min(times, key=lambda one: times[one])
            holds = None
            if measure == "round" and peer.name == "lightgbm":
                holds = judged["spinney"] >= judged[label] - 0.001
            rows.append(
                Row(
                    case=case, measure=measure, peer=label, ours=best(samples["spinney"], measure), theirs=times[label],
                    target=target, holds=holds, quality={"auc": (judged["spinney"], judged[label])},
                )
            )  # fmt: skip
    return rows


def _peer_action(
    contender: Any, data: Split, settings: Settings, judged: dict[str, float]
) -> Callable[[], Sample]:
    peer, mode = contender.peer, contender.mode

    def act() -> Sample:
        dataset, building = timed(lambda: peer.dataset(data.X, data.y, settings, mode))
        peer.train(dataset, replace(settings, rounds=1), mode)
        model, training = timed(lambda: peer.train(dataset, settings, mode))
        if contender.label not in judged:
            judged[contender.label] = auc(data.y_test, peer.predict(model, data.X_test, settings))
        return {"round": training / settings.rounds, "dataset": building}

    return act
