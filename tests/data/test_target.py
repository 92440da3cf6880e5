"""Targets, class labels, weights and margins: one checked value for each row."""

import datetime
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import spinney as sp
from spinney.data import (
    ForestTarget,
    read_class_labels,
    read_class_target,
    read_margin,
    read_number_target,
    read_target,
    read_vector,
    read_weight,
)
from spinney.data.queries import read_batch_weight
from spinney.errors import DataError, DataTypeError

SOURCES = [
    [1, 2, 3],
    (1.0, 2.0, 3.0),
    np.array([1, 2, 3], dtype=np.int8),
    np.array([1, 2, 3], dtype=">f4"),
    np.array([1, 2, 3], dtype=np.longdouble),
    np.array([[1], [2], [3]]),
    np.array([3.0, 2.0, 1.0])[::-1],
    np.array([1, 2.0, Decimal(3)], dtype=object),
    pd.Series([1, 2, 3], index=[7, 8, 9]),
    pd.Series([1, 2, 3], dtype="Int64"),
    pd.DataFrame({"y": [1, 2, 3]}),
    pd.Index([1, 2, 3]),
    pl.Series([1, 2, 3]),
    pl.DataFrame({"y": [1, 2, 3]}),
    pa.array([1, 2, 3]),
    pa.chunked_array([[1], [2, 3]]),
]


@pytest.mark.parametrize("values", SOURCES, ids=lambda value: type(value).__name__)
def test_a_vector_may_come_from_anywhere(values):
    vector = read_vector(values, 3, "y")
    assert vector.dtype == np.float64
    assert vector.flags.c_contiguous
    assert vector.flags.aligned
    assert vector.tolist() == [1.0, 2.0, 3.0]


@given(
    hnp.arrays(
        dtype=st.sampled_from(["?", "i1", ">i8", "u4", "f2", "f4"]), shape=hnp.array_shapes(max_dims=1)
    ),
    st.integers(-3, 3).filter(bool),
)
def test_a_vector_has_the_values_numpy_gives_or_names_the_first_bad_row(values, step):
    values = values[::step]
    expected = values.astype(np.float64)
    bad = np.flatnonzero(~np.isfinite(expected))
    if len(bad):
        with pytest.raises(DataError, match=f"The first is in row {bad[0]};"):
            read_vector(values, len(values), "y")
    else:
        np.testing.assert_array_equal(read_vector(values, len(values), "y"), expected)


def test_a_float64_vector_is_not_copied():
    values = np.arange(4.0)
    assert np.shares_memory(read_vector(values, 4, "y"), values)


def test_an_unaligned_vector_is_copied():
    packed = np.frombuffer(bytearray(33), dtype=np.uint8)[1:].view(np.float64)
    vector = read_vector(packed, 4, "y")
    assert vector.flags.aligned
    assert vector.tolist() == [0.0] * 4


def test_none_stays_none_unless_a_target_is_required():
    assert read_vector(None, 3, "y") is None
    with pytest.raises(DataError, match="requires y to be passed, but the target y is None"):
        read_vector(None, 3, "y", allow_none=False)


@pytest.mark.parametrize(
    ("values", "error", "message"),
    [
        ([1, 2], DataError, "y has 2 values, but X has 3 rows"),
        ([1, np.nan, np.inf], DataError, "Input y contains NaN. The first is in row 1;"),
        ([1, 2, -np.inf], DataError, "Input y contains infinity .* The first is in row 2;"),
        ([1, None, 2], DataError, "Input y contains NaN. The first is in row 1;"),
        (pl.Series([1, None, 2]), DataError, "Input y contains NaN. The first is in row 1;"),
        (pd.Series([1, pd.NA, 2], dtype="Int64"), DataError, "Input y contains NaN. The first is in row 1;"),
        (np.zeros((3, 2)), DataError, r"bad input shape \(3, 2\): y should be a 1d array"),
        (pd.DataFrame({"a": [1] * 3, "b": [2] * 3}), DataError, r"bad input shape \(3, 2\)"),
        (5.0, DataError, r"bad input shape \(\)"),
        ([1, 2j, 3], DataError, "Complex data not supported"),
        (["1", "2", "3"], DataTypeError, "y holds text"),
        (pd.Series(["1", "2", "3"]), DataTypeError, "y holds text"),
        (pd.to_datetime(["2020"] * 3), DataTypeError, "y holds times"),
        (pl.Series([[1], [2], [3]]), DataTypeError, "y holds nested values"),
        ([{}, {}, {}], DataTypeError, "argument must be a string or a number, not 'dict'"),
        (scipy.sparse.csr_array(np.ones((3, 1))), DataTypeError, "y is a SciPy sparse csr_array"),
        (object(), DataTypeError, "y must be a NumPy array"),
    ],
)
def test_a_target_that_is_no_finite_number_for_each_row_is_refused(values, error, message):
    with pytest.raises(error, match=message):
        read_vector(values, 3, "y")


