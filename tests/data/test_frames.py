"""pandas, Polars and PyArrow frames: the values NumPy would give, nulls as NaN, and names."""

import datetime
import subprocess
import sys
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import spinney as sp
from spinney.data import as_matrix, read_table
from spinney.errors import DataError, DataTypeError

nan = np.nan


def test_a_pandas_frame_of_one_float_dtype_is_one_uncopied_panel():
    values = np.arange(12.0, dtype=np.float32).reshape(4, 3)
    frame = pd.DataFrame(values, columns=["a", "b", "c"], copy=False)
    (panel,) = read_table(frame).panels
    assert np.shares_memory(panel.values, values)
    np.testing.assert_array_equal(panel.values, values)


def test_pandas_columns_in_separate_blocks_are_separate_uncopied_panels():
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 4.0]})
    frame["c"] = [5.0, 6.0]
    frame["d"] = [7, 8]
    table = read_table(frame)
    assert [panel.first for panel in table.panels] == [0, 1, 2, 3]
    for panel, name in zip(table.panels, frame.columns, strict=True):
        assert np.shares_memory(panel.values, frame[name].to_numpy())
    np.testing.assert_array_equal(as_matrix(table), frame.to_numpy())


PANDAS_COLUMNS = [
    (pd.array([1, None, 3], dtype="Int64"), [1, nan, 3]),
    (pd.array([1, 2, 3], dtype="UInt8"), [1, 2, 3]),
    (pd.array([1.5, None, 3], dtype="Float32"), [1.5, nan, 3]),
    (pd.array([True, None, False], dtype="boolean"), [1, nan, 0]),
    (pd.array([1, None, 3], dtype="int64[pyarrow]"), [1, nan, 3]),
    (pd.array([True, None, False], dtype="bool[pyarrow]"), [1, nan, 0]),
    (pd.array([Decimal("0.1"), None, Decimal(3)], dtype=pd.ArrowDtype(pa.decimal128(5, 2))), [0.1, nan, 3]),
    (pd.arrays.SparseArray([0.0, 1.0, nan]), [0, 1, nan]),
    (np.array([True, False, True]), [1, 0, 1]),
    (np.array([1, 2, 3], dtype=np.float16), [1, 2, 3]),
    (np.array([1, 2, 3], dtype=np.int16), [1, 2, 3]),
    (pd.Series([1, None, 2.5], dtype=object), [1, nan, 2.5]),
    (pd.Series([1, pd.NA, Decimal("0.1")], dtype=object), [1, nan, 0.1]),
    (pd.Series([None, None, None], dtype=object), [nan, nan, nan]),
]


@pytest.mark.parametrize(("column", "expected"), PANDAS_COLUMNS, ids=lambda value: str(type(value).__name__))
def test_pandas_columns_become_floats_with_nan_for_missing(column, expected):
    frame = pd.DataFrame({"x": [0.5, 1.5, 2.5], "column": column})
    np.testing.assert_array_equal(as_matrix(read_table(frame))[:, 1], expected)


POLARS_COLUMNS = [
    (pl.Series([1, None, 3], dtype=pl.Int64), [1, nan, 3]),
    (pl.Series([1, None, 3], dtype=pl.UInt8), [1, nan, 3]),
    (pl.Series([1, None, 3], dtype=pl.Int128), [1, nan, 3]),
    (pl.Series([1, 2, 3], dtype=pl.Int16), [1, 2, 3]),
    (pl.Series([1.5, None, nan], dtype=pl.Float32), [1.5, nan, nan]),
    (pl.Series([True, None, False]), [1, nan, 0]),
    (pl.Series([True, False, False]), [1, 0, 0]),
    (pl.Series([Decimal("0.1"), None, Decimal(3)]), [0.1, nan, 3]),
    (pl.Series([None, None, None]), [nan, nan, nan]),
    (pl.Series([1, None, 2.5], dtype=pl.Object), [1, nan, 2.5]),
]


@pytest.mark.parametrize(("column", "expected"), POLARS_COLUMNS, ids=lambda value: str(type(value).__name__))
def test_polars_columns_become_floats_with_nan_for_missing(column, expected):
    frame = pl.DataFrame({"x": [0.5, 1.5, 2.5], "column": column})
    np.testing.assert_array_equal(as_matrix(read_table(frame))[:, 1], expected)


