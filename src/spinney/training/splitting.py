"""Rows shared out to the parts of a split and to folds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spinney.binning.binned import BinnedData
from spinney.data import Labels
from spinney.data.arrays import as_array
from spinney.dataset import Dataset, as_dataset, binned_of
from spinney.errors import DataError, ParameterError, ParameterTypeError
from spinney.messages import shown
from spinney.params import checked_seed
from spinney.params.common import check_truth
from spinney.params.parameter import SeedLike, is_iterable
from spinney.sampling import random_order

Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class RowSplitter:
    """How rows are shared out to parts.

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
    >>> splitter = RowSplitter(6, classes=np.array([0, 0, 0, 0, 1, 1]), seed=1)
    >>> parts = splitter.evenly(2)
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
        """Part of each row, where parts have so many rows; about so many where groups or classes are shared out in order."""
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
        assigned = np.empty(self.rows, np.int64)
        assigned[order] = turns
        return assigned

    def _in_order(self, shares: NDArray[np.float64]) -> Numbers:
        """Deal the rows of each class in their order: first those of the first part."""
        ends = np.cumsum(shares)[:-1]
        assigned = np.empty(self.rows, np.int64)
        classes = np.zeros(self.rows, np.int64) if self.classes is None else self.classes
        for one in np.unique(classes):
            mine = np.flatnonzero(classes == one)
            # Rounded, so that a share that is a whole number of rows is not missed by a hair.
            assigned[mine] = np.searchsorted(
                np.round(ends * len(mine), 6), np.arange(len(mine)) + 0.5, side="right"
            )
        return assigned

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


