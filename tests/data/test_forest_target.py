import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse

from spinney.data import ForestTarget, read_class_target, read_number_target
from spinney.errors import DataError, DataTypeError

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
def test_a_wrong_target_is_told_what_is_wrong(y, error, message):
    with pytest.raises(error, match=message):
        read_number_target(y, 2)


def test_labels_with_a_fraction_are_refused():
    with pytest.raises(DataError, match="Unknown label type: continuous"):
        read_class_target([[1, 0.5], [2, 1.0]], 2)
