"""A training on a cluster of this machine, in a process of its own: `cluster MODE WORKERS ROWS ROUNDS`.

MODE is ours, local (our own training in one process, with as many threads as there are workers), lightgbm or xgboost (their Dask
modules), or trip. It prints the seconds of building and training (LightGBM does both in one), the log loss on rows that were held
out, and for ours a digest of the model and the bytes that were sent. A trip prints the milliseconds of an allreduce of a
histogram of 84 KB.
"""

import hashlib
import json
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from benchmarks.generate import TEST, make_binary
from benchmarks.peers.base import library
from benchmarks.timing import timed

COLUMNS, PARTS, HELD_OUT = 28, 8, 50_000
BINS, LEAVES, RATE = 255, 255, 0.1
TRIP, TRIPS = 28 * 250 * 3, 200  # sums of gradients, hessians and rows, as int32


def make_part(number: int, rows: int) -> tuple[Any, Any]:
    """A partition, with a seed of its own."""
    return make_binary(rows, COLUMNS, seed=7 + number)


def collections(client: Any, rows: int) -> tuple[Any, Any]:
    """The table and its target on the workers."""
    dask, array = library("dask"), library("dask.array")
    made = [dask.delayed(make_part, nout=2)(number, rows // PARTS) for number in range(PARTS)]
    shapes = [(rows // PARTS, COLUMNS), (rows // PARTS,)]
    X, y = (
        array.concatenate([array.from_delayed(part[k], shape, dtype=np.float32) for part in made])
        for k, shape in enumerate(shapes)
    )
    X, y = client.persist([X, y])
    library("distributed").wait([X, y])
    return X, y


def ours(client: Any, X: Any, y: Any, rounds: int) -> Iterator[Callable[[], Any]]:
    """What builds our data set, and what trains on it."""
    data, run = library("spinney.dask.dataset"), library("spinney.dask.run")
    made: list[Any] = []
    yield lambda: made.append(data.Dataset(client, X, y, max_bin=BINS))
    config = library("spinney.params").Config.parse(_params())
    work, tables = library("spinney.dask.training").training_work(config, made[0], rounds)
    yield lambda: run.run_ranks(client, tables, work)


def local(rows: int, threads: int, rounds: int) -> Iterator[Callable[[], Any]]:
    """The same in one process."""
    sp = library("spinney")
    parts = [make_part(number, rows // PARTS) for number in range(PARTS)]
    X, y = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    made: list[Any] = []
    yield lambda: made.append(sp.Dataset(X, y, max_bin=BINS))
    yield lambda: sp.train({**_params(), "n_jobs": threads}, made[0], rounds)


def lightgbm(client: Any, X: Any, y: Any, rounds: int) -> Iterator[Callable[[], Any]]:
    """LightGBM fits in one step."""
    lgb = library("lightgbm")
    model = lgb.DaskLGBMClassifier(
        client=client, n_estimators=rounds, num_leaves=LEAVES, learning_rate=RATE, max_bin=BINS, reg_lambda=1.0,
        min_child_samples=1, min_child_weight=1e-3, tree_learner="data", verbosity=-1,
    )  # fmt: skip
    yield lambda: None
    yield lambda: model.fit(X, y).to_local()


def xgboost(client: Any, X: Any, y: Any, rounds: int) -> Iterator[Callable[[], Any]]:
    """What builds XGBoost's matrix, and what trains on it."""
    xgb = library("xgboost.dask")
    made: list[Any] = []
    yield lambda: made.append(xgb.DaskQuantileDMatrix(client, X, y, max_bin=BINS))
    params = {
        "objective": "binary:logistic", "max_depth": 0, "max_leaves": LEAVES, "grow_policy": "lossguide",
        "learning_rate": RATE, "max_bin": BINS, "reg_lambda": 1.0, "min_child_weight": 1e-3, "verbosity": 0,
    }  # fmt: skip
    yield lambda: xgb.train(client, params, made[0], rounds)["booster"]


def trip(inputs: Any, communicator: Any, records: Any, on_record: Any) -> list[float]:
    """The work of a rank: seconds of each allreduce of a histogram."""
    values, seconds = np.zeros(TRIP, np.int32), []
    for _ in range(TRIPS):
        begin = time.perf_counter()
        communicator.allreduce_sum(values)
        seconds.append(time.perf_counter() - begin)
    return seconds


def main(mode: str, workers: str, rows: str, rounds: str) -> None:
    """Train, and print the results."""
    if mode == "local":
        local_steps = local(int(rows), int(workers), int(rounds))
        print(json.dumps(_measured(mode, local_steps)))
        return
    distributed = library("distributed")
    with (
        distributed.LocalCluster(
            n_workers=int(workers), threads_per_worker=1, dashboard_address=":0", memory_limit=0
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        if mode == "trip":
            print(json.dumps(_trip(client)))
            return
        steps = {"ours": ours, "lightgbm": lightgbm, "xgboost": xgboost}[mode]
        for step in steps(client, *collections(client, 100 * PARTS), 2):
            step()  # whatever is loaded at first use is loaded now
        print(json.dumps(_measured(mode, steps(client, *collections(client, int(rows)), int(rounds)))))


def _measured(mode: str, steps: Iterator[Callable[[], Any]]) -> dict[str, Any]:
    _, build = timed(next(steps))
    model, train = timed(next(steps))
    found: dict[str, Any] = {"build": build, "train": train, "fit": build + train}
    if mode == "ours":
        found |= {name: getattr(model.traffic, name) for name in ("calls", "sent", "received")}
        (model,) = model.value[0]
        found["trees"] = model.rounds
    if mode in ("ours", "local"):
        found["digest"] = hashlib.sha256(model.to_bytes()).hexdigest()
    return found | {"loss": _loss(mode, model)}


def _loss(mode: str, model: Any) -> float:
    X, y = make_binary(HELD_OUT, COLUMNS, part=TEST)
    if mode == "lightgbm":
        chance = model.predict_proba(X)[:, 1]
    else:
        chance = model.predict(library("xgboost").DMatrix(X) if mode == "xgboost" else X)
    chance = np.clip(np.asarray(chance, np.float64), 1e-15, 1 - 1e-15)
    return float(-np.mean(np.where(y > 0, np.log(chance), np.log1p(-chance))))


def _trip(client: Any) -> dict[str, float]:
    run = library("spinney.dask.run")
    futures = client.map(np.zeros, [1] * len(client.nthreads()), pure=False)
    seconds = run.run_ranks(client, [run.PartitionedTable(futures, [1] * len(futures))], trip).value
    return {"median": 1e3 * statistics.median(seconds), "best": 1e3 * min(seconds)}


def _params() -> dict[str, Any]:
    return {
        "objective": "log_loss", "max_depth": 0, "max_leaves": LEAVES, "grow_policy": "lossguide",
        "learning_rate": RATE, "max_bin": BINS, "reg_lambda": 1.0, "min_child_samples": 1,
        "min_child_weight": 1e-3,
    }  # fmt: skip


if __name__ == "__main__":
    main(*sys.argv[1:])
