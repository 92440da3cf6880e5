"""The promise of one forest for any number of threads: the files are compared byte by byte."""

import hashlib
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.bench import Bench
from benchmarks.cases.identical import THREADS
from benchmarks.generate import make_binary, make_classes, make_numbers, make_sparse
from benchmarks.peers.base import library
from benchmarks.rows import Row
from benchmarks.verdict import Claim

ROWS, TREES = 20_000, 20
COLUMNS, CLASSES = 28, 5
Table = tuple[Any, npt.NDArray[np.float32]]


def binary(rows: int) -> Table:
    """Return a table with missing values and two classes."""
    return make_binary(rows, COLUMNS)


def classes(rows: int) -> Table:
    """Return several classes."""
    return make_classes(rows, COLUMNS, CLASSES)


def numbers(rows: int) -> Table:
    """Return a target of numbers."""
    return make_numbers(rows, COLUMNS)


def outputs(rows: int) -> Table:
    """Return two targets of numbers."""
    X, y = numbers(rows)
    return X, np.stack([y, y * X[:, 0]], axis=1)


def sparse(rows: int) -> Table:
    """Return a sparse matrix."""
    return make_sparse(rows, 500, 10)


# What is grown, on what, and with which parameters.
WAYS: dict[str, tuple[str, Callable[[int], Table], dict[str, Any]]] = {
    "two classes": ("RandomForestClassifier", binary, {}),
    "several classes": ("RandomForestClassifier", classes, {"class_weight": "balanced_subsample"}),
    "entropy": ("RandomForestClassifier", binary, {"criterion": "entropy", "min_samples_leaf": 5}),
    "best leaf first": ("RandomForestClassifier", binary, {"max_leaf_nodes": 50}),
    "pruned": ("RandomForestClassifier", binary, {"ccp_alpha": 1e-4}),
    "sparse": ("RandomForestClassifier", sparse, {}),
    "exact": ("RandomForestClassifier", binary, {"tree_method": "exact"}),
    "numbers": ("RandomForestRegressor", numbers, {"max_features": 0.3}),
    "numbers, exact": ("RandomForestRegressor", numbers, {"max_features": 0.3, "tree_method": "exact"}),
    "two outputs": ("RandomForestRegressor", outputs, {"max_features": "sqrt"}),
    "absolute error": (
        "RandomForestRegressor",
        numbers,
        {"criterion": "absolute_error", "max_features": "sqrt", "max_depth": 6},
    ),
    "extra trees": ("ExtraTreesClassifier", classes, {}),
    "extra trees, numbers": ("ExtraTreesRegressor", numbers, {"max_features": "sqrt"}),
    "one tree": ("DecisionTreeRegressor", numbers, {}),
    "AdaBoost, stumps": ("AdaBoostClassifier", binary, {}),
    "AdaBoost, several classes": ("AdaBoostClassifier", classes, {"max_depth": 4}),
    "AdaBoost, drawn rows": ("AdaBoostClassifier", binary, {"resample": True}),
    "AdaBoost, numbers": ("AdaBoostRegressor", numbers, {"resample": False}),
    "AdaBoost, numbers of drawn rows": ("AdaBoostRegressor", numbers, {"loss": "square"}),
    "isolation": ("IsolationForest", binary, {"contamination": 0.1}),
    "isolation, sparse": ("IsolationForest", sparse, {"max_samples": 0.1, "bootstrap": True}),
}


def run(bench: Bench, case: str) -> list[Row]:
    """Grow every kind of forest once for each number of threads."""
    if bench.ours is None:
        bench.say(f"{case} is skipped: it needs spinney")
        return []
    rows = []
    for name in WAYS:
        bench.say(name)
        digests = {f"n_jobs={threads}": _digest(bench, name, threads) for threads in THREADS}
        rows.append(
            Row(
                case=case,
                measure=name,
                peer="",
                target=Claim("same bytes"),
                holds=len(set(digests.values())) == 1,
                facts={key: digest[:8] for key, digest in digests.items()},
            )
        )
    return rows


def _digest(bench: Bench, name: str, threads: int) -> str:
    kind, make, params = WAYS[name]
    X, y = make(bench.options.size(ROWS, 1_000))
    if not kind.startswith("DecisionTree"):
        params = {**params, "n_estimators": bench.options.size(TREES, 3)}
    estimator = getattr(library("spinney"), kind)(random_state=0, n_jobs=threads, **params).fit(X, y)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "forest"
        # The estimator's own file tells n_jobs as well, as one of its parameters.
        estimator.model_.save(path)
        return hashlib.sha256(path.read_bytes()).hexdigest()
