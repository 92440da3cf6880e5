import gc
import pickle
import weakref

import numpy as np
import pandas as pd
import polars as pl
import pytest

import spinney as sp
from spinney.errors import DataError, DataTypeError, ParameterError, ParameterTypeError

X = np.array([[1.0, 10.0], [2.0, np.nan], [3.0, 30.0], [4.0, 10.0]])
Y = np.array([1.0, 2.0, 3.0, 4.0])


def test_a_data_set_shows_its_size():
    assert repr(sp.Dataset(X, Y)) == "Dataset(rows=4, columns=2, bins=6)"
    data = sp.Dataset(X, Y, max_bin=7)
    assert (data.rows, data.columns, data.max_bin) == (4, 2, 7)


def test_a_data_set_lets_go_of_the_table_when_it_is_trained_on():
    table = np.random.default_rng(0).normal(size=(1000, 5))
    seen = weakref.ref(table)
    data = sp.Dataset(table, table[:, 0].copy())
    valid = sp.Dataset(table.copy(), table[:, 0].copy(), reference=data)
    seen_valid = weakref.ref(valid.binned.raw._given.find())
    del table
    sp.train({"max_leaves": 2}, data, 1, valid={"valid": valid})
    gc.collect()
    assert seen() is None
    assert seen_valid() is None
    assert data.binned.matrix().by_row.nbytes + data.binned.matrix().by_column.nbytes == 1000 * (16 + 5)
    assert data.nbytes == data.binned.matrix().nbytes < 1000 * (16 + 5) + 100


def test_a_data_set_lets_go_of_a_frame():
    frame = pd.DataFrame({"a": np.arange(50.0), "b": np.arange(50)})
    seen = weakref.ref(frame)
    data = sp.Dataset(frame, np.arange(50.0))
    sp.train({"max_leaves": 2}, data, 1)
    del frame
    gc.collect()
    assert seen() is None
    assert data.schema.names == ("a", "b")


