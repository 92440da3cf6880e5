"""Class labels: any kind becomes sorted classes and a code for each row."""

import datetime
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from spinney.data import read_labels
from spinney.errors import DataError, DataTypeError

INTEGERS = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", ">i4", ">u8"]


@given(hnp.arrays(dtype=st.sampled_from(["?", *INTEGERS]), shape=hnp.array_shapes(max_dims=1, max_side=20)))
def test_integer_and_boolean_labels_are_what_numpy_unique_gives(y):
    classes, codes = read_labels(y, len(y))
    expected, inverse = np.unique(y, return_inverse=True)
    assert classes.dtype == y.dtype.newbyteorder("=")
    assert codes.dtype == np.int64
    np.testing.assert_array_equal(classes, expected)
    np.testing.assert_array_equal(codes, inverse)


@given(st.lists(st.text(), min_size=1, max_size=20))
def test_text_labels_keep_every_character(y):
    classes, codes = read_labels(y, len(y))
    assert classes.tolist() == sorted(set(y))
    assert [classes[code] for code in codes] == y


def test_floats_without_a_fraction_are_labels():
    classes, codes = read_labels(np.array([2.0, -1.0, 2.0, -0.0, 0.0]), 5)
    assert classes.tolist() == [-1.0, 0.0, 2.0]
    assert codes.tolist() == [2, 0, 2, 1, 1]


TEXTS = ["oak", "ash", "oak"]


@pytest.mark.parametrize(
    "y",
    [
        TEXTS,
        tuple(TEXTS),
        np.array(TEXTS),
        np.array(TEXTS).astype(">U5"),
        np.array(TEXTS, dtype=object),
        np.array(TEXTS, dtype=np.dtypes.StringDType()),
        np.array([[text] for text in TEXTS]),
        pd.Series(TEXTS),
        pd.Series(TEXTS, dtype="category"),
        pd.Series(TEXTS, dtype="string"),
        pd.Categorical(TEXTS, categories=["oak", "elm", "ash"]),
        pd.DataFrame({"y": TEXTS}),
        pl.Series(TEXTS),
        pl.Series(TEXTS, dtype=pl.Categorical),
        pa.array(TEXTS),
        pa.array(TEXTS).dictionary_encode(),
        pa.chunked_array([TEXTS]),
    ],
    ids=lambda value: type(value).__name__,
)
def test_text_labels_may_come_from_anywhere(y):
    classes, codes = read_labels(y, 3)
    assert classes.tolist() == ["ash", "oak"]
    assert codes.tolist() == [1, 0, 1]


@pytest.mark.parametrize(
    ("y", "expected"),
    [
        (np.array([7, 3, 7], dtype=object), np.array([3, 7])),
        (np.array([True, False, True], dtype=object), np.array([False, True])),
        (np.array([1, 2.0, 1], dtype=object), np.array([1.0, 2.0])),
        (pd.Series([7, 3, 7], dtype="Int64"), np.array([3, 7])),
        (pd.Series([7, 3, 7], dtype="category"), np.array([3, 7])),
        (pd.Series([True, False, True], dtype="boolean"), np.array([False, True])),
        (pl.Series([True, False, True]), np.array([False, True])),
        (np.array([7, 3, 7], dtype=np.longdouble), np.array([3.0, 7.0])),
        ([10**12, -(10**12), 0], np.array([-(10**12), 0, 10**12])),
    ],
)
def test_labels_held_as_objects_get_the_dtype_they_share(y, expected):
    classes, codes = read_labels(y, 3)
    assert classes.dtype == expected.dtype
    np.testing.assert_array_equal(classes, expected)
    assert [classes[code] for code in codes] == list(y)


def test_one_class_is_enough_here():
    classes, codes = read_labels([4, 4], 2)
    assert classes.tolist() == [4]
    assert codes.tolist() == [0, 0]


@pytest.mark.parametrize(
    ("y", "error", "message"),
    [
        (None, DataError, "requires y to be passed, but the target y is None"),
        ([0.5, 1.5, 2.0], DataError, "Unknown label type: continuous"),
        (np.array([0.5, 1, 2], dtype=object), DataError, "Unknown label type: continuous"),
        (np.zeros((3, 2), dtype=int), DataError, r"bad input shape \(3, 2\)"),
        ([0, 1], DataError, "y has 2 values, but X has 3 rows"),
        ([0, np.nan, 1], DataError, "Input y contains NaN. The first is in row 1;"),
        ([0, 1, np.inf], DataError, "Input y contains infinity"),
        (["a", None, "b"], DataError, "y has no label in row 1"),
        (np.array(["a", "b", np.nan], dtype=object), DataError, "y has no label in row 2"),
        (pd.Series(["a", None, "b"]), DataError, "y has no label in row 1"),
        (pd.Series([1, None, 2], dtype="Int64"), DataError, "Input y contains NaN. The first is in row 1;"),
        (pl.Series(["a", None, "b"]), DataError, "y has no label in row 1"),
        (pl.Series([True, None, False]), DataError, "Input y contains NaN. The first is in row 1;"),
        ([1j, 0, 1], DataError, "Complex data not supported"),
        (np.array([1, 2, 10**30], dtype=object), DataError, "numbers beyond 64-bit integers"),
        ([Decimal(1)] * 3, DataTypeError, "Unknown label type: y holds Decimal; labels must be all strings"),
        ([1, Fraction(1), 2], DataTypeError, "Unknown label type: y holds Fraction, int; labels must be"),
        (["a", 1, "b"], DataTypeError, "Unknown label type: y holds int, str; labels must be all strings"),
        ([b"a", b"b", b"a"], DataTypeError, "Unknown label type: y holds bytes"),
        (np.array([b"a", b"b", b"a"]), DataTypeError, "Unknown label type: y has dtype"),
        ([datetime.date(2020, 1, 1)] * 3, DataTypeError, "Unknown label type: y holds date"),
        (np.zeros(3, dtype="M8[s]"), DataTypeError, "Unknown label type: y has dtype"),
    ],
)
def test_what_is_no_label_is_refused(y, error, message):
    with pytest.raises(error, match=message):
        read_labels(y, 3)
