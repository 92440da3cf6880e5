"""Categories that are neither text nor whole numbers: floats, dates, times, intervals."""

import datetime
import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import spinney as sp
from spinney.errors import DataTypeError, ModelFormatError

LOOSE = {"cat_smooth": 1.0, "min_data_per_group": 1, "min_child_samples": 1, "cat_l2": 0.0, "reg_lambda": 0.0}
CODES = np.random.default_rng(0).integers(0, 8, 400)
TARGET = np.array([3.0, -1.0, 4.0, -1.5, 9.0, 2.0, -6.0, 5.0])
DAYS = pd.date_range("2024-05-01", periods=8, freq="37h")

KINDS = {
    "floats": (np.arange(8) / 10, None),
    "whole and broken numbers": (np.array([0.5, 1, 2, 3, 4, 5, 6, 1e300]), None),
    "datetimes": (DAYS, "dates and times"),
    "nanoseconds": (DAYS + pd.to_timedelta(np.arange(8), unit="ns"), "dates and times"),
    "zoned datetimes": (DAYS.tz_localize("Europe/Oslo"), "dates and times with a time zone"),
    "dates": (pd.Index([datetime.date(2024, 5, day) for day in range(1, 9)]), "dates"),
    "times of day": (pd.Index([datetime.time(hour) for hour in range(8)]), "times of day"),
    "durations": (pd.to_timedelta(np.arange(8) * 10**12 + 1, unit="ns"), "durations"),
    "periods": (pd.period_range("2024-01", periods=8, freq="M"), "periods"),
    "intervals": (
        pd.IntervalIndex.from_breaks([-np.inf, 0.1, 0.2, 0.3, 1, 2, 3, 1e300, np.inf]),
        "intervals of numbers",
    ),
    "intervals of times": (
        pd.interval_range(DAYS[0], periods=8, freq="D", closed="left"),
        "intervals of dates and times",
    ),
    "booleans": (np.array([True, False]), None),
}


def column(kind, codes=CODES):
    categories = KINDS[kind][0]
    return pd.DataFrame({"c": pd.Categorical.from_codes(codes % len(categories), categories=categories)})


@pytest.mark.parametrize("kind", KINDS)
def test_categories_of_a_frame_are_taken_as_what_they_are(kind):
    table, y = column(kind), TARGET[CODES]
    data = sp.Dataset(table, y)
    categories = data.schema.categories[0]
    assert (len(categories.values), categories.spelt) == (len(KINDS[kind][0]), KINDS[kind][1])
    model = sp.train(LOOSE | {"learning_rate": 1.0}, data, 8)
    means = pd.Series(y).groupby(CODES % len(categories.values)).transform("mean")
    np.testing.assert_allclose(model.predict(table), means, atol=1e-6)
    plain = pd.DataFrame({"c": [f"c{code}" for code in CODES % len(categories.values)]})
    assert sp.train(LOOSE, sp.Dataset(plain, y), 3).forest.nodes == sp.train(LOOSE, data, 3).forest.nodes
    again = sp.Model.from_bytes(model.to_bytes())
    assert again == model
    order = np.random.default_rng(1).permutation(len(y))[:30]
    later = table.iloc[order].assign(c=lambda t: t["c"].cat.remove_unused_categories())
    assert again.predict(later).tolist() == model.predict(table)[order].tolist()
    assert again.predict(later.iloc[:1])[0] == model.predict(table)[order[0]]


@pytest.mark.parametrize("later", [*KINDS, "text"])
@pytest.mark.parametrize("kind", ["floats", "dates", "datetimes", "intervals", "intervals of times"])
def test_categories_of_another_kind_are_refused_and_not_taken_for_unseen_ones(kind, later):
    model = sp.train(LOOSE, sp.Dataset(column(kind), TARGET[CODES]), 1)
    table = column(kind).astype({"c": str}) if later == "text" else column(later)
    same = (None if later == "text" else KINDS[later][1]) == KINDS[kind][1] and later != "text"
    if same:
        assert model.predict(table).shape == (400,)
        return
    with pytest.raises(DataTypeError, match=r'"c" was categorical in training, with .* now it holds'):
        model.predict(table)


