"""What a category may be. Text and numbers stand for themselves; dates, times and intervals are kept as text."""

from __future__ import annotations

import datetime
import math
import numbers
import re
from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from spinney.data.table import check_text
from spinney.errors import DataTypeError

Category = str | int | float

LARGEST_WHOLE = 2**53  # beyond it float64 skips whole numbers

TEXT, NUMBERS = "text", "numbers"
_DAY = r"-?\d+-\d\d-\d\d"  # pandas has years below 0 and above 9999
_CLOCK = r"\d\d:\d\d:\d\d(\.\d{6}(\d{3})?)?"
_OFFSET = r"[+-]\d\d:\d\d(:\d\d(\.\d{6})?)?"
# Of what an interval may be, by the words for it, and how its ends are written.
_ENDS = {
    NUMBERS: r"-?(inf|\d+(\.\d+)?(e[+-]\d+)?)",
    "dates and times": f"{_DAY}T{_CLOCK}",
    "dates and times with a time zone": rf"{_DAY}T{_CLOCK}\+00:00",
    "durations": r"(-?\d+ days?, )?\d+:\d\d:\d\d(\.\d{6})?( and \d{1,3} ns)?",
}
# What is kept as text, by the words for it in messages and in the model file, and how it is written.
_WRITTEN = {
    "dates": r"\d{4}-\d\d-\d\d",
    "times of day": f"{_CLOCK}({_OFFSET})?",
    **{kind: pattern for kind, pattern in _ENDS.items() if kind != NUMBERS},
    **{f"intervals of {kind}": rf"[\[(]{pattern}, {pattern}[\])]" for kind, pattern in _ENDS.items()},
}
_PERIODS = re.compile(r"periods of frequency \d*[A-Za-z]+(-[A-Z]{3})?", re.ASCII)
_PERIOD = rf"-?\d+(Q[1-4]|-\d\d)?|{_DAY}(/{_DAY}| \d\d:\d\d(:\d\d(\.\d+)?)?)?"


def is_written_as(text: str, kind: str) -> bool:
    """Whether a text is one that `kept_as` could have made of a category of this kind.

    Examples
    --------
    >>> is_written_as("2024-05-01", "dates"), is_written_as("(0, 1]", "dates"), is_written_as("a", "evil")
    (True, False, False)
    """
    pattern = _PERIOD if _PERIODS.fullmatch(kind) else _WRITTEN.get(kind)
    return pattern is not None and re.fullmatch(pattern, text, re.ASCII) is not None


def kind_of(values: Sequence[Category], spelt: str | None) -> str:
    """Name the kind of categories that are kept as `values`.

    Examples
    --------
    >>> kind_of((1, 2.5), None), kind_of(("2024-05-01",), "dates")
    ('numbers', 'dates')
    """
    return spelt or (TEXT if not values or isinstance(values[0], str) else NUMBERS)


def kept_as(values: Sequence[Any], where: str) -> tuple[tuple[Category, ...], str | None]:
    """Give the categories of a column as a model keeps them.

    Parameters
    ----------
    values : sequence
        Distinct, none of them missing.
    where : str
        Names the column in messages.

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
    spelt = [_spelt(value) for value in values]
    kinds = {kind for kind, _ in spelt}
    if TEXT in kinds:
        odd = next(value for value in values if not isinstance(value, str))
        raise DataTypeError(
            f"{where} mixes text with other values ({odd!r:.40}); make it all text, or all numbers"
        )
    if None in kinds:
        odd = next(value for value, (kind, _) in zip(values, spelt, strict=True) if kind is None)
        raise DataTypeError(
            f"{where} has the category {odd!r:.40}; categories must be text, finite numbers (whole ones within ±2**53), "
            "dates, times (in UTC within the years 1 to 9999), durations, periods or intervals: make it text"
        )
    if len(kinds) > 1:
        raise DataTypeError(
            f"{where} has categories of more than one kind ({', '.join(sorted(map(str, kinds)))}); give one kind only"
        )
    kind = kinds.pop()
    kept = tuple(category for _, category in spelt)
    if len(set(kept)) < len(kept):
        often = Counter(kept)
        odd = next(value for value, category in zip(values, kept, strict=True) if often[category] > 1)
        raise DataTypeError(
            f"{where} has two categories that are written alike ({odd!r:.40}); make them distinct text"
        )
    return kept, None if kind == NUMBERS else kind


def read_as_numbers(texts: Collection[Category]) -> bool:
    """Whether categories are texts that are all numbers, as `float` reads them, one of them at least a finite one.

    Text with an underscore is none, although `float` reads it.

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


def _spelt(value: Any) -> tuple[str | None, Category]:
    """Kind of a category and what is kept of it; no kind where it cannot be kept."""
    if isinstance(value, str):
        return TEXT, value
    if isinstance(value, datetime.date | datetime.time | datetime.timedelta):
        try:
            return _time(value)
        except (OverflowError, ValueError):  # in UTC, or without pandas' precision, it is out of range
            return None, ""
    if type(value).__module__.startswith("pandas"):
        if type(value).__name__ == "Period":
            return f"periods of frequency {value.freqstr}", str(value)
        if type(value).__name__ == "Interval":
            return _interval(value)
    number = _number(value)
    return (None, "") if number is None else (NUMBERS, number)


def _number(value: Any) -> int | float | None:
    # np.timedelta64 calls itself an integer.
    if isinstance(value, numbers.Integral | np.bool_) and not isinstance(value, np.timedelta64):
        return int(value) if abs(int(value)) <= LARGEST_WHOLE else None
    if not isinstance(value, float | np.floating) or not math.isfinite(value):
        return None
    number = float(value)
    return int(number) if number.is_integer() and abs(number) <= LARGEST_WHOLE else number


def _time(value: Any) -> tuple[str, str]:
    if isinstance(value, datetime.timedelta):
        whole = datetime.timedelta(value.days, value.seconds, value.microseconds)
        rest = getattr(value, "nanoseconds", 0)  # pandas has them
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
    kind, kept = _spelt(value)
    if kind is None and isinstance(value, numbers.Integral | float | np.floating):
        return NUMBERS, str(value)
    return kind, kept