def row_splitter(
    rows: int, classes: NDArray[Any] | None, groups: object, shuffle: object, seed: object
) -> RowSplitter:
    """How to deal out rows, of arguments that are still to be checked."""
    found = checked_seed(seed)
    numbers = None if classes is None else np.unique(classes, return_inverse=True)[1].astype(np.int64)
    return RowSplitter(
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
        raise DataError(f"{name} holds values that cannot be compared by their order: {error}") from error
    return numbers.astype(np.int64)


def _are_missing(given: NDArray[Any]) -> NDArray[np.bool_]:
    """Which values are NaN: among objects too, where it would upset their order."""
    if given.dtype.kind == "O":
        return np.array(
            [isinstance(one, float | np.floating) and bool(np.isnan(one)) for one in given.tolist()], bool
        )
    found: NDArray[np.bool_] = np.isnan(given) if given.dtype.kind == "f" else np.zeros(len(given), np.bool_)
    return found


_GIVE = "give a number, a splitter of scikit-learn, or an iterable of (train, test) pairs of row numbers"


class Fold(NamedTuple):
    """Rows to train on and rows to test on, ascending."""

    train: NDArray[np.int64]
    test: NDArray[np.int64]


def folds_of(folds: object, labels: Labels, groups: object, splitter: RowSplitter) -> list[Fold]:
    """The folds that a user wants.

    Parameters
    ----------
    folds : int, splitter or iterable of pairs
        As given.
    labels : Labels
        Of all rows; a splitter is called with the target.
    groups : array or None
        As given; a splitter is called with it, or with the queries of the rows.
    splitter : RowSplitter
        How rows are shared out to a number of folds.

    Raises
    ------
    ParameterError, DataError
        If rows cannot be parted so, a row is no row of the data, or stands in both parts of a fold, or twice in one.
    ParameterTypeError
        If folds are something else.
    """
    if isinstance(folds, int | np.integer) and not isinstance(folds, bool):
        return _numbered(int(folds), splitter, "queries" if groups is None else "groups")
    wrong = isinstance(folds, str | bytes | type)  # a splitter's class is not yet a splitter
    if callable(getattr(folds, "split", None)) and not wrong:
        return _of_splitter(folds, labels, labels.queries if groups is None else groups)
    if wrong or not is_iterable(folds):
        raise ParameterTypeError(f"folds={shown(folds)} cannot be used; {_GIVE}")
    if groups is not None:
        raise ParameterError(
            "groups is given beside folds that list their rows; leave it out, or give a number or a splitter"
        )
    return _checked(folds, labels.rows)


def _numbered(folds: int, splitter: RowSplitter, whole: str) -> list[Fold]:
    if folds < 2:
        raise ParameterError(f"folds={folds} is too few; give 2 or more")
    things, count = "rows", splitter.rows
    if splitter.groups is not None:
        things, count = whole, int(splitter.groups.max()) + 1
    if folds > count:
        raise DataError(f"folds={shown(folds)} is more than there are {things} ({count}); give fewer folds")
    part = splitter.evenly(folds)
    return [Fold(np.flatnonzero(part != k), np.flatnonzero(part == k)) for k in range(folds)]


def _of_splitter(splitter: Any, labels: Labels, groups: object) -> list[Fold]:
    try:
        # Splitters look at the number of rows of X alone.
        pairs = list(splitter.split(np.zeros((labels.rows, 1)), labels.target, groups))
    except ValueError as error:
        raise DataError(f"folds={shown(splitter)} cannot split these rows: {error}") from error
    return _checked(pairs, labels.rows)


def _checked(pairs: Iterable[Any], rows: int) -> list[Fold]:
    found = []
    for k, pair in enumerate(pairs):
        if not isinstance(pair, list | tuple) or len(pair) != 2:
            raise ParameterTypeError(f"fold {k} is {shown(pair)}, and no pair (train, test); {_GIVE}")
        train, test = (
            _row_numbers(one, rows, f"fold {k}, {name}") for one, name in zip(pair, _PARTS, strict=True)
        )
        both = np.intersect1d(train, test, assume_unique=True)
        if len(both):
            raise DataError(
                f"fold {k}: row {both[0]} is among both the train and the test rows ({len(both)} such rows); test on rows that "
                "were not trained on"
            )
        found.append(Fold(train, test))
    if not found:
        raise ParameterError(f"folds is empty; {_GIVE}")
    return found


_PARTS = ("train rows", "test rows")


def _row_numbers(given: Any, rows: int, where: str) -> NDArray[np.int64]:
    """Row numbers, ascending; a mask stands for the rows where it is True."""
    array = as_array(given, where)
    if array.ndim != 1:
        raise DataError(f"{where}: row numbers have shape {array.shape}; give one dimension")
    if array.dtype == np.bool_:
        if len(array) != rows:
            raise DataError(f"{where}: a mask of {len(array)} truth values, but there are {rows} rows")
        array = np.flatnonzero(array)
    if not len(array):
        raise DataError(f"{where}: there are none; give at least one")
    if array.dtype.kind not in "iu":
        raise DataError(f"{where}: row numbers must be whole, but are {array.dtype}")
    ordered = np.sort(array)
    wrong = ordered[0] if ordered[0] < 0 else ordered[-1]
    if not 0 <= wrong < rows:
        raise DataError(f"{where}: row {wrong} does not exist; there are rows 0 to {rows - 1}")
    ordered = ordered.astype(np.int64)
    twice = np.flatnonzero(ordered[1:] == ordered[:-1])
    if len(twice):
        raise DataError(f"{where}: row {ordered[twice[0]]} is listed twice; list each row once")
    return ordered


def split(
    dataset: Dataset,
    *,
    valid: float | None = None,
    test: float | None = None,
    groups: object = None,
    stratified: bool = False,
    shuffle: bool = True,
    seed: SeedLike = 0,
) -> tuple[Dataset, ...]:
    """Split a data set into a train part, a validation part and a test part, which share its cuts and codes.

    Only target, weights and margins of the rows are copied. The codes stay with `dataset`, which lives as long as a part of it
    does. Cuts were chosen from all rows, test rows included (their columns, never their targets).

    Parameters
    ----------
    dataset : Dataset
        The whole, or a part of one.
    valid, test : float or int, optional
        Size of the part: a share of the rows as a number between 0 and 1, or a number of rows as a whole number. A part
        without a size is not made.
    groups : array of shape (rows,), optional
        Group of each row. A group stays whole, so sizes are met as nearly as groups allow. Without it the queries of the
        data set, where it has some.
    stratified : bool, default=False
        Whether every part gets the same share of each value of the target.
    shuffle : bool, default=True
        Whether rows are drawn at random. Else the first rows are the train part and the last ones the test part.
    seed : int, RandomState, Generator or None, default=0
        Seed of the shuffling.

    Returns
    -------
    tuple of Dataset
        The train part, then the validation and the test part, as far as they have a size. `train` takes them together. Rows keep
        their order; `index` of a part has their numbers.

    Examples
    --------
    >>> import numpy as np, spinney as sp
    >>> X = np.arange(200.0).reshape(100, 2)
    >>> train, valid, test = sp.split(sp.Dataset(X, X[:, 0]), valid=0.2, test=0.1)
    >>> train.rows, valid.rows, test.rows
    (70, 20, 10)
    >>> model = sp.train({}, train, rounds=5, valid={"valid": valid})
    """
    data = binned_of(dataset)
    wanted = {name: size for name, size in (("valid", valid), ("test", test)) if size is not None}
    if not wanted:
        raise ParameterError("split needs the size of a part: give valid, test or both, such as valid=.2")
    counts = [_count(name, size, data.rows) for name, size in wanted.items()]
    left = data.rows - sum(counts)
    if left < 1:
        sizes = " and ".join(f"{name}={size}" for name, size in wanted.items())
        raise ParameterError(f"{sizes} leave no row of {data.rows} to train on; give smaller parts")
    target = _strata(data) if check_truth("stratified", stratified) else None
    whole = data.labels.queries if groups is None else groups
    splitter = row_splitter(data.rows, target, whole, shuffle, seed)
    part = splitter.by_counts([left, *counts])
    names = ("train", *wanted)
    for k, name in enumerate(names):
        if not (part == k).any():
            if whole is None:
                raise DataError(
                    f"the {name} part gets no row: classes have too few of them; give a larger part"
                )
            one, many = ("query", "queries") if groups is None else ("group of rows", "groups")
            raise DataError(f"the {name} part gets no {one}: there are too few {many}, or they are too large")
    return tuple(
        as_dataset(data.take(np.flatnonzero(part == k), f"{name} part")) for k, name in enumerate(names)
    )


def _strata(data: BinnedData) -> NDArray[np.float64]:
    """Values of the target, of which every part gets the same share."""
    labels = data.checked_labels()
    if labels.targets > 1:
        raise DataError(
            f"stratified=True needs y of one column, but there are {labels.targets}; leave it out, or split by groups"
        )
    return labels.target


def _count(name: str, size: object, rows: int) -> int:
    """Rows of a part, at least one."""
    if isinstance(size, bool | np.bool_) or not isinstance(size, int | float | np.integer | np.floating):
        raise ParameterTypeError(f"{name}={shown(size)} must be a share between 0 and 1, or a number of rows")
    if isinstance(size, int | np.integer):
        if not 1 <= size < rows:
            raise ParameterError(
                f"{name}={shown(size)} must be a number of rows from 1 to {rows - 1}, or a share below 1"
            )
        return int(size)
    if not 0.0 < size < 1.0:
        raise ParameterError(
            f"{name}={shown(size)} must be a share above 0 and below 1, or a whole number of rows"
        )
    return max(1, round(float(size) * rows))
