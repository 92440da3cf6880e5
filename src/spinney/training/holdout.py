"""Drawing the rows that are held out as validation data."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from spinney.data import Labels
from spinney.errors import DataError
from spinney.jit.team import Team
from spinney.sampling import UniformSampler


def held_out(
    labels: Labels,
    groups: NDArray[np.int64],
    share: float,
    seed: int,
    whole: str = "queries",
    alike: bool = False,
) -> NDArray[np.bool_]:
    """Choose rows to hold out, the same share of every group as nearly as whole rows allow; or whole queries.

    Parameters
    ----------
    labels : Labels
        Of all rows; rows of weight 0, and queries of such rows alone, are never held out. Where there are queries, they are
        held out whole.
    groups : int64[rows]
        Group of each row, from 0; of rows without queries, or of queries whose rows are alike.
    share : float
        Share of the rows, or of the queries, above 0.
    seed : int
        The same seed chooses the same rows.
    whole : {"queries", "groups"}
        What messages call queries.
    alike : bool
        Whether all rows of a query are of one group, of which then the same share of queries is held out.

    Returns
    -------
    bool[rows]
        True where a row is held out. Every group that has a row keeps one.

    Examples
    --------
    >>> groups = np.repeat([0, 1], [60, 40])
    >>> chosen = held_out(Labels(groups * 1.0), groups, 0.1, seed=0)
    >>> int(chosen[:60].sum()), int(chosen[60:].sum())
    (6, 4)
    """
    if labels.queries is not None:
        weight = (
            None if labels.weight is None else np.bincount(labels.queries, labels.weight).astype(np.float64)
        )
        queries = Labels(np.zeros(int(labels.queries.max()) + 1), weight)
        of_query = np.zeros(queries.rows, np.int64)
        if alike:
            of_query[labels.queries] = groups
        return _drawn(queries, of_query, share, seed, whole)[labels.queries]
    return _drawn(labels, groups, share, seed, "rows")


def strata_of_events(target: NDArray[np.float64], objective: str) -> NDArray[np.int64]:
    """Which rows have an event, so that the same share of events is held out."""
    event = target[:, 1] > 0 if objective == "cox" else target[:, 0] == target[:, 1]
    return event.astype(np.int64)


def _drawn(
    labels: Labels, groups: NDArray[np.int64], share: float, seed: int, things: str
) -> NDArray[np.bool_]:
    """Choose things to hold out, rows or queries."""
    count = int(groups.max()) + 1
    if labels.weight is not None:
        groups = np.where(labels.weight > 0, groups, -1)
    sizes = np.bincount(groups[groups >= 0], minlength=count)
    wanted = _apportioned(sizes, share, things)
    chosen = np.zeros(len(groups), np.bool_)
    for group in np.flatnonzero(wanted):
        rows = np.flatnonzero(groups == group).astype(np.int32)
        drawn = np.empty(len(rows), np.int32)
        taken = UniformSampler(rows, drawn, Team(1)).draw(
            wanted[group] / len(rows), (seed + int(group)) % 2**63
        )
        chosen[drawn[:taken]] = True
    return chosen


def _apportioned(sizes: NDArray[np.int64], share: float, things: str) -> NDArray[np.int64]:
    """Rows or queries to take of each group: the exact share rounded down, the rest to those that lost most by it."""
    rows = int(sizes.sum())
    total = max(1, round(share * rows))
    most = np.maximum(sizes - 1, 0)
    if total > most.sum():
        one = {
            "rows": ("1 sample", "a row"),
            "queries": ("1 query", "a query"),
            "groups": ("1 group", "a group"),
        }[things]
        found = one[0] if rows == 1 else f"{rows} {things}"
        left = one[1] if len(sizes) == 1 else "a row of every class"
        advice = f"give more {things}" if total == 1 else f"give more {things}, or a smaller fraction"
        raise DataError(
            f"validation_fraction={share} holds out {total} of {found}, but {left} must be left to train on: {advice}"
        )
    exact = share * sizes
    wanted: NDArray[np.int64] = np.minimum(np.floor(exact).astype(np.int64), most)
    order = np.argsort(wanted - exact, kind="stable")
    while (missing := total - int(wanted.sum())) > 0:
        wanted[order[wanted[order] < most[order]][:missing]] += 1
    return wanted
