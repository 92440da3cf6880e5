"""Rows dealt out to folds or parts: at random or in order, every class in proportion, groups of rows whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.data.arrays import as_array
from spinney.errors import DataError, ParameterTypeError
from spinney.messages import shown
from spinney.params import checked_seed
from spinney.sampling import random_order

Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class Dealing:
    """How rows are dealt out.

    Attributes
    ----------
    rows : int
        How many rows there are.
    classes : int64[rows], optional
        Class of each row; every part gets its share of each.
    groups : int64[rows], optional
        Group of each row; a group stays whole.
    seed : int, optional
        The same seed deals the same. None: in the order of the rows, the first ones to the first part.

    Examples
    --------
    >>> dealing = Dealing(6, classes=np.array([0, 0, 0, 0, 1, 1]), seed=1)
    >>> parts = dealing.evenly(2)
    >>> sorted(parts[:4].tolist()), sorted(parts[4:].tolist())
    ([0, 0, 1, 1], [0, 1])
    """

    rows: int
    classes: Numbers | None = None
    groups: Numbers | None = None
    seed: int | None = None

    def evenly(self, parts: int) -> Numbers:
        """Part of each row, of so many that are as large as each other, but for a row."""
        if self.groups is not None:
            return self._whole_groups(np.full(parts, 1.0 / parts))
        if self.seed is None:
            return self._in_order(np.full(parts, 1.0 / parts))
        return self._in_turn(np.arange(self.rows) % parts)

    def by_counts(self, counts: Sequence[int]) -> Numbers:
        """Part of each row, where parts have so many rows; about so many where groups or classes are dealt out in order."""
        shares = np.array(counts, np.float64) / self.rows
        if self.groups is not None:
            return self._whole_groups(shares)
        if self.seed is None:
            return self._in_order(shares)
        # Each part's turns come at equal distances.
        when = np.concatenate([(np.arange(count) + 0.5) / max(count, 1) for count in counts])
        return self._in_turn(np.repeat(np.arange(len(counts)), counts)[np.argsort(when, kind="stable")])

    def _in_turn(self, turns: Numbers) -> Numbers:
        """Deal shuffled rows, class after class, to the parts whose turn it is."""
        assert self.seed is not None
        order = random_order(self.rows, self.seed)
        if self.classes is not None:
            order = order[np.argsort(self.classes[order], kind="stable")]
        dealt = np.empty(self.rows, np.int64)
        dealt[order] = turns
        return dealt

    def _in_order(self, shares: NDArray[np.float64]) -> Numbers:
        """Deal the rows of each class in their order: first those of the first part."""
        ends = np.cumsum(shares)[:-1]
        dealt = np.empty(self.rows, np.int64)
        classes = np.zeros(self.rows, np.int64) if self.classes is None else self.classes
        for one in np.unique(classes):
            mine = np.flatnonzero(classes == one)
            # Rounded, so that a share that is a whole number of rows is not missed by a hair.
            dealt[mine] = np.searchsorted(
                np.round(ends * len(mine), 6), np.arange(len(mine)) + 0.5, side="right"
            )
        return dealt

    def _whole_groups(self, shares: NDArray[np.float64]) -> Numbers:
        """Deal out groups, large ones first, each to the part that lacks its rows most.

        That is the part for which the sum over classes of (rows of the class in the part / all of the class)² / share grows
        least.
        """
        assert self.groups is not None
        classes = np.zeros(self.rows, np.int64) if self.classes is None else self.classes
        count, kinds = int(self.groups.max()) + 1, int(classes.max()) + 1
        sizes = np.bincount(self.groups * kinds + classes, minlength=count * kinds).reshape(count, kinds)
        of_class = np.maximum(sizes.sum(axis=0), 1)
        order = np.arange(count) if self.seed is None else random_order(count, self.seed)
        order = order[np.argsort(-sizes[order].sum(axis=1), kind="stable")]
        held = np.zeros((len(shares), kinds))
        weigh = 1.0 / (shares[:, None] * of_class.astype(np.float64) ** 2)
        part = np.empty(count, np.int64)
        for group in order:
            own = sizes[group]
            part[group] = np.argmin(((2.0 * held + own) * own * weigh).sum(axis=1))
            held[part[group]] += own
        return part[self.groups]


def dealing_of(
    rows: int, classes: NDArray[Any] | None, groups: object, shuffle: object, seed: object
) -> Dealing:
    """How to deal out rows, of arguments that are still to be checked."""
    found = checked_seed(seed)
    numbers = None if classes is None else np.unique(classes, return_inverse=True)[1].astype(np.int64)
    return Dealing(
        rows, numbers, group_numbers(groups, rows), found if check_truth("shuffle", shuffle) else None
    )


def group_numbers(groups: object, rows: int, name: str = "groups") -> Numbers | None:
    """Group of each row as a number from 0; None stays None.

    Examples
    --------
    >>> group_numbers(["ash", "oak", "ash"], 3).tolist()
    [0, 1, 0]
    """
    if groups is None:
        return None
    given = as_array(groups, name)
    if given.ndim != 1 or len(given) != rows:
        raise DataError(f"{name} has shape {given.shape}; it must be ({rows},), a group for each row")
    missing = _are_missing(given)
    if missing.any():
        raise DataError(f"{name} holds NaN in row {int(np.argmax(missing))}; give every row a group")
    try:
        _, numbers = np.unique(given, return_inverse=True)
    except TypeError as error:
        raise DataError(f"{name} holds values that cannot be told apart by their order: {error}") from error
    return numbers.astype(np.int64)


def _are_missing(given: NDArray[Any]) -> NDArray[np.bool_]:
    """Which values are NaN: among objects too, where it would upset their order."""
    if given.dtype.kind == "O":
        return np.array(
            [isinstance(one, float | np.floating) and bool(np.isnan(one)) for one in given.tolist()], bool
        )
    found: NDArray[np.bool_] = np.isnan(given) if given.dtype.kind == "f" else np.zeros(len(given), np.bool_)
    return found


def check_truth(name: str, value: object) -> bool:
    """An argument that must be True or False."""
    if not isinstance(value, bool | np.bool_):
        raise ParameterTypeError(f"{name}={shown(value)} must be True or False")
    return bool(value)
