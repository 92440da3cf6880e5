"""Times that are not all known: Cox and accelerated failure time, against XGBoost's. Data sets are built once, and not timed."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.bench import Action, Bench, Comparison
from benchmarks.cases.accuracy import Scores, compared
from benchmarks.cases.forest_accuracy import in_deviations
from benchmarks.peers.base import library
from benchmarks.quality import Judge
from benchmarks.rows import Row
from benchmarks.settings import Options
from benchmarks.timing import Sample, interleave, timed
from benchmarks.verdict import AtLeast

Array = npt.NDArray[Any]
ROWS, TEST_ROWS, COLUMNS, ROUNDS = 200_000, 50_000, 20, 100
SEEDS = 5
OBJECTIVES = ("cox", "aft")
JUDGE = Judge("concordance", 0.001, bigger_is_better=True)
# Depth by depth, with leaves limited by their hessians alone, as XGBoost grows them.
OURS = {
    "grow_policy": "depthwise",
    "max_depth": 6,
    "max_leaves": 0,
    "learning_rate": 0.1,
    "reg_lambda": 1.0,
    "min_child_weight": 1.0,
    "min_child_samples": 1,
}
THEIRS = {"tree_method": "hist", "max_depth": 6, "eta": 0.1, "max_bin": 255}


def make_times(rows: int, seed: int) -> tuple[Array, Array, Array]:
    """Return columns, Weibull times of which some are censored, and whether each was seen."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, COLUMNS)).astype(np.float32)
    log_hazard = (
        0.7 * X[:, 0] + 0.5 * np.sin(2 * X[:, 1]) + 0.4 * X[:, 2] * (X[:, 3] > 0) - 0.3 * X[:, 4] ** 2
    )
    happens = (rng.exponential(size=rows) / np.exp(log_hazard)) ** (1 / 1.5)
    censored = rng.exponential(1.5, rows)
    return X, np.minimum(happens, censored).astype(np.float32).astype(np.float64), happens <= censored


def concordance(late: Array, time: Array, event: Array) -> float:
    """Return the share of pairs in order, as both libraries are judged by it."""
    from spinney import metrics
    from spinney.data import Labels
    from spinney.jit.team import Team
    from spinney.params import Config

    predictions = metrics.Predictions(-late.astype(np.float64).reshape(1, -1), "identity", Team(1))
    labels = Labels(np.asfortranarray(np.column_stack([time, event])))
    return metrics.get("concordance", Config(objective="cox")).compute(predictions, labels).value


class Trained:
    """A library with a data set of its own; `late` gives numbers that are larger for later events."""

    def __init__(
        self, train: Callable[[], Any], late: Callable[[Any, Array], Array], table: tuple[Array, Array, Array]
    ) -> None:
        self.train, self._late, self._table = train, late, table

    def judged(self, model: Any) -> float:
        """Return the concordance of the test rows."""
        X, time, event = self._table
        return concordance(self._late(model, X), time, event)


def prepared(options: Options, name: str, objective: str, seed: int) -> Trained:
    """Build the data set of a library."""
    train = make_times(options.size(ROWS, 3_000), 2 * seed)
    test = make_times(options.size(TEST_ROWS, 1_000), 2 * seed + 1)
    make = _ours if name == "spinney" else _theirs
    return make(options, objective, train, test)


def _ours(options: Options, objective: str, train: tuple[Array, Array, Array], test: Any) -> Trained:
    import spinney as sp

    X, time, event = train
    second = event if objective == "cox" else np.where(event, time, np.inf)
    dataset = sp.Dataset(X, np.column_stack([time, second]))
    params = {**OURS, "objective": objective, "n_jobs": options.threads}
    sign = -1.0 if objective == "cox" else 1.0
    rounds = options.size(ROUNDS, 5)
    return Trained(
        lambda: sp.train(params, dataset, rounds), lambda model, X: sign * model.predict_raw(X), test
    )


def _theirs(options: Options, objective: str, train: tuple[Array, Array, Array], test: Any) -> Trained:
    xgboost = library("xgboost")
    X, time, event = train
    params = {**THEIRS, "objective": f"survival:{objective}", "nthread": options.threads}
    matrix = xgboost.QuantileDMatrix(X, np.where(event, time, -time), max_bin=255, nthread=options.threads)
    if objective == "aft":
        matrix.set_float_info("label_lower_bound", time)
        matrix.set_float_info("label_upper_bound", np.where(event, time, np.inf))
    sign = -1.0 if objective == "cox" else 1.0
    rounds = options.size(ROUNDS, 5)

    def late(model: Any, X: Array) -> Array:
        raw: Array = model.predict(xgboost.DMatrix(X), output_margin=True)
        return sign * raw

    return Trained(lambda: xgboost.train(params, matrix, rounds), late, test)


def run(bench: Bench, case: str) -> list[Row]:
    """Train both objectives with both libraries."""
    rows: list[Row] = []
    for objective in OBJECTIVES:
        qualities: dict[str, dict[str, float]] = {}
        actions: dict[str, Action] = {}
        for peer in bench.libraries():
            bench.say(f"{objective}: building the data set of {peer.name}")
            ready = prepared(bench.options, peer.name, objective, 0)
            actions[peer.name] = _action(ready, peer.name, qualities)
        samples = interleave(actions, bench.options.times(3), bench.say)
        comparison = Comparison(bench, case, samples, qualities, JUDGE)
        rows += comparison.rows("train", {"xgboost": AtLeast(1.0)}, name=objective)
    return rows


def _action(ready: Trained, name: str, qualities: dict[str, dict[str, float]]) -> Action:
    def action() -> Sample:
        model, seconds = timed(ready.train)
        qualities[name] = {"concordance": ready.judged(model)}
        return {"train": seconds}

    return action


def run_accuracy(bench: Bench, case: str) -> list[Row]:
    """Compare concordances of rows not seen over five seeds: shares of pairs in the wrong order."""
    rows: list[Row] = []
    for objective in OBJECTIVES:
        found = {peer.name: _wrong(bench, peer.name, objective) for peer in bench.libraries()}
        for peer in bench.peers:
            ours = found.get("spinney", [])
            rows.append(in_deviations(compared(case, objective, (peer.name, ""), ours, found[peer.name])))
    return rows


def _wrong(bench: Bench, name: str, objective: str) -> Scores:
    found = []
    for seed in range(bench.options.size(SEEDS, 2)):
        bench.say(f"{objective}, seed {seed}: {name}")
        ready = prepared(bench.options, name, objective, seed)
        found.append({"1 - concordance": 1.0 - ready.judged(ready.train())})
    return found
