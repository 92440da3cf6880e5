"""Labels of rows that come in batches: those of all rows at once, and the same ones at every reading."""

import itertools
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spinney.data import RawLabels, read_labels
from spinney.data.label_collector import LabelCollector
from spinney.data.target import read_weight_and_queries
from spinney.errors import DataError, DataTypeError

ROWS = 12
SAME = "is not what it was when these rows were read before; the same rows must come in the same order every time"


def part_of(raw, begin, end):
    """The labels of the rows begin .. end - 1, but for the sizes of queries."""
    some = {name: None if value is None else value[begin:end] for name, value in raw.by_name.items()}
    return RawLabels(**some)


def collected(raw, cuts):
    """A collector that got the rows between each two cuts as a batch."""
    collector = LabelCollector()
    for begin, end in itertools.pairwise(cuts):
        collector.add(part_of(raw, begin, end), end - begin)
    return collector


def read_again(collector, raw, cuts):
    for begin, end in itertools.pairwise(cuts):
        collector.check(part_of(raw, begin, end), begin, end - begin)


def assert_same_labels(found, expected):
    for name in ("target", "weight", "margin", "queries"):
        one, other = getattr(found, name), getattr(expected, name)
        assert (one is None) == (other is None)
        if one is not None:
            assert (one.dtype, one.shape) == (other.dtype, other.shape)
            np.testing.assert_array_equal(one, other)
    assert found.rows == expected.rows


CUTS = st.lists(st.integers(1, ROWS - 1), max_size=4, unique=True).map(
    lambda inner: [0, *sorted(inner), ROWS]
)
TARGETS = {
    "numbers": np.linspace(-1e300, 1e300, ROWS),
    "whole": np.arange(ROWS, dtype=np.int8),
    "one column": np.arange(ROWS)[:, None] * 1.5,
    "columns": np.arange(3 * ROWS).reshape(ROWS, 3) * 0.5,
    "intervals": np.column_stack([np.arange(ROWS), np.where(np.arange(ROWS) % 2, np.inf, 20)]),
    "none": None,
}
WEIGHTS = {
    "none": None,
    "any": np.linspace(0.0, 1.0, ROWS),
    "far apart": np.where(np.arange(ROWS) % 2, 1e-300, 1e300),
    "one alone": np.where(np.arange(ROWS) == 7, 5.0, 0.0),
}
MARGINS = {
    "none": None,
    "one": np.linspace(-5.0, 1e30, ROWS),
    "three": np.arange(3.0 * ROWS).reshape(ROWS, 3),
}
QUERIES = {
    "none": None,
    "in order": np.arange(ROWS) // 5,
    "mixed": np.array([7, 7, 3, 7, -1, 3, 2**62, 7, 7, -1, 0, 3]),
    "text": ["oak", "ash", "oak", "oak", "elm", "ash", "yew", "oak", "", "elm", "yew", "oak"],
}


@settings(deadline=None)
@given(
    st.sampled_from(sorted(TARGETS)),
    st.sampled_from(sorted(WEIGHTS)),
    st.sampled_from(sorted(MARGINS)),
    st.sampled_from(sorted(QUERIES)),
    CUTS,
    CUTS,
)
def test_labels_of_batches_are_those_of_all_rows_at_once(y, weight, margin, queries, cuts, later_cuts):
    raw = RawLabels(TARGETS[y], WEIGHTS[weight], MARGINS[margin], qid=QUERIES[queries])
    collector = collected(raw, cuts)
    assert collector.rows == ROWS
    found = collector.labels()
    assert_same_labels(found, read_labels(raw, ROWS))
    # Columns of a target stand one after another in memory.
    assert found.target.T.flags.c_contiguous
    for again in (cuts, later_cuts, [0, ROWS]):
        read_again(collector, raw, again)
    assert_same_labels(collector.labels(), read_labels(raw, ROWS))


def test_rows_may_come_one_by_one():
    raw = RawLabels(TARGETS["columns"], WEIGHTS["any"], MARGINS["three"], qid=QUERIES["text"])
    collector = collected(raw, range(ROWS + 1))
    assert_same_labels(collector.labels(), read_labels(raw, ROWS))
    assert collector.labels().target.T.flags.c_contiguous
    read_again(collector, raw, range(ROWS + 1))


