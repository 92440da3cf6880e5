"""Times and events: rows by time, risk sets, spans of possible times, and records as targets."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spinney.data import Labels
from spinney.data.kernels.risk_sets import RISK_BLOCK
from spinney.data.survival import (
    by_time,
    columns_of_records,
    risk_sets,
    spans_of_events,
    spans_of_intervals,
)
from spinney.errors import DataError

INF = float("inf")
# Times of which many are equal, the smallest and the largest numbers among them.
TIMES = st.sampled_from([0.0, 1.0, 1.0 + 2**-52, 2.0, 3.0, 5e-324, 1e300])
EVENTS = st.lists(st.tuples(TIMES, st.booleans()), min_size=1, max_size=15)
INTERVALS = st.lists(st.tuples(TIMES, TIMES | st.just(INF)).map(sorted), min_size=1, max_size=15)


def labels_of(pairs, weight=None):
    """Labels with a target of two columns, which stand one after another in memory."""
    target = np.array([[float(first), float(second)] for first, second in pairs]).reshape(-1, 2)
    return Labels(np.asfortranarray(target), None if weight is None else np.array(weight, float))


# Rows by time


@given(EVENTS)
def test_rows_are_sorted_by_time_and_those_of_one_time_as_in_the_table(pairs):
    found = by_time(labels_of(pairs))
    times = [time for time, _ in pairs]
    assert found.order.tolist() == sorted(range(len(times)), key=lambda row: (times[row], row))
    for place, row in enumerate(found.order.tolist()):
        assert found.first[place] == sum(time < times[row] for time in times)
        assert found.last[place] == sum(time <= times[row] for time in times) - 1
    assert {array.dtype for array in found} == {np.dtype(np.int32)}


def test_one_row_and_none_are_sorted():
    assert [array.tolist() for array in by_time(labels_of([(3, 1)]))] == [[0], [0], [0]]
    assert [array.tolist() for array in by_time(labels_of([]))] == [[], [], []]


def test_zeros_of_both_signs_are_one_time():
    found = by_time(labels_of([(0.0, 1), (-0.0, 1), (0.0, 0)]))
    assert found.order.tolist() == [0, 1, 2]
    assert (found.first.tolist(), found.last.tolist()) == ([0, 0, 0], [2, 2, 2])


# Risk sets


@given(EVENTS, st.data())
def test_at_risk_are_all_rows_whose_time_has_not_passed(pairs, data):
    weights = st.lists(st.sampled_from([0.0, 1.0, 1e-300, 1e300]), min_size=len(pairs), max_size=len(pairs))
    weight = data.draw(st.none() | weights)
    sets = risk_sets(labels_of(pairs, weight))
    order = sets.order.tolist()
    for place, row in enumerate(order):
        at_risk = {other for other, (time, _) in enumerate(pairs) if time >= pairs[row][0]}
        assert set(order[sets.first[place] :]) == at_risk
        assert sets.weight[place] == (1.0 if weight is None else weight[row])
        assert sets.event[place] == (sets.weight[place] if pairs[row][1] else 0.0)


@pytest.mark.parametrize(
    ("rows", "blocks"), [(1, 1), (RISK_BLOCK, 1), (RISK_BLOCK + 1, 2), (3 * RISK_BLOCK, 3)]
)
def test_there_is_memory_for_every_row_and_block(rows, blocks):
    sets = risk_sets(labels_of([(row % 7, row % 2) for row in range(rows)]))
    assert (sets.rows, sets.blocks) == (rows, blocks)
    assert [len(sets.tops), len(sets.after)] == [blocks, blocks]
    assert [len(sets.hazards), len(sets.ahead)] == [rows, rows]


def test_losses_of_the_same_rows_sort_them_once_and_have_memory_of_their_own():
    labels = labels_of([(2, 1), (1, 0)])
    one, other = risk_sets(labels), risk_sets(labels)
    assert np.shares_memory(one.order, other.order)
    assert not np.shares_memory(one.hazards, other.hazards)


# Spans of possible times


def surely_later(spans, row):
    """The rows that are known to be later than one: of one time, an event is before what lasts longer."""

    def later(other):
        if spans.lower[other] == spans.upper[row]:
            return spans.exact[row] and not spans.exact[other]
        return spans.lower[other] > spans.upper[row]

    return {other for other in range(len(spans.lower)) if later(other)}


def assert_rows_of_spans_are_sorted(spans):
    lower, upper, exact = spans.lower.tolist(), spans.upper.tolist(), spans.exact.tolist()
    rows = range(len(lower))
    assert exact == [lower[row] == upper[row] for row in rows]
    assert spans.later.tolist() == sorted(rows, key=lambda row: (-lower[row], exact[row], row))
    bounded = [row for row in rows if upper[row] < INF]
    assert spans.earlier.tolist() == sorted(bounded, key=lambda row: (-upper[row], exact[row], row))
    # One walk through both lists meets all pairs whose order is known: the later rows are a beginning that only grows.
    reached = 0
    for row in spans.earlier.tolist():
        later = surely_later(spans, row)
        assert set(spans.later[: len(later)].tolist()) == later
        assert len(later) >= reached
        reached = len(later)
    assert all(not surely_later(spans, row) for row in rows if upper[row] == INF)
    for array in (spans.lower, spans.upper):
        assert array.flags.c_contiguous
        assert array.dtype == np.float64
    assert spans.later.dtype == spans.earlier.dtype == np.int32


@given(EVENTS)
def test_a_censored_time_may_be_any_later_one(pairs):
    spans = spans_of_events(labels_of(pairs))
    assert spans.lower.tolist() == [time for time, _ in pairs]
    assert spans.upper.tolist() == [time if event else INF for time, event in pairs]
    assert_rows_of_spans_are_sorted(spans)


@given(INTERVALS)
def test_an_interval_is_a_span_as_it_is(pairs):
    spans = spans_of_intervals(labels_of(pairs))
    assert list(zip(spans.lower.tolist(), spans.upper.tolist(), strict=True)) == [*map(tuple, pairs)]
    assert_rows_of_spans_are_sorted(spans)


def test_events_and_intervals_of_the_same_times_have_the_same_spans():
    events = spans_of_events(labels_of([(5, 1), (2, 0), (5, 0), (0, 1)]))
    intervals = spans_of_intervals(labels_of([(5, 5), (2, INF), (5, INF), (0, 0)]))
    for one, other in zip(events, intervals, strict=True):
        assert one.tolist() == other.tolist()


def test_where_every_time_is_censored_no_row_is_known_to_be_earlier():
    spans = spans_of_events(labels_of([(3, 0), (4, 0)]))
    assert spans.earlier.tolist() == []
    assert spans.later.tolist() == [1, 0]


# Records


def records(*pairs, names=("event", "time"), kinds=("?", "f8")):
    return np.array(list(pairs), dtype=list(zip(names, kinds, strict=True)))


@pytest.mark.parametrize("kind", ["f8", "f4", "f2", ">f8", "i8", "i1", "u4"])
@pytest.mark.parametrize("turned", [False, True])
def test_records_become_two_columns_whatever_their_names_order_and_type(kind, turned):
    pairs, names, kinds = [(True, 2), (False, 5), (True, 0)], ("died", "days"), ("?", kind)
    if turned:
        pairs, names, kinds = [pair[::-1] for pair in pairs], names[::-1], kinds[::-1]
    y = records(*pairs, names=names, kinds=kinds)
    for given_y in (y, y.view(np.recarray)):
        cox, aft = columns_of_records(given_y, "cox"), columns_of_records(given_y, "aft")
        assert cox.tolist() == [[2.0, 1.0], [5.0, 0.0], [0.0, 1.0]]
        assert aft.tolist() == [[2.0, 2.0], [5.0, INF], [0.0, 0.0]]
        assert cox.dtype == aft.dtype == np.float64


@pytest.mark.parametrize("objective", ["cox", "aft"])
def test_no_records_and_one_become_two_columns(objective):
    assert columns_of_records(records(), objective).shape == (0, 2)
    assert columns_of_records(records((True, 1.5)), objective).shape == (1, 2)


def test_a_missing_time_stays_missing():
    found = columns_of_records(records((True, np.nan), (False, np.nan)), "aft")
    np.testing.assert_array_equal(found, [[np.nan, np.nan], [np.nan, INF]])


@pytest.mark.parametrize(
    "y",
    [
        None,
        [[2.0, 1.0], [5.0, 0.0]],
        [(True, 2.0), (False, 5.0)],
        np.array([[2.0, 1.0], [5.0, 0.0]]),
        np.array([2.0, 5.0]),
        pd.DataFrame({"time": [2.0, 5.0], "event": [True, False]}),
        pd.Series([2.0, 5.0]),
        records((True, 2.0))[0],
    ],
    ids=lambda y: type(y).__name__,
)
@pytest.mark.parametrize("objective", ["cox", "aft"])
def test_other_targets_are_left_as_they_are(y, objective):
    assert columns_of_records(y, objective) is y


@pytest.mark.parametrize(
    ("names", "kinds"),
    [
        (("time",), ("f8",)),
        (("event",), ("?",)),
        (("event", "time", "age"), ("?", "f8", "f8")),
        (("event", "other"), ("?", "?")),
        (("start", "end"), ("f8", "f8")),
        (("event", "time"), ("i1", "f8")),
        (("event", "time"), ("U3", "f8")),
        (("event", "time"), ("?", "U3")),
        (("event", "time"), ("?", "M8[s]")),
        (("event", "time"), ("?", "c16")),
        (("event", "time"), ("?", "O")),
        (("event", "time"), ("?", "(2,)f8")),
    ],
)
@pytest.mark.parametrize("objective", ["cox", "aft"])
def test_records_of_other_fields_are_refused_by_their_names(names, kinds, objective):
    y = np.zeros(3, dtype=list(zip(names, kinds, strict=True)))
    with pytest.raises(DataError) as error:
        columns_of_records(y, objective)
    assert str(error.value) == (
        f"y holds records of {', '.join(names)}; for objective {objective} they must be of an event (bool) and a time"
    )


def test_what_is_sorted_does_not_depend_on_the_layout_of_the_target():
    target = np.array([[4.0, 1.0], [1.0, 0.0], [4.0, 0.0]])
    layouts = [target, np.asfortranarray(target), np.repeat(target, 2, axis=0)[::2]]
    for one, other in itertools.pairwise(layouts):
        for find in (by_time, spans_of_events):
            for mine, its in zip(find(Labels(one)), find(Labels(other)), strict=True):
                assert mine.tolist() == its.tolist()
