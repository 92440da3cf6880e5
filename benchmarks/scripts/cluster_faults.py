"""Trainings on a cluster whose workers are killed, halted, added and taken away: `cluster_faults TRAININGS SEED`.

What happens, and when, is drawn anew for each training; Ctrl-C at the client is among it. It prints how many trainings finished,
were interrupted or ended with an error of ours, and how many gave other bytes than one machine. Each is bounded in time: if one
hangs, the process shows where and ends with an error.
"""

import faulthandler
import json
import logging
import os
import random
import signal
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any

import numpy as np

from benchmarks.peers.base import library

LIMIT = 180  # seconds; only what hangs takes so long
ROWS, COLUMNS, ROUNDS, CUTS = 3_000, 8, 40, (100, 1_200, 1_200, 1_250, 2_400)
PARAMS = {"objective": "log_loss", "max_leaves": 15, "subsample": 0.7, "seed": 5}
ACTS = ("kill", "kill", "kill", "kill all", "halt", "scale", "interrupt")
LONGEST = 1.5  # seconds until something happens


class Mischief(threading.Thread):
    """Does what was drawn, one after the other, until the training is over."""

    def __init__(self, cluster: Any, rng: random.Random) -> None:
        super().__init__(daemon=True)
        self._cluster, self._over, self._rng = cluster, threading.Event(), rng
        self._plan = [(rng.uniform(0, LONGEST), rng.choice(ACTS)) for _ in range(rng.randrange(1, 4))]
        self.done: Counter[str] = Counter()

    def run(self) -> None:
        """Wait a while, act, and again."""
        for delay, act in self._plan:
            if self._over.wait(delay):
                return
            self._act(act)
            self.done[act] += 1

    def end(self) -> None:
        """Stop. Interrupts that come now are too late to interrupt anything."""
        while self.is_alive():
            try:
                self._over.set()
                self.join()
            except KeyboardInterrupt:
                continue

    def _act(self, act: str) -> None:
        processes = [
            pid for worker in list(self._cluster.workers.values()) if (pid := getattr(worker, "pid", None))
        ]
        if act == "interrupt":
            os.kill(os.getpid(), signal.SIGINT)
        elif act == "scale":
            self._cluster.scale(self._rng.choice((2, 3, 4)))
        elif act == "halt":
            for process in self._rng.sample(processes, min(1, len(processes))):
                _signal(process, signal.SIGSTOP)
                self._over.wait(1)
                _signal(process, signal.SIGCONT)
        else:
            for process in (
                processes if act == "kill all" else self._rng.sample(processes, min(1, len(processes)))
            ):
                _signal(process, signal.SIGKILL)


def _signal(process: int, number: int) -> None:
    try:
        os.kill(process, number)
    except ProcessLookupError:
        return


def main(trainings: str, seed: str) -> None:
    """Train again and again, and print the counts."""
    sp, face, distributed = library("spinney"), library("spinney.dask"), library("distributed")
    signal.signal(signal.SIGINT, signal.default_int_handler)
    # So many workers die here that Dask would take partitions for the cause.
    library("dask").config.set({"distributed.scheduler.allowed-failures": 10**6})
    X, y = _table()
    wanted = sp.train(PARAMS, sp.Dataset(X, y), ROUNDS).to_bytes()
    rng = random.Random(int(seed))
    counts: Counter[str] = Counter()
    left = int(trainings)
    while left > 0:
        cluster = distributed.LocalCluster(
            n_workers=3, threads_per_worker=1, dashboard_address=":0", silence_logs=logging.CRITICAL, memory_limit=0
        )  # fmt: skip
        with closing(cluster), distributed.Client(cluster) as client:
            data = face.Dataset(client, *_collections(X, y))
            train = partial(face.train, client, PARAMS, data, ROUNDS)
            while left > 0 and _ready(cluster, client):
                left -= 1
                faulthandler.dump_traceback_later(LIMIT, exit=True)
                counts += _one(train, wanted, cluster, rng)
                faulthandler.cancel_dump_traceback_later()
    print(json.dumps({"trainings": int(trainings), **counts}))


@contextmanager
def closing(cluster: Any) -> Iterator[None]:
    """Close a cluster in the end, even where Dask looks for a worker that was killed and is no longer in its list."""
    try:
        yield
    finally:
        with suppress(KeyError):
            cluster.close()


def _one(train: Any, wanted: bytes, cluster: Any, rng: random.Random) -> Counter[str]:
    """One training: how it ended, and what was done to it."""
    mischief = Mischief(cluster, rng)
    ended = "interrupted"
    try:
        mischief.start()
        ended = "same" if train().to_bytes() == wanted else "wrong"
    except KeyboardInterrupt:
        pass
    except library("spinney.errors").SpinneyError as error:
        ended = "error"
        print(error, file=sys.stderr)
    mischief.end()
    return Counter({ended: 1}) + mischief.done


def _ready(cluster: Any, client: Any) -> bool:
    """Whether the cluster has workers again. One whose scaling was disturbed may stay small; then another is made."""
    try:
        cluster.scale(3)
        client.wait_for_workers(2, timeout=30)
    except TimeoutError:
        return False
    return True


def _table() -> tuple[Any, Any]:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(ROWS, COLUMNS))
    return X, (X[:, 0] * X[:, 1] + X[:, 2] + rng.normal(size=ROWS) > 0).astype(np.float64)


def _collections(X: Any, y: Any) -> list[Any]:
    """The table in uneven partitions; one is empty."""
    delayed = library("dask").delayed
    return [[delayed(part) for part in np.split(array, CUTS)] for array in (X, y)]


if __name__ == "__main__":
    main(*sys.argv[1:])