@given(st.lists(st.integers(1, 4), min_size=1, max_size=6), st.data())
def test_sizes_of_queries_go_on_over_batches(sizes, data):
    cuts = sorted({0, len(sizes), *data.draw(st.lists(st.integers(0, len(sizes)), max_size=3))})
    rows = np.concatenate([[0], np.cumsum(sizes)])
    y, weight = np.arange(rows[-1]), np.arange(1.0, len(sizes) + 1)

    # Where a batch has as many queries as rows, it is undecided which of both its weights are of.
    weighted = all(max(sizes[begin:end]) > 1 for begin, end in itertools.pairwise(cuts))

    def batches():
        for begin, end in itertools.pairwise(cuts):
            first, last = int(rows[begin]), int(rows[end])
            own = weight[begin:end] if weighted else None
            yield first, last, RawLabels(y[first:last], own, group=sizes[begin:end])

    collector = LabelCollector()
    for first, last, raw in batches():
        collector.add(raw, last - first)
    assert collector.labels().queries.tolist() == np.repeat(np.arange(len(sizes)), sizes).tolist()
    if weighted:
        assert collector.labels().weight.tolist() == np.repeat(weight, sizes).tolist()
    for _ in range(2):  # a second reading is numbered from 0 again, and so is a third
        for first, last, raw in batches():
            collector.check(raw, first, last - first)


def test_a_query_that_has_a_name_may_go_on_in_a_later_batch():
    collector = LabelCollector()
    for qid in (["oak", "ash"], ["yew"], ["ash", "yew", "elm", "oak"]):
        collector.add(RawLabels(qid=qid), len(qid))
    assert collector.labels().queries.tolist() == [0, 1, 2, 1, 2, 3, 0]


def test_names_of_queries_mean_the_same_whatever_holds_them():
    collector = LabelCollector()
    for qid in (
        [3, 1],
        np.array([1.0, 3.0]),
        np.array([3], np.uint8),
        [Decimal(1)],
        pd.Series([3], dtype="Int64"),
    ):
        collector.add(RawLabels(qid=qid), len(qid))
    assert collector.labels().queries.tolist() == [0, 1, 1, 0, 0, 1, 0]
    collector = LabelCollector()
    for qid in (["b", "a"], pd.Series(["a", "b"], dtype="category"), pl.Series(["b"]), np.array(["a"])):
        collector.add(RawLabels(qid=qid), len(qid))
    assert collector.labels().queries.tolist() == [0, 1, 1, 0, 0, 1]


# Weights


def test_a_batch_of_weights_gives_them_back():
    collector = LabelCollector()
    assert collector.add(RawLabels([1.0, 2.0], weight=[0.5, 2.0]), 2).tolist() == [0.5, 2.0]
    assert collector.add(RawLabels([1.0], weight=3), 1).tolist() == [3.0]
    assert collector.weight().tolist() == [0.5, 2.0, 3.0]
    assert LabelCollector().add(RawLabels([1.0, 2.0]), 2) is None


def test_weights_of_queries_are_given_by_batch():
    collector = LabelCollector()
    collector.add(RawLabels(weight=[2.0, 5.0], group=[3, 1]), 4)
    collector.add(RawLabels(weight=[1.0], group=[2]), 2)
    assert collector.weight().tolist() == [2.0, 2.0, 2.0, 5.0, 1.0, 1.0]


def test_the_weights_of_a_batch_may_be_zero_but_not_those_of_all():
    collector = LabelCollector()
    collector.add(RawLabels(weight=[0.0, 0.0]), 2)
    with pytest.raises(DataError, match="weight holds only zeros"):
        collector.weight()
    with pytest.raises(DataError, match="weight holds only zeros"):
        collector.labels()
    collector.add(RawLabels(weight=[0.0, 1e-300]), 2)
    assert collector.weight().tolist() == [0.0, 0.0, 0.0, 1e-300]


def test_weights_that_add_up_to_infinity_over_batches_are_refused():
    collector = LabelCollector()
    for _ in range(2):
        collector.add(RawLabels(weight=[1e308]), 1)
    with pytest.raises(DataError, match="weight adds up to infinity"):
        collector.weight()


def test_weights_of_all_rows_are_called_as_they_were_given():
    raw = RawLabels([0, 1], weight=[-1.0, 1.0], weight_name="sample_weight")
    with pytest.raises(DataError, match="sample_weight is negative in row 0"):
        read_labels(raw, 2)
    with pytest.raises(DataError, match="eval_group and eval_qid are both given"):
        read_weight_and_queries(RawLabels(group=[2], qid=[1, 1]), 2, "eval_")


