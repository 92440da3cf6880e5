"""Trains models of every kind and prints a digest of each one's bytes and predictions, as JSON.

Run in processes of its own, once for each way to run kernels. `tiny`, as argument, makes tables that plain Python can do.
"""

import hashlib
import json
import sys

import numpy as np

import spinney as sp
from spinney.jit import library

TINY = "tiny" in sys.argv


def table(rows, columns, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, columns))
    X[:, 1] = np.round(X[:, 1])
    X[rng.random(X.shape) < 0.1] = np.nan
    full = np.nan_to_num(X)
    return X, full[:, 0] + full[:, 1] * full[:, 2] + rng.normal(size=rows) * 0.3


def digest(params, X, y, rounds, max_bin=255, weight=None):
    dataset = sp.Dataset(X, y, weight=weight, max_bin=max_bin)
    model = sp.train(params, dataset, rounds=rounds, valid={"train": dataset})
    told = hashlib.sha256(model.to_bytes())
    told.update(model.predict(X).tobytes())
    told.update(model.predict_leaf(X).tobytes())
    return told.hexdigest()


def every_kind():
    rows, columns, rounds = (60, 4, 2) if TINY else (3_000, 8, 8)
    X, y = table(rows, columns, 0)
    weight = np.random.default_rng(1).integers(0, 4, rows) * 0.3
    labels = (y > 0).astype(float)
    classes = np.digitize(y, [-0.7, 0.1, 0.9]).astype(float)
    small = {"min_child_samples": 2} if TINY else {}
    drawn = {"subsample": 0.6, "colsample_bytree": 0.8, "colsample_bylevel": 0.7, "colsample_bynode": 0.9}
    yield "regression", (small, X, y, rounds)
    yield "float32", (small, X.astype(np.float32), y, rounds)
    yield "columns first", (small, np.asfortranarray(X), y, rounds)
    yield "weights", ({"objective": "log_loss"} | small, X, labels, rounds, 255, weight)
    yield "softmax", ({"objective": "softmax", "num_class": 4} | small, X, classes, rounds)
    targets = {
        "tweedie": np.maximum(y, 0),
        "focal": labels,
        "fair": y,
        "squared_log_error": np.exp(y),
        "mape": y,
    }
    for loss, target in targets.items():
        yield loss, ({"objective": loss} | small, X, target, rounds, 255, weight)
    yield "one_vs_rest", ({"objective": "one_vs_rest", "num_class": 4} | small, X, classes, rounds)
    yield "many bins", ({"grow_policy": "depthwise", "max_depth": 5} | small, X, y, rounds, 2000)
    yield "drawn", ({"objective": "log_loss", "random_state": 7} | drawn | small, X, labels, rounds)
    yield "penalties", ({"reg_alpha": 0.5, "max_delta_step": 0.4, "gamma": 0.1} | small, X, y, rounds)
    if not TINY:
        X, y = table(8_500, 30, 2)
        yield "shared", ({"n_jobs": 2, "max_leaves": 63}, X, y, 3)
        yield "wide", ({"n_jobs": 2}, *table(500, 120, 3), 3)


if __name__ == "__main__":
    digests = {name: digest(*given) for name, given in every_kind()}
    how = library.runtime()
    print(json.dumps({"way": how.level or how.kind, "digests": digests}))