ARROW_COLUMNS = [
    (pa.array([1, None, 3], pa.int8()), [1, nan, 3]),
    (pa.array([1, 2, 3], pa.uint64()), [1, 2, 3]),
    (pa.array([1.5, None, nan], pa.float32()), [1.5, nan, nan]),
    (pa.array([True, None, False]), [1, nan, 0]),
    (pa.array([Decimal("0.10"), None, Decimal("3.00")]), [0.1, nan, 3]),
    (pa.array([Decimal("0.10"), None, Decimal("3.00")], pa.decimal256(40, 2)), [0.1, nan, 3]),
    (pa.nulls(3), [nan, nan, nan]),
    (pa.chunked_array([[1.0], [2.0, None]]), [1, 2, nan]),
]


@pytest.mark.parametrize(("column", "expected"), ARROW_COLUMNS, ids=lambda value: str(type(value).__name__))
def test_arrow_columns_become_floats_with_nan_for_missing(column, expected):
    table = pa.table({"x": [0.5, 1.5, 2.5], "column": column})
    np.testing.assert_array_equal(as_matrix(read_table(table))[:, 1], expected)


@pytest.mark.parametrize("make", [pl.DataFrame, pa.table])
def test_float_columns_without_nulls_are_not_copied(make):
    frame = make({"a": np.arange(5.0), "b": np.arange(5, dtype=np.float32)})
    first, again = read_table(frame), read_table(frame)
    for one, other in zip(first.panels, again.panels, strict=True):
        assert np.shares_memory(one.values, other.values)


def test_a_record_batch_is_read_like_a_table():
    batch = pa.record_batch({"a": [1.0, 2.0], "b": [3, 4]})
    table = read_table(batch)
    assert table.names == ("a", "b")
    np.testing.assert_array_equal(as_matrix(table), [[1, 3], [2, 4]])


def test_an_object_with_an_arrow_stream_is_read_like_a_table():
    class Streamed:
        def __arrow_c_stream__(self, requested_schema=None):
            return pa.table({"größe": [1.0, 2.0]}).__arrow_c_stream__(requested_schema)

    table = read_table(Streamed())
    assert table.names == ("größe",)
    np.testing.assert_array_equal(as_matrix(table), [[1], [2]])


@given(st.lists(st.text(min_size=1), min_size=1, max_size=4, unique=True))
@example(["columns", "column_names", "shape", "dtype"])
def test_column_names_may_be_any_unicode(names):
    columns = {name: [float(j)] for j, name in enumerate(names)}
    for make in (pd.DataFrame, pl.DataFrame, pa.table):
        assert read_table(make(columns)).names == tuple(names)


def test_pandas_default_columns_are_no_names():
    assert read_table(pd.DataFrame([[1.0, 2.0]])).names is None


def test_pandas_columns_that_are_other_numbers_are_named_by_them():
    frame = pd.DataFrame([[1.0, 2.0, 3.0]])
    assert read_table(frame[[2, 0]]).names == ("2", "0")


def test_pandas_columns_of_strings_and_numbers_are_refused():
    frame = pd.DataFrame([[1.0, 2.0]], columns=["a", 1])
    with pytest.raises(DataTypeError, match=r"only supported if all input features have string names.*'int'"):
        read_table(frame)


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame([[1.0, 2.0, 3.0]], columns=["b", "a", "a"]),
        pa.Table.from_arrays([pa.array([1.0]), pa.array([2.0])], names=["a", "a"]),
        pa.RecordBatch.from_arrays([pa.array([1.0]), pa.array([2.0])], names=["a", "a"]),
        pd.DataFrame([[1.0, 2.0]], columns=[3, 3]),
    ],
)
def test_duplicate_column_names_are_refused_by_name(frame):
    fitted = sp.GBMRegressor(n_estimators=1).fit(np.eye(30, 2), np.zeros(30))
    readers = (
        read_table,
        sp.Dataset,
        fitted.model_.predict,
        fitted.predict,
        lambda X: sp.GBMRegressor().fit(X, [1.0]),
        lambda X: fitted.fit(np.eye(30, 2), np.zeros(30), eval_set=(X, [1.0])),
    )
    for read in readers:
        with pytest.raises(DataError, match=r'X has more than one column named "[a3]"; column names must be'):
            read(frame)


