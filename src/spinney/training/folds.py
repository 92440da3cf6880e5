"""The folds of a cross-validation, checked."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spinney.data import Labels
from spinney.data.arrays import as_array
from spinney.errors import DataError, ParameterError, ParameterTypeError
from spinney.messages import shown
from spinney.params.parameter import is_iterable
from spinney.training.dealing import Dealing

_GIVE = "give a number, a splitter of scikit-learn, or an iterable of (train, test) pairs of row numbers"


class Fold(NamedTuple):
    """Rows to train on and rows to test on, ascending."""

    train: NDArray[np.int64]
    test: NDArray[np.int64]


def folds_of(folds: object, labels: Labels, groups: object, dealing: Dealing) -> list[Fold]:
    """The folds that a user asks for.

    Parameters
    ----------
    folds : int, splitter or iterable of pairs
        As given.
    labels : Labels
        Of all rows; a splitter is called with the target.
    groups : array or None
        As given; a splitter is called with it, or with the queries of the rows.
    dealing : Dealing
        How rows are dealt out to a number of folds.

    Raises
    ------
    ParameterError, DataError
        If rows cannot be parted so, a row is no row of the data, or stands in both parts of a fold, or twice in one.
    ParameterTypeError
        If folds are something else.
    """
    if isinstance(folds, int | np.integer) and not isinstance(folds, bool):
        return _numbered(int(folds), dealing, "queries" if groups is None else "groups")
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


def _numbered(folds: int, dealing: Dealing, whole: str) -> list[Fold]:
    if folds < 2:
        raise ParameterError(f"folds={folds} is too few; give 2 or more")
    things, count = "rows", dealing.rows
    if dealing.groups is not None:
        things, count = whole, int(dealing.groups.max()) + 1
    if folds > count:
        raise DataError(f"folds={shown(folds)} is more than there are {things} ({count}); give fewer folds")
    part = dealing.evenly(folds)
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
