"""Categorical columns: which categories there are, and values → numbers of categories."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from spinney.data.kinds import LARGEST_WHOLE, NUMBERS, Category, is_written_as, kind_of
from spinney.data.table import Panel, Table, column_title
from spinney.errors import DataError, DataTypeError, ModelFormatError

MOST_KEPT = 65_000  # categories with a bin of their own
COVERED = 0.99  # of the rows, where there are more categories than bins were asked for


@dataclass(frozen=True)
class Categories:
    """The categories of one column.

    Attributes
    ----------
    values : tuple of str, or of int and float
        Every category of the training table, the most frequent first; none where every value was missing. Such a column has no
        kind, and no split: a later table may bring anything in it.
    kept : int
        How many of them, counted from the first, have a number of their own; the others share the next one.
    spelt : str, or None
        What the text stands for, where the categories are dates, times or intervals.

    Examples
    --------
    >>> Categories(("red", "blue", "mauve", "ecru"), 2).numbers
    {'red': 0, 'blue': 1, 'mauve': 2, 'ecru': 2}
    """

    values: tuple[Category, ...]
    kept: int
    spelt: str | None = None

    @property
    def count(self) -> int:
        """How many numbers are in use."""
        return self.kept + (self.rare > 0)

    @property
    def rare(self) -> int:
        """How many categories have no number of their own."""
        return len(self.values) - self.kept

    @cached_property
    def numbers(self) -> dict[Category, int]:
        """The number of each category."""
        return {value: min(place, self.kept) for place, value in enumerate(self.values)}

    @property
    def kind(self) -> str:
        """What the categories are."""
        return kind_of(self.values, self.spelt)

    @cached_property
    def whole(self) -> bool:
        """Whether the categories are whole numbers."""
        return bool(self.values) and all(isinstance(value, int) for value in self.values)

    def to_json(self) -> dict[str, object]:
        """Give the categories as values that JSON can hold; "kind" is there only where text stands for something else."""
        kind = {} if self.spelt is None else {"kind": self.spelt}
        return {"values": list(self.values), "kept": self.kept, **kind}

    @classmethod
    def from_json(cls, value: object) -> Self:
        """Read what `to_json` gave, trusting nothing."""
        if not isinstance(value, dict) or set(value) - {"kind"} != {"values", "kept"}:
            raise ModelFormatError(
                'categories must be objects with the keys "values" and "kept", and perhaps "kind"'
            )
        values, kept, kind = value["values"], value["kept"], value.get("kind")
        if not isinstance(values, list) or not (
            all(type(one) is str for one in values) or all(_is_sound_number(one) for one in values)
        ):
            raise ModelFormatError("the values of categories must be all text, or all numbers")
        if len(set(values)) != len(values):
            raise ModelFormatError("the values of categories must be distinct")
        if type(kept) is not int or not 0 <= kept <= min(len(values), MOST_KEPT):
            raise ModelFormatError(
                f"{kept!r} of {len(values)} categories cannot be kept; it must be a number up to {MOST_KEPT}"
            )
        if "kind" in value and not (isinstance(kind, str) and values and isinstance(values[0], str)):
            raise ModelFormatError(f"{kind!r:.60} is no kind of categories that are kept as text")
        odd = None if kind is None else next((one for one in values if not is_written_as(one, kind)), None)
        if odd is not None:
            raise ModelFormatError(f"the category {odd!r:.60} is not written as one of the kind {kind!r:.60}")
        return cls(tuple(values), kept, kind)


def _is_sound_number(value: object) -> bool:
    """Whether a number of a file can be a category: a whole one is never written as a float within ±2**53."""
    if type(value) is int:
        return abs(value) <= LARGEST_WHOLE
    return (
        type(value) is float
        and math.isfinite(value)
        and not (value.is_integer() and abs(value) <= LARGEST_WHOLE)
    )


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
        The same columns; a categorical one holds numbers from 0, NaN where it is missing. A column that held no value in
        training holds numbers as they were given, and NaN for anything else.
    """
    some = categories is not None and any(one is not None and one.values for one in categories)
    if not some and all(panel.categories is None for panel in table.panels):
        return table
    known = categories or (None,) * table.columns
    if table.sparse is not None:
        raise DataTypeError("X is sparse, but the model has categorical columns: give a dense table")
    panels: list[Panel] = []
    for panel in table.panels:
        begin = 0
        for k in range(panel.columns):
            column = panel.first + k
            wanted = known[column]
            if panel.categories is None and (wanted is None or not wanted.values):
                continue
            title = column_title(table.names, column)
            if wanted is None and panel.refused:
                raise DataTypeError(panel.refused)
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


