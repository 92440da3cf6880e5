"""Columns that hold no value in training."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import spinney as sp
from paged import paged
from spinney.data import Categories, Schema
from spinney.errors import DataError, ParameterError

ROWS = 120
NUMBER = np.random.default_rng(0).random(ROWS)
EMPTY = pd.DataFrame({"number": NUMBER, "c": pd.Series([None] * ROWS, dtype=object)})
TEXT = EMPTY.assign(c=["ash", "oak"] * (ROWS // 2))
NUMBERS = EMPTY.assign(c=np.arange(ROWS) % 2 * 1.0)
Y = np.arange(ROWS) % 2 + 0.1 * NUMBER
NOTHING = Categories((), 0)


def test_what_a_schema_says_of_a_column_without_values():
    schema = sp.Dataset(EMPTY, Y).schema
    assert schema == Schema(("number", "c"), 2, (None, NOTHING))
    assert (schema.empty, schema.categorical, schema.category_counts) == ((1,), (), None)
    assert Schema.from_json(json.loads(json.dumps(schema.to_json()))) == schema
    assert schema.filled(None) == Schema(("number", "c"), 2)
    assert sp.Dataset(TEXT, Y).schema.filled(None).categorical == (1,)


def test_rows_of_weight_0_hold_no_values():
    weight = (np.arange(ROWS) > 0) * 1.0
    table = EMPTY.assign(c=["ash"] + [None] * (ROWS - 1))
    data = sp.Dataset(table, Y, weight=weight)
    assert data.schema.empty == (1,)
    assert sp.train({}, data, 2).predict(TEXT).shape == (ROWS,)


@pytest.mark.parametrize(
    "params",
    [
        {"tree_method": "exact"},
        {"tree_method": "approx"},
        {"tree_method": "approx", "proposal": "local"},
        {"monotone_constraints": {"c": 1}},
    ],
)
def test_a_column_without_values_is_no_hindrance(params):
    model = sp.train(params, sp.Dataset(EMPTY, Y), 2)
    expected = model.predict(EMPTY).tolist()
    for later in (TEXT, NUMBERS):
        assert model.predict(later).tolist() == expected
    assert sp.Model.from_bytes(model.to_bytes()) == model
    if "tree_method" in params:
        matrix = sparse.csr_array(np.nan_to_num(NUMBERS.to_numpy()))
        assert model.predict(matrix).tolist() == expected


@pytest.mark.parametrize("later", [TEXT, NUMBERS], ids=["text", "numbers"])
@pytest.mark.parametrize("binned", ["schema", "anew", "disk"])
def test_a_training_that_goes_on_learns_what_the_column_holds_by_then(later, binned):
    first = sp.train({}, sp.Dataset(EMPTY, Y), 2)
    if binned == "disk":
        data = paged(later, Y, schema=first.schema)
    else:
        data = sp.Dataset(later, Y, schema=first.schema if binned == "schema" else None)
    model = sp.train({}, data, 20, init_model=first)
    assert model.schema == sp.Dataset(later, Y).schema
    assert np.mean((model.predict(later) - Y) ** 2) < 0.5 * np.mean((first.predict(later) - Y) ** 2)
    assert sp.Model.from_bytes(model.to_bytes()) == model
    np.testing.assert_allclose(model.predict(later, rounds=2), first.predict(later))


def test_whole_numbers_may_be_named_when_the_column_has_some():
    first = sp.train({}, sp.Dataset(EMPTY, Y), 1)
    data = sp.Dataset(NUMBERS, Y, schema=first.schema, categorical=["c"])
    assert data.schema.categories == (None, Categories((0, 1), 2))
    with pytest.raises(ParameterError, match="column 0, which is one of numbers in the reference"):
        sp.Dataset(NUMBERS, Y, schema=first.schema, categorical=["number"])


def test_a_training_goes_on_with_rows_that_lack_what_a_column_held():
    first = sp.train({}, sp.Dataset(NUMBERS, Y), 2)
    model = sp.train({}, sp.Dataset(EMPTY, Y), 2, init_model=first)
    assert model.schema == first.schema
    with pytest.raises(DataError, match=r"make the Dataset with schema=init_model\.schema"):
        sp.train({}, sp.Dataset(EMPTY, Y), 2, init_model=sp.train({}, sp.Dataset(TEXT, Y), 2))
    first = sp.train({}, sp.Dataset(TEXT, Y), 2)
    assert sp.Dataset(EMPTY, Y, schema=first.schema).schema == first.schema


@pytest.mark.parametrize(
    "kind", ["GBMRegressor", "RandomForestRegressor", "ExtraTreesRegressor", "IsolationForest"]
)
@pytest.mark.parametrize("later", [TEXT, NUMBERS], ids=["text", "numbers"])
def test_a_warm_start_learns_what_the_column_holds_by_then(kind, later):
    model = getattr(sp, kind)(n_estimators=2, warm_start=True, random_state=0).fit(EMPTY, Y)
    model.set_params(n_estimators=8).fit(later, Y)
    assert model.model_.schema == sp.Dataset(later, Y).schema
    assert type(model.model_).from_bytes(model.model_.to_bytes()) == model.model_


@pytest.mark.parametrize("kind", ["object", "string", "float64"])
def test_a_column_without_values_is_the_same_from_disk(kind, tmp_path):
    table = EMPTY.astype({"c": kind})
    memory, disk = sp.Dataset(table, Y), paged(table, Y, folder=tmp_path / "data")
    assert disk.schema == memory.schema == Schema(("number", "c"), 2, (None, NOTHING))
    again = sp.open_dataset(tmp_path / "data")
    assert again.schema == memory.schema
    assert sp.train({}, again, 3) == sp.train({}, disk, 3) == sp.train({}, memory, 3)
    valid = {"text": paged(TEXT, Y, reference=disk)}
    assert sp.train({}, disk, 3, valid=valid) == sp.train({}, memory, 3)


@pytest.mark.parametrize("later", [TEXT, NUMBERS], ids=["text", "numbers"])
def test_batches_without_values_say_nothing_of_a_column(later):
    table = pd.concat([EMPTY, later.astype({"c": object}), EMPTY], ignore_index=True)
    y = np.tile(Y, 3)
    memory, disk = sp.Dataset(table, y), paged(table, y, size=ROWS // 2)
    assert disk.schema == memory.schema == sp.Dataset(later, Y).schema
    assert sp.train({}, disk, 3) == sp.train({}, memory, 3)


def test_the_model_is_the_same_on_any_number_of_threads():
    models = [sp.train({"n_jobs": jobs}, sp.Dataset(EMPTY, Y), 3) for jobs in (1, 2, 3)]
    assert models[0] == models[1] == models[2]


def test_a_file_of_an_empty_column_is_checked_like_any_other():
    told = sp.Dataset(EMPTY, Y).schema.to_json()
    for wrong in ({"values": [], "kept": 1}, {"values": [], "kept": 0, "kind": "dates"}, {"values": []}):
        with pytest.raises(sp.errors.ModelFormatError):
            Schema.from_json({**told, "categories": [None, wrong]})
