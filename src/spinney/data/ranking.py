"""Rows by query as kernels take them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from spinney.data.kernels.queries import (
    RUN,
    Gains,
    LevelCounts,
    Lists,
    SortedList,
    best_gains,
    find_discounts,
)
from spinney.data.labels import Labels
from spinney.data.queries import by_query
from spinney.jit import allocate
from spinney.jit.team import Team


def lists_of(labels: Labels, threads: int) -> Lists:
    """The rows by query, and memory for so many threads to sort them.

    Examples
    --------
    >>> lists_of(Labels(np.zeros(3), queries=np.array([0, 1, 0])), 1).order.tolist()
    [0, 2, 1]
    """
    found = by_query(labels)
    longest = int(np.diff(found.begins).max())
    width = -(-longest // RUN) * RUN + RUN
    return allocate(
        Lists,
        rows=labels.rows,
        queries=found.queries,
        width=width,
        order=found.order,
        begins=found.begins,
        sorted=allocate(SortedList, threads=threads, width=width),
    )


def gains_for(lists: Lists, gains: Sequence[float], depth: int, threads: int) -> Gains:
    """What rows are worth by relevance and place, down to a place `depth`, and memory for so many threads to judge queries."""
    discounts = np.empty(lists.width)
    find_discounts(len(discounts), discounts)
    return allocate(
        Gains,
        levels=len(gains),
        depth=depth,
        gains=np.array(gains, np.float64),
        discounts=discounts,
        counts=allocate(LevelCounts, threads=threads, levels=len(gains)),
    )


def best_of(labels: Labels, lists: Lists, gains: Gains, team: Team) -> NDArray[np.float64]:
    """The discounted gain of each query in the best order of its rows.

    Examples
    --------
    >>> labels = Labels(np.array([0.0, 1.0, 0.0]), queries=np.array([0, 0, 1]))
    >>> lists = lists_of(labels, 1)
    >>> best_of(labels, lists, gains_for(lists, [0.0, 1.0], 10, 1), Team(1)).tolist()
    [1.0, 0.0]
    """
    best = np.empty(lists.queries)
    team.run(best_gains.bind(labels.arrays(), lists, gains, best))
    return best
