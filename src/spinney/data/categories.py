"""Categorical columns: what may be a category, the `Categories` of a column, and values → numbers of categories (`encode`).

A model keeps text and numbers as they are, and dates, times and intervals as text of a kind (`kept_as`). A category's number is
its bin. A column that held no value has categories, but none of them: see `Schema`.
"""

from __future__ import annotations

import datetime
import math
import numbers
import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from spinney.data.table import Panel, Table, check_text, column_title
from spinney.errors import DataError, DataTypeError, ModelFormatError

Category = str | int | float

MOST_KEPT = 65_000  # categories with a bin of their own
COVERED = 0.99  # share of the rows that kept categories have, where there are more categories than `max_bin`
LARGEST_WHOLE = 2**53  # beyond it float64 skips whole numbers

TEXT, NUMBERS = "text", "numbers"
_DAY = r"-?\d+-\d\d-\d\d"  # pandas has years below 0 and above 9999
_CLOCK = r"\d\d:\d\d:\d\d(\.\d{6}(\d{3})?)?"
_OFFSET = r"[+-]\d\d:\d\d(:\d\d(\.\d{6})?)?"
# Kinds of ends that an interval may have, and how they are written.
_ENDS = {
    NUMBERS: r"-?(inf|\d+(\.\d+)?(e[+-]\d+)?)",
    "dates and times": f"{_DAY}T{_CLOCK}",
    "dates and times with a time zone": rf"{_DAY}T{_CLOCK}\+00:00",
    "durations": r"(-?\d+ days?, )?\d+:\d\d:\d\d(\.\d{6})?( and \d{1,3} ns)?",
}
# Kinds that are kept as text, by their names in messages and model files, and how they are written.
_WRITTEN = {
    "dates": r"\d{4}-\d\d-\d\d",
    "times of day": f"{_CLOCK}({_OFFSET})?",
    **{kind: pattern for kind, pattern in _ENDS.items() if kind != NUMBERS},
    **{f"intervals of {kind}": rf"[\[(]{pattern}, {pattern}[\])]" for kind, pattern in _ENDS.items()},
}
_PERIODS = re.compile(r"periods of frequency \d*[A-Za-z]+(-[A-Z]{3})?", re.ASCII)
_PERIOD = rf"-?\d+(Q[1-4]|-\d\d)?|{_DAY}(/{_DAY}| \d\d:\d\d(:\d\d(\.\d+)?)?)?"


