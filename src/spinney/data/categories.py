"""Categorical columns: which categories there are, and values → numbers of categories."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from spinney.data.table import Panel, Table, column_title
from spinney.errors import DataError, DataTypeError, ModelFormatError

Category = str | int

MOST_KEPT = 65_000  # categories with a bin of their own
COVERED = 0.99  # of the rows, where there are more categories than bins were asked for
LARGEST_WHOLE = 2**53  # beyond it float64 skips whole numbers


@dataclass(frozen=True)
class Categories:
    """The categories of one column.

    Attributes
    ----------
    values : tuple of str, or of int
        Every category of the training table, the most frequent first.
    kept : int
        How many of them, counted from the first, have a number of their own; the others share the next one.

    Examples
    --------
    >>> Categories(("red", "blue", "mauve", "ecru"), 2).numbers
    {'red': 0, 'blue': 1, 'mauve': 2, 'ecru': 2}
    """

    values: tuple[str, ...] | tuple[int, ...]
    kept: int

    @property
    def count(self) -> int:
        """How many numbers are in use."""
        return self.kept + (len(self.values) > self.kept)

    @cached_property
    def numbers(self) -> dict[Category, int]:
        """The number of each category."""
        values: Sequence[Category] = self.values
        return {value: min(place, self.kept) for place, value in enumerate(values)}

    @property
    def whole(self) -> bool:
        """Whether the categories are whole numbers."""
        return bool(self.values) and isinstance(self.values[0], int)

    def to_json(self) -> dict[str, object]:
        """Give the categories as values that JSON can hold."""
        return {"values": list(self.values), "kept": self.kept}

    @classmethod
    def from_json(cls, value: object) -> Self:
        """Read what `to_json` gave, trusting nothing."""
        if not isinstance(value, dict) or set(value) != {"values", "kept"}:
            raise ModelFormatError('categories must be objects with exactly the keys "values" and "kept"')
        values, kept = value["values"], value["kept"]
        if not isinstance(values, list) or not (
            all(type(one) is str for one in values)
            or all(type(one) is int and abs(one) <= LARGEST_WHOLE for one in values)
        ):
            raise ModelFormatError("the values of categories must be all text, or all whole numbers")
        if len(set(values)) != len(values):
            raise ModelFormatError("the values of categories must be distinct")
        if type(kept) is not int or not 0 <= kept <= min(len(values), MOST_KEPT):
            raise ModelFormatError(
                f"{kept!r} of {len(values)} categories cannot be kept; it must be a number up to {MOST_KEPT}"
            )
        return cls(tuple(values), kept)


def learn_categories(
    table: Table, named: Collection[int], weight: NDArray[np.float64] | None, max_bin: int
) -> tuple[Categories | None, ...] | None:
    """Find the categories of a training table's categorical columns.

    Parameters
    ----------
    table : Table
        Columns of text or categories are categorical.
    named : collection of int
        Columns of whole numbers that are categorical too.
    weight : float64[rows], optional
        Rows of weight 0 do not count.
    max_bin : int
        Up to so many categories are all kept; of more, those that make up 99 % of the rows.

    Returns
    -------
    tuple of Categories or None, or None
        One a column; None where no column is categorical.
    """
    if table.sparse is not None:
        if named:
            raise DataTypeError("a sparse table cannot have categorical columns: give it dense, or one-hot")
        return None
    found: list[Categories | None] = [None] * table.columns
    counts = None if weight is None else weight > 0.0
    for panel in table.panels:
        for k in range(panel.columns):
            column = panel.first + k
            if panel.categories is None and column not in named:
                continue
            title = column_title(table.names, column)
            codes, values = _own_codes(panel, k, title)
            if counts is not None:
                codes = codes[counts]
            found[column] = _ordered(values, codes, max_bin)
    return tuple(found) if any(one is not None for one in found) else None


def encode(table: Table, categories: tuple[Categories | None, ...] | None, unseen: str) -> Table:
    """Replace categories by their numbers, so that every column is one of numbers.

    Parameters
    ----------
    table : Table
        Its columns in the order of training.
    categories : tuple of Categories or None, or None
        What training found.
    unseen : {"missing", "error", "rarest"}
        What a category means that training did not see.

    Returns
    -------
    Table
        The same columns; a categorical one holds numbers from 0, NaN where it is missing.
    """
    if categories is None and all(panel.categories is None for panel in table.panels):
        return table
    if table.sparse is not None:
        raise DataTypeError("X is sparse, but the model has categorical columns: give a dense table")
    known = categories or (None,) * table.columns
    panels: list[Panel] = []
    for panel in table.panels:
        begin = 0
        for k in range(panel.columns):
            column = panel.first + k
            wanted = known[column]
            if wanted is None and panel.categories is None:
                continue
            title = column_title(table.names, column)
            if wanted is None and panel.categories:
                raise DataTypeError(
                    f"{title} holds text or categories, but it was a column of numbers in training; give numbers"
                )
            if begin < k:
                panels.append(Panel(panel.first + begin, panel.values[:, begin:k]))
            # Without a category every value is missing, which a column of numbers may be.
            numbers = _missing(panel) if wanted is None else _numbers(panel, k, wanted, unseen, title)
            panels.append(Panel(column, numbers))
            begin = k + 1
        if begin == 0:
            panels.append(panel)
        elif begin < panel.columns:
            panels.append(Panel(panel.first + begin, panel.values[:, begin:]))
    return Table(table.rows, table.columns, table.names, tuple(panels))


def _own_codes(panel: Panel, k: int, title: str) -> tuple[NDArray[np.int64], Sequence[Category]]:
    """Codes of a column, -1 where it is missing, and the category behind each code."""
    values = panel.values[:, k]
    if panel.categories is not None:
        return values.astype(np.int64), panel.categories
    numbers, missing = _whole(values, title)
    distinct, codes = np.unique(numbers, return_inverse=True)
    return np.where(missing, -1, codes), [int(value) for value in distinct]


def _whole(values: NDArray[np.generic], title: str) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """A column of numbers as whole ones, and where it is missing."""
    missing = np.isnan(values) if values.dtype.kind == "f" else np.zeros(len(values), np.bool_)
    known = values[~missing]
    odd = known[(known != np.floor(known)) | np.isinf(known)] if values.dtype.kind == "f" else known[:0]
    if len(odd):
        raise DataError(
            f"{title} is categorical, but holds {odd[0]:g}; categories must be text or whole numbers"
        )
    if len(known) and max(-int(known.min()), int(known.max())) > LARGEST_WHOLE:
        raise DataError(
            f"{title} is categorical, but holds whole numbers beyond ±2**53; give such categories as text"
        )
    return np.where(missing, 0, values).astype(np.int64), missing


def _ordered(values: Sequence[Category], codes: NDArray[np.int64], max_bin: int) -> Categories:
    """The categories that occur, by how often they do, then by their own order."""
    counts = np.bincount(codes[codes >= 0], minlength=len(values))
    present = np.flatnonzero(counts)
    order = sorted(present.tolist(), key=lambda code: (-counts[code], values[code]))
    kept = len(order)
    if kept > max_bin:
        share = np.cumsum(counts[order]) / counts.sum()
        covering = int(np.searchsorted(share, COVERED)) + 1
        kept = min(max(covering, max_bin), MOST_KEPT, kept)
    return Categories(tuple(values[code] for code in order), kept)  # type: ignore[arg-type]


def _numbers(panel: Panel, k: int, wanted: Categories, unseen: str, title: str) -> NDArray[np.float64]:
    if panel.categories is None and not wanted.whole and wanted.values:
        if _all_missing(panel.values[:, k]):
            return _missing(panel)
        raise _became_numbers(title)
    codes, values = _own_codes(panel, k, title)
    if wanted.values and not wanted.whole and any(isinstance(value, int) for value in values):
        raise _became_numbers(title)
    if wanted.whole and any(isinstance(value, str) for value in values):
        raise DataTypeError(
            f"{title} was categorical in training, with whole numbers for categories; now it holds text. Give the numbers"
        )
    lookup = np.full(len(values) + 1, np.nan)  # the last item is that of -1
    rarest = float(max(wanted.count - 1, 0)) if wanted.values else np.nan
    for code, value in enumerate(values):
        number = wanted.numbers.get(value)
        if number is not None:
            lookup[code] = number
        elif unseen == "error":
            raise DataError(
                f"{title} holds {value!r:.60}, a category that training did not see; "
                'leave such rows out, or train with unseen="missing" or "rarest"'
            )
        elif unseen == "rarest":
            lookup[code] = rarest
    return lookup[codes].reshape(-1, 1)


def _became_numbers(title: str) -> DataTypeError:
    return DataTypeError(
        f"{title} was categorical in training, with text for categories; now it holds numbers. Give the text"
    )


def _missing(panel: Panel) -> NDArray[np.float64]:
    return np.full((len(panel.values), 1), np.nan)


def _all_missing(values: NDArray[np.generic]) -> bool:
    return values.dtype.kind == "f" and bool(np.isnan(values).all())
