"""Metrics of ranking: what each query gets for the order of its rows, and the mean."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from spinney.data import Labels
from spinney.data.ranking import gains_for
from spinney.metrics.mean import kernel_of
from spinney.metrics.outcome import Outcome, scaled
from spinney.params import MetricRow

Floats = NDArray[np.float64]


def by_query(row: MetricRow, outcome: Outcome, labels: Labels, parameters: Floats) -> float:
    """Mean over queries; a query weighs as much as its rows on the average.

    `parameters` are the place down to which lists are judged, then the gains by relevance.
    """
    lists, ranked = outcome.ranked(labels)
    depth, *gains = parameters.tolist()
    values = np.empty(lists.queries)
    made = gains_for(lists, gains, int(depth), outcome.team.size)
    outcome.team.run(kernel_of(row.name, "values").bind(labels.arrays(), lists, ranked, made, values))
    weight = _weights(scaled(labels), values)
    return math.fsum(values * weight) / math.fsum(weight)


def _weights(labels: Labels, values: Floats) -> Floats:
    """Mean weight of each query's rows."""
    if labels.weight is None:
        return np.ones(len(values))
    queries = np.zeros(labels.rows, np.int64) if labels.queries is None else labels.queries
    return np.bincount(queries, labels.weight) / np.bincount(queries)
