"""Encoded columns: numbers of categories and of pairs, the values they stand for, and what a file must hold."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spinney.data import Schema
from spinney.data.categories import Categories
from spinney.data.schema import MOST_COLUMNS
from spinney.data.table import Panel, Table, as_matrix
from spinney.data.target_encoding import (
    COUNT,
    NO_OTHER,
    TARGET_ENCODING_DTYPES,
    EncodedFeature,
    TargetEncoding,
)
from spinney.errors import ModelFormatError

NAN = float("nan")
# A table of numbers, three cities, numbers, two colours and four shapes.
COUNTS = np.array([0, 3, 0, 2, 4])
NAMES = ("age", "city", "height", "colour", "shape")


def categories_of(count):
    return Categories(tuple(f"c{number}" for number in range(count)), count) if count else None


SCHEMA = Schema(NAMES, 5, tuple(map(categories_of, COUNTS.tolist())))
PAIRS = {
    (1, 3): np.array(
        [0, 4, 7, 11]
    ),  # keys: 3 · city + colour; the last one is of rows where both are missing
    (3, 4): np.array([6]),
}
FEATURES = [
    EncodedFeature((1,), 3),
    EncodedFeature((4,), 4),
    EncodedFeature((1, 3), 4, 3, PAIRS[1, 3]),
    EncodedFeature((3, 4), 1, 5, PAIRS[3, 4]),
]


def encoding_of(outputs=(0, COUNT), features=FEATURES, counts=COUNTS):
    values = [
        100.0 * at + 10.0 * out + np.arange(feature.size + 1.0)
        for at, feature in enumerate(features)
        for out in range(len(outputs))
    ]
    return TargetEncoding.from_features(len(counts), counts, features, list(outputs), values)


def table_of(rows, names=NAMES):
    matrix = np.array(rows, float).reshape(-1, 5)
    return Table(len(matrix), 5, names, (Panel(0, matrix[:, :2]), Panel(2, matrix[:, 2:])))


def rows_of_categories(most=12):
    """Rows whose categories may be missing."""
    columns = [
        st.just(0.5) if count == 0 else st.sampled_from([*range(count), NAN]) for count in COUNTS.tolist()
    ]
    return st.lists(st.tuples(*columns), min_size=1, max_size=most)


def slow_number(feature, row):
    """Number of the category of a row, or of its pair of categories, one row at a time."""
    number = [
        int(COUNTS[column]) if row[column] != row[column] else int(row[column]) for column in feature.columns
    ]
    if len(number) == 1:
        return number[0]
    seen = feature.observed_pairs.tolist()
    key = number[0] * (int(COUNTS[feature.columns[1]]) + 1) + number[1]
    return seen.index(key) if key in seen else len(seen)


# Numbers and values


@given(rows_of_categories())
def test_every_row_has_the_values_of_its_categories(rows):
    encoding = encoding_of()
    found = encoding.add_encoded(table_of(rows))
    matrix = as_matrix(found)
    assert matrix.shape == (len(rows), 5 + encoding.encoded_count) == (len(found.panels[-1].values), 5 + 8)
    np.testing.assert_array_equal(matrix[:, :5], np.array(rows))
    for values, row in zip(matrix[:, 5:].tolist(), rows, strict=True):
        expected = [
            100 * at + 10 * out + slow_number(FEATURES[at], row) for at in range(4) for out in range(2)
        ]
        assert values == expected


@given(rows_of_categories())
def test_numbers_of_categories_are_listed_for_encoded_columns_only(rows):
    found = encoding_of().numbers(table_of(rows))
    assert list(found) == [1, 3, 4]
    for column, numbers in found.items():
        assert numbers.dtype == np.int64
        assert numbers.tolist() == [
            int(COUNTS[column]) if row[column] != row[column] else row[column] for row in rows
        ]
    assert list(encoding_of(features=FEATURES[1:2]).numbers(table_of(rows))) == [4]


@given(st.integers(1, 5), st.integers(1, 5), st.data())
def test_a_pair_has_the_place_of_its_key_and_an_unknown_one_the_next(first, second, data):
    # Categories first and second stand for missing values.
    every = (first + 1) * (second + 1)
    seen = sorted(data.draw(st.sets(st.integers(0, every - 1), min_size=1)))
    pair = EncodedFeature((2, 6), len(seen), second + 1, np.array(seen))
    left, right = (grid.ravel() for grid in np.mgrid[: first + 1, : second + 1])
    numbers = {2: left, 6: right, 9: None}
    assert pair.key(numbers).tolist() == list(range(every))
    assert pair.number(numbers).tolist() == [
        seen.index(key) if key in seen else len(seen) for key in range(every)
    ]


def test_a_column_alone_has_the_numbers_of_its_categories():
    numbers = np.array([2, 0, 3, 1])
    assert EncodedFeature((4,), 3).number({4: numbers, 5: numbers + 1}) is numbers


def test_a_missing_value_has_a_value_of_its_own_and_a_pair_that_was_not_there_the_last():
    encoding = encoding_of(outputs=[0])
    rows = [(0, 0, 0, 0, 0), (0, NAN, 0, NAN, NAN), (0, 2, 0, 0, 3), (0, 0, 0, 1, 1)]
    assert as_matrix(encoding.add_encoded(table_of(rows)))[:, 5:].tolist() == [
        [0, 100, 200, 301],
        [3, 104, 203, 301],
        [2, 103, 204, 301],
        [0, 101, 204, 300],
    ]


def test_tables_of_no_rows_get_their_columns():
    found = encoding_of().add_encoded(table_of([]))
    assert (found.rows, found.columns) == (0, 13)
    assert as_matrix(found).shape == (0, 13)


def test_encoded_columns_stand_behind_those_of_the_table_with_names_where_it_has_some():
    encoding = encoding_of()
    titles = (
        "city: mean of y", "city: rows", "shape: mean of y", "shape: rows", "city & colour: mean of y",
        "city & colour: rows", "colour & shape: mean of y", "colour & shape: rows",
    )  # fmt: skip
    row = [(1.0,) * 5]
    assert encoding.titles(NAMES) == titles
    assert encoding.add_encoded(table_of(row)).names == (*NAMES, *titles)
    assert encoding.add_encoded(table_of(row, names=None)).names is None
    assert encoding.titles(None)[4] == "column 1 & column 3: mean of y"


def test_titles_number_the_outputs_where_there_are_several():
    assert encoding_of([0, 2, COUNT], FEATURES[:1]).titles(NAMES) == (
        "city: mean of y, 0", "city: mean of y, 2", "city: rows",
    )  # fmt: skip
    assert encoding_of([COUNT], FEATURES[:1]).titles(NAMES) == ("city: rows",)


# Features and columns


@pytest.mark.parametrize(
    "features",
    [
        FEATURES,
        FEATURES[:1],
        FEATURES[2:3],
        FEATURES[2:],
        FEATURES[::-1],
        [FEATURES[3], FEATURES[0], FEATURES[2]],
    ],
)
def test_features_come_back_from_the_arrays(features):
    encoding = encoding_of([0, 1, COUNT], features)
    for one, other in zip(encoding.features, features, strict=True):
        assert (one.columns, one.size, one.width) == (other.columns, other.size, other.width)
        if other.observed_pairs is None:
            assert one.observed_pairs is None
        else:
            assert one.observed_pairs.tolist() == other.observed_pairs.tolist()
    assert encoding.encoded_count == 3 * len(features)
    for place in range(encoding.encoded_count):
        feature = encoding.feature_of(place)
        assert feature is encoding.features[place // 3]
        assert encoding.values_of(place).tolist() == [
            100 * (place // 3) + 10 * (place % 3) + number for number in range(feature.size + 1)
        ]


def test_the_columns_behind_a_column_are_those_of_its_feature():
    found = encoding_of().columns_behind()
    pairs = [(0, 0), (1, 1), (2, 2), (3, 3), (4, 4)]
    pairs += [one for feature in FEATURES for one in 2 * [(feature.columns[0], feature.columns[-1])]]
    assert found.T.tolist() == [list(pair) for pair in pairs]
    assert found.dtype == np.int64


def test_encoded_columns_have_no_categories():
    assert encoding_of().all_counts(COUNTS).tolist() == [*COUNTS.tolist(), *[0] * 8]
    assert encoding_of().all_counts(None) is None


@given(st.sets(st.integers(0, 4)).map(sorted))
def test_some_columns_come_with_the_encoded_ones_of_them_alone(chosen):
    encoding = encoding_of()
    for share, enough in ((False, all), (True, any)):
        encoded = [
            5 + 2 * at + out
            for at, feature in enumerate(FEATURES)
            for out in range(2)
            if enough(column in chosen for column in feature.columns)
        ]
        assert encoding.with_encoded(iter(chosen), share) == (*chosen, *encoded)


@given(rows_of_categories(), st.sets(st.sampled_from([1, 3, 4])), st.randoms(use_true_random=False))
def test_values_of_rows_in_another_order_are_those_of_the_table_with_moved_columns(rows, moved, random):
    encoding, order = encoding_of(), list(range(len(rows)))
    random.shuffle(order)
    shuffled = [
        [rows[order[at] if column in moved else at][column] for column in range(5)] for at in range(len(rows))
    ]
    expected = as_matrix(encoding.add_encoded(table_of(shuffled)))
    numbers = encoding.numbers(table_of(rows))
    for column in range(13):
        found = encoding.reordered(numbers, column, moved, np.array(order))
        if column < 5 or moved.issuperset(encoding.feature_of(column - 5).columns):
            assert found is None
        else:
            np.testing.assert_array_equal(found, expected[:, column])


# Arrays


def test_an_encoding_comes_back_from_its_arrays():
    encoding = encoding_of()
    arrays = encoding.arrays()
    assert {name: array.dtype for name, array in arrays.items()} == TARGET_ENCODING_DTYPES
    again = TargetEncoding.from_arrays(SCHEMA, arrays)
    assert again.same(encoding)
    assert encoding.same(again)
    rows = table_of([(0, 2, 0, 1, NAN), (0, 1, 0, 1, 2)])
    np.testing.assert_array_equal(as_matrix(again.add_encoded(rows)), as_matrix(encoding.add_encoded(rows)))


@pytest.mark.parametrize("name", TARGET_ENCODING_DTYPES)
def test_encodings_of_other_numbers_are_not_the_same(name):
    encoding = encoding_of()
    changed = encoding.arrays()[name].copy()
    changed[-1] += 1
    assert not encoding.same(replace(encoding, **{name: changed}))
    assert not encoding.same(replace(encoding, **{name: changed[:-1]}))
    assert not encoding.same(replace(encoding, counts=COUNTS + 1))


def test_a_read_only_copy_does_not_change_with_its_source():
    encoding = encoding_of()
    copy = encoding.read_only()
    assert copy.same(encoding)
    for name, array in copy.arrays().items():
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
        assert not np.shares_memory(array, getattr(encoding, name))
    encoding.values[0] = 77.0
    assert not copy.same(encoding)


# Checks


@pytest.mark.parametrize("outputs", [[0], [COUNT], [0, 1, 2, COUNT]])
@pytest.mark.parametrize("features", [FEATURES, FEATURES[:1], FEATURES[3:]])
def test_encodings_of_the_columns_of_a_model_pass_the_check(outputs, features):
    encoding = encoding_of(outputs, features)
    encoding.check(SCHEMA, max(outputs) + 1)
    encoding.check(SCHEMA)


@pytest.mark.parametrize(
    "schema",
    [
        Schema(NAMES, 5),
        Schema(None, 6, (*SCHEMA.categories, None)),
        Schema(None, 5, tuple(map(categories_of, [0, 3, 0, 2, 5]))),
        Schema(None, 5, tuple(map(categories_of, [3, 0, 0, 2, 4]))),
    ],
    ids=["no categories", "one column more", "one category more", "another column"],
)
def test_an_encoding_of_other_columns_is_refused(schema):
    with pytest.raises(ModelFormatError, match="are of other columns of categories than the model has"):
        encoding_of().check(schema)


@pytest.mark.parametrize("name", TARGET_ENCODING_DTYPES)
def test_arrays_have_one_row_of_one_type(name):
    encoding = encoding_of()
    array = getattr(encoding, name)
    other = np.float32 if array.dtype == np.float64 else np.int16
    for wrong in (array.astype(other), array.reshape(1, -1), array.astype(array.dtype.newbyteorder(">"))):
        with pytest.raises(ModelFormatError) as error:
            replace(encoding, **{name: wrong}).check(SCHEMA)
        assert (
            str(error.value)
            == f"the array 'statistic_{name}' must be one row of {TARGET_ENCODING_DTYPES[name]}"
        )


def with_items(name, *items):
    """An array whose items at some places are others."""

    def change(encoding):
        array = getattr(encoding, name).copy()
        for place, value in items:
            array[place] = value
        return {name: array}

    return change


def with_array(name, *values):
    return lambda encoding: {name: np.array(values, TARGET_ENCODING_DTYPES[name])}


CHANGES = {
    "no features": (
        lambda encoding: {name: array[:0] for name, array in encoding.arrays().items()},
        "have 0, 0 and 0 entries; they must have as many, one or more",
    ),
    "fewer second columns": (with_array("other", -1, -1, 3), "have 4, 3 and 4 entries"),
    "more sizes": (with_array("sizes", 3, 4, 4, 1, 1), "have 4, 4 and 5 entries"),
    "a source of numbers": (with_items("source", (0, 2)), "'statistic_source' must name columns of categories"),
    "a source below 0": (with_items("source", (0, -1)), "'statistic_source' must name columns of categories"),
    "a source beyond all": (with_items("source", (1, 5)), "'statistic_source' must name columns of categories"),
    "a second column of numbers": (
        with_items("other", (2, 2)), "'statistic_other' must name columns of categories",
    ),
    "a second column below all": (
        with_items("other", (2, -2)), "'statistic_other' must name columns of categories",
    ),
    "a column with itself": (
        with_items("other", (2, 1)), "'statistic_other' must name columns behind those of 'statistic_source'",
    ),
    "a pair in the other order": (
        with_items("other", (3, 1)), "'statistic_other' must name columns behind those of 'statistic_source'",
    ),
    "another number of categories": (with_items("sizes", (0, 4)), "'statistic_sizes' must hold the numbers of"),
    "no pairs": (with_items("sizes", (3, 0)), "'statistic_sizes' must hold the numbers of"),
    "too few pairs": (with_items("sizes", (2, 3)), "'statistic_seen' has 5 entries; 'statistic_sizes' make 4"),
    "pairs beyond all integers": (
        with_items("sizes", (2, 2**62), (3, 2**62)),
        f"'statistic_seen' has 5 entries; 'statistic_sizes' make {2**63}",
    ),
    "a pair below 0": (with_items("seen", (0, -1)), "for every pair of columns, from 0 to below 12"),
    "a pair beyond those of two columns": (
        with_items("seen", (3, 12)), "for every pair of columns, from 0 to below 12",
    ),
    "a pair beyond those of two other columns": (
        with_items("seen", (4, 15)), "for every pair of columns, from 0 to below 15",
    ),
    "a pair twice": (with_items("seen", (1, 0)), "must ascend for every pair of columns"),
    "no outputs": (with_array("output"), "must hold one number or more, each from -1 to below 2"),
    "an output below that of counts": (with_items("output", (1, -2)), "each from -1 to below 2"),
    "an output beyond those of the model": (with_items("output", (0, 2)), "each from -1 to below 2"),
    "a value too few": (
        lambda encoding: {"values": encoding.values[:-1]},
        "'statistic_values' has 31 entries; one for every category makes 32",
    ),
    "values of one output more": (
        with_array("output", 0, 1, COUNT), "'statistic_values' has 32 entries; one for every category makes 48",
    ),
    "no number": (with_items("values", (3, NAN)), "'statistic_values' must hold finite numbers"),
    "an infinite value": (with_items("values", (-1, -np.inf)), "'statistic_values' must hold finite numbers"),
}  # fmt: skip


@pytest.mark.parametrize("change", CHANGES)
def test_arrays_that_fit_no_table_are_refused(change):
    changed, message = CHANGES[change]
    encoding = encoding_of()
    wrong = encoding.arrays() | changed(encoding)
    encoding.check(SCHEMA, 2)
    with pytest.raises(ModelFormatError) as error:
        TargetEncoding(5, COUNTS, **wrong).check(SCHEMA, 2)
    assert message in str(error.value)


def test_pairs_of_two_pairs_of_columns_ascend_apart():
    # 11 of the first pair stands before 6 of the second.
    assert encoding_of().seen.tolist() == [0, 4, 7, 11, 6]
    encoding_of().check(SCHEMA)


def test_the_largest_pair_is_that_of_two_missing_values():
    largest = EncodedFeature((3, 4), 1, 5, np.array([14]))
    encoding = encoding_of(features=[largest])
    encoding.check(SCHEMA)
    found = encoding.add_encoded(table_of([(0, 0, 0, NAN, NAN), (0, 0, 0, 1, NAN)]))
    assert as_matrix(found)[:, 5].tolist() == [0.0, 1.0]


def test_more_columns_than_a_node_can_name_are_refused():
    many = 2**15
    assert many * many > MOST_COLUMNS
    encoding = replace(
        encoding_of([0], FEATURES[:1]),
        source=np.full(many, 1, np.int32),
        other=np.full(many, NO_OTHER, np.int32),
        sizes=np.full(many, 3),
        output=np.zeros(many, np.int32),
    )
    with pytest.raises(ModelFormatError, match="target encodings are too many columns"):
        encoding.check(SCHEMA)


def test_large_and_small_values_are_kept_to_the_bit():
    values = [np.array([1e308, -5e-324, -0.0, 2.0**-1022])]
    encoding = TargetEncoding.from_features(5, COUNTS, FEATURES[:1], [0], values)
    encoding.check(SCHEMA)
    assert encoding.values_of(0).tobytes() == values[0].tobytes()
    assert encoding.add_encoded(table_of([(0, 1, 0, 0, 0)])).panels[-1].values.tolist() == [[-5e-324]]
