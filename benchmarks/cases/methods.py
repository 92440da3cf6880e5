"""Ways to search for splits: exact, approx and histograms, level by level, against XGBoost and each other."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from benchmarks.bench import Action, Bench
from benchmarks.generate import TEST, Floats, make_binary
from benchmarks.peers import Peer
from benchmarks.quality import Judge, auc
from benchmarks.rows import Pair, Row
from benchmarks.settings import Settings
from benchmarks.timing import Sample, Samples, best, interleave, timed
from benchmarks.verdict import AtLeast, Target

# What both sides can be told: XGBoost has no minimum of rows in a leaf, and no limit to leaves in a level-wise tree.
LEVELS = Settings(policy="depthwise", leaves=0, depth=6, min_child_samples=0, min_child_weight=1.0)
EXACT = replace(LEVELS, method="exact")
APPROX = replace(LEVELS, method="approx")
JUDGE = Judge("auc", 0.001, bigger_is_better=True)
COLUMNS, HELD_OUT = 28, 100_000
WARM_ROWS = 4_000


@dataclass(frozen=True)
class Entrant:
    """A library and what it is asked to do."""

    peer: Peer
    settings: Settings


@dataclass(frozen=True)
class Race:
    """Measured seconds and AUC by entrant."""

    samples: Samples
    judged: Mapping[str, float]

    def row(
        self, case: str, measure: str, ours: str, theirs: str, target: Target, judge: Judge | None
    ) -> Row:
        """Compare two entrants' training; what making their data sets takes stands beside it."""
        pair: Pair = self.judged.get(ours), self.judged.get(theirs)
        holds = None
        if judge is not None and pair[0] is not None and pair[1] is not None:
            holds = judge.accepts(pair[0], pair[1])
        sides = {"ours": self.samples.get(ours, []), "theirs": self.samples.get(theirs, [])}
        made = {f"dataset {side}, s": best(samples, "dataset") for side, samples in sides.items()}
        return Row(
            case=case,
            measure=measure,
            peer=theirs,
            ours=best(sides["ours"], "train"),
            theirs=best(sides["theirs"], "train"),
            target=target,
            holds=holds,
            quality={"auc": pair},
            facts={name: seconds for name, seconds in made.items() if seconds is not None},
            samples={side: [sample["train"] for sample in samples] for side, samples in sides.items()},
        )


def race(bench: Bench, rows: int, entrants: Mapping[str, Entrant], repeats: int = 3) -> Race:
    """Train all entrants on one generated table, each time with a new data set, and judge them by held-out rows."""
    bench.say("making the table")
    table = make_binary(bench.options.size(rows, 4_000), COLUMNS)
    held_out = make_binary(bench.options.size(HELD_OUT, 2_000), COLUMNS, part=TEST)
    judged: dict[str, float] = {}
    for label, entrant in entrants.items():
        bench.say(f"warming up {label}")
        few = replace(entrant.settings, rounds=2)
        warm = table[0][:WARM_ROWS], table[1][:WARM_ROWS]
        entrant.peer.train(entrant.peer.dataset(*warm, few, ""), few, "")
    actions = {label: _action(label, entrant, table, held_out, judged) for label, entrant in entrants.items()}
    return Race(interleave(actions, bench.options.times(repeats), bench.say), judged)


def _action(
    label: str,
    entrant: Entrant,
    table: tuple[Floats, Floats],
    held_out: tuple[Floats, Floats],
    judged: dict[str, float],
) -> Action:
    peer, settings = entrant.peer, entrant.settings

    def action() -> Sample:
        dataset, building = timed(lambda: peer.dataset(*table, settings, ""))
        model, training = timed(lambda: peer.train(dataset, settings, ""))
        if label not in judged:
            judged[label] = auc(held_out[1], peer.predict(model, held_out[0], settings))
        return {"dataset": building, "train": training}

    return action


def sized(bench: Bench, settings: Settings, rounds: int) -> Settings:
    """Return the settings with the threads and rounds of this run."""
    return replace(settings, rounds=bench.options.size(rounds, 3), threads=bench.options.threads)


def against_xgboost(bench: Bench, settings: Settings, label: str) -> dict[str, Entrant]:
    """Return us and XGBoost at the same settings."""
    peers = [peer for peer in bench.libraries() if peer.name in ("spinney", "xgboost")]
    return {f"{peer.name} {label}": Entrant(peer, settings) for peer in peers}


def lacks_xgboost(bench: Bench, case: str) -> bool:
    """Say so where there is nobody to race against."""
    if any(peer.name == "xgboost" for peer in bench.peers):
        return False
    bench.say(f"{case} is skipped: it needs xgboost")
    return True


def run_exact(bench: Bench, case: str) -> list[Row]:
    """Sorted columns, every distinct value a candidate."""
    if lacks_xgboost(bench, case):
        return []
    entrants = against_xgboost(bench, sized(bench, EXACT, 100), "exact")
    found = race(bench, 100_000, entrants)
    return [found.row(case, "train", "spinney exact", "xgboost exact", AtLeast(1.2), JUDGE)]


def run_approx(bench: Bench, case: str) -> list[Row]:
    """Candidates chosen by hessian for every tree."""
    if lacks_xgboost(bench, case):
        return []
    entrants = against_xgboost(bench, sized(bench, APPROX, 20), "approx")
    found = race(bench, 500_000, entrants)
    return [found.row(case, "train", "spinney approx", "xgboost approx", AtLeast(1.5), JUDGE)]


def run_hist_exact(bench: Bench, case: str) -> list[Row]:
    """What bins bring."""
    if bench.ours is None:
        bench.say(f"{case} is skipped: it needs spinney")
        return []
    ways = {"spinney hist": LEVELS, "spinney exact": EXACT}
    entrants = {label: Entrant(bench.ours, sized(bench, way, 20)) for label, way in ways.items()}
    found = race(bench, 500_000, entrants)
    return [found.row(case, "train", "spinney hist", "spinney exact", AtLeast(6.0), JUDGE)]


def run_depthwise(bench: Bench, case: str) -> list[Row]:
    """Histograms, level by level."""
    if lacks_xgboost(bench, case):
        return []
    depths = (6, 8)
    entrants: dict[str, Entrant] = {}
    for depth in depths:
        settings = sized(bench, replace(LEVELS, depth=depth), 100)
        entrants |= against_xgboost(bench, settings, f"depth {depth}")
    found = race(bench, 500_000, entrants)
    return [
        found.row(
            case, f"train: depth {depth}", f"spinney depth {depth}", f"xgboost depth {depth}", AtLeast(1.5), None
        )
        for depth in depths
    ]  # fmt: skip
