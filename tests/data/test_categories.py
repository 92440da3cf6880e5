"""Categories: how they are written, and those of files made by hand to do harm."""

import datetime

import numpy as np
import pandas as pd
import pytest

from spinney.data.categories import Categories, is_written_as, kept_as
from spinney.errors import ModelFormatError


@pytest.mark.parametrize(
    "value",
    [
        *(pd.Period("2024-01-05 03:04", freq) for freq in ("Y-JUN", "2Q-NOV", "3M", "W", "D", "25h", "ns")),
        *(pd.Timestamp(np.datetime64(year, "s")) for year in ("-0005", "20000")),
        datetime.timedelta(-1, 5, 7),
        datetime.timedelta.max,
        pd.Timedelta(-1),
        datetime.time(5, 1, 2, 3, datetime.timezone(datetime.timedelta(seconds=-3601))),
        pd.Interval(-np.inf, 2**60),
        pd.Interval(1e-7, 0.5, closed="both"),
        pd.Interval(pd.Timedelta(-1), pd.Timedelta(days=5)),
        pd.Interval(pd.Timestamp(0, tz="UTC"), pd.Timestamp(5, tz="UTC"), closed="neither"),
    ],
    ids=str,
)
def test_every_category_is_written_as_its_kind_is(value):
    (text,), kind = kept_as([value], "c")
    assert is_written_as(text, kind)
    kept = Categories((text,), 1, kind)
    assert Categories.from_json(kept.to_json()) == kept


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("dates", "(0, 1]"),
        ("dates", "2024-05-01T00:00:00"),
        ("dates and times", "2024-05-01"),
        ("dates and times", "2024-05-01T00:00:00+00:00"),
        ("times of day", "5"),
        ("durations", "2024-05-01"),
        ("intervals of numbers", "a"),
        ("intervals of numbers", "(0, 1"),
        ("intervals of numbers", "(2024-05-01T00:00:00, 1]"),
        ("intervals of dates and times", "(0, 1]"),
        ("periods of frequency M", "May"),
        ("periods", "2024-05"),
        ("periods of frequency M\n", "2024-05"),
        ("dates", "2024-05-01\n"),
        ("dates", "２０２４-05-01"),
    ],
)
def test_a_file_whose_kind_contradicts_the_text_of_its_categories_is_refused(kind, text):
    with pytest.raises(ModelFormatError, match="is not written as one of the kind"):
        Categories.from_json({"values": [text], "kept": 1, "kind": kind})


@pytest.mark.parametrize(
    "value",
    [{"values": ["a", "a"], "kept": 1}, {"values": ["a", 1], "kept": 1}, {"values": [1.0], "kept": 1},
     {"values": [float("inf")], "kept": 1}, {"values": [float("nan")], "kept": 1},
     {"values": [1.5], "kept": 1, "kind": "dates"}, {"values": ["a"], "kept": 1, "kind": "text"},
     {"values": ["a"], "kept": 1, "kind": None}, {"values": ["a"], "kept": 1, "kind": []},
     {"values": [], "kept": 0, "kind": "dates"}, {"values": ["a"], "kept": 1, "other": 1},
     {"values": ["a"], "kept": 2}, {"values": ["a"], "kept": -1}, {"values": ["a"], "kept": True},
     {"values": "ab", "kept": 1}, {"kept": 1}, 3,
     {"values": [2**60], "kept": 1}, {"values": [True], "kept": 1}],
)  # fmt: skip
def test_categories_of_a_file_are_not_trusted(value):
    with pytest.raises(ModelFormatError):
        Categories.from_json(value)
