"""Categories that are neither text nor whole numbers: floats, dates, times, intervals."""

import datetime
import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import spinney as sp
from spinney.data.target import read_margin
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
    "periods": (pd.period_range("2024-01", periods=8, freq="M"), "periods of frequency M"),
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
    assert (len(categories.values), categories.text_kind) == (len(KINDS[kind][0]), KINDS[kind][1])
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


@pytest.mark.parametrize("kind", [kind for kind, (_, text_kind) in KINDS.items() if text_kind is not None])
def test_what_was_categorical_in_training_may_come_as_a_plain_column(kind):
    declared = column(kind)
    plain = pd.DataFrame({"c": KINDS[kind][0][CODES]})
    assert plain["c"].dtype != "category"
    data = sp.Dataset(declared, TARGET[CODES])
    model = sp.train(LOOSE, data, 3)
    assert model.predict(plain).tolist() == model.predict(declared).tolist()
    assert sp.Dataset(plain, TARGET[CODES], reference=data).schema is data.schema
    gap, same_gap = plain.iloc[:3].shift(1), declared.iloc[:3].shift(1)
    assert model.predict(gap).tolist() == model.predict(same_gap).tolist()
    assert sp.train(LOOSE, sp.Dataset(plain, TARGET[CODES], categorical=["c"]), 3) == model
    other = "dates" if kind == "times of day" else "times of day"
    with pytest.raises(DataTypeError, match=f"for categories; now it holds {other}"):
        model.predict(pd.DataFrame({"c": KINDS[other][0]}))


@pytest.mark.parametrize("kind", ["datetimes", "dates", "intervals", "periods"])
def test_a_plain_column_of_dates_or_intervals_must_be_named_in_training_and_is_no_column_of_numbers(kind):
    plain = pd.DataFrame({"c": KINDS[kind][0][CODES]})
    with pytest.raises(DataTypeError, match=r'"c" of X .*; or name it, categorical=\[\'c\'\]'):
        sp.Dataset(plain, TARGET[CODES])
    model = sp.train({}, sp.Dataset(pd.DataFrame({"c": CODES}), TARGET[CODES]), 1)
    for later in (plain, pd.DataFrame({"c": [pd.NaT]})):
        with pytest.raises(DataTypeError, match=r'"c" of X (holds times|cannot be read as numbers)'):
            model.predict(later)


def test_dates_of_polars_and_arrow_are_categories_where_they_are_named():
    days = KINDS["dates"][0][CODES].tolist()
    models = [
        sp.train(LOOSE, sp.Dataset(make({"c": days}), TARGET[CODES], categorical=["c"]), 3)
        for make in (pd.DataFrame, pl.DataFrame, pa.table)
    ]
    assert models[0] == models[1] == models[2]
    assert (
        models[0].predict(pl.DataFrame({"c": days})).tolist() == models[0].predict(column("dates")).tolist()
    )


@pytest.mark.parametrize(
    "make",
    [
        *(
            lambda ticks, dtype=dtype: pl.Series(ticks).cast(dtype)
            for dtype in (pl.Datetime("ns"), pl.Duration("ns"), pl.Time)
        ),
        lambda ticks: pa.array(ticks, pa.time64("ns")),
        lambda ticks: pd.Series(pd.array(ticks.tolist(), pd.ArrowDtype(pa.time64("ns")))),
    ],
)
def test_times_that_python_would_round_are_refused(make):
    for step in (1000, 1):
        times = make(CODES * step)
        frame = {"polars": pl.DataFrame, "pyarrow": pa.table}.get(
            type(times).__module__.split(".")[0], pd.DataFrame
        )
        if step == 1000:
            data = sp.Dataset(frame({"c": times}), TARGET[CODES], categorical=["c"])
            assert len(data.schema.categories[0].values) == 8
        else:
            with pytest.raises(DataTypeError, match='"c" of X holds times'):
                sp.Dataset(frame({"c": times}), TARGET[CODES], categorical=["c"])


def test_a_margin_of_times_is_refused():
    margin = pd.DataFrame({"a": DAYS, "b": DAYS})
    with pytest.raises(DataTypeError, match='"a" of base_margin holds times'):
        read_margin(margin, 8, 2)


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


@pytest.mark.parametrize(("freq", "other"), [("Q-DEC", "Q-NOV"), ("Y-DEC", "Y-JUN"), ("M", "3M")])
def test_periods_of_another_frequency_are_another_kind_although_they_are_written_alike(freq, other):
    def periods(freq):
        return pd.DataFrame({"c": pd.Categorical(pd.PeriodIndex(["2024-01", "2027-01"] * 20, freq=freq))})

    model = sp.train(LOOSE, sp.Dataset(periods(freq), np.arange(40) % 2), 1)
    assert model.predict(periods(freq)).tolist() == model.predict(periods(freq).astype("category")).tolist()
    with pytest.raises(
        DataTypeError, match=f"periods of frequency {freq} .*now it holds .*frequency {other}"
    ):
        model.predict(periods(other))


@pytest.mark.parametrize(
    "limit",
    [
        datetime.datetime(1, 1, 1, tzinfo=datetime.timezone(datetime.timedelta(hours=5))),
        datetime.datetime(9999, 12, 31, 23, tzinfo=datetime.timezone(datetime.timedelta(hours=-5))),
        pd.Timedelta(np.timedelta64(10**17, "s")),
    ],
)
def test_a_time_that_is_out_of_range_in_utc_is_refused_in_our_words(limit):
    categories = pd.Index([limit], dtype=object)
    table = pd.DataFrame({"c": pd.Categorical.from_codes([0, 0], categories=categories)})
    with pytest.raises(DataTypeError, match=r'"c" of X has the category .*in UTC within the years 1 to 9999'):
        sp.Dataset(table, np.zeros(2))


def test_a_model_file_with_another_kind_than_its_text_has_is_refused():
    data = sp.train({}, sp.Dataset(column("datetimes"), TARGET[CODES]), 1).to_bytes()
    right = b'\\"dates and times\\"'
    assert right in data
    wrong = b'\\"dates\\"'.ljust(len(right))  # spaces after a value are sound JSON
    with pytest.raises(ModelFormatError, match="is not written as one of the kind 'dates'"):
        sp.Model.from_bytes(data.replace(right, wrong))
