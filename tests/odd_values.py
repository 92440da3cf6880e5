"""Values that fit no argument, and the public calls that are tried with them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np

import spinney as sp
from spinney.errors import SpinneyError

ROWS = 12
X = np.random.default_rng(0).normal(size=(ROWS, 2))
NUMBERS, CLASSES = X[:, 0] + 2.0, np.arange(ROWS) % 2


class Odd:
    """What nobody would give."""

    def __repr__(self) -> str:
        return "Odd()"


ODD: dict[str, Any] = {
    "None": None,
    "True": True,
    "array of 0 dimensions": np.array(3),
    "text array of 0 dimensions": np.array("mae"),
    "array of truth values": np.array([True, False]),
    "empty array": np.array([]),
    "matrix": np.ones((2, 2)),
    "ragged": [[1, 2], [3]],
    "ragged rows": [[1.0]] * (ROWS - 1) + [[2.0, 3.0]],
    "object array of lists": np.array([[1, 2], [3]], dtype=object),
    "whole number without a float": 10**400,
    "negative one": -(10**400),
    "whole number that Python does not write out": 10**5000,
    "list of one": [10**5000],
    "dict of one": {0: 10**5000},
    "list of such": [10**400] * ROWS,
    "almost infinite": 1e308,
    "negative almost infinite": -1e308,
    "half a surrogate": "\ud800",
    "null character": "a\0b",
    "list of half surrogates": ["\ud800", "a"],
    "text": "x",
    "empty text": "",
    "bytes": b"x",
    "object": Odd(),
    "list of objects": [Odd()] * ROWS,
    "class": Odd,
    "function of nothing": lambda: None,
    "function that fails": lambda *given, **named: 1 / 0,
    "empty dict": {},
    "dict": {"x": [1, 2]},
    "dict of numbers": {0: Odd()},
    "empty set": set(),
    "set": {1, 2},
    "empty list": [],
    "list of an array": [np.array([1, 2])],
    "list of arrays of 0 dimensions": [np.array(3), np.array("a")],
    "list of pairs": [(0, np.array([1, 2])), ("x", 10**400)],
    "dict of arrays": {0: np.array([1, 2]), "x": np.array(3)},
    "dict of the largest": {0: 10**400, 1: -1e308},
    "dict of half a surrogate": {"\ud800": "\ud800"},
    "masked array": np.ma.masked_array([1.0, 2.0], [True, False]),
    "structured array": np.zeros(2, [("a", "f8"), ("b", "f8")]),
    "times": np.array(["2020-01-01", "nat"], "M8[D]"),
    "list of None": [None] * ROWS,
    "nan": float("nan"),
    "infinite": np.float32("inf"),
    "no time": np.datetime64("nat"),
    "complex": 1j,
    "long list": [0.5] * 3_000,
    "range": range(3),
    "iterator": iter(()),
    "number": 7,
    "negative": -1,
    "share": 0.5,
}


FUNCTIONS = (
    "Dataset", "Dataset.from_batches", "train", "cv", "split", "Model.predict", "Model.predict_raw", "Model.predict_leaf",
    "Model.importance", "GBMRegressor.predict", "load", "load_estimator", "QuantileSketch", "average_path_length",
    "permutation_importance", "bootstrap_interval", "bias_variance",
)  # fmt: skip
"""Names of public functions that are tried."""
BAGGED = {"n_estimators": 2, "bootstrap": True}
"""Parameters of trees that all see rows of their own."""
ESTIMATORS: dict[str, tuple[type, dict[str, Any], dict[str, Any]]] = {
    "GBMRegressor": (sp.GBMRegressor, {"n_estimators": 2}, {"y": NUMBERS}),
    "GBMClassifier": (sp.GBMClassifier, {"n_estimators": 2}, {"y": CLASSES}),
    "GBMRanker": (sp.GBMRanker, {"n_estimators": 2}, {"y": CLASSES, "group": [6, 6]}),
    "RandomForestRegressor": (sp.RandomForestRegressor, {"n_estimators": 2}, {"y": NUMBERS}),
    "RandomForestClassifier": (sp.RandomForestClassifier, {"n_estimators": 2}, {"y": CLASSES}),
    "ExtraTreesRegressor": (sp.ExtraTreesRegressor, BAGGED, {"y": NUMBERS}),
    "ExtraTreesClassifier": (sp.ExtraTreesClassifier, BAGGED, {"y": CLASSES}),
    "DecisionTreeRegressor": (sp.DecisionTreeRegressor, {}, {"y": NUMBERS}),
    "DecisionTreeClassifier": (sp.DecisionTreeClassifier, {}, {"y": CLASSES}),
    "AdaBoostRegressor": (sp.AdaBoostRegressor, {"n_estimators": 2}, {"y": NUMBERS}),
    "AdaBoostClassifier": (sp.AdaBoostClassifier, {"n_estimators": 2}, {"y": CLASSES}),
    "IsolationForest": (sp.IsolationForest, {"n_estimators": 2}, {}),
}


@cache
def functions() -> dict[str, tuple[Callable[..., Any], dict[str, Any]]]:
    """The functions of `FUNCTIONS`, each with arguments that fit."""
    data = sp.Dataset(X, NUMBERS)
    model, fitted = sp.train({}, data, 2), sp.GBMRegressor(n_estimators=2).fit(X, NUMBERS)
    table = {"X": X, "y": NUMBERS}
    return {
        "Dataset": (sp.Dataset, table),
        "Dataset.from_batches": (sp.Dataset.from_batches, {"source": [(X, NUMBERS)]}),
        "train": (sp.train, {"params": {}, "dataset": data, "rounds": 2}),
        "cv": (sp.cv, {"params": {}, "dataset": data, "folds": 2, "rounds": 2}),
        "split": (sp.split, {"dataset": data, "test": 0.5}),
        "Model.predict": (model.predict, {"X": X}),
        "Model.predict_raw": (model.predict_raw, {"X": X}),
        "Model.predict_leaf": (model.predict_leaf, {"X": X}),
        "Model.importance": (model.importance, {}),
        "GBMRegressor.predict": (fitted.predict, {"X": X}),
        "load": (sp.load, {}),
        "load_estimator": (sp.load_estimator, {}),
        "QuantileSketch": (sp.QuantileSketch, {}),
        "average_path_length": (sp.average_path_length, {}),
        "permutation_importance": (sp.permutation_importance, {"model": fitted, **table, "repeats": 2}),
        "bootstrap_interval": (
            sp.bootstrap_interval,
            {"metric": "mae", "y": NUMBERS, "prediction": NUMBERS, "repeats": 5},
        ),
        "bias_variance": (
            sp.bias_variance,
            {"estimator": sp.GBMRegressor(n_estimators=2), **table, "repeats": 2},
        ),
    }


def methods_of(fitted: Any, labels: dict[str, Any]) -> dict[str, tuple[Callable[..., Any], dict[str, Any]]]:
    """What a fitted estimator can be asked beside `fit` and what scikit-learn brings, with arguments that fit."""
    known = {"X": X, "quantiles": 0.5, **labels}
    found = {}
    for name in sorted(
        name for name in dir(type(fitted)) if not name.startswith(("_", "set_", "get_", "fit"))
    ):
        method = getattr(fitted, name, None) if callable(getattr(type(fitted), name)) else None
        if method is None or name in ("save", "score", "staged_score"):
            continue
        call = partial(_through, method) if name.startswith("staged") else method
        found[name] = call, {one: known[one] for one in parameters_of(method) if one in known}
    return found


def _through(method: Callable[..., Any], **given: Any) -> list[Any]:
    return list(method(**given))


def parameters_of(call: Callable[..., Any]) -> list[str]:
    """Names of the arguments of a call, but for those that stand for any others."""
    found = inspect.signature(call).parameters.values()
    return [one.name for one in found if one.kind not in (one.VAR_KEYWORD, one.VAR_POSITIONAL)]


def foreign(call: Callable[[], object]) -> Exception | None:
    """What a call raises that is no error of the library's; of a file that is not there the system tells."""
    try:
        call()
    except (SpinneyError, OSError):
        return None
    except Exception as error:
        return error
    return None


def failures(call: Callable[..., Any], fitting: dict[str, Any], names: list[str]) -> list[str]:
    """Foreign errors that a call raises when one argument after the other is odd, and the others fit."""
    wrong = []
    for name in names:
        for title, value in ODD.items():
            error = foreign(partial(call, **{**fitting, name: value}))
            if error is not None:
                wrong.append(f"{name} = {title}: {type(error).__name__}: {error!s:.100}")
    return wrong
