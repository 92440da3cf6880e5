"""A small cluster of processes for a module of tests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import dask
import numpy as np
from distributed import Client, LocalCluster

from spinney.dask.run import PartitionedTable

# Seconds until something that should have come is given up.
PATIENCE = 120

# So long after a worker was lost, Dask closes it for good if it is away again at that very moment, as after a second kill. No
# test may last as long.
LOST = {"distributed.deploy.lost-worker-timeout": "1 day"}


@contextmanager
def cluster_of(workers: int, *, processes: bool = True) -> Iterator[Client]:
    """A client of a cluster of so many workers, with a thread each. Workers that are killed come back."""
    with (
        dask.config.set(LOST),
        LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            processes=processes,
            dashboard_address=":0",
            memory_limit=0,
        ) as cluster,
        Client(cluster.scheduler_address, set_as_default=False) as client,
    ):
        yield client


def another_client(client: Client, *, default: bool = False) -> Client:
    """Another client of the scheduler.

    Dask expects one message when a client connects, and asserts it. The scheduler may send two in one if it is busy.
    """
    for _ in range(5):
        try:
            return Client(client.scheduler.address, set_as_default=default)
        except AssertionError:
            continue
    return Client(client.scheduler.address, set_as_default=default)


def parts_of(client: Client, values: np.ndarray, cuts: Sequence[int]) -> PartitionedTable:
    """A table of one column in partitions that can be computed again."""
    arrays = np.split(values, cuts)
    return PartitionedTable(
        [client.submit(_itself, array, pure=False) for array in arrays], [len(array) for array in arrays]
    )


def _itself(array: np.ndarray) -> np.ndarray:
    return array