@pytest.mark.parametrize(
    "values",
    [
        np.ones((3, 1)),
        [[1.0], [1.0], [1.0]],
        pd.DataFrame({"w": [1.0, 1.0, 1.0]}),
        pl.DataFrame({"w": [1.0, 1.0, 1.0]}),
        pa.table({"w": [1.0, 1.0, 1.0]}),
    ],
    ids=["array", "list", "pandas", "polars", "arrow"],
)
def test_a_matrix_of_one_column_is_no_vector_of_weights(values):
    with pytest.raises(DataError, match=r"bad input shape \(3, 1\): weight should be a 1d array"):
        read_weight(values, 3, what="weight")
    with pytest.raises(DataError, match=r"bad input shape \(3, 1\): weight should be a 1d array"):
        sp.Dataset(np.eye(3), np.arange(3.0), weight=values)
    if not isinstance(values, pa.Table):
        with pytest.raises(DataError, match=r"bad input shape \(3, 1\): weight should be a 1d array"):
            read_batch_weight(values, 3, None)


def test_no_weight_stays_none_and_a_number_stands_for_every_row():
    assert read_weight(None, 3) is None
    assert read_weight(np.float32(0.5), 3).tolist() == [0.5] * 3
    assert read_weight([0, 1, 2], 3).tolist() == [0.0, 1.0, 2.0]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([1, -0.5, 1], r"sample_weight is negative in row 1 \(-0.5\)"),
        ([0, 0, 0], "sample_weight holds only zeros"),
        (0, "sample_weight holds only zeros"),
        ([1, np.nan, 1], "Input sample_weight contains NaN"),
        ([1, np.inf, 1], "Input sample_weight contains infinity"),
        ([1e308] * 3, "sample_weight adds up to infinity"),
        ([1, 1], "sample_weight has 2 values, but X has 3 rows"),
        (np.ones((3, 2)), r"bad input shape \(3, 2\): sample_weight should be a 1d array"),
    ],
)
def test_weights_that_cannot_be_used_are_refused(values, message):
    with pytest.raises(DataError, match=message):
        read_weight(values, 3)


@pytest.mark.parametrize(
    "values",
    [
        np.arange(6).reshape(3, 2),
        np.arange(6.0).reshape(2, 3).T.copy().reshape(3, 2),
        pd.DataFrame(np.arange(6.0).reshape(3, 2)),
        pl.DataFrame({"a": [0, 2, 4], "b": [1.0, 3.0, 5.0]}),
    ],
)
def test_a_margin_has_a_score_for_each_row_and_output(values):
    margin = read_margin(values, 3, 2)
    assert margin.dtype == np.float64
    assert margin.flags.c_contiguous
    np.testing.assert_array_equal(margin, np.asarray(values, np.float64))


def test_a_margin_of_one_output_may_be_a_vector():
    assert read_margin(None, 3, 1) is None
    assert read_margin(pd.Series([1, 2, 3]), 3, 1).tolist() == [[1.0], [2.0], [3.0]]
    assert read_margin([[1], [2], [3]], 3, 1).tolist() == [[1.0], [2.0], [3.0]]


