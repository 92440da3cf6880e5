"""Tables with categorical columns that do not fit, or only just."""

import datetime
import re
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.exceptions import DataConversionWarning

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
        (np.eye(2), [True, 1], ParameterTypeError, "names or positions"),
        (np.eye(2), [True], ParameterError, "mask of 1 truth values, but X has 2 columns"),
        (np.eye(2), np.ones((2, 2), bool), ParameterTypeError, "names or positions"),
        (pd.DataFrame({"a": ["x", 1]}), "auto", DataTypeError, "mixes text"),
        (pd.DataFrame({"a": pd.Categorical([1.5, np.inf])}), "auto", DataTypeError, "category inf"),
        (
            pd.DataFrame({"a": pd.Categorical([datetime.date(2024, 5, 1), 1])}),
            "auto",
            DataTypeError,
            r"more than one kind \(dates, numbers\)",
        ),
        (
            pd.DataFrame({"a": pd.Categorical([Decimal("0.5"), Decimal(1)])}),
            "auto",
            DataTypeError,
            "category",
        ),
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


NUMBERS_AS_TEXT = np.array(["12.5", " 7 ", "-3", "1e3", "nan", "00123"] * 10, dtype=object)


@pytest.mark.parametrize(
    "price",
    [
        NUMBERS_AS_TEXT,
        np.where(np.arange(60) % 7 == 0, None, NUMBERS_AS_TEXT),
        pd.array(NUMBERS_AS_TEXT, dtype="string"),
        pd.Series(NUMBERS_AS_TEXT.astype("U5")),
        pl.Series(NUMBERS_AS_TEXT.tolist()),
        pa.array(NUMBERS_AS_TEXT.tolist()),
    ],
    ids=["object", "gaps", "string", "str", "polars", "pyarrow"],
)
def test_numbers_as_text_that_nobody_named_are_refused_by_a_dataset_and_warned_of_by_an_estimator(price):
    make, call = {
        "polars": (pl.DataFrame, "pl.col('price').cast(pl.Float64)"),
        "pyarrow": (pa.table, "X['price'].cast('float64')"),
    }.get(type(price).__module__.split(".")[0], (pd.DataFrame, "X['price'].astype(float)"))
    table = make({"number": np.arange(60.0), "price": price})
    with pytest.raises(
        DataError,
        match=rf'"price" holds text that reads as numbers.* as in {re.escape(call)}, or .*categorical=\[\'price\'\]',
    ):
        sp.Dataset(table, Y)
    with pytest.warns(
        DataConversionWarning,
        match=rf'"price": text that all reads as numbers.* as in {re.escape(call)}, or .*categorical=\[\'price\'\]',
    ):
        fitted = sp.GBMRegressor(n_estimators=2).fit(table, Y)
    named = sp.Dataset(table, Y, categorical=["price"])
    assert set(named.schema.categories[1].values) == set(NUMBERS_AS_TEXT)
    assert sp.Dataset(table, Y, reference=named).schema is named.schema
    model = sp.train({}, named, 2)
    silent = sp.GBMRegressor(n_estimators=2, categorical=["price"]).fit(table, Y)
    assert silent.predict(table).tolist() == fitted.predict(table).tolist()
    assert fitted.model_.schema == named.schema
    assert model.predict(table).shape == (60,)


@pytest.mark.parametrize(
    "price",
    [
        pd.Categorical(NUMBERS_AS_TEXT),
        pl.Series(NUMBERS_AS_TEXT.tolist(), dtype=pl.Categorical),
        pl.Series(NUMBERS_AS_TEXT.tolist(), dtype=pl.Enum(sorted(set(NUMBERS_AS_TEXT)))),
        pa.array(NUMBERS_AS_TEXT.tolist()).dictionary_encode(),
    ],
    ids=["pandas", "polars", "enum", "pyarrow"],
)
def test_numbers_as_text_of_a_categorical_type_are_categories(price):
    make = {"polars": pl.DataFrame, "pyarrow": pa.table}.get(
        type(price).__module__.split(".")[0], pd.DataFrame
    )
    data = sp.Dataset(make({"price": price}), Y)
    assert set(data.schema.categories[0].values) == set(NUMBERS_AS_TEXT)
    later = pd.DataFrame({"price": ["7", " 7 "]})
    assert sp.train({}, data, 1).predict(later).shape == (2,)