def test_without_batches_there_are_no_rows():
    collector = LabelCollector()
    assert collector.rows == 0
    assert collector.weight() is None


# What is collected


def test_what_is_collected_does_not_change_with_the_memory_of_a_batch():
    y, weight, margin = np.arange(4.0), np.ones(4), np.zeros((4, 2))
    collector = LabelCollector()
    for step in range(2):
        y[:], weight[:], margin[:] = step, step + 1, step + 2
        collector.add(RawLabels(y, weight, margin), 4)
    labels = collector.labels()
    assert labels.target.tolist() == [0.0] * 4 + [1.0] * 4
    assert labels.weight.tolist() == [1.0] * 4 + [2.0] * 4
    assert labels.margin.tolist() == [[2.0, 2.0]] * 4 + [[3.0, 3.0]] * 4


def test_more_rows_may_come_after_the_labels_were_looked_at():
    collector = LabelCollector()
    collector.add(RawLabels([1.0]), 1)
    assert collector.labels().target.tolist() == [1.0]
    collector.add(RawLabels([2.0]), 1)
    assert collector.labels().target.tolist() == [1.0, 2.0]


# Batches that differ from those before them

FIELDS = {"y": [1.0, 2.0], "weight": [1.0, 2.0], "base_margin": [0.5, 0.5], "qid": [4, 4]}


@pytest.mark.parametrize("name", FIELDS)
def test_what_one_batch_has_the_others_need_too(name):
    rest = {other: value for other, value in FIELDS.items() if other != name}
    for first, second, message in (
        (FIELDS, rest, f"it has no {name}, but rows before it have it"),
        (rest, FIELDS, f"it has {name}, but rows before it have none"),
    ):
        collector = LabelCollector()
        collector.add(RawLabels(**first), 2)
        with pytest.raises(DataError) as error:
            collector.add(RawLabels(**second), 2)
        assert str(error.value) == message
        with pytest.raises(DataError) as error:
            collector.check(RawLabels(**second), 0, 2)
        assert str(error.value) == message.replace("rows before it", "the rows that were read before")


def pairs_frame(*names):
    return pd.DataFrame({name: [1.0, 2.0] for name in names})


@pytest.mark.parametrize(
    ("first", "second", "error", "message"),
    [
        (
            {"group": [2]}, {"qid": [1, 1]}, DataError,
            "it has qid, but rows before it have group; give one of them",
        ),
        (
            {"qid": [1, 1]}, {"group": [2]}, DataError,
            "it has group, but rows before it have qid; give one of them",
        ),
        (
            {"qid": [1, 1]}, {"qid": ["a", "b"]}, DataTypeError,
            "qid holds text, but numbers in rows before it; give queries as one of them",
        ),
        (
            {"qid": ["1", "2"]}, {"qid": [1, 2]}, DataTypeError,
            "qid holds numbers, but text in rows before it; give queries as one of them",
        ),
        (
            {"y": [1, 2]}, {"y": [[1, 2], [3, 4]]}, DataError,
            "y has the shape (2, 2), but (2,) in rows before it; give as many columns",
        ),
        (
            {"y": np.ones((2, 3))}, {"y": np.ones((2, 2))}, DataError,
            "y has the shape (2, 2), but (2, 3) in rows before it; give as many columns",
        ),
        (
            {"base_margin": np.ones((2, 3))}, {"base_margin": [1.0, 2.0]}, DataError,
            "base_margin has the shape (2, 1), but (2, 3) in rows before it; give as many columns",
        ),
        (
            {"y": pairs_frame("a", "b")}, {"y": pairs_frame("b", "a")}, DataError,
            "y has the columns b, a, but rows before it have a, b; give them in one order",
        ),
        (
            {"y": [1, 2]}, {"y": [1, np.nan]}, DataError,
            "Input y contains NaN. The first is in row 1; drop or correct such rows",
        ),
        ({"y": [1, 2]}, {"y": [1]}, DataError, "y has 1 values, but X has 2 rows; give one value for each row"),
    ],
)  # fmt: skip
def test_a_batch_that_does_not_go_with_the_others_is_refused(first, second, error, message):
    collector = LabelCollector()
    collector.add(RawLabels(**first), 2)
    with pytest.raises(error) as found:
        collector.add(RawLabels(**second), 2)
    assert str(found.value) == message