def own_codes(
    panel: Panel, k: int, title: str, *, learning: bool
) -> tuple[NDArray[np.int64], Sequence[Category]]:
    """Codes of a column, -1 where it is missing, and the category behind each code."""
    values = panel.values[:, k]
    if panel.categories is not None:
        return values.astype(np.int64), panel.categories
    known = ~np.isnan(values) if values.dtype.kind == "f" else np.ones(len(values), np.bool_)
    distinct, places = np.unique(values[known], return_inverse=True)
    _check_numbers(distinct, title, learning)
    codes = np.full(len(values), -1, np.int64)
    codes[known] = places
    whole = learning or distinct.dtype.kind != "f"
    categories: list[Category] = distinct.astype(np.int64 if whole else np.float64).tolist()
    return codes, categories


def _check_numbers(distinct: NDArray[np.generic], title: str, learning: bool) -> None:
    """Refuse numbers that cannot be categories. What was learnt knows what a fraction means: nothing, or a category."""
    floats = distinct.dtype.kind == "f"
    infinite = distinct[np.isinf(distinct)] if floats else distinct[:0]
    if len(infinite):
        raise DataError(
            f"{title} is categorical, but holds {infinite[0]:g}; categories that are numbers must be finite: make it missing"
        )
    fractions = distinct[distinct != np.floor(distinct)] if floats and learning else distinct[:0]
    if len(fractions):
        raise DataError(
            f"{title} is categorical, but holds {fractions[0]:g}; plain numbers that are named categorical must be whole: "
            "round them, make them text, or give them in a frame as a categorical column, in pandas with .astype('category')"
        )
    if (
        (learning or not floats)
        and len(distinct)
        and max(-int(distinct[0]), int(distinct[-1])) > LARGEST_WHOLE
    ):
        raise DataError(
            f"{title} is categorical, but holds whole numbers beyond ±2**53; give such categories as text"
        )


def _numbers(panel: Panel, k: int, wanted: Categories, unseen: str, title: str) -> NDArray[np.float64]:
    if not wanted.values and unseen != "error":
        return _missing(panel)
    if panel.categories is None and _all_missing(panel.values[:, k]):
        return _missing(panel)
    given = NUMBERS if panel.categories is None else kind_of(panel.categories, panel.spelt)
    if wanted.values and given != wanted.kind and panel.categories != ():
        raise DataTypeError(
            f"{title} was categorical in training, with {wanted.kind} for categories; now it holds {given}. "
            f"Give {wanted.kind}"
        )
    codes, values = own_codes(panel, k, title, learning=False)
    numbers = np.array(
        [wanted.numbers.get(value, -1) for value in values] + [-1], np.float64
    )  # the last is for missing
    fresh = numbers[:-1] < 0
    if unseen == "error" and fresh.any():
        raise DataError(
            f"{title} holds {values[int(np.argmax(fresh))]!r:.60}, a category that training did not see; "
            'leave such rows out, or train with unseen="missing" or "rarest"'
        )
    numbers[:-1][fresh] = wanted.count - 1.0 if unseen == "rarest" else np.nan
    numbers[-1] = np.nan
    return numbers[codes].reshape(-1, 1)


def _missing(panel: Panel) -> NDArray[np.float64]:
    return np.full((len(panel.values), 1), np.nan)


def _all_missing(values: NDArray[np.generic]) -> bool:
    return values.dtype.kind == "f" and bool(np.isnan(values).all())
