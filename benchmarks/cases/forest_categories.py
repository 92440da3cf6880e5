"""Random forests on columns of many categories: their bias on noise, and their loss against numbers in place of categories."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.bench import Bench
from benchmarks.data import DataMissingError
from benchmarks.frames import adult, flights, halves
from benchmarks.peers.base import library
from benchmarks.quality import log_loss
from benchmarks.rows import Row
from benchmarks.verdict import Claim

TREES, SEEDS = 30, 4
NOISE_ROWS, FRESH = 20_000, 10_000
MOST = 20_000  # rows of a real table to train on
LEVELS = (50, 1_000, 5_000, 20_000)
CLAIM = Claim("no worse than numbers, by more than 2 standard errors")

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Generated:
    """A table of one column of categories and two of numbers, with what they say of the target."""

    rows: int
    levels: int
    score: Callable[[Floats, Floats, Floats], Floats]  # effect of a row's category, and its two numbers
    skewed: bool = False


GENERATED = {
    "1 000 of 20 000 rows": Generated(20_000, 1_000, lambda effect, a, b: a + effect),
    "200 of 1 000 rows": Generated(1_000, 200, lambda effect, a, b: a + effect),
    "3 000 of 8 000 rows": Generated(8_000, 3_000, lambda effect, a, b: a + effect),
    "12 of 3 000 rows": Generated(3_000, 12, lambda effect, a, b: effect * a + effect),
    "200 of 8 000 rows, slopes": Generated(8_000, 200, lambda effect, a, b: effect * a),
    "800 of 8 000 rows, most are rare": Generated(8_000, 800, lambda effect, a, b: a + effect, skewed=True),
    "500 of 5 000 rows that say nothing": Generated(5_000, 500, lambda effect, a, b: a + a * b),
}


def run(bench: Bench, case: str) -> list[Row]:
    """Fit noise, tables that were made, and real ones."""
    if bench.ours is None:
        bench.say(f"{case} is skipped: it needs spinney")
        return []
    return [*_biases(bench, case), *_generated(bench, case), *_real(bench, case)]


def _biases(bench: Bench, case: str) -> Iterator[Row]:
    """How far predictions for fresh rows are from the mean of noise, with the noise and with its negative."""
    spinney = library("spinney")
    rows = bench.options.size(NOISE_ROWS, 500)
    for levels in LEVELS if rows == NOISE_ROWS else (50,):
        bench.say(f"noise, {levels} categories")
        found = []
        for seed in range(bench.options.size(SEEDS, 2)):
            rng = np.random.default_rng(seed)
            codes = rng.integers(0, levels, rows).astype(float)
            fresh = rng.choice(np.unique(codes), FRESH).reshape(-1, 1)
            noise = rng.normal(size=rows)
            for y in (noise, -noise):
                forest = spinney.RandomForestRegressor(
                    bench.options.size(TREES, 3),
                    categorical=[0],
                    random_state=seed,
                    n_jobs=bench.options.threads,
                )
                predicted = forest.fit(codes.reshape(-1, 1), y).predict(fresh)
                found.append(float(predicted.mean() - y.mean()))
        error = float(1.0 / np.sqrt(rows))
        yield Row(
            case=case, measure=f"bias, {levels} categories", peer="", ours=abs(float(np.mean(found))), unit="mean",
            target=Claim("≤ 2 standard errors of a mean of the target"), holds=abs(float(np.mean(found))) <= 2 * error,
            facts={"standard error": error, "largest": max(map(abs, found))},
        )  # fmt: skip


def _generated(bench: Bench, case: str) -> Iterator[Row]:
    """Losses on tables that were made, of numbers and of two classes."""
    for name, table in GENERATED.items():
        rows = min(table.rows, bench.options.size(table.rows, 500))
        for classes in (False, True):
            bench.say(f"{name}, {'classes' if classes else 'numbers'}")
            losses = []
            for seed in range(bench.options.size(SEEDS, 2)):
                X, y = _made(table, rows, seed, classes)
                fit = _fitted(bench, classes, seed)
                losses.append(
                    [
                        _loss(y[rows:], fit(way, [0], X[:rows], y[:rows])(X[rows:]))
                        for way in ("categories", "numbers", "sklearn")
                    ]
                )
            yield from _compared(case, f"{name}, {'classes' if classes else 'numbers'}", losses, "loss")


def _made(table: Generated, rows: int, seed: int, classes: bool) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(seed)
    total = rows + FRESH
    chance = 1.0 / np.arange(1.0, table.levels + 1.0) if table.skewed else np.ones(table.levels)
    codes = rng.choice(table.levels, total, p=chance / chance.sum())
    a, b = rng.normal(size=(2, total))
    score = table.score(rng.normal(size=table.levels)[codes], a, b)
    y: Floats = score + rng.normal(size=total)
    if classes:
        y = (rng.random(total) < 1.0 / (1.0 + np.exp(-score))).astype(np.float64)
    return np.column_stack([codes, a, b]), y


def _loss(target: Floats, predicted: Floats) -> float:
    """Mean squared error of a number or of a chance, as a share of that of the mean."""
    return float(np.mean((target - predicted) ** 2) / np.var(target))


def _fitted(bench: Bench, classes: bool, seed: int) -> Callable[..., Callable[[Any], Floats]]:
    """What fits a forest of spinney to categories or to numbers, or one of scikit-learn to numbers, and predicts by it."""

    def fit(way: str, categorical: list[int], X: Any, y: Any) -> Callable[[Any], Floats]:
        kind = "Classifier" if classes else "Regressor"
        given: dict[str, Any] = {"random_state": seed, "n_jobs": bench.options.threads}
        if way == "categories" and categorical:
            given["categorical"] = categorical
        if not classes:
            given["max_features"] = 1.0
        maker = getattr(library("sklearn.ensemble" if way == "sklearn" else "spinney"), f"RandomForest{kind}")
        model = maker(bench.options.size(TREES, 3), **given).fit(X, y)
        return (lambda table: model.predict_proba(table)[:, 1]) if classes else model.predict

    return fit


def _real(bench: Bench, case: str) -> Iterator[Row]:
    """Log losses on real tables."""
    for read in (flights, adult):
        try:
            table = read()
        except DataMissingError as missing:
            bench.say(str(missing))
            continue
        numbers = table.X.copy()
        for name in numbers.columns[[str(dtype) == "category" for dtype in numbers.dtypes]]:
            numbers[name] = numbers[name].cat.codes.astype(float)
        losses = []
        for seed in range(bench.options.size(SEEDS, 2)):
            bench.say(f"{table.name}, split {seed + 1}")
            train, test = halves(len(table.y), seed)
            train, test = train[: bench.options.size(MOST, 500)], test[:FRESH]
            fit = _fitted(bench, classes=True, seed=seed)
            losses.append(
                [
                    log_loss(
                        table.y[test],
                        fit(way, [], X.iloc[train], table.y[train])(X.iloc[test]).clip(0.01, 0.99),
                    )
                    for way, X in (("categories", table.X), ("numbers", numbers), ("sklearn", numbers))
                ]
            )
        yield from _compared(case, table.name, losses, "log_loss")


def _compared(case: str, measure: str, losses: list[list[float]], unit: str) -> Iterator[Row]:
    """Rows that say whether categories lose to numbers, in our forest and in scikit-learn's."""
    categories, *others = np.array(losses).T
    for peer, theirs in zip(("spinney on numbers", "sklearn on numbers"), others, strict=True):
        apart = categories - theirs
        error = float(np.std(apart, ddof=1) / np.sqrt(len(apart)))
        yield Row(
            case=case, measure=measure, peer=peer, ours=float(categories.mean()), theirs=float(theirs.mean()), unit=unit,
            target=CLAIM, holds=bool(apart.mean() <= 2.0 * error), facts={"standard error": error},
        )  # fmt: skip
