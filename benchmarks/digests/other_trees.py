"""Forests, extra trees, single trees, AdaBoost and isolation forests, by their estimators."""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import spinney as sp
from benchmarks.digests.plan import Action, Params, Plan
from benchmarks.digests.tables import mixed, numbers, one_hot, towns

CATEGORIES: Params = {"categorical": [0, 5]}
CLASSIFIERS: dict[str, Params] = {
    "plain": {},
    "entropy": {"criterion": "entropy"},
    "large leaves": {"min_samples_leaf": 10, "min_impurity_decrease": 1e-3},
    "shallow": {"max_depth": 5},
    "best leaf first": {"max_leaf_nodes": 30},
    "pruned": {"ccp_alpha": 1e-3},
    "balanced": {"class_weight": "balanced"},
    "exact": {"tree_method": "exact"},
}
REGRESSORS: dict[str, Params] = {
    "plain": {},
    "few columns": {"max_features": "sqrt"},
    "absolute error": {"criterion": "absolute_error", "max_depth": 6},
    "poisson": {"criterion": "poisson"},
    "monotone": {"monotonic_cst": [1, 0, -1, 0, 0, 1, 0, 0]},
    "exact": {"tree_method": "exact"},
}


def plans() -> Iterator[Plan]:
    """Return the name of every estimator, and what fits it."""
    X, y = numbers()
    labels, classes = y > 0, np.digitize(y, [-0.7, 0.1, 0.9])
    few: Params = {"n_estimators": 5}
    bags: Params = {**few, "oob_score": True}
    weight = np.random.default_rng(1).integers(0, 4, len(y)) * 0.3
    for name, params in CLASSIFIERS.items():
        yield f"forest, {name}", fitted("RandomForestClassifier", bags | params, X, labels)
        yield f"forest of classes, {name}", fitted("RandomForestClassifier", few | params, X, classes)
    for name, params in REGRESSORS.items():
        target = np.exp(0.3 * y) if name == "poisson" else y
        yield f"forest of numbers, {name}", fitted("RandomForestRegressor", few | params, X, target)
    for kind, target in {"Classifier": labels, "Regressor": y}.items():
        yield f"extra trees, {kind}", fitted(f"ExtraTrees{kind}", few, X, target)
        yield f"extra trees, {kind}, bags", fitted(f"ExtraTrees{kind}", bags | {"bootstrap": True}, X, target)
        yield (
            f"extra trees, {kind}, exact",
            fitted(f"ExtraTrees{kind}", few | {"tree_method": "exact"}, X, target),
        )
        yield f"tree, {kind}", fitted(f"DecisionTree{kind}", {}, X, target)
        yield f"tree, {kind}, random", fitted(f"DecisionTree{kind}", {"splitter": "random"}, X, target)
        for name, (table, goal), given in (
            ("categories", mixed(), CATEGORIES), ("sparse", one_hot(), {}), ("text", towns(), {}),
        ):  # fmt: skip
            goal = goal > goal.mean() if kind == "Classifier" else goal
            yield f"forest, {kind}, {name}", fitted(f"RandomForest{kind}", few | given, table, goal)
            yield f"extra trees, {kind}, {name}", fitted(f"ExtraTrees{kind}", few | given, table, goal)
        yield f"forest, {kind}, weights", fitted(f"RandomForest{kind}", few, X, target, sample_weight=weight)
        yield f"AdaBoost, {kind}", fitted(f"AdaBoost{kind}", {"n_estimators": 5}, X, target)
        drawn = {"n_estimators": 5, "max_depth": 4, "resample": kind == "Classifier"}
        yield f"AdaBoost, {kind}, deeper", fitted(f"AdaBoost{kind}", drawn, X, target)
        yield f"AdaBoost, {kind}, categories", fitted(f"AdaBoost{kind}", few | CATEGORIES, mixed()[0], target)
    yield "AdaBoost of classes", fitted("AdaBoostClassifier", few | {"max_depth": 3}, X, classes)
    yield "forest of two outputs", fitted("RandomForestRegressor", few, X, np.column_stack([y, y**2]))
    yield (
        "forest of two columns of classes",
        fitted("RandomForestClassifier", few, X, np.column_stack([labels, classes])),
    )
    isolation: dict[str, Params] = {
        "plain": {}, "few columns": {"max_features": 0.5}, "drawn again": {"bootstrap": True, "max_samples": 0.3},
        "contamination": {"contamination": 0.05},
    }  # fmt: skip
    for name, params in isolation.items():
        yield f"isolation, {name}", fitted("IsolationForest", {"n_estimators": 10} | params, X)
    yield "isolation, categories", fitted("IsolationForest", {"n_estimators": 10, **CATEGORIES}, mixed()[0])
    yield "isolation, sparse", fitted("IsolationForest", {"n_estimators": 10}, one_hot()[0])


def fitted(kind: str, params: Params, X: Any, y: Any = None, **given: Any) -> Action:
    """Return what fits an estimator, and gives its file, predictions and what it knows of itself."""

    def act() -> Iterator[object]:
        model = getattr(sp, kind)(random_state=1, n_jobs=2, **params).fit(X, y, **given)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "file"
            model.save(path)
            yield path.read_bytes()
        for name in ("predict", "predict_proba", "score_samples", "apply"):
            if hasattr(model, name):
                found = getattr(model, name)(X)
                yield from map(np.asarray, found if isinstance(found, list) else [found])
        for name in ("feature_importances_", "oob_score_", "tree_oob_scores_"):
            if hasattr(model, name):
                yield np.asarray(getattr(model, name))

    return act
