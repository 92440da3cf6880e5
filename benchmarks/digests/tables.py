"""Small tables: numbers with gaps, categories, text, one-hot blocks, queries, times."""

from typing import Any

import numpy as np
from scipy import sparse

ROWS = 3_000


def numbers(rows: int = ROWS, columns: int = 8, seed: int = 0) -> tuple[Any, Any]:
    """Return a table of numbers with gaps, and a target."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, columns))
    X[:, 1] = np.round(X[:, 1])
    X[rng.random(X.shape) < 0.1] = np.nan
    full = np.nan_to_num(X)
    return X, full[:, 0] + full[:, 1] * full[:, 2] + rng.normal(size=rows) * 0.3


def mixed(rows: int = ROWS) -> tuple[Any, Any]:
    """Return a table with two categorical columns, one of many categories, and a target."""
    rng = np.random.default_rng(5)
    X, y = numbers(rows, 6, 4)
    X[:, 0] = rng.integers(0, 3, rows)
    X[:, 5] = np.minimum(rng.geometric(0.03, rows), 150)
    return X, y + np.sin(X[:, 5]) + (X[:, 0] == 1)


def one_hot(rows: int = ROWS) -> tuple[Any, Any]:
    """Return a sparse table of one-hot blocks and scattered numbers, and a target."""
    rng = np.random.default_rng(6)
    levels = rng.integers(0, 40, rows)
    block = sparse.csr_array((np.ones(rows), (np.arange(rows), levels)), shape=(rows, 40))
    loose = sparse.random_array((rows, 60), density=0.03, rng=rng, format="csr")
    dense = sparse.csr_array(rng.normal(size=(rows, 2)))
    return sparse.hstack([block, loose, dense], format="csr"), np.sin(levels) + loose.sum(axis=1)


def towns(rows: int = ROWS) -> tuple[Any, Any]:
    """Return a frame with text of many kinds and a missing value here and there, and two classes."""
    import pandas as pd

    rng = np.random.default_rng(7)
    town, street = np.minimum(rng.geometric(0.01, rows), 400), rng.integers(0, 160, rows)
    size = rng.normal(size=rows)
    effects = rng.normal(size=500)
    frame = pd.DataFrame(
        {
            "town": pd.Series([f"town {k}" for k in town]).where(rng.random(rows) > 0.05),
            "street": [f"street {k}" for k in street],
            "size": np.where(rng.random(rows) < 0.1, np.nan, size),
            "kind": pd.Categorical(rng.choice(["house", "flat", "hut"], rows)),
        }
    )
    return frame, (size + effects[town] + effects[street] + rng.logistic(size=rows) > 0).astype(float)


def with_copies(frame: Any, y: Any, count: int) -> tuple[Any, Any]:
    """Return a frame and a target, and behind them some of their rows once more."""
    import pandas as pd

    rows = np.random.default_rng(11).choice(len(y), count, replace=False)
    return pd.concat([frame, frame.iloc[rows]], ignore_index=True), np.append(y, y[rows])


def queries(rows: int = ROWS) -> tuple[Any, Any, Any]:
    """Return a table, grades from 0 to 4, and the sizes of queries."""
    rng = np.random.default_rng(8)
    X, y = numbers(rows, seed=8)
    sizes = rng.integers(1, 30, rows)
    sizes = sizes[: int(np.searchsorted(np.cumsum(sizes), rows))]
    return X, np.digitize(y, [-1.0, 0.0, 1.0, 2.0]).astype(float), np.append(sizes, rows - sizes.sum())


def times(rows: int = ROWS) -> tuple[Any, Any]:
    """Return a table, and times with whether something happened then."""
    rng = np.random.default_rng(9)
    X, y = numbers(rows, seed=9)
    time = np.round(rng.exponential(np.exp(-0.5 * y)), 2) + 0.01
    return X, np.column_stack([time, rng.random(rows) < 0.7])
