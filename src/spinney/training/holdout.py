"""Rows that are held out: which, and which rows must be held out together.

These are the rows of a group that the user gave, or duplicate rows (`target_encoding/duplicates.py`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spinney.binning.binned import BinnedData
from spinney.collective import ALONE, Communicator
from spinney.data import Labels
from spinney.errors import DataError, DataTypeError, ParameterError
from spinney.jit.team import Team
from spinney.messages import shown
from spinney.params import Config, kind_of
from spinney.params.common import LAST
from spinney.sampling import UniformSampler
from spinney.target_encoding.duplicates import HELD_TOGETHER, Duplicates
from spinney.training.splitting import group_numbers


@dataclass(frozen=True, eq=False)
class RowGroups:
    """Which rows belong together: none is held out without the others, or encoded with the target of another.

    Attributes
    ----------
    number : int64[rows]
        Rows of one number do, whatever the numbers are.
    duplicates : bool
        Whether they are duplicates of each other, and not groups that the user gave.
    """

    number: NDArray[np.int64]
    duplicates: bool = False

    def labels(self, labels: Labels) -> Labels:
        """Labels whose queries are the rows that belong together."""
        numbers = np.unique(self.number, return_inverse=True)[1].astype(np.int64)
        return Labels(labels.target, labels.weight, queries=numbers)


class AllGroups(NamedTuple):
    """Rows that belong together.

    Attributes
    ----------
    everywhere : RowGroups, optional
        Of the rows of all ranks, at rank 0.
    local : int64[rows], optional
        Groups of the local rows, if the user gave some. A target encoding finds duplicates by itself, among the rows that it is
        fitted on.
    """

    everywhere: RowGroups | None = None
    local: NDArray[np.int64] | None = None


def find_row_groups(
    groups: object,
    data: BinnedData,
    duplicates: Duplicates | None,
    communicator: Communicator = ALONE,
) -> AllGroups:
    """Rows that are held out together or not at all: groups, or duplicates of each other.

    Duplicates are looked for only if they are given. Where several ranks hold the rows, groups are whole numbers, of the local
    rows at each.
    """
    labels = data.checked_labels()
    if groups is None:
        if duplicates is None or labels.queries is not None:
            return AllGroups()
        own = duplicates.of(data, labels, HELD_TOGETHER)
        numbers = None if own is None else communicator.gather_rows(own)
        return AllGroups(None if numbers is None else RowGroups(numbers, duplicates=True))
    if communicator.size > 1:
        groups = communicator.gather_rows(np.asarray(groups, np.int64))
    found = None
    if groups is not None:
        check_groups(labels)
        numbers = group_numbers(groups, data.table_rows)
        assert numbers is not None
        found = RowGroups(numbers)
    if communicator.size == 1 and found is not None:
        return AllGroups(found, found.number)
    everywhere = communicator.broadcast(None if found is None else found.number)
    return AllGroups(found, everywhere[data.first : data.first + data.rows])


def check_groups(labels: Labels) -> None:
    """Refuse groups of rows that have queries."""
    if labels.queries is not None:
        raise ParameterError("groups contradicts queries, which are held out whole anyway; leave it out")


Rows = str | NDArray[np.bool_] | None
"""Which rows are held out: some at random (None), the last ones (`LAST`), or these."""


def checked_rows(validation: object, rows: int | None = None) -> Rows:
    """Which rows a user wants held out: None, `LAST`, or numbers or a mask of rows, which become a mask.

    Without the number of `rows`, numbers and masks stay what they are.

    Examples
    --------
    >>> checked_rows([3, 1], 4).tolist()
    [False, True, False, True]
    """
    if validation is None or (isinstance(validation, str) and validation == LAST):
        return validation
    if isinstance(validation, str):
        raise ParameterError(
            f"validation={shown(validation)} is unknown: it must be {LAST!r}, or the numbers or a mask of rows to hold out"
        )
    try:
        given = np.asarray(validation)
    except ValueError:  # rows of several lengths
        given = np.empty((0, 0))
    if given.ndim == 1 and not len(given):
        raise DataError("validation names no row; some must be held out, or leave it out")
    if given.ndim != 1 or given.dtype.kind not in "biu":
        share = "; a share of the rows is validation_fraction" if isinstance(validation, float) else ""
        raise DataTypeError(
            f"validation must be {LAST!r}, an array of row numbers, or one truth value a row, got {shown(validation)}{share}"
        )
    return given if rows is None else _mask_of(given, rows)


def _mask_of(given: NDArray[Any], rows: int) -> NDArray[np.bool_]:
    if given.dtype.kind == "b":
        if len(given) != rows:
            raise DataError(
                f"validation has shape {given.shape}; a mask must be ({rows},), a value for each row"
            )
        mask = given
    else:
        odd = given[(given < 0) | (given >= rows)]
        if len(odd):
            raise DataError(f"validation names row {odd[0]}; there are rows 0 to {rows - 1}")
        if len(np.unique(given)) < len(given):
            row = np.sort(given)[:-1][np.diff(np.sort(given)) == 0][0]
            raise DataError(f"validation names row {row} twice; name each row once")
        mask = np.zeros(rows, np.bool_)
        mask[given] = True
    if not mask.any() or mask.all():
        raise DataError(
            f"validation names {'all' if mask.any() else 'none'} of the {rows} rows; some must be held out, and some be left to "
            "train on"
        )
    return mask


def named(validation: Rows, share: float) -> str:
    """What messages call the argument that names the rows to hold out."""
    if validation is None:
        return f"validation_fraction={share}"
    return f"validation={LAST!r}" if isinstance(validation, str) else "validation"


# Kinds of objectives whose rows have events or not.
SURVIVAL = ("hazards", "times")


def draw_holdout(
    config: Config,
    labels: Labels,
    strata: NDArray[np.int64],
    share: float,
    validation: Rows = None,
    groups: RowGroups | None = None,
) -> NDArray[np.bool_]:
    """Rows to hold out: by their number and the seed alone, and whole groups or queries.

    Parameters
    ----------
    config : Config
        The parameters of training, with the seed.
    labels : Labels
        Of all rows.
    strata : int64[rows]
        Class of each row, or whether it has an event; 0 for all where the same share of all rows is held out.
    share : float
        Share of the rows to hold out.
    validation : {"last"} or bool[rows], optional
        Which rows to hold out; None for some at random.
    groups : RowGroups, optional
        Rows that belong together.
    """
    grouped = labels if groups is None else groups.labels(labels)
    whole = "queries" if groups is None else "groups"
    alike = groups is not None and groups.duplicates
    chosen = chosen_rows(validation, grouped, strata, share, config.random_state, whole, alike)
    alone = groups is None and labels.queries is None
    if validation is None and alone and labels.targets > 1 and kind_of(config.objective) == "two":
        keep_rare_labels(chosen, labels)
    if validation is not None:
        check_left(chosen, labels, strata, kind_of(config.objective) in SURVIVAL, named(validation, share))
    return chosen


def chosen_rows(
    validation: Rows,
    labels: Labels,
    groups: NDArray[np.int64],
    share: float,
    seed: int,
    whole: str = "queries",
    alike: bool = False,
) -> NDArray[np.bool_]:
    """Choose rows to hold out, by `validation`; the other parameters are those of `held_out`."""
    if validation is None:
        return held_out(labels, groups, share, seed, whole, alike)
    chosen = last_out(labels, share, whole) if isinstance(validation, str) else validation
    _check_given(chosen, labels, whole)
    return chosen


def keep_rare_labels(chosen: NDArray[np.bool_], labels: Labels) -> None:
    """Where rows have several labels: hold out no row that is the only one with a label, or without it."""
    has_weight = np.ones(labels.rows, np.bool_) if labels.weight is None else labels.weight > 0
    for has in (labels.target > 0.5).T:
        for rows in (np.flatnonzero(has_weight & has), np.flatnonzero(has_weight & ~has)):
            if chosen[rows].all():
                chosen[rows[:1]] = False


def check_left(
    chosen: NDArray[np.bool_], labels: Labels, groups: NDArray[np.int64], events: bool, what: str
) -> None:
    """Refuse to hold out all rows of a class, or all that have an event.

    Parameters
    ----------
    chosen : bool[rows]
        Rows to hold out.
    labels : Labels
        Of all rows.
    groups : int64[rows]
        Class of each row, or whether it has an event.
    events : bool
        Which of the two.
    what : str
        What messages call the argument that chose the rows.
    """
    has_weight = np.ones(labels.rows, np.bool_) if labels.weight is None else labels.weight > 0
    lost = np.setdiff1d(groups[has_weight & chosen], groups[has_weight & ~chosen])
    if events:
        lost = lost[lost > 0]
    if len(lost):
        rows = "that have an event" if events else f"of class {lost[0]}, counted from 0"
        raise DataError(f"{what} holds out all rows {rows}; leave some of them to train on")


def last_out(labels: Labels, share: float, whole: str = "queries") -> NDArray[np.bool_]:
    """The last rows, or the last queries in the order of their first rows. The parameters are those of `held_out`.

    Examples
    --------
    >>> last_out(Labels(np.zeros(5), queries=np.array([0, 1, 1, 0, 2])), 0.5).tolist()
    [False, True, True, False, True]
    """
    things, number = "rows", np.arange(labels.rows)
    if labels.queries is not None:
        _, first, found = np.unique(labels.queries, return_index=True, return_inverse=True)
        things, number = whole, np.argsort(np.argsort(first))[found]
    weight = np.ones(labels.rows) if labels.weight is None else labels.weight
    has_weight = np.flatnonzero(np.bincount(number, weight) > 0)
    (count,) = _apportioned(np.array([len(has_weight)]), share, things)
    chosen: NDArray[np.bool_] = np.isin(number, has_weight[len(has_weight) - count :])
    return chosen


def _check_given(chosen: NDArray[np.bool_], labels: Labels, whole: str) -> None:
    """Refuse rows that cannot be held out alone."""
    if labels.queries is not None:
        cut = np.intersect1d(labels.queries[chosen], labels.queries[~chosen])
        if len(cut):
            row = int(np.flatnonzero(chosen & (labels.queries == cut[0]))[0])
            raise DataError(
                f"validation holds out row {row}, but not all rows of its {'query' if whole == 'queries' else 'group'}; hold out "
                f"whole {whole}"
            )
    if labels.weight is not None and not (labels.weight[chosen].any() and labels.weight[~chosen].any()):
        raise DataError("validation: the rows held out, or those left, all have weight 0")


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


def event_strata(target: NDArray[np.float64], objective: str) -> NDArray[np.int64]:
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
