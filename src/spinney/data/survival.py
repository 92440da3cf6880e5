"""Survival targets: rows sorted by time with their risk sets, and the time spans by which pairs of rows have a known order."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spinney.data.kernels.risk_sets import RISK_BLOCK, RiskSets
from spinney.data.labels import Labels
from spinney.errors import DataError
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
        For each place in `order` the first and the last place of the same time.
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
    found = labels.cached(by_time)
    weight = np.ones(labels.rows) if labels.weight is None else labels.weight[found.order]
    return allocate(
        RiskSets,
        rows=labels.rows,
        blocks=-(-labels.rows // RISK_BLOCK),
        order=found.order,
        first=found.first,
        weight=weight,
        event=weight * labels.target[found.order, 1],
    )


class Spans(NamedTuple):
    """Span of the possible times of each row, and rows in the order in which pairs are compared.

    Attributes
    ----------
    lower, upper : float64[rows]
        Least and largest time; the largest is infinite where it is unknown.
    exact : bool[rows]
        Whether both are the same.
    later : int32[rows]
        Rows by least time, the latest first; of the same time those that may be later come first.
    earlier : int32[bounded]
        Rows with a finite largest time, by it, the latest first; of the same time exact ones come last.
    """

    lower: Floats
    upper: Floats
    exact: NDArray[np.bool_]
    later: Places
    earlier: Places


def spans_of_intervals(labels: Labels) -> Spans:
    """Spans of rows whose target is (least time, largest time)."""
    return _spans(labels.target[:, 0], labels.target[:, 1])


def spans_of_events(labels: Labels) -> Spans:
    """Spans of rows whose target is (time, event).

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


def columns_of_records(y: object, objective: str) -> object:
    """A target of two columns from records of an event and a time, as in scikit-survival; other targets are returned unchanged.

    Examples
    --------
    >>> y = np.array([(True, 2.0), (False, 5.0)], dtype=[("event", "?"), ("time", "f8")])
    >>> columns_of_records(y, "cox").tolist(), columns_of_records(y, "aft").tolist()
    ([[2.0, 1.0], [5.0, 0.0]], [[2.0, 2.0], [5.0, inf]])
    """
    names = getattr(getattr(y, "dtype", None), "names", None)
    if not names or not isinstance(y, np.ndarray):
        return y
    events = [name for name in names if y.dtype[name].kind == "b"]
    times = [name for name in names if y.dtype[name].kind in "iuf"]
    if len(names) != 2 or len(events) != 1 or len(times) != 1:
        raise DataError(
            f"y holds records of {', '.join(names)}; for objective {objective} they must be of an event (bool) and a time"
        )
    event, time = y[events[0]], y[times[0]].astype(np.float64)
    second = event if objective == "cox" else np.where(event, time, np.inf)
    return np.column_stack([time, second])
