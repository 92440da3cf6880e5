"""Tables with categorical columns that do not fit, or only just."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import spinney as sp
from spinney.errors import DataError, DataTypeError, ParameterError, ParameterTypeError

COLOURED = pd.DataFrame({"number": np.arange(60.0), "colour": ["red", "green", "blue"] * 20})
Y = np.arange(60.0) % 3


@pytest.mark.parametrize(
    ("later", "error", "message"),
    [
        (pd.DataFrame({"number": [1.0], "colour": [3.0]}), DataTypeError, "now it holds numbers"),
        (pd.DataFrame({"number": ["a"], "colour": ["red"]}), DataTypeError, '"number" holds text'),
        (np.array([[1.0, 2.0]]), DataTypeError, "now it holds numbers"),
        (
            pd.DataFrame({"number": [1.0, 2.0], "colour": ["red", 3]}),
            DataTypeError,
            "mixes text with other values",
        ),
        (pd.DataFrame({"number": [1.0]}), DataError, "missing"),
        (
            pd.DataFrame({"number": [1.0, 2.0], "colour": pd.Categorical([1, 2])}),
            DataTypeError,
            "now it holds numbers",
        ),
    ],
)
def test_tables_that_do_not_fit_are_refused(later, error, message):
    model = sp.train({}, sp.Dataset(COLOURED, Y), 1)
    with pytest.raises(error, match=message):
        model.predict(later)


@pytest.mark.parametrize(
    ("X", "categorical", "error", "message"),
    [
        (np.array([[0.5], [1.0]]), [0], DataError, "is categorical, but holds 0.5"),
        (np.array([[np.inf], [1.0]]), [0], DataError, "is categorical, but holds inf"),
        (np.array([[1e300], [1.0]]), [0], DataError, r"beyond ±2\*\*53; give such categories as text"),
        (np.array([[2**53 + 1], [1]]), [0], DataError, r"beyond ±2\*\*53"),
        (np.array([[2**53 + 1], [1]], np.uint64), [0], DataError, r"beyond ±2\*\*53"),
        (np.array([[2**64 - 1], [1]], np.uint64), [0], DataError, r"beyond ±2\*\*53"),
        (np.array([[-(2**63)], [1]]), [0], DataError, r"beyond ±2\*\*53"),
        (np.eye(2), [2], ParameterError, "columns 0 to 1"),
        (np.eye(2), [-1], ParameterError, "columns 0 to 1"),
        (np.eye(2), ["a"], ParameterError, "'a', which X does not have"),
        (np.eye(2), "all", ParameterTypeError, 'must be "auto"'),
        (np.eye(2), 1, ParameterTypeError, 'must be "auto"'),
        (np.eye(2), [1.5], ParameterTypeError, "names or positions"),
        (np.eye(2), [True], ParameterTypeError, "names or positions"),
        (pd.DataFrame({"a": ["x", 1]}), "auto", DataTypeError, "mixes text"),
        (pd.DataFrame({"a": pd.Categorical([1.5, 2.5])}), "auto", DataTypeError, "category 1.5"),
        (pd.DataFrame({"a": pd.Categorical([2**60, 1])}), "auto", DataTypeError, r"within ±2\*\*53"),
        (pd.DataFrame({"a": pd.Categorical([10**400, 1])}), "auto", DataTypeError, r"within ±2\*\*53"),
        (pd.DataFrame({"a": ["x", [1]]}), "auto", DataTypeError, '"a" of X holds nested values'),
        (np.eye(2), b"a", ParameterTypeError, 'must be "auto"'),
        (pd.DataFrame({"a": pd.Categorical([(1, 2), (3, 4)])}), "auto", DataTypeError, "category"),
    ],
)
def test_wrong_categories_are_refused(X, categorical, error, message):
    with pytest.raises(error, match=message):
        sp.Dataset(X, np.zeros(2), categorical=categorical)


def test_whole_numbers_that_became_text_are_refused():
    table = pd.DataFrame({"a": np.arange(60) % 3})
    model = sp.train({}, sp.Dataset(table, np.arange(60.0), categorical=["a"]), 1)
    with pytest.raises(DataTypeError, match="now it holds text"):
        model.predict(table.astype(str))


def test_text_that_no_file_can_hold_is_refused_before_training():
    odd = pd.Series(["\ud800", "b"] * 5, dtype=object)
    with pytest.raises(DataError, match=r'"c" of X holds the category .*UTF-8'):
        sp.Dataset(pd.DataFrame({"c": odd}), np.zeros(10))
    with pytest.raises(DataError, match=r"column named .*UTF-8"):
        sp.Dataset(np.zeros((10, 1)), np.zeros(10), names=["\ud800"])


def test_categories_that_are_declared_but_do_not_occur_do_not_matter():
    model = sp.train({}, sp.Dataset(COLOURED, Y), 3)
    declared = pd.Categorical(["red", None], categories=["red", 7, ("a", "b"), "green"])
    plain = pd.DataFrame({"number": [1.0, 2.0], "colour": ["red", None]})
    assert model.predict(plain.assign(colour=declared)).tolist() == model.predict(plain).tolist()
    nothing = pd.Categorical([None, None], categories=[1, 2])
    plain["colour"] = None
    assert model.predict(plain.assign(colour=nothing)).tolist() == model.predict(plain).tolist()


@pytest.mark.parametrize(
    "later",
    [
        pd.DataFrame({"number": pd.array([None] * 2, dtype="string"), "colour": ["red", "blue"]}),
        pl.DataFrame({"number": pl.Series([None, None], dtype=pl.String), "colour": ["red", "blue"]}),
    ],
)
def test_a_column_of_numbers_may_come_as_text_of_which_there_is_none(later):
    model = sp.train({}, sp.Dataset(COLOURED, Y), 3)
    expected = pd.DataFrame({"number": [np.nan] * 2, "colour": ["red", "blue"]})
    assert model.predict(later).tolist() == model.predict(expected).tolist()