@pytest.mark.parametrize(
    ("values", "outputs", "message"),
    [
        (np.zeros((3, 2)), 3, r"base_margin has shape \(3, 2\); it must be \(3, 3\)"),
        (np.zeros((2, 2)), 2, r"base_margin has shape \(2, 2\); it must be \(3, 2\)"),
        (np.zeros((3, 2)), 1, r"bad input shape \(3, 2\): base_margin"),
        (np.zeros(6), 2, r"base_margin has one dimension; it must be of shape \(3, 2\)"),
        ([[0, 0], [0, np.nan], [0, 0]], 2, "Input base_margin contains NaN. The first is in row 1;"),
        ([[0, 0], [0, 0], [0, np.inf]], 2, "Input base_margin contains infinity .* in row 2;"),
    ],
)
def test_margins_that_cannot_be_used_are_refused(values, outputs, message):
    with pytest.raises(DataError, match=message):
        read_margin(values, 3, outputs)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (["a", "b"], "target must be one number for each row.*Only classifiers take labels that are text"),
        (np.array(["1", "2"]), r"y holds text \(dtype <U1\); a target must be.*astype\(float\)"),
        (pd.Series(["1", "2"]), "y holds text.*a target must be"),
        (np.array([1j, 2]), "y holds complex numbers; it must hold one real number for each row"),
        (pl.Series([[1], [2]]), "y holds nested values .*it must hold one number for each row"),
    ],
)
def test_advice_about_a_target_is_about_targets(values, message):
    with pytest.raises((DataError, DataTypeError), match=message) as caught:
        read_vector(values, 2, "y")
    assert "column" not in str(caught.value)
    with pytest.raises((DataError, DataTypeError), match=r"one (real )?number for each row"):
        read_weight(values, 2)


def test_complex_labels_are_refused_as_labels():
    with pytest.raises(
        DataError, match="y holds complex numbers; labels must be strings, integers or booleans"
    ):
        read_class_labels(np.array([1j, 2]), 2)


Y = np.array([[1.0, 10.0], [2.0, 20.0], [3.0, 30.0]])


@pytest.mark.parametrize(
    "y",
    [
        Y,
        Y.tolist(),
        np.asfortranarray(Y),
        Y.astype(np.int16),
        pd.DataFrame(Y, columns=["a", "b"]),
        pl.DataFrame(Y, schema=["a", "b"]),
    ],
)
def test_every_kind_of_table_can_be_a_target(y):
    target = read_target(y, 3)
    np.testing.assert_array_equal(target, Y)
    assert target.T.flags.c_contiguous


@pytest.mark.parametrize("y", [[1, 2, 3], [[1], [2], [3]], pd.DataFrame({"a": [1, 2, 3]})])
def test_one_column_is_a_vector(y):
    assert read_target(y, 3).tolist() == [1.0, 2.0, 3.0]


def test_the_second_of_two_columns_may_be_infinite():
    assert read_target([[1, np.inf], [2, 3]], 2)[0, 1] == np.inf


@pytest.mark.parametrize(
    ("y", "error", "message"),
    [
        ([[np.inf, 1], [2, 3]], DataError, "column 0 of y contains infinity.*row 0"),
        ([[1, -np.inf], [2, 3]], DataError, "column 1 of y contains infinity.*row 0"),
        ([[1, np.inf, 1], [2, 3, 1]], DataError, "column 1 of y contains infinity.*row 0"),
        ([[1, 2], [2, np.nan]], DataError, "column 1 of y contains NaN.*row 1"),
        ([[1, 2]], DataError, "column 0 of y has 1 values, but X has 2 rows"),
        ([["a", "b"], ["c", "d"]], DataTypeError, "column 0 of y holds text"),
        (np.empty((2, 0)), DataError, "y should be a 1d array"),
    ],
)
def test_what_is_no_target_is_refused_by_its_column(y, error, message):
    with pytest.raises(error, match=message):
        read_target(y, 2)


def test_a_data_set_keeps_a_target_of_its_own():
    y = Y.copy()
    data = sp.Dataset(np.arange(6.0).reshape(3, 2), y)
    y[:] = 0
    np.testing.assert_array_equal(data.target, Y)


def test_a_loss_of_one_column_refuses_two():
    data = sp.Dataset(np.arange(6.0).reshape(3, 2), [[0, 1], [1, 0], [0, 1]])
    with pytest.raises(DataError, match="objective softmax needs y of 1 column, got 2"):
        sp.train({"objective": "softmax", "num_class": 2}, data)


INTEGERS = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", ">i4", ">u8"]


