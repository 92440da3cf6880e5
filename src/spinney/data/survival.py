"""Rows by time, and which pairs of rows have a known order."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spinney.data.kernels.risk_sets import BLOCK, RiskSets
from spinney.data.labels import Labels
from spinney.jit import allocate

Floats = NDArray[np.float64]
Places = NDArray[np.int32]


class ByTime(NamedTuple):
    """Rows by time.

    Attributes
    ----------
    order : int32[rows]
        Rows, the earliest first; those of one time in the order of the table.
    first, last : int32[rows]
        Of each place in `order`, the first and the last one of the same time.
    """

    order: Places
    first: Places
    last: Places


def by_time(labels: Labels) -> ByTime:
    """Sort rows by the first column of their target.

    Examples
    --------
    >>> found = by_time(Labels(np.array([[5.0, 1.0], [2.0, 0.0], [5.0, 1.0]])))
    >>> found.order.tolist(), found.first.tolist(), found.last.tolist()
    ([1, 0, 2], [0, 1, 1], [0, 2, 2])
    """
    times = labels.target[:, 0]
    order = np.argsort(times, kind="stable").astype(np.int32)
    ordered = times[order]
    begins = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    sizes = np.diff(np.append(begins, labels.rows))
    first = np.repeat(begins, sizes)
    return ByTime(order, first.astype(np.int32), (first + np.repeat(sizes, sizes) - 1).astype(np.int32))


def risk_sets(labels: Labels) -> RiskSets:
    """Memory for the risk sets of rows whose target is (time, event)."""
    found = labels.kept(by_time)
    weight = np.ones(labels.rows) if labels.weight is None else labels.weight[found.order]
    return allocate(
        RiskSets,
        rows=labels.rows,
        blocks=-(-labels.rows // BLOCK),
        order=found.order,
        first=found.first,
        weight=weight,
        event=weight * labels.target[found.order, 1],
    )


class Spans(NamedTuple):
    """What is known of the times of rows: the least and the largest; and rows in the order in which pairs are compared.

    Attributes
    ----------
    lower, upper : float64[rows]
        Least and largest time, the latter infinite where it is not known.
    exact : bool[rows]
        Whether both are the same.
    later : int32[rows]
        Rows by least time, the latest first; of one time, those that may be later still stand first.
    earlier : int32[bounded]
        Rows that have a largest time, by it, the latest first; of one time, exact ones stand last.
    """

    lower: Floats
    upper: Floats
    exact: NDArray[np.bool_]
    later: Places
    earlier: Places


def spans_of_intervals(labels: Labels) -> Spans:
    """What is known of the times of rows whose target is (least time, largest time)."""
    return _spans(labels.target[:, 0], labels.target[:, 1])


def spans_of_events(labels: Labels) -> Spans:
    """What is known of the times of rows whose target is (time, event).

    Examples
    --------
    >>> found = spans_of_events(Labels(np.array([[5.0, 1.0], [2.0, 0.0], [5.0, 0.0]])))
    >>> found.upper.tolist(), found.later.tolist(), found.earlier.tolist()
    ([5.0, inf, inf], [2, 0, 1], [0])
    """
    time, event = labels.target[:, 0], labels.target[:, 1] > 0
    return _spans(time, np.where(event, time, np.inf))


def _spans(lower: Floats, upper: Floats) -> Spans:
    exact = lower == upper
    later = np.lexsort((exact, -lower))
    bounded = np.flatnonzero(np.isfinite(upper))
    earlier = bounded[np.lexsort((exact[bounded], -upper[bounded]))]
    contiguous = np.ascontiguousarray
    return Spans(
        contiguous(lower), contiguous(upper), exact, later.astype(np.int32), earlier.astype(np.int32)
    )
