"""`spinney demo`: what the library does, on small real tables or on many generated rows."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console, JustifyMethod
from rich.table import Table
from sklearn import metrics

import spinney as sp
from spinney.cli import kernels
from spinney.errors import SpinneyError
from spinney.jit.cores import available_cores

ROUNDS = 100
COLUMNS = 20  # of a generated table
HELD_OUT = 4  # one row in so many

MetricFunction = Callable[[NDArray[Any], NDArray[Any]], float]
METRICS: dict[str, dict[str, MetricFunction]] = {
    "log_loss": {
        "log loss": metrics.log_loss,
        "AUC": metrics.roc_auc_score,
        "accuracy": lambda y, p: float(metrics.accuracy_score(y, p > 0.5)),
    },
    "squared_error": {
        "RMSE": metrics.root_mean_squared_error,
        "MAE": metrics.mean_absolute_error,
        "R2": metrics.r2_score,
    },
}


@dataclass(frozen=True)
class DemoTask:
    """A table to learn from, and rows held out to evaluate on."""

    name: str
    objective: str
    X: NDArray[Any]
    y: NDArray[Any]
    X_held: NDArray[Any]
    y_held: NDArray[Any]


@dataclass(frozen=True)
class DemoResult:
    """What came of a task."""

    model: sp.Model
    predictions: NDArray[np.float64]
    fit_seconds: float
    predict_seconds: float


def run(rows: int | None, save: Path | None) -> None:
    """Do the whole demonstration.

    Parameters
    ----------
    rows : int or None
        How many rows to generate; None takes two small tables that come with scikit-learn.
    save : Path or None
        Folder to keep the model files in; None uses one that is deleted.
    """
    console = Console()
    how = kernels.load(console)
    level = f", {how.level}" if how.level else ""
    console.print(
        f"spinney {sp.__version__}, kernels: {how.kind}{level}, {available_cores()} threads", highlight=False
    )
    tasks = list(real_tables() if rows is None else generated_tables(rows))
    outcomes = [train(task) for task in tasks]
    console.print(_evaluated(tasks, outcomes))
    console.print(_timed(tasks, outcomes))
    with ExitStack() as stack:
        folder = save or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        for task, outcome in zip(tasks, outcomes, strict=True):
            path = folder / f"{task.name}.safetensors"
            size = save_and_check(task, outcome, path)
            console.print(f"{path.name}: {size:,} bytes; loaded, it predicts the same bits", highlight=False)


def real_tables() -> Iterator[DemoTask]:
    """Tables that lie inside the scikit-learn package."""
    from sklearn.datasets import load_breast_cancer, load_diabetes

    for name, objective, load in (
        ("breast_cancer", "log_loss", load_breast_cancer),
        ("diabetes", "squared_error", load_diabetes),
    ):
        X, y = load(return_X_y=True)
        order = np.random.default_rng(0).permutation(len(y))
        yield _split(name, objective, X[order], y[order])


def generated_tables(rows: int) -> Iterator[DemoTask]:
    """Normal columns; the target is a product, a wave, a slope and noise."""
    random = np.random.default_rng(0)
    X = random.standard_normal((rows, COLUMNS), dtype=np.float32)
    y = X[:, 0] * X[:, 1] + np.sin(3 * X[:, 2]) + 0.5 * X[:, 3]
    y += random.standard_normal(rows, dtype=np.float32) / 2
    yield _split("two_classes", "log_loss", X, (y > 0).astype(np.float32))
    yield _split("numbers", "squared_error", X, y)


def train(task: DemoTask) -> DemoResult:
    """Fit an estimator on a task with a progress bar, and predict its held-out rows."""
    started = perf_counter()
    kind = sp.GBMClassifier if task.objective == "log_loss" else sp.GBMRegressor
    estimator = kind(n_estimators=ROUNDS)
    with sp.ProgressBar(task.name) as bar:
        estimator.fit(task.X, task.y, callbacks=[bar])
    fitted = perf_counter()
    if isinstance(estimator, sp.GBMClassifier):
        predictions = estimator.predict_proba(task.X_held)[:, 1]
    else:
        predictions = estimator.predict(task.X_held)
    return DemoResult(estimator.model_, predictions, fitted - started, perf_counter() - fitted)


def save_and_check(task: DemoTask, outcome: DemoResult, path: Path) -> int:
    """Save a model, load it, compare; the size of the file."""
    outcome.model.save(path)
    loaded = sp.load(path)
    if loaded != outcome.model or not np.array_equal(loaded.predict(task.X_held), outcome.predictions):
        raise SpinneyError(f"the model saved to {path} predicts otherwise once it is loaded")
    return path.stat().st_size


def _split(name: str, objective: str, X: NDArray[Any], y: NDArray[Any]) -> DemoTask:
    kept = len(y) - len(y) // HELD_OUT
    return DemoTask(name, objective, X[:kept], y[:kept], X[kept:], y[kept:])


def _evaluated(tasks: list[DemoTask], outcomes: list[DemoResult]) -> Table:
    table = Table(title="on held-out rows; the baseline always predicts the mean", title_justify="left")
    for heading in ("table", "rows", "held out", "metric", "baseline", "spinney"):
        side: JustifyMethod = "left" if heading in ("table", "metric") else "right"
        table.add_column(heading, justify=side, overflow="fold")
    for task, outcome in zip(tasks, outcomes, strict=True):
        mean = np.full(len(task.y_held), task.y.mean())
        shown = [task.name, f"{len(task.y):,}", f"{len(task.y_held):,}"]
        for name, metric in METRICS[task.objective].items():
            baseline, ours = metric(task.y_held, mean), metric(task.y_held, outcome.predictions)
            table.add_row(*shown, name, f"{baseline:.4f}", f"{ours:.4f}")
            shown = ["", "", ""]
        table.add_section()
    return table


def _timed(tasks: list[DemoTask], outcomes: list[DemoResult]) -> Table:
    table = Table(title="speed", title_justify="left")
    for heading in ("table", "step", "seconds", "rows/s"):
        side: JustifyMethod = "left" if heading in ("table", "step") else "right"
        table.add_column(heading, justify=side, overflow="fold")
    for task, outcome in zip(tasks, outcomes, strict=True):
        for step, rows, seconds in (
            (f"fit, {ROUNDS} rounds", len(task.y), outcome.fit_seconds),
            ("predict", len(task.y_held), outcome.predict_seconds),
        ):
            table.add_row(task.name, step, f"{seconds:.3f}", f"{rows / seconds:,.0f}")
    return table
