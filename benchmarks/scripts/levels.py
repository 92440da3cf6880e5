"""One work with the kernels that SPINNEY_KERNELS names: `levels WORK ROWS THREADS`."""

import hashlib
import json
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.generate import make_binary
from benchmarks.timing import timed

TIMES = 3  # in one process; the best counts
COLUMNS = 28


def main(name: str, rows: str, threads: str) -> None:
    """Do the work, and say the seconds of the fastest time and a digest of what came out."""
    work = prepare(name, int(rows), int(threads))
    done = [timed(work) for _ in range(TIMES)]
    digest = hashlib.sha256(done[0][0]).hexdigest()
    print(json.dumps({"seconds": min(seconds for _, seconds in done), "digest": digest}))


def prepare(name: str, rows: int, threads: int) -> Callable[[], bytes]:
    """Make the table, and return what trains or predicts and gives the bytes of the result."""
    import spinney as sp

    verb, kind = name.split(", ")
    params: dict[str, Any] = {"objective": "log_loss", "n_jobs": threads, "max_leaves": 31}
    rounds = 10
    if kind in ("31 leaves", "255 leaves"):
        params["max_leaves"] = int(kind.split()[0])
    elif kind == "exact":
        params |= {"tree_method": "exact", "grow_policy": "depthwise", "max_leaves": 0, "max_depth": 6}
        rounds = 5
    X, y = _table(kind, rows)
    if verb == "predict":
        few = sp.Dataset(X[:20_000], y[:20_000], n_jobs=threads)
        model = sp.train(params, few, rounds=50)
        return lambda: model.predict(X, n_jobs=threads).tobytes()
    categorical = list(range(X.shape[1])) if kind == "categories" else "auto"
    dataset = sp.Dataset(X, y, categorical=categorical, n_jobs=threads)
    return lambda: sp.train(params, dataset, rounds=rounds).to_bytes()


def _table(kind: str, rows: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    if kind == "sparse":
        from scipy import sparse

        X = sparse.random_array((rows, 200), density=0.05, format="csr", rng=rng)
        return X, (X[:, [0]].toarray()[:, 0] + rng.normal(size=rows) > 0).astype(np.float32)
    if kind == "categories":
        numbers = rng.integers(0, [5, 20, 50, 100, 200, 500, 1000, 2000], (rows, 8))
        effect = rng.normal(size=(8, 2000))
        score = sum(effect[column, numbers[:, column]] for column in range(8))
        return numbers.astype(np.float64), (score + rng.normal(size=rows) > 0).astype(np.float32)
    return make_binary(rows, COLUMNS)


if __name__ == "__main__":
    main(*sys.argv[1:])