@given(hnp.arrays(dtype=st.sampled_from(["?", *INTEGERS]), shape=hnp.array_shapes(max_dims=1, max_side=20)))
def test_integer_and_boolean_labels_are_what_numpy_unique_gives(y):
    classes, codes = read_class_labels(y, len(y))
    expected, inverse = np.unique(y, return_inverse=True)
    assert classes.dtype == y.dtype.newbyteorder("=")
    assert codes.dtype == np.int64
    np.testing.assert_array_equal(classes, expected)
    np.testing.assert_array_equal(codes, inverse)


@given(st.lists(st.text(), min_size=1, max_size=20))
def test_text_labels_keep_every_character(y):
    classes, codes = read_class_labels(y, len(y))
    assert classes.tolist() == sorted(set(y))
    assert [classes[code] for code in codes] == y


def test_floats_without_a_fraction_are_labels():
    classes, codes = read_class_labels(np.array([2.0, -1.0, 2.0, -0.0, 0.0]), 5)
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
    classes, codes = read_class_labels(y, 3)
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
    classes, codes = read_class_labels(y, 3)
    assert classes.dtype == expected.dtype
    np.testing.assert_array_equal(classes, expected)
    assert [classes[code] for code in codes] == list(y)


def test_one_class_is_enough_here():
    classes, codes = read_class_labels([4, 4], 2)
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
        read_class_labels(y, 3)


NUMBERS = np.array([[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]])


@pytest.mark.parametrize(
    "y",
    [
        NUMBERS,
        NUMBERS.tolist(),
        np.asfortranarray(NUMBERS),
        NUMBERS.astype(np.float32),
        pd.DataFrame(NUMBERS, columns=["a", "b"]),
        pl.DataFrame(NUMBERS, schema=["a", "b"]),
        pa.table({"a": NUMBERS[:, 0], "b": NUMBERS[:, 1]}),
    ],
    ids=["array", "list", "fortran", "float32", "pandas", "polars", "arrow"],
)
def test_numbers_of_several_outputs_are_read_from_any_table(y):
    target = read_number_target(y, 3)
    np.testing.assert_array_equal(target.values, NUMBERS)
    assert target.values.dtype == np.float64
    assert target.values.flags.c_contiguous
    assert (target.rows, target.outputs, target.classes, target.leaf_values) == (3, 2, (), 2)


@pytest.mark.parametrize("y", [[1.0, 2.0], np.array([[1.0], [2.0]]), pd.Series([1, 2]), pl.Series([1, 2])])
def test_one_output_has_one_column(y):
    assert read_number_target(y, 2).values.tolist() == [[1.0], [2.0]]


def test_labels_of_several_outputs_keep_their_own_types():
    y = pd.DataFrame({"tree": ["oak", "ash", "oak"], "age": [30, 10, 20]})
    labels, target = read_class_target(y, 3)
    assert [one.tolist() for one in labels] == [["ash", "oak"], [10, 20, 30]]
    assert target.values.tolist() == [[1, 2], [0, 0], [1, 1]]
    assert target.values.dtype == np.int64
    assert (target.classes, target.leaf_values) == ((2, 3), 5)


def test_rows_can_be_taken():
    _, target = read_class_target([[0, 1], [1, 1], [1, 0]], 3)
    some = target.take(np.array([True, False, True]))
    assert isinstance(some, ForestTarget)
    assert some.values.tolist() == [[0, 1], [1, 0]]
    assert some.classes == target.classes


@pytest.mark.parametrize(
    ("y", "error", "message"),
    [
        (None, DataError, "requires y to be passed"),
        (np.zeros((2, 2, 2)), DataError, "bad input shape"),
        (np.zeros((2, 0)), DataError, "bad input shape"),
        ([[1.0, 2.0]], DataError, "y has 1 values, but X has 2 rows"),
        ([[1.0, 2.0], [np.nan, 3.0]], DataError, "Input y contains NaN"),
        ([[1.0, 2.0], [3.0, np.inf]], DataError, "Input y contains infinity"),
        (scipy.sparse.csr_array(np.eye(2)), DataTypeError, "only a table may be sparse"),
    ],
)
def test_a_wrong_forest_target_is_refused_with_a_reason(y, error, message):
    with pytest.raises(error, match=message):
        read_number_target(y, 2)


def test_labels_with_a_fraction_are_refused():
    with pytest.raises(DataError, match="Unknown label type: continuous"):
        read_class_target([[1, 0.5], [2, 1.0]], 2)