@pytest.mark.parametrize(
    "values", [["1", "2", "x"], ["1_000", "2_000", "3_000"], ["nan", "inf", "-inf"], ["True", "False", ""]]
)
def test_text_that_does_not_all_read_as_numbers_is_categorical(values):
    assert sp.Dataset(pd.DataFrame({"a": values * 20}), Y).schema.categorical == (0,)


def test_the_advice_for_numbers_as_text_names_the_label_and_what_is_infinite():
    table = pd.DataFrame({7: np.arange(60.0), 5: ["1", "2", "-inf"] * 20})
    with pytest.raises(DataError, match=r"X\[5\]\.astype\(float\) \('-inf' first made missing.*\['5'\]"):
        sp.Dataset(table, Y)
    assert sp.Dataset(table, Y, categorical=["5"]).schema.categorical == (1,)
    numbers = table.replace({5: {"-inf": None}}).astype({5: float})
    assert sp.Dataset(numbers, Y).schema.categorical == ()
    with pytest.raises(DataError, match=r"as in X\[5\]\.astype"):
        sp.Dataset(table[[5]], Y)


def test_a_position_that_is_also_the_label_of_another_column_is_refused():
    table = pd.DataFrame({1: np.arange(60.0), 0: np.arange(60) % 3})
    with pytest.raises(ParameterError, match=r"holds 1, which is the position of column '0'.*'0' or '1'"):
        sp.Dataset(table, Y, categorical=[1])
    assert sp.Dataset(table, Y, categorical=["0"]).schema.categorical == (1,)
    assert sp.Dataset(table[[0, 1]], Y, categorical=[0]).schema.categorical == (0,)


@pytest.mark.parametrize("unseen", ["missing", "error"])
def test_a_fraction_among_whole_numbers_is_unseen_whatever_the_type_of_its_column(unseen):
    table = pd.DataFrame({"a": pd.Categorical(np.arange(60) % 3)})
    model = sp.train({}, sp.Dataset(table, Y, unseen=unseen), 1)
    for later in (pd.DataFrame({"a": [0.5]}), pd.DataFrame({"a": pd.Categorical([0.5])})):
        if unseen == "error":
            with pytest.raises(DataError, match=r'"a" holds 0\.5, a category that training did not see'):
                model.predict(later)
        else:
            assert model.predict(later) == model.predict(np.array([[np.nan]]))


@pytest.mark.parametrize("categories", [[0, 1, 2], [0.5, 1.5, 2.5]])
def test_later_numbers_that_no_category_can_be_are_refused(categories):
    model = sp.train({}, sp.Dataset(pd.DataFrame({"a": pd.Categorical(categories * 20)}), Y), 1)
    with pytest.raises(
        DataError, match=r'"a" is categorical, but holds inf; .* must be finite: make it missing'
    ):
        model.predict(pd.DataFrame({"a": [np.inf]}))
    with pytest.raises(DataError, match=r"beyond ±2\*\*53"):
        model.predict(pd.DataFrame({"a": [2**53 + 1]}))


def test_named_fractions_are_refused_with_a_way_out_that_works():
    table = pd.DataFrame({"a": [0.5, 1.5, 2.5] * 20})
    with pytest.raises(DataError, match=r"holds 0\.5; .* must be whole: round .*\.astype\('category'\)"):
        sp.Dataset(table, Y, categorical=["a"])
    assert sp.Dataset(table.astype("category"), Y, categorical=["a"]).schema.categorical == (0,)


def test_a_missing_value_is_no_unseen_category():
    X = np.array([[1.0], [2.0], [3.0]] * 20)
    model = sp.train({}, sp.Dataset(X, Y, categorical=[0], unseen="error"), 1)
    assert model.predict(np.array([[np.nan], [1.0]])).shape == (2,)


@pytest.mark.parametrize("mask", [[False, True], np.array([False, True]), pd.Series([False, True])])
def test_a_mask_names_the_categorical_columns(mask):
    X = np.stack([np.arange(60.0), np.arange(60) % 3], axis=1)
    data, named = sp.Dataset(X, Y, categorical=mask), sp.Dataset(X, Y, categorical=[1])
    assert data.schema == named.schema
    assert sp.Dataset(X, Y, reference=data, categorical=mask).schema is data.schema
    fitted = clone(sp.GBMRegressor(n_estimators=2, categorical=mask)).fit(X, Y)
    assert fitted.model_ == sp.GBMRegressor(n_estimators=2, categorical=[1]).fit(X, Y).model_
    assert sp.Dataset(X, Y, categorical=[False, False]).schema.categories is None