@pytest.mark.parametrize("which", ["y", "weight", "base_margin"])
def test_changing_an_array_after_the_data_set_was_made_changes_nothing(which):
    arrays = {"y": Y.copy(), "weight": np.ones(4), "base_margin": np.zeros(4)}
    data = sp.Dataset(X, **arrays)
    params = {"min_child_samples": 1}
    before = sp.train(params, data, rounds=2)
    arrays[which][0] = 77.0
    assert sp.train(params, data, rounds=2) == before


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"y": [1.0, 2.0]}, DataError, "y has 2 values, but X has 4 rows"),
        ({"y": [1.0, np.nan, 2.0, 3.0]}, DataError, "Input y contains NaN. The first is in row 1"),
        ({"y": [1.0, 2.0, np.inf, 3.0]}, DataError, "Input y contains infinity.*row 2"),
        ({"y": ["a", "b", "c", "d"]}, DataTypeError, "y holds text"),
        ({"y": np.ones((4, 2, 1))}, DataError, "y should be a 1d array"),
        (
            {"y": [[1.0, 2.0], [1.0, np.nan], [1.0, 2.0], [1.0, 2.0]]},
            DataError,
            "column 1 of y contains NaN.*row 1",
        ),
        ({"weight": [1.0, 2.0]}, DataError, "weight has 2 values, but X has 4 rows"),
        ({"weight": [1.0, -2.0, 1.0, 1.0]}, DataError, "weight is negative in row 1"),
        ({"weight": np.zeros(4)}, DataError, "weight holds only zeros"),
        ({"weight": [1.0, np.nan, 1.0, 1.0]}, DataError, "Input weight contains NaN"),
        ({"weight": np.full(4, 1e308)}, DataError, "weight adds up to infinity"),
        ({"base_margin": [1.0, 2.0]}, DataError, "base_margin has 2 values, but X has 4 rows"),
        ({"base_margin": np.ones((3, 2))}, DataError, r"base_margin has shape \(3, 2\); it must be \(4, 2\)"),
        ({"base_margin": [0.0, np.nan, 0.0, 0.0]}, DataError, "Input base_margin contains NaN"),
        ({"base_margin": [0.0, 1e31, 0.0, 0.0]}, DataError, "base_margin holds a value beyond ±1e30"),
        ({"max_bin": 1}, ParameterError, "max_bin=1 is out of range"),
        ({"max_bin": 65_537}, ParameterError, "max_bin=65537 is out of range"),
        ({"max_bin": "many"}, ParameterTypeError, "max_bin='many'"),
        ({"n_jobs": 0}, ParameterError, "n_jobs=0 is not allowed"),
        ({"names": ["a"]}, DataError, "names holds 1 names, but X has 2 columns"),
        ({"names": ["a", "a"]}, DataError, 'more than one column named "a"'),
        ({"reference": X}, DataTypeError, "reference must be a spinney.Dataset, got ndarray"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(given, error, message):
    with pytest.raises(error, match=message):
        sp.Dataset(X, **given)


@pytest.mark.parametrize(
    ("table", "error", "message"),
    [
        (np.ones(3), DataError, "Expected 2D array, got 1D array"),
        (np.ones((0, 2)), DataError, r"0 sample\(s\)"),
        (np.ones((2, 0)), DataError, r"0 feature\(s\)"),
        ([["a"], ["b"]], DataTypeError, "column 0 of X holds text"),
        (None, DataTypeError, "X must be a NumPy array"),
        (np.array([[1.0, np.inf]]), DataError, "column 1 holds an infinite value"),
        (pd.DataFrame({"age": [1.0, -np.inf]}), DataError, 'column "age" holds an infinite value'),
        (pl.DataFrame({"age": [1.0, np.inf]}), DataError, 'column "age" holds an infinite value'),
    ],
)
def test_a_table_that_cannot_be_binned_is_refused(table, error, message):
    with pytest.raises(error, match=message):
        sp.Dataset(table)


def test_a_lone_number_is_the_weight_of_every_row():
    assert sp.Dataset(X, weight=2).weight.tolist() == [2.0] * 4


def test_a_reference_gives_its_cuts_and_columns():
    data = sp.Dataset(X, Y, max_bin=3)
    other = sp.Dataset(np.array([[100.0, 15.0], [-5.0, np.nan]]), reference=data)
    assert other.cuts is data.cuts
    assert other.max_bin == 3
    assert other.binned.matrix().by_column.tolist() == [[2, 0], [0, 2]]


def test_values_missing_where_training_had_none_have_the_missing_bin():
    data = sp.Dataset(X)
    other = sp.Dataset(np.array([[np.nan, 10.0]]), reference=data)
    assert other.binned.matrix().by_column[:, 0].tolist() == [4, 0]
    assert other.binned.matrix().bins.tolist() == data.binned.matrix().bins.tolist()


def test_columns_are_matched_with_the_reference_by_name():
    data = sp.Dataset(X, names=["a", "b"])
    for frame in (pd.DataFrame, pl.DataFrame):
        other = sp.Dataset(frame({"b": [30.0, 10.0], "a": [1.0, 4.0]}), reference=data)
        assert other.binned.matrix().by_column.tolist() == [[0, 3], [1, 0]]
        assert other.schema.names == ("a", "b")


def test_columns_that_the_reference_lacks_are_refused():
    data = sp.Dataset(X, names=["a", "b"])
    with pytest.raises(DataError, match=r"(?s)unseen at fit time:\n- c\n.*yet now missing:\n- b"):
        sp.Dataset(pd.DataFrame({"a": [1.0], "c": [2.0]}), reference=data)
    with pytest.raises(DataError, match="X has 3 features, but the reference is expecting 2 features"):
        sp.Dataset(np.ones((2, 3)), reference=data)


def test_a_reference_settles_the_number_of_bins():
    data = sp.Dataset(X, max_bin=3)
    assert sp.Dataset(X, reference=data, max_bin=3).max_bin == 3
    with pytest.raises(ParameterError, match="max_bin = 4 differs from the reference's 3; leave it out"):
        sp.Dataset(X, reference=data, max_bin=4)


def test_a_table_is_left_as_it_was():
    given = X.copy()
    given.flags.writeable = False
    sp.Dataset(given, Y)
    assert given.tobytes() == X.tobytes()


def test_a_kept_table_can_be_read_again():
    kept = sp.Dataset(np.arange(12.0).reshape(6, 2), np.arange(6.0), keep_table=True)
    sp.train({"max_leaves": 2}, kept, 1)
    assert kept.binned.raw.table().panels[0].values.tolist() == np.arange(12.0).reshape(6, 2).tolist()
    listed = sp.Dataset([[1.0], [2.0]], [0.0, 1.0])
    assert listed.binned.raw.table().rows == 2
    with pytest.raises(TypeError, match="keep_table='yes' must be True or False"):
        sp.Dataset([[1.0], [2.0]], keep_table="yes")


@pytest.mark.parametrize("copied", [False, True])
def test_a_table_that_is_gone_is_an_error_that_says_what_to_do(copied):
    X = np.arange(12.0).reshape(6, 2)
    data = sp.Dataset(X, np.arange(6.0))
    if copied:
        data = pickle.loads(pickle.dumps(data))
    else:
        sp.train({"max_leaves": 2}, data, 1)
        del X
    says = "the table of {}, which is gone: keep its X until then, or give keep_table=True"
    for method in ("exact", "approx"):
        with pytest.raises(DataError, match=says.format("dataset")):
            sp.train({"tree_method": method}, data, 1)
    sp.train({"tree_method": "hist"}, data, 1)


@pytest.mark.parametrize("method", [{"tree_method": "exact"}, {"tree_method": "approx"}])
def test_a_validation_table_that_is_gone_is_named(method):
    data = sp.Dataset(X, Y)
    valid = {"early": data, "late": pickle.loads(pickle.dumps(sp.Dataset(X, Y, reference=data)))}
    with pytest.raises(DataError, match=r"need the table of valid\['late'\], which is gone"):
        sp.train(method, data, 1, valid=valid)


def test_a_table_that_has_changed_its_shape_is_refused():
    X = np.arange(12.0).reshape(6, 2)
    data = sp.Dataset(X, np.arange(6.0))
    X.resize((4, 3), refcheck=False)
    with pytest.raises(DataError, match="X of dataset has changed its shape"):
        sp.train({"tree_method": "exact"}, data, 1)
