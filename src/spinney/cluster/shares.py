"""Which rank holds which partitions, and which worker is which rank."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Parts:
    """A table in partitions.

    Attributes
    ----------
    futures : sequence of Future
        The partitions, in the order of their rows.
    rows : sequence of int
        The rows of each.
    """

    futures: Sequence[Any]
    rows: Sequence[int]


def cut(rows: Sequence[int], size: int, *, least: int = 0) -> list[range]:
    """Consecutive partitions for each rank, about equally many rows, and at least so many partitions for each."""
    ends = np.concatenate([[0], np.cumsum(np.asarray(rows, dtype=np.int64))])
    places = [0]
    for rank in range(1, size):
        nearest = int(np.argmin(np.abs(ends - ends[-1] * rank / size)))
        places.append(min(max(nearest, places[-1] + least), len(rows) - least * (size - rank)))
    places.append(len(rows))
    return [range(places[rank], places[rank + 1]) for rank in range(size)]


def place(rows_at: Sequence[Mapping[str, int]], workers: Sequence[str]) -> list[str]:
    """A worker for each rank, where most of its rows are already.

    `rows_at` has for each rank how many of its rows are at which worker.
    """
    free = dict.fromkeys(workers)
    placed: dict[int, str] = {}
    known = [
        (-rows, rank, worker)
        for rank, at in enumerate(rows_at)
        for worker, rows in at.items()
        if worker in free
    ]
    for _, rank, worker in sorted(known):
        if rank not in placed and worker in free:
            placed[rank] = worker
            del free[worker]
    for rank in range(len(rows_at)):
        if rank not in placed:
            placed[rank] = next(iter(free))
            del free[placed[rank]]
    return [placed[rank] for rank in range(len(rows_at))]
