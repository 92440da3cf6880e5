"""The schema of a model, and matching later tables with it."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spinney.data import Schema, as_matrix, describe_column, match_columns, read_table
from spinney.errors import DataError, ModelFormatError


def named(*names):
    return read_table(np.arange(2.0 * len(names)).reshape(2, -1), names=names)


def test_a_table_whose_order_is_right_is_returned_as_it_is():
    table = named("a", "b")
    assert match_columns(table, ("a", "b"), 2) is table


def test_columns_are_matched_by_name_without_a_copy():
    values = np.arange(6.0).reshape(2, 3)
    table = read_table(values, names=["c", "a", "b"])
    matched = match_columns(table, ("a", "b", "c"), 3)
    assert matched.names == ("a", "b", "c")
    assert [panel.first for panel in matched.panels] == [0, 1, 2]
    assert all(panel.columns == 1 and np.shares_memory(panel.values, values) for panel in matched.panels)
    np.testing.assert_array_equal(as_matrix(matched), values[:, [1, 2, 0]])


@given(st.permutations(["a", "b", "ç", "δ"]))
def test_any_order_of_a_frame_of_several_dtypes_gives_the_same_table(order):
    frame = pd.DataFrame({"a": [1, 2], "b": [0.5, np.nan], "ç": [True, False], "δ": [3.0, 4.0]})
    matched = match_columns(read_table(frame[order]), tuple(frame.columns), 4)
    np.testing.assert_array_equal(as_matrix(matched), as_matrix(read_table(frame)))


def test_a_table_without_names_is_matched_by_position():
    table = read_table([[1.0, 2.0]])
    assert match_columns(table, ("a", "b"), 2) is table


def test_a_model_without_names_matches_by_position():
    table = named("a", "b")
    assert match_columns(table, None, 2) is table


@pytest.mark.parametrize("names", [None, ("a", "b", "c", "d", "e")])
def test_a_wrong_number_of_columns_is_an_error_with_both_numbers(names):
    with pytest.raises(DataError, match="X has 3 features, but this model is expecting 5 features as input"):
        match_columns(read_table([[1.0, 2.0, 3.0]]), names, 5)


def test_the_error_calls_the_model_what_the_caller_calls_it():
    with pytest.raises(DataError, match="X has 1 features, but GBMRegressor is expecting 2 features"):
        match_columns(read_table([[1.0]]), None, 2, model="GBMRegressor")


def test_missing_and_extra_columns_are_both_listed():
    with pytest.raises(DataError) as caught:
        match_columns(named("a", "x"), ("a", "b"), 2)
    assert str(caught.value) == (
        "The feature names should match those that were passed during fit.\n"
        "Feature names unseen at fit time:\n- x\n"
        "Feature names seen at fit time, yet now missing:\n- b\n"
    )


def test_long_lists_of_missing_columns_are_cut_after_ten():
    names = tuple(f"c{j:02}" for j in range(14))
    with pytest.raises(DataError) as caught:
        match_columns(named("c00"), names, 14)
    assert "- c10\nand 3 more\n" in str(caught.value)
    assert "unseen" not in str(caught.value)


def test_a_column_is_described_by_its_name_or_else_by_its_index():
    assert describe_column(named("age", "größe"), 1) == 'column "größe"'
    assert describe_column(read_table([[1.0, 2.0]]), 1) == "column 1"


@pytest.mark.parametrize("schema", [Schema(None, 3), Schema(("a", "größe", "\U0001f333"), 3)])
def test_a_schema_survives_json(schema):
    assert Schema.from_json(json.loads(json.dumps(schema.to_json()))) == schema


@pytest.mark.parametrize(
    "value",
    [
        None,
        [],
        {},
        {"names": None},
        {"names": None, "columns": 2, "more": 1},
        {"names": None, "columns": 0},
        {"names": None, "columns": -1},
        {"names": None, "columns": 2**31},
        {"names": None, "columns": True},
        {"names": None, "columns": 2.0},
        {"names": None, "columns": "2"},
        {"names": "ab", "columns": 2},
        {"names": ["a"], "columns": 2},
        {"names": ["a", 1], "columns": 2},
        {"names": ["a", "a"], "columns": 2},
        {"names": {"a": 1, "b": 2}, "columns": 2},
    ],
)
def test_a_damaged_schema_is_refused(value):
    with pytest.raises(ModelFormatError, match="schema"):
        Schema.from_json(value)
