"""Targets, weights, margins: one checked number for each row."""

from decimal import Decimal

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
from spinney.data import Labels, read_labels, read_margin, read_vector, read_weight
from spinney.data.queries import read_part_weight
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
            read_part_weight(values, 3, None)


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
        read_labels(np.array([1j, 2]), 2)


def test_labels_take_rows_with_all_that_belongs_to_them():
    rows = np.arange(4)
    labels = Labels(rows * 1.0, rows * 2.0, np.stack([rows * 3.0, rows * 4.0], axis=1), rows // 2)
    some = labels.take(np.array([False, True, True, False]))
    assert (labels.rows, some.rows) == (4, 2)
    assert some.target.tolist() == [1.0, 2.0]
    assert some.weight.tolist() == [2.0, 4.0]
    assert some.margin.tolist() == [[3.0, 4.0], [6.0, 8.0]]
    assert some.queries.tolist() == [0, 1]
    bare = Labels(rows * 1.0).take(rows > 1)
    assert (bare.weight, bare.margin, bare.queries) == (None, None, None)


def test_a_kernel_gets_no_weights_where_every_row_weighs_one():
    plain, weighted = Labels(np.ones(3)).arrays(), Labels(np.ones(3), np.full(3, 2.0)).arrays()
    assert (plain.rows, plain.weighted, plain.weight.size) == (3, 0, 0)
    assert (weighted.rows, weighted.weighted, weighted.weight.tolist()) == (3, 1, [2.0, 2.0, 2.0])