def test_a_frame_of_one_column_may_have_any_name():
    collector = LabelCollector()
    for name in ("a", "b"):
        collector.add(RawLabels(pairs_frame(name)), 2)
    collector.add(RawLabels([3.0, 4.0]), 2)
    assert collector.labels().target.tolist() == [1.0, 2.0, 1.0, 2.0, 3.0, 4.0]


# A second reading


@pytest.mark.parametrize(
    ("name", "row", "value"),
    [
        ("y", 0, 9.0),
        ("y", 11, 10.999999999999998),
        ("weight", 5, 0.0),
        ("base_margin", 6, -1e-300),
        ("qid", 3, 8),  # of another query
        ("qid", 11, 99),  # of one that was not there before
    ],
)
def test_one_value_that_differs_at_a_second_reading_is_refused_by_its_argument(name, row, value):
    fields = {
        "y": np.arange(12.0), "weight": np.ones(12), "base_margin": np.zeros(12),
        "qid": np.array([8, 8, 8, 5, 5, 5, 5, 1, 1, 1, 1, 1]),
    }  # fmt: skip
    collector = collected(RawLabels(**fields), [0, 4, 12])
    read_again(collector, RawLabels(**fields), [0, 6, 12])
    changed = fields[name].copy()
    changed[row] = value
    later = RawLabels(**fields | {name: changed})
    for cuts in ([0, 12], [0, 4, 12], [*range(13)]):
        # All batches before the one that has the row are accepted.
        last = max(cut for cut in cuts if cut <= row)
        read_again(collector, later, [cut for cut in cuts if cut <= last])
        end = min(cut for cut in cuts if cut > row)
        with pytest.raises(DataError) as error:
            collector.check(part_of(later, last, end), last, end - last)
        assert str(error.value) == f"{name} {SAME}"


def test_queries_of_other_sizes_at_a_second_reading_are_refused():
    collector = LabelCollector()
    for sizes in ([2, 1], [3]):
        collector.add(RawLabels(group=sizes), 3)
    collector.check(RawLabels(group=[2, 1, 3]), 0, 6)
    for sizes in ([1, 2, 3], [2, 1, 1, 2], [6]):
        with pytest.raises(DataError) as error:
            collector.check(RawLabels(group=sizes), 0, 6)
        assert str(error.value) == f"group {SAME}"


def test_queries_by_other_names_at_a_second_reading_are_refused():
    collector = LabelCollector()
    collector.add(RawLabels(qid=["a", "a", "b"]), 3)
    with pytest.raises(DataError) as error:
        collector.check(RawLabels(qid=["b", "b", "a"]), 0, 3)
    assert str(error.value) == f"qid {SAME}"


def test_more_rows_at_a_second_reading_are_refused():
    collector = LabelCollector()
    collector.add(RawLabels([1.0, 2.0]), 2)
    with pytest.raises(DataError) as error:
        collector.check(RawLabels([1.0, 2.0, 3.0]), 0, 3)
    assert str(error.value) == f"y {SAME}"


@pytest.mark.parametrize(
    ("second", "error", "message"),
    [
        ({"y": np.ones(2)}, DataError, f"y {SAME}"),
        ({"y": pairs_frame("b", "a")}, DataError, "but the rows that were read before have a, b; give them in one order"),
        ({"group": [2]}, DataError, "it has group, but the rows that were read before have qid; give one of them"),
        ({"qid": [1, 2]}, DataTypeError, "qid holds numbers, but text in the rows that were read before"),
    ],
)  # fmt: skip
def test_what_a_second_reading_has_in_another_form_is_refused(second, error, message):
    first = {"y": pairs_frame("a", "b"), "qid": ["x", "y"]}
    collector = LabelCollector()
    collector.add(RawLabels(**first), 2)
    if "group" in second:
        first = {"y": first["y"]}
    with pytest.raises(error) as found:
        collector.check(RawLabels(**first | second), 0, 2)
    assert message in str(found.value)


def test_a_second_reading_collects_nothing():
    raw = RawLabels(np.arange(5.0), qid=np.array([1, 1, 2, 2, 2]))
    collector = collected(raw, [0, 2, 5])
    for _ in range(3):
        read_again(collector, raw, [0, 3, 5])
    assert collector.rows == 5
    assert_same_labels(collector.labels(), read_labels(raw, 5))
