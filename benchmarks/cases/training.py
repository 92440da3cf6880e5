"""Training, given a built Dataset; building and training together is reported beside it."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from benchmarks.bench import Action, Bench, Comparison, Contender
from benchmarks.generate import TEST, TRAIN, Floats, make_binary, make_classes, make_counts, make_numbers
from benchmarks.quality import Judge, scores
from benchmarks.rows import Row
from benchmarks.settings import Options, Settings
from benchmarks.timing import Sample, interleave, timed
from benchmarks.verdict import AtLeast, Target

# The promise against the others: faster on the same work. ChimeraBoost's oblivious trees are other work.
OTHERS: Mapping[str, Target] = {name: AtLeast(1.0) for name in ("xgboost", "catboost", "sklearn")}


@dataclass(frozen=True, kw_only=True)
class Plan:
    """One generated table and what to train on it."""

    rows: int
    columns: int
    settings: Settings
    lightgbm: Target
    held_out: int = 100_000
    repeats: int = 5
    judge: Judge = field(default_factory=lambda: Judge("auc", 0.001, bigger_is_better=True))

    def sized(self, options: Options) -> "Plan":
        """Return the plan for these options: a smoke test takes few rows, columns and rounds."""
        settings = replace(self.settings, threads=options.threads)
        if not options.quick:
            return replace(self, settings=settings)
        settings = replace(settings, rounds=min(settings.rounds, 5))
        return replace(self, rows=4_000, columns=min(self.columns, 40), held_out=2_000, settings=settings)

    def table(self, part: int) -> tuple[Floats, Floats]:
        """Return the training or the held-out rows."""
        rows = self.rows if part == TRAIN else self.held_out
        if self.settings.objective == "softmax":
            return make_classes(rows, self.columns, self.settings.classes, part=part)
        make = {"log_loss": make_binary, "poisson": make_counts}.get(self.settings.objective, make_numbers)
        return make(rows, self.columns, part=part)


BIG = Settings(leaves=255)
PLANS = {
    "train-255": Plan(rows=500_000, columns=28, settings=BIG, lightgbm=AtLeast(1.5, stretch=2.0)),
    "train-31": Plan(rows=500_000, columns=28, settings=Settings(leaves=31), lightgbm=AtLeast(1.3)),
    "train-wide": Plan(rows=50_000, columns=500, settings=BIG, lightgbm=AtLeast(1.3), repeats=3),
    "train-long": Plan(
        rows=5_000_000, columns=28, settings=replace(BIG, rounds=20), lightgbm=AtLeast(1.3), repeats=3
    ),
    "train-classes": Plan(
        rows=100_000,
        columns=50,
        settings=Settings(objective="softmax", classes=10, leaves=31),
        lightgbm=AtLeast(1.3),
        repeats=3,
        judge=Judge("log_loss", 0.005),
    ),
}


def run(bench: Bench, case: str) -> list[Row]:
    """Measure one plan with every library."""
    comparison = measure(bench, case, PLANS[case].sized(bench.options))
    whole = {name: target for name, target in OTHERS.items() if name == "sklearn"}
    given = {"lightgbm": PLANS[case].lightgbm, **{n: t for n, t in OTHERS.items() if n not in whole}}
    return [*comparison.rows("train", given), *comparison.rows("dataset + train", whole)]


def measure(bench: Bench, case: str, plan: Plan) -> Comparison:
    """Train with every library, and judge the models."""
    bench.say("making the table")
    table, held_out = plan.table(TRAIN), plan.table(TEST)
    qualities: dict[str, dict[str, float]] = {}
    for contender in bench.contenders():
        bench.say(f"warming up {contender.label}")
        _warm(contender, plan, table)
    actions = {c.label: _action(c, plan, table, held_out, qualities) for c in bench.contenders()}
    samples = interleave(actions, bench.options.times(plan.repeats), bench.say)
    return Comparison(bench, case, samples, qualities, plan.judge)


def _warm(contender: Contender, plan: Plan, table: tuple[Floats, Floats]) -> None:
    """Load and compile whatever the library loads and compiles once."""
    few = replace(plan.settings, rounds=2)
    dataset = contender.peer.dataset(table[0][:4_000], table[1][:4_000], few, contender.mode)
    model = contender.peer.train(dataset, few, contender.mode)
    contender.peer.predict(model, table[0][:100], few)


def _action(
    contender: Contender,
    plan: Plan,
    table: tuple[Floats, Floats],
    held_out: tuple[Floats, Floats],
    qualities: dict[str, dict[str, float]],
) -> Action:
    """Return what builds, trains, and the first time also judges the model."""
    peer, mode, settings = contender.peer, contender.mode, plan.settings

    def action() -> Sample:
        dataset, building = timed(lambda: peer.dataset(*table, settings, mode))
        model, training = timed(lambda: peer.train(dataset, settings, mode))
        if contender.label not in qualities:
            prediction = peer.predict(model, held_out[0], settings)
            qualities[contender.label] = scores(settings.objective, held_out[1], prediction)
        whole = {"dataset + train": building + training}
        return {"train": training, **whole} if peer.separate else whole

    return action