def test_equal_categories_of_another_type_are_the_same_category():
    coarse = pd.DataFrame({"c": pd.Categorical(DAYS[CODES].as_unit("s"))})
    model = sp.train(LOOSE, sp.Dataset(column("datetimes"), TARGET[CODES]), 3)
    assert model.predict(coarse).tolist() == model.predict(column("datetimes")).tolist()
    zoned = column("zoned datetimes")
    model = sp.train(LOOSE, sp.Dataset(zoned, TARGET[CODES]), 3)
    utc = zoned.assign(c=zoned["c"].cat.rename_categories(lambda time: time.tz_convert("UTC")))
    assert model.predict(utc).tolist() == model.predict(zoned).tolist()
    cut, bins = CODES * 10.0, [-10, 15, 35, 80]
    whole, broken = (pd.DataFrame({"c": pd.cut(cut, np.array(bins, kind))}) for kind in (int, float))
    model = sp.train(LOOSE, sp.Dataset(whole, TARGET[CODES]), 3)
    assert model.predict(broken).tolist() == model.predict(whole).tolist()


def test_arrow_dictionaries_hold_the_same_kinds():
    for kind in ("floats", "datetimes", "dates", "durations", "booleans"):
        categories = pa.array(KINDS[kind][0])
        arrow = pa.table({"c": pa.DictionaryArray.from_arrays(pa.array(CODES % len(categories)), categories)})
        models = [sp.train(LOOSE, sp.Dataset(X, TARGET[CODES]), 3) for X in (column(kind), arrow)]
        assert models[0] == models[1]
        assert models[0].predict(arrow).tolist() == models[0].predict(column(kind)).tolist()


def test_floats_that_are_categories_may_come_as_plain_numbers():
    model = sp.train(LOOSE, sp.Dataset(column("floats"), TARGET[CODES]), 3)
    plain = pd.DataFrame({"c": CODES / 10})
    assert model.predict(plain).tolist() == model.predict(column("floats")).tolist()
    fresh = model.predict(pd.DataFrame({"c": pd.Categorical([0.75, 7.0])}))
    assert fresh.tolist() == model.predict(pd.DataFrame({"c": [np.nan, np.nan]})).tolist()


def test_only_files_with_such_categories_have_the_newer_format():
    formats = {"floats": 3, "intervals": 3, "booleans": 2}
    for kind, number in formats.items():
        told = json.loads(sp.train({}, sp.Dataset(column(kind), TARGET[CODES]), 1).to_json())
        assert told["format"] == number
    whole = pd.DataFrame({"c": pd.Categorical(CODES * 1.0)})
    assert json.loads(sp.train({}, sp.Dataset(whole, TARGET[CODES]), 1).to_json())["format"] == 2


def test_a_format_that_does_not_fit_the_categories_is_refused():
    for kind, wrong in (("floats", 2), ("booleans", 3)):
        data = sp.train({}, sp.Dataset(column(kind), TARGET[CODES]), 1).to_bytes()
        right = b'\\"format\\":%d' % (5 - wrong)
        assert right in data
        with pytest.raises(ModelFormatError, match=f"format {wrong}, but its columns are those of format"):
            sp.Model.from_bytes(data.replace(right, b'\\"format\\":%d' % wrong))


def test_estimators_and_validation_data_take_them_too():
    table = column("intervals").assign(x=np.arange(400.0))
    data = sp.Dataset(table, TARGET[CODES])
    assert sp.Dataset(table.iloc[::2], TARGET[CODES][::2], reference=data).schema is data.schema
    fitted = sp.GBMRegressor(n_estimators=5).fit(table, TARGET[CODES], eval_set=(table, TARGET[CODES]))
    assert fitted.predict(table).shape == (400,)
