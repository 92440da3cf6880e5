"""One-hot flights, about 4 200 columns: what bundling and GOSS bring, and how peers fare on the same matrix."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
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
COLD = {"goss_warm_up": False}
CHANCE = {"sampling_method": "gradient_based", "subsample": 0.2}
CHANCE_OF_MORE = CHANCE | {"subsample": 0.35}
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
    data = _found(bench)
    return [] if data is None else [*_own(bench, case, data), *_peers(bench, case, data)]


def run_peers(bench: Bench, case: str) -> list[Row]:
    """Compare with the peers alone."""
    data = _found(bench)
    return [] if data is None else _peers(bench, case, data)


def _found(bench: Bench) -> Split | None:
    try:
        return split(bench)
    except DataMissingError as missing:
        bench.say(str(missing))
        return None


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
    own = _Own.prepare(bench, case, data)
    own.time({
        "bundled": own.action("bundled"),
        "goss": own.action("bundled", GOSS),
        "goss all rows": own.action("bundled", ALL_ROWS),
        # The rounds of the warm-up use all rows; without them every round is one of GOSS.
        "goss cold": own.action("bundled", GOSS | COLD),
        "chance": own.action("bundled", CHANCE),
        "chance of more": own.action("bundled", CHANCE_OF_MORE),
        "sparse": own.action("sparse"),
        "dense": own.action("dense", rounds=DENSE_ROUNDS),
    })  # fmt: skip
    # How much less work GOSS is shows best on one thread: more of them also wait for each other.
    alone = {"n_jobs": 1}
    own.time({
        "bundled alone": own.action("bundled", alone), "goss alone": own.action("bundled", GOSS | COLD | alone),
    })  # fmt: skip
    same = own.judged["bundled"] == own.judged["sparse"]
    return [
        own.faster("bundled", "dense", "round", AtLeast(10.0)),
        own.faster("bundled", "sparse", "round", AtLeast(1.0), same),
        own.faster("goss cold", "bundled", "growth", AtLeast(1.8)),
        own.faster("goss cold", "bundled", "round", None),
        own.share("goss cold", "bundled", "growth: share of goss"),
        own.share("goss alone", "bundled alone", "growth: share of goss, one thread"),
        own.quality("goss", "auc of goss", 0.002),
        own.quality("goss all rows", "auc of goss, leaf values of all rows"),
        *_long(bench, case, data, own.ways["bundled"], params_of(own.settings)),
        own.quality("chance", "auc of gradient_based"),
        own.faster("chance of more", "bundled", "growth", AtLeast(1.8)),
        own.quality("chance of more", "auc of gradient_based, 35 % of the rows", 0.002),
        *_goss_of_lightgbm(bench, case, data, own.settings, own.judged["goss"]),
    ]


@dataclass
class _Own:
    """Trainings of one table that is kept in several ways: their times and their AUCs by name."""

    bench: Bench
    case: str
    data: Split
    settings: Settings
    ways: dict[str, Any]
    judged: dict[str, float] = field(default_factory=dict)
    samples: dict[str, list[Sample]] = field(default_factory=dict)

    @classmethod
    def prepare(cls, bench: Bench, case: str, data: Split) -> "_Own":
        import spinney as sp

        threads = bench.options.threads
        bench.say("binning the table bundled, sparse and dense")
        ways = {
            "bundled": sp.Dataset(data.X, data.y, n_jobs=threads),
            "sparse": sp.Dataset(data.X, data.y, bundle=False, n_jobs=threads),
            "dense": sp.Dataset(data.X.toarray(), data.y, bundle=False, n_jobs=threads),
        }
        return cls(bench, case, data, settings_of(bench), ways)

    def action(
        self, way: str, more: Mapping[str, Any] | None = None, rounds: int | None = None
    ) -> Callable[[str], Sample]:
        """Return what trains once, and judges the first model of all rounds under the name it is given."""
        import spinney as sp

        params, wanted = params_of(self.settings) | dict(more or {}), rounds or self.settings.rounds

        def act(name: str) -> Sample:
            with kernel_times() as spent:
                model, seconds = timed(lambda: sp.train(params, self.ways[way], wanted))
            if name not in self.judged and rounds is None:
                self.judged[name] = auc(self.data.y_test, model.predict(self.data.X_test))
            # The median of the run's trees: a tree takes milliseconds, and one that the machine stalled says nothing.
            return {"round": seconds / wanted, "growth": float(np.median(spent["grow_tree"]))}

        return act

    def time(self, actions: Mapping[str, Callable[[str], Sample]]) -> None:
        """Do the trainings in turn."""
        named = {name: partial(act, name) for name, act in actions.items()}
        self.samples |= interleave(named, self.bench.options.times(3), self.bench.say)

    def best(self, name: str, measure: str) -> float | None:
        return best(self.samples[name], measure)

    def faster(
        self, ours: str, theirs: str, measure: str, target: Target | None, holds: bool | None = None
    ) -> Row:
        """Return a row of two times."""
        judged = self.judged
        return Row(
            case=self.case, measure=f"{measure}: {ours}", peer=f"spinney {theirs}", ours=self.best(ours, measure),
            theirs=self.best(theirs, measure), target=target, holds=holds,
            quality={"auc": (judged.get(ours), judged.get(theirs))} if theirs in judged else {},
            facts=dict(self.ways["bundled"].describe()),
        )  # fmt: skip

    def share(self, ours: str, theirs: str, measure: str) -> Row:
        """Return a row of the part of a full growth that a sampled one takes."""
        ratio = (self.best(ours, "growth") or 0.0) / (self.best(theirs, "growth") or 1.0)
        return Row(
            case=self.case, measure=measure, peer="spinney bundled", ours=ratio, unit="x", target=AtMost(0.35)
        )

    def quality(self, ours: str, measure: str, within: float | None = None) -> Row:
        """Return a row of a sampled training's AUC beside that of all rows."""
        found, full = self.judged[ours], self.judged["bundled"]
        target = None if within is None else Claim(f"within {within:g}".replace("0.", "."))
        return Row(
            case=self.case, measure=measure, peer="spinney bundled", ours=found, theirs=full, unit="", target=target,
            holds=None if within is None else full - found <= within,
        )  # fmt: skip


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
