"""Targets of several columns, and labels that hold them."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import spinney as sp
from spinney.data import Labels, read_target
from spinney.errors import DataError, DataTypeError

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


def test_labels_give_their_columns_and_some_of_their_rows():
    labels = Labels(read_target(Y, 3), np.array([1.0, 2.0, 3.0]))
    assert labels.targets == 2
    assert labels.column(1).target.tolist() == [10.0, 20.0, 30.0]
    some = labels.take(np.array([True, False, True]))
    assert some.target.tolist() == [[1.0, 10.0], [3.0, 30.0]]
    assert some.arrays().target.tolist() == [[1.0, 3.0], [10.0, 30.0]]


def test_a_data_set_keeps_a_target_of_its_own():
    y = Y.copy()
    data = sp.Dataset(np.arange(6.0).reshape(3, 2), y)
    y[:] = 0
    np.testing.assert_array_equal(data.target, Y)


def test_a_loss_of_one_column_refuses_two():
    data = sp.Dataset(np.arange(6.0).reshape(3, 2), [[0, 1], [1, 0], [0, 1]])
    with pytest.raises(DataError, match="objective softmax needs y of 1 column, got 2"):
        sp.train({"objective": "softmax", "num_class": 2}, data)