@dataclass(frozen=True)
class Categories:
    """The categories of one column.

    Attributes
    ----------
    values : tuple of str, or of int and float
        Every category of the training table, the most frequent first; none where every value was missing. Such a column has no
        kind and no split, and may hold anything in a later table.
    kept : int
        Number of categories, the first ones, that have a number of their own; the others share the next number.
    text_kind : str, or None
        What the text stands for, where the categories are dates, times or intervals.

    Examples
    --------
    >>> Categories(("red", "blue", "mauve", "ecru"), 2).numbers
    {'red': 0, 'blue': 1, 'mauve': 2, 'ecru': 2}
    """

    values: tuple[Category, ...]
    kept: int
    text_kind: str | None = None

    @property
    def count(self) -> int:
        """Number of distinct numbers."""
        return self.kept + (self.rare > 0)

    @property
    def rare(self) -> int:
        """Number of categories without a number of their own."""
        return len(self.values) - self.kept

    @cached_property
    def numbers(self) -> dict[Category, int]:
        """The number of each category."""
        return {value: min(place, self.kept) for place, value in enumerate(self.values)}

    @property
    def kind(self) -> str:
        """Kind of the categories."""
        return kind_of(self.values, self.text_kind)

    @cached_property
    def whole(self) -> bool:
        """Whether the categories are whole numbers."""
        return bool(self.values) and all(isinstance(value, int) for value in self.values)

    def to_json(self) -> dict[str, object]:
        """The categories as values that JSON can hold; "kind" is there only where text stands for something else."""
        kind = {} if self.text_kind is None else {"kind": self.text_kind}
        return {"values": list(self.values), "kept": self.kept, **kind}

    @classmethod
    def from_json(cls, value: object) -> Self:
        """The categories of values that `to_json` gave. Every value is checked."""
        if not isinstance(value, dict) or set(value) - {"kind"} != {"values", "kept"}:
            raise ModelFormatError(
                'categories must be objects with the keys "values" and "kept", and perhaps "kind"'
            )
        values, kept, kind = value["values"], value["kept"], value.get("kind")
        if not isinstance(values, list) or not (
            all(type(one) is str for one in values) or all(_is_valid_number(one) for one in values)
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


def encode(table: Table, categories: tuple[Categories | None, ...] | None, unseen: str) -> Table:
    """Replace categories by their numbers, so that every column is one of numbers.

    Parameters
    ----------
    table : Table
        Its columns in the order of training.
    categories : tuple of Categories or None, or None
        The categories of training.
    unseen : {"missing", "error", "rarest"}
        What a category means that is not among them.

    Returns
    -------
    Table
        The same columns; a categorical one holds numbers from 0, NaN where it is missing. A column that held no value in
        training holds numbers as they were given, and NaN for anything else.
    """
    some = categories is not None and any(one is not None and one.values for one in categories)
    if not some and not table.has_categories:
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
            # Without a category every value is missing, and a column of numbers may be.
            numbers = _missing(panel) if wanted is None else _numbers(panel, k, wanted, unseen, title)
            panels.append(Panel(column, numbers))
            begin = k + 1
        if begin == 0:
            panels.append(panel)
        elif begin < panel.columns:
            panels.append(Panel(panel.first + begin, panel.values[:, begin:]))
    return Table(table.rows, table.columns, table.names, tuple(panels))


def category_codes(
    panel: Panel, k: int, title: str, *, training: bool
) -> tuple[NDArray[np.int64], Sequence[Category]]:
    """Codes of a column, -1 where it is missing, and the category behind each code."""
    values = panel.values[:, k]
    if panel.categories is not None:
        return values.astype(np.int64), panel.categories
    known = ~np.isnan(values) if values.dtype.kind == "f" else np.ones(len(values), np.bool_)
    distinct, places = np.unique(values[known], return_inverse=True)
    _check_numbers(distinct, title, training)
    codes = np.full(len(values), -1, np.int64)
    codes[known] = places
    whole = training or distinct.dtype.kind != "f"
    categories: list[Category] = distinct.astype(np.int64 if whole else np.float64).tolist()
    return codes, categories


def kept_as(values: Sequence[Any], where: str) -> tuple[tuple[Category, ...], str | None]:
    """The categories of a column as a model keeps them.

    Parameters
    ----------
    values : sequence
        Distinct, none of them missing.
    where : str
        Name of the column in messages.

    Returns
    -------
    tuple of str, or of int and float
        In the order of `values`. Truth values are 0 and 1.
    str or None
        What the text stands for, such as "dates"; None for categories that are text or numbers.

    Examples
    --------
    >>> import datetime
    >>> kept_as([0.5, 2.0, True], "")
    ((0.5, 2, 1), None)
    >>> kept_as([datetime.date(2024, 5, 1)], "")
    (('2024-05-01',), 'dates')
    """
    if all(isinstance(value, str) for value in values):
        for value in values:
            check_text(value, f"{where} holds the category")
        return tuple(str(value) for value in values), None
    found = [_kind_and_value(value) for value in values]
    kinds = {kind for kind, _ in found}
    if TEXT in kinds:
        odd = next(value for value in values if not isinstance(value, str))
        raise DataTypeError(
            f"{where} mixes text with other values ({odd!r:.40}); make it all text, or all numbers"
        )
    if None in kinds:
        odd = next(value for value, (kind, _) in zip(values, found, strict=True) if kind is None)
        raise DataTypeError(
            f"{where} has the category {odd!r:.40}; categories must be text, finite numbers (whole ones within ±2**53), "
            "dates, times (in UTC within the years 1 to 9999), durations, periods or intervals: make it text"
        )
    if len(kinds) > 1:
        raise DataTypeError(
            f"{where} has categories of more than one kind ({', '.join(sorted(map(str, kinds)))}); give one kind only"
        )
    kind = kinds.pop()
    kept = tuple(category for _, category in found)
    if len(set(kept)) < len(kept):
        often = Counter(kept)
        odd = next(value for value, category in zip(values, kept, strict=True) if often[category] > 1)
        raise DataTypeError(
            f"{where} has two categories that are written alike ({odd!r:.40}); make them distinct text"
        )
    return kept, None if kind == NUMBERS else kind


def kind_of(values: Sequence[Category], text_kind: str | None) -> str:
    """Kind of categories that are kept as `values`.

    Examples
    --------
    >>> kind_of((1, 2.5), None), kind_of(("2024-05-01",), "dates")
    ('numbers', 'dates')
    """
    return text_kind or (TEXT if not values or isinstance(values[0], str) else NUMBERS)


def is_written_as(text: str, kind: str) -> bool:
    """Whether a text could be one that `kept_as` made of a category of this kind.

    Examples
    --------
    >>> is_written_as("2024-05-01", "dates"), is_written_as("(0, 1]", "dates"), is_written_as("a", "evil")
    (True, False, False)
    """
    pattern = _PERIOD if _PERIODS.fullmatch(kind) else _WRITTEN.get(kind)
    return pattern is not None and re.fullmatch(pattern, text, re.ASCII) is not None


def read_as_numbers(texts: Collection[Category]) -> bool:
    """Whether categories are texts that are all numbers, as `float` reads them, and at least one of them finite.

    Text with an underscore is no number, although `float` reads it.

    Examples
    --------
    >>> read_as_numbers(["-3.5", " 12 ", "1e3", "nan"]), read_as_numbers(["7", "7a"]), read_as_numbers(["nan", "inf"])
    (True, False, False)
    """
    finite = False
    for text in texts:
        if not isinstance(text, str) or "_" in text:
            return False
        try:
            finite = math.isfinite(float(text)) or finite
        except ValueError:
            return False
    return finite


def _is_valid_number(value: object) -> bool:
    """Whether a number of a file can be a category: a whole one is never written as a float within ±2**53."""
    if type(value) is int:
        return abs(value) <= LARGEST_WHOLE
    return (
        type(value) is float
        and math.isfinite(value)
        and not (value.is_integer() and abs(value) <= LARGEST_WHOLE)
    )


def _numbers(panel: Panel, k: int, wanted: Categories, unseen: str, title: str) -> NDArray[np.float64]:
    if not wanted.values and unseen != "error":
        return _missing(panel)
    if panel.categories is None and _all_missing(panel.values[:, k]):
        return _missing(panel)
    given = NUMBERS if panel.categories is None else kind_of(panel.categories, panel.text_kind)
    if wanted.values and given != wanted.kind and panel.categories != ():
        raise DataTypeError(
            f"{title} was categorical in training, with {wanted.kind} for categories; now it holds {given}. "
            f"Give {wanted.kind}"
        )
    codes, values = category_codes(panel, k, title, training=False)
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


def _check_numbers(distinct: NDArray[np.generic], title: str, training: bool) -> None:
    """Refuse numbers that cannot be categories. Fractions are refused in training only; later they may be unseen categories."""
    floats = distinct.dtype.kind == "f"
    infinite = distinct[np.isinf(distinct)] if floats else distinct[:0]
    if len(infinite):
        raise DataError(
            f"{title} is categorical, but holds {infinite[0]:g}; categories that are numbers must be finite: make it missing"
        )
    fractions = distinct[distinct != np.floor(distinct)] if floats and training else distinct[:0]
    if len(fractions):
        raise DataError(
            f"{title} is categorical, but holds {fractions[0]:g}; plain numbers that are named categorical must be whole: "
            "round them, make them text, or give them in a frame as a categorical column, in pandas with .astype('category')"
        )
    if (
        (training or not floats)
        and len(distinct)
        and max(-int(distinct[0]), int(distinct[-1])) > LARGEST_WHOLE
    ):
        raise DataError(
            f"{title} is categorical, but holds whole numbers beyond ±2**53; give such categories as text"
        )


def _kind_and_value(value: Any) -> tuple[str | None, Category]:
    """Kind of a category and its kept value; the kind is None where it cannot be kept."""
    if isinstance(value, str):
        return TEXT, value
    if isinstance(value, datetime.date | datetime.time | datetime.timedelta):
        try:
            return _time(value)
        except (OverflowError, ValueError):  # out of range in UTC, or without pandas' precision
            return None, ""
    if type(value).__module__.startswith("pandas"):
        if type(value).__name__ == "Period":
            return f"periods of frequency {value.freqstr}", str(value)
        if type(value).__name__ == "Interval":
            return _interval(value)
    number = _number(value)
    return (None, "") if number is None else (NUMBERS, number)


def _number(value: Any) -> int | float | None:
    # np.timedelta64 is registered as an integer.
    if isinstance(value, numbers.Integral | np.bool_) and not isinstance(value, np.timedelta64):
        return int(value) if abs(int(value)) <= LARGEST_WHOLE else None
    if not isinstance(value, float | np.floating) or not math.isfinite(value):
        return None
    number = float(value)
    return int(number) if number.is_integer() and abs(number) <= LARGEST_WHOLE else number


def _time(value: Any) -> tuple[str, str]:
    if isinstance(value, datetime.timedelta):
        whole = datetime.timedelta(value.days, value.seconds, value.microseconds)
        rest = getattr(value, "nanoseconds", 0)  # of pandas
        return "durations", f"{whole} and {rest} ns" if rest else str(whole)
    if isinstance(value, datetime.datetime):
        if value.tzinfo is None:
            return "dates and times", value.isoformat()
        return "dates and times with a time zone", value.astimezone(datetime.UTC).isoformat()
    return "dates" if isinstance(value, datetime.date) else "times of day", value.isoformat()


def _interval(value: Any) -> tuple[str | None, str]:
    (kind, left), (other, right) = _end(value.left), _end(value.right)
    if kind is None or other is None:
        return None, ""
    opening, closing = "[" if value.closed_left else "(", "]" if value.closed_right else ")"
    return f"intervals of {kind}", f"{opening}{left}, {right}{closing}"


def _end(value: Any) -> tuple[str | None, Category]:
    """Kind and text of an interval's end, which may be a number that no category can be."""
    kind, kept = _kind_and_value(value)
    if kind is None and isinstance(value, numbers.Integral | float | np.floating):
        return NUMBERS, str(value)
    return kind, kept
