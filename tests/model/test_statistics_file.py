"""Files of models with statistics of the target: what they hold, and those made by hand to do harm."""

import numpy as np
import pandas as pd
import pytest

import spinney as sp
from spinney.data import Schema
from spinney.data.target_encoding import TargetEncoding
from spinney.errors import ModelFormatError
from spinney.model import header
from spinney.model.boosted import Model

ROWS = 400


@pytest.fixture(scope="module")
def model():
    rng = np.random.default_rng(0)
    city = rng.integers(0, 20, ROWS)
    X = pd.DataFrame({"x": rng.normal(size=ROWS), "city": pd.Categorical([f"city {k}" for k in city])})
    return sp.train({"target_stats": 8, "max_leaves": 4}, sp.Dataset(X, city % 3 + X["x"]), rounds=3)


@pytest.fixture(scope="module")
def paired():
    """A model with a pair of columns."""
    rng = np.random.default_rng(0)
    city, road = rng.integers(0, 10, (2, ROWS))
    X = pd.DataFrame({"city": pd.Categorical(city), "x": rng.normal(size=ROWS), "road": pd.Categorical(road)})
    return sp.train(
        {"target_stats": 8, "max_leaves": 4}, sp.Dataset(X, rng.normal(size=(10, 10))[city, road]), 3
    )


@pytest.fixture
def opened(model, open_file):
    return open_file(model.to_bytes())


def writing(name, index, value):
    """An attack that writes a value into an array of the file."""

    def attack(opened):
        opened.array(name)[index] = value

    return attack


ATTACKS = {
    "made of a column of numbers": (writing("statistic_source", 0, 0), "must name columns of categories"),
    "made of a column beyond the table": (
        writing("statistic_source", 0, 2),
        "must name columns of categories",
    ),
    "made of a column below 0": (writing("statistic_source", 0, -1), "must name columns of categories"),
    "an output below that of counts": (
        writing("statistic_output", 0, -2),
        "must hold one number or more, each from -1 to below",
    ),
    "an output that the model has not": (writing("statistic_output", 0, 7), "each from -1 to below 1"),
    "another number of categories": (
        writing("statistic_sizes", 0, 19),
        "must hold the numbers of categories",
    ),
    "a number of categories beyond all": (
        writing("statistic_sizes", 0, 2**62),
        "must hold the numbers of categories",
    ),
    "a pair with itself": (writing("statistic_other", 0, 1), "must name columns behind those of"),
    "a pair with a column of numbers": (
        writing("statistic_other", 0, 0),
        "'statistic_other' must name columns of categories",
    ),
    "a pair with a column below 0": (
        writing("statistic_other", 0, -2),
        "'statistic_other' must name columns of categories",
    ),
    "a value that is NaN": (writing("statistic_values", 3, np.nan), "must hold finite numbers"),
    "a split on a column that was not made": (writing("feature", 0, 4), "tree 0, node 0 has feature 4"),
    "no statistics in a file that has them": (("header", "format", 2), "statistic_"),
    "no categories": (lambda opened: opened.header.pop("categories"), "too much or too little"),
}


@pytest.mark.parametrize("name", ATTACKS)
def test_statistics_made_to_do_harm_are_refused(opened, name, refused):
    attack, message = ATTACKS[name]
    opened.suffer(attack)
    refused(opened.pack(), message)


PAIR_ATTACKS = {
    "pairs that do not ascend": (writing("statistic_seen", 3, 0), "must ascend for every pair of columns"),
    "a pair below 0": (writing("statistic_seen", 0, -1), "from 0 to below 121"),
    "a pair beyond all": (writing("statistic_seen", -1, 121), "from 0 to below 121"),
    "too few pairs": (writing("statistic_sizes", 2, 5), "'statistic_sizes' make 5"),
    "no pairs": (writing("statistic_sizes", 2, 0), "must hold the numbers of categories"),
    "pairs of no column": (writing("statistic_other", 2, -1), "must hold the numbers of categories"),
    "a pair of columns in the wrong order": (
        lambda opened: (writing("statistic_source", 2, 2)(opened), writing("statistic_other", 2, 0)(opened)),
        "must name columns behind those of",
    ),
}


@pytest.mark.parametrize("name", PAIR_ATTACKS)
def test_pairs_made_to_do_harm_are_refused(paired, open_file, name, refused):
    opened = open_file(paired.to_bytes())
    attack, message = PAIR_ATTACKS[name]
    opened.suffer(attack)
    refused(opened.pack(), message)


def test_a_model_with_a_pair_is_read_as_it_was_written(paired):
    again = sp.Model.from_bytes(paired.to_bytes())
    assert again == paired
    assert [source.columns for source in again.statistics.features] == [(0,), (2,), (0, 2)]
    assert again.statistics.same(paired.statistics)


def test_they_have_a_format_that_older_versions_refuse(opened):
    assert opened.header["format"] == header.WITH_TARGET_ENCODING == header.FORMAT
    assert "statistic_values" in opened.entries


def test_statistics_of_other_columns_are_refused(model):
    made = model.statistics
    for schema in (Schema(None, 2), Schema(None, 3, (None, *model.schema.categories))):
        with pytest.raises(ModelFormatError, match="of other columns of categories"):
            Model(model.forest, model.base_score, model.objective, model.params, schema, None, made)


def test_statistics_without_a_column_are_refused(model):
    empty = {name: array[:0] for name, array in model.statistics.arrays().items()}
    with pytest.raises(
        ModelFormatError, match="have 0, 0 and 0 entries; they must have as many, one or more"
    ):
        TargetEncoding.from_arrays(model.schema, empty)


def test_a_value_too_few_is_refused(model):
    arrays = model.statistics.arrays()
    with pytest.raises(ModelFormatError, match="has 41 entries; one for every category makes 42"):
        TargetEncoding.from_arrays(model.schema, arrays | {"values": arrays["values"][:-1]})


def test_what_a_model_holds_cannot_be_written_to(model):
    for array in model.statistics.arrays().values():
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def test_an_estimator_is_saved_and_loaded_with_them(model, tmp_path):
    rng = np.random.default_rng(1)
    city = rng.integers(0, 20, ROWS)
    X = pd.DataFrame({"city": pd.Categorical([f"city {k}" for k in city])})
    fitted = sp.GBMClassifier(n_estimators=3, target_stats=8).fit(X, city % 4)
    assert fitted.model_.statistics.encoded_count == 5
    fitted.save(tmp_path / "model")
    again = sp.load_estimator(tmp_path / "model")
    assert np.array_equal(again.predict_proba(X), fitted.predict_proba(X))
    assert again.target_stats == 8