def test_duplicate_column_names_of_an_arrow_stream_are_refused():
    class Streamed:
        def __arrow_c_stream__(self, requested_schema=None):
            table = pa.Table.from_arrays([pa.array([1.0]), pa.array([2.0])], names=["a", "a"])
            return table.__arrow_c_stream__(requested_schema)

    with pytest.raises(DataError, match="more than one column of the same name"):
        read_table(Streamed())


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"city": ["Paris", None, "Oslo", "Paris"]}),
        pd.DataFrame({"city": pd.Categorical(["Paris", None, "Oslo", "Paris"])}),
        pd.DataFrame({"city": pd.Series([1, "Paris", np.nan, "Oslo", "Paris"], dtype=object)[1:]}),
        pl.DataFrame({"city": ["Paris", None, "Oslo", "Paris"]}),
        pl.DataFrame({"city": pl.Series(["Paris", None, "Oslo", "Paris"], dtype=pl.Categorical)}),
        pl.DataFrame({"city": pl.Series(["Paris", None, "Oslo", "Paris"], dtype=pl.Enum(["Paris", "Oslo"]))}),
        pa.table({"city": ["Paris", None, "Oslo", "Paris"]}),
        pa.table({"city": pa.array(["Paris", None, "Oslo", "Paris"]).dictionary_encode()}),
    ],
)
def test_text_and_categories_are_read_as_positions_among_the_categories(frame):
    (panel,) = read_table(frame).panels
    codes = panel.values[:, 0].tolist()
    assert [None if code < 0 else panel.categories[code] for code in codes] == [
        "Paris",
        None,
        "Oslo",
        "Paris",
    ]


REFUSED = [
    (pd.DataFrame({"city": pd.to_datetime(["2020-01-01"])}), DataTypeError, "holds times"),
    (pd.DataFrame({"city": pd.to_timedelta([1])}), DataTypeError, "holds times"),
    (
        pd.DataFrame({"city": pd.period_range("2020", periods=1, freq="D")}),
        DataTypeError,
        "argument must be a string or a number, not 'Period'",
    ),
    (pd.DataFrame({"city": [1j]}), DataError, "Complex data not supported"),
    (pl.DataFrame({"city": [b"Paris"]}), DataTypeError, "holds text"),
    (pl.DataFrame({"city": [datetime.date(2020, 1, 1)]}), DataTypeError, "holds times"),
    (pl.DataFrame({"city": [datetime.time(1)]}), DataTypeError, "holds times"),
    (pl.DataFrame({"city": [[1, 2]]}), DataTypeError, "holds nested values"),
    (pl.DataFrame({"city": [{"a": 1}]}), DataTypeError, "holds nested values"),
    (pa.table({"city": [[1]]}), DataTypeError, "holds nested values"),
]


@pytest.mark.parametrize(("frame", "error", "message"), REFUSED)
def test_columns_that_are_no_numbers_are_refused_by_name(frame, error, message):
    with pytest.raises(error, match=message) as caught:
        as_matrix(read_table(frame))
    assert 'column "city" of X' in str(caught.value)


@pytest.mark.parametrize(
    "series", [pd.Series([1.0, 2.0]), pl.Series([1.0, 2.0]), pa.array([1.0, 2.0]), pa.chunked_array([[1.0]])]
)
def test_a_single_series_is_no_table(series):
    with pytest.raises(DataError, match=r"Expected 2D array, got 1D array instead(?s:.*)Reshape your data"):
        read_table(series)


def test_a_lazy_frame_must_be_collected_first():
    with pytest.raises(DataTypeError, match=r"X is a LazyFrame.*\.collect\(\)"):
        read_table(pl.LazyFrame({"a": [1.0]}))


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (pd.DataFrame({"a": []}, dtype=float), r"0 sample\(s\) \(shape=\(0, 1\)\)"),
        (pl.DataFrame({"a": []}, schema={"a": pl.Float64}), r"0 sample\(s\) \(shape=\(0, 1\)\)"),
        (pd.DataFrame(index=range(12)), r"0 feature\(s\) \(shape=\(12, 0\)\)"),
    ],
)
def test_an_empty_frame_is_refused(frame, message):
    with pytest.raises(DataError, match=message):
        read_table(frame)


def test_arrays_and_lists_are_read_without_importing_a_frame_library():
    code = (
        "import sys, numpy as np\n"
        "from spinney.data import read_table, read_vector, read_class_labels\n"
        "read_table(np.zeros((2, 2))); read_table([[1, 2]]); read_vector([1.0], 1, 'y')\n"
        "read_class_labels(['a'], 1)\n"
        "loaded = {'narwhals', 'pandas', 'polars', 'pyarrow', 'sklearn', 'numba'} & set(sys.modules)\n"
        "sys.exit(', '.join(loaded) or 0)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
