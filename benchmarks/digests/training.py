"""Trees of boosting on small tables, one after another: learners, sampling, constraints, kinds of tables."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.digests.plan import Params, Plan, trained
from benchmarks.digests.tables import ROWS, mixed, numbers, one_hot

COMMON: dict[str, Params] = {
    "plain": {},
    "deep": {"max_leaves": 255, "min_child_samples": 3},
    "depthwise": {"grow_policy": "depthwise", "max_depth": 6, "max_leaves": 0},
    "penalties": {"reg_alpha": 0.5, "max_delta_step": 0.4, "gamma": 0.1, "reg_lambda": 0.3},
    "by tree": {"colsample_bytree": 0.6, "random_state": 3},
    "by level": {"colsample_bylevel": 0.6, "random_state": 4},
    "goss": {"sampling_method": "goss", "top_rate": 0.2, "other_rate": 0.1, "goss_warm_up": False},
    "goss all": {"sampling_method": "goss", "goss_warm_up": False, "leaf_values": "all"},
    "gradient_based": {"sampling_method": "gradient_based", "subsample": 0.4},
    "weighted draws": {"sampling_method": "weighted", "subsample": 0.4},
}
NUMBERS: dict[str, Params] = {
    "monotone": {"monotone_constraints": [1, 0, -1, 0, 0, 1, 0, 0], "max_leaves": 63},
    "meeting": {"interaction_constraints": [[0, 1, 2], [2, 3, 4], [5, 6, 7]]},
    "both rules": {
        "monotone_constraints": [1, 0, -1, 0, 0, 1, 0, 0],
        "interaction_constraints": [[0, 1, 2, 3], [3, 4, 5, 6, 7]],
        "grow_policy": "depthwise",
        "max_depth": 5,
    },
    "exact": {"tree_method": "exact", "max_depth": 6, "max_leaves": 0},
    "exact best first": {"tree_method": "exact", "gamma": 0.5, "colsample_bytree": 0.7},
    "exact goss": {
        "tree_method": "exact",
        "sampling_method": "goss",
        "goss_warm_up": False,
        "leaf_values": "all",
    },
    "exact monotone": {"tree_method": "exact", "monotone_constraints": [1, 0, -1, 0, 0, 1, 0, 0]},
    "approx": {"tree_method": "approx", "max_depth": 6},
    "approx weighted": {
        "tree_method": "approx",
        "sampling_method": "weighted",
        "subsample": 0.5,
        "gamma": 0.3,
    },
    "local": {"tree_method": "approx", "proposal": "local", "max_depth": 6},
}
# What draws rows or columns in a way that may be changed for good reasons.
DRAWN: dict[str, Params] = {
    "subsample": {"subsample": 0.6, "random_state": 1},
    "subsample all": {"subsample": 0.3, "leaf_values": "all"},
    "by node": {"colsample_bynode": 0.5, "random_state": 2},
    "everything": {
        "subsample": 0.6,
        "colsample_bytree": 0.8,
        "colsample_bylevel": 0.7,
        "colsample_bynode": 0.9,
    },
    "feature weights": {"feature_weights": [1, 2, 3, 4, 5, 6, 7, 8], "colsample_bynode": 0.5},
}


def plans() -> Iterator[Plan]:
    """Return the name of every model, and what trains it."""
    for name, params, X, y, given in _models():
        yield name, trained(params, X, y, **given)


def _models() -> Iterator[tuple[str, Params, Any, Any, Params]]:
    """Return name, parameters, table, target and the keywords of the data set of every model."""
    X, y = numbers()
    labels, classes = (y > 0).astype(float), np.digitize(y, [-0.7, 0.1, 0.9]).astype(float)
    weight = np.random.default_rng(1).integers(0, 4, ROWS) * 0.3
    for name, params in (COMMON | NUMBERS).items():
        yield f"numbers, {name}", params, X, y, {}
    for name, params in COMMON.items():
        yield f"labels and weights, {name}", {"objective": "log_loss"} | params, X, labels, {"weight": weight}
        yield f"categories, {name}", params, *mixed(), {"categorical": [0, 5]}
        yield f"sparse, {name}", params, *one_hot(), {}
    for name in ("plain", "goss", "by level"):
        yield f"classes, {name}", {"objective": "softmax", "num_class": 4} | COMMON[name], X, classes, {}
    for name in ("plain", "exact", "approx", "local"):
        params = (COMMON | NUMBERS)[name]
        yield f"sparse weighted, {name}", params, *one_hot(), {"weight": weight}
        yield f"sparse missing, {name}", params, *one_hot(), {"absent": "missing"}
        yield (
            f"classes weighted, {name}",
            {"objective": "softmax", "num_class": 4} | params,
            X,
            classes,
            {"weight": weight},
        )
    yield "sparse unbundled", {}, *one_hot(), {"bundle": False}
    yield "dense one-hot", {}, one_hot()[0].toarray(), one_hot()[1], {}
    yield "few rows", {"min_child_samples": 2}, X[:200], y[:200], {}
    yield "few rows of classes", {"objective": "softmax", "num_class": 4}, X[:300], classes[:300], {}
    yield "many bins", {"max_leaves": 63}, X, y, {"max_bin": 2000}
    yield "few bins", {}, X, y, {"max_bin": 15}
    yield "margins", {"objective": "log_loss"}, X, labels, {"base_margin": np.linspace(-1, 1, ROWS)}
    yield "positive weight", {"objective": "log_loss", "scale_pos_weight": 3.0}, X, labels, {}
    yield "huge weights", {}, X, y, {"weight": weight * 1e30}
    yield "float32", {}, X.astype(np.float32), y, {}
    yield "many rows", {"max_leaves": 127}, *numbers(40_000, 12, 8), {}
    yield "many columns", {}, *numbers(1_000, 150, 9), {}
    for name, params in DRAWN.items():
        yield f"drawn, {name}", params, X, y, {}
    yield "drawn, sparse", DRAWN["subsample"], *one_hot(), {}
    yield "drawn, categories", DRAWN["by node"], *mixed(), {"categorical": [0, 5]}
