"""A training from batches, in a process of its own: `disk FOLDER MODE SHAPE ROUNDS THREADS MEMORY`.

FOLDER holds the batches; MODE is memory (our Dataset of all rows), pages (ours on disk) or xgboost (its external memory). MEMORY
is what pages may take, or "quarter" of them. It says the seconds of building and training, the most memory the process ever held,
in MB, and a digest of our model.
"""

import hashlib
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.peers.base import library
from benchmarks.scripts.memory import peak
from benchmarks.timing import timed

BINS = 255
SHAPES = {
    "depth 8": {"max_depth": 8, "max_leaves": 256, "grow_policy": "depthwise"},
    "255 leaves": {"max_depth": 0, "max_leaves": 255, "grow_policy": "lossguide"},
}
COMMON = {"learning_rate": 0.1, "reg_lambda": 1.0, "min_child_weight": 1e-3}


def batches(folder: Path) -> Iterator[tuple[Any, Any]]:
    """The batches, each read when it is asked for."""
    for path in sorted(folder.glob("batch-*.npz")):
        with np.load(path) as held:
            yield held["X"], held["y"]


def ours(folder: Path, mode: str, given: dict[str, Any], memory: str) -> Iterator[Callable[[], Any]]:
    """What builds our data set, and what trains on it."""
    sp = library("spinney")
    made: list[Any] = []

    def build() -> None:
        if mode == "memory":
            parts = list(batches(folder))
            X, y = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
            made.append(sp.Dataset(X, y, max_bin=BINS))
        else:
            room = None if memory == "quarter" else memory
            made.append(sp.Dataset.from_batches(lambda: batches(folder), memory=room, max_bin=BINS))

    yield build
    params = {
        **given["shape"],
        **COMMON,
        "min_child_samples": 1,
        "objective": "log_loss",
        "n_jobs": given["threads"],
    }
    if memory == "quarter":
        made.append(sp.open_dataset(made[0].folders, memory=made[0].nbytes // 4))
    yield lambda: sp.train(params, made[-1], given["rounds"])


def theirs(folder: Path, given: dict[str, Any]) -> Iterator[Callable[[], Any]]:
    """What builds XGBoost's matrix in external memory, and what trains on it."""
    xgb = library("xgboost")

    left: list[Iterator[tuple[Any, Any]]] = []

    def give(iterator: object, input_data: Callable[..., None]) -> bool:
        batch = next(left[-1], None)
        if batch is not None:
            input_data(data=batch[0], label=batch[1])
        return batch is not None

    def begin(iterator: object) -> None:
        left[:] = [batches(folder)]

    begin(None)
    source = type("Batches", (xgb.DataIter,), {"next": give, "reset": begin})
    made: list[Any] = []
    threads, rounds = given["threads"], given["rounds"]
    yield lambda: made.append(
        xgb.ExtMemQuantileDMatrix(source(cache_prefix=str(folder / "cache")), max_bin=BINS, nthread=threads)
    )
    params = {**given["shape"], **COMMON, "objective": "binary:logistic", "nthread": threads, "max_bin": BINS}
    yield lambda: xgb.train(params, made[0], rounds)


def main(folder: str, mode: str, shape: str, rounds: str, threads: str, memory: str = "") -> None:
    """Build, train, and tell."""
    given = {"shape": SHAPES[shape], "rounds": int(rounds), "threads": int(threads)}
    place = Path(folder)
    steps = theirs(place, given) if mode == "xgboost" else ours(place, mode, given, memory)
    _, build = timed(next(steps))
    model, train = timed(next(steps))
    told: dict[str, Any] = {"build": build, "train": train, "peak": peak()}
    if mode != "xgboost":
        told["digest"] = hashlib.sha256(model.to_bytes()).hexdigest()
    print(json.dumps(told))


if __name__ == "__main__":
    main(*sys.argv[1:])
