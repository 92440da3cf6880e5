"""Queries of rows: their numbers from names or sizes, their rows together, and their weights."""

import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spinney.data import Labels, by_query, read_queries, read_query_weight
from spinney.data.labels import renumbered
from spinney.errors import DataError, DataTypeError

TEXTS = ["oak", "ash", "oak"]


def naive_numbers(names):
    """Numbers from 0, in the order in which names first appear."""
    seen = []
    for name in names:
        if name not in seen:
            seen.append(name)
    return [seen.index(name) for name in names]


@given(st.lists(st.integers(-3, 3), min_size=1, max_size=20))
def test_queries_are_numbered_in_the_order_of_their_first_rows(names):
    assert read_queries(None, names, len(names)).tolist() == naive_numbers(names)
    assert renumbered(np.sort(names)).tolist() == naive_numbers(sorted(names))


@pytest.mark.parametrize(
    "qid",
    [
        TEXTS,
        np.array(TEXTS),
        np.array(TEXTS).astype("S"),
        np.array(TEXTS, dtype=np.dtypes.StringDType()),
        np.array([[text] for text in TEXTS]),
        pd.Series(TEXTS, index=[7, 7, 1]),
        pd.Series(TEXTS, dtype="category"),
        pl.Series(TEXTS, dtype=pl.Categorical),
        pa.chunked_array([TEXTS[:1], TEXTS[1:]]),
        pd.DataFrame({"query": TEXTS}),
        [5, 3, 5],
        np.array([2.0, -1.0, 2.0], np.float32),
        np.array([2**63 + 1, 1, 2**63 + 1], np.uint64),
        [2**70, 1, 2**70],
        [Decimal(3), Decimal(1), Decimal(3)],
        pd.Series([3, 1, 3], dtype="Int64"),
    ],
    ids=lambda qid: f"{type(qid).__name__} {getattr(qid, 'dtype', '')}",
)
def test_whole_numbers_and_text_of_any_kind_name_queries(qid):
    found = read_queries(None, qid, 3)
    assert found.dtype == np.int64
    assert found.tolist() == [0, 1, 0]


@pytest.mark.parametrize(
    ("qid", "kind", "message"),
    [
        ([1, 2], DataError, "eval_qid has 2 values, but X has 3 rows"),
        ([1, np.nan, 1], DataError, "Input eval_qid contains NaN. The first is in row 1"),
        ([Decimal(1), Decimal("snan"), Decimal(1)], DataError, "eval_qid names no query in row 1"),
        (["a", None, "a"], DataError, r"eval_qid names no query in row 1 \(None\)"),
        (pd.Series(["a", None, "a"], dtype="category"), DataError, "eval_qid names no query in row 1"),
        ([1, 2.5, 1], DataError, r"eval_qid\[1\] = 2.5; queries are whole numbers or text"),
        ([Decimal(1), Decimal("Infinity"), 1], DataError, r"eval_qid\[1\] = Infinity; queries are whole"),
        (["a", 1, "a"], DataTypeError, "eval_qid holds both text and numbers"),
        ([datetime.date(2020, 1, 1)] * 3, DataTypeError, "eval_qid holds a date in row 0"),
        (np.zeros(3, "M8[s]"), DataTypeError, "eval_qid has dtype datetime64"),
        (np.zeros((3, 2)), DataError, r"bad input shape \(3, 2\): eval_qid should be a 1d array"),
    ],
)
def test_other_names_of_queries_are_refused_by_the_name_of_the_argument(qid, kind, message):
    with pytest.raises(kind, match=message):
        read_queries(None, qid, 3, "eval_")


@pytest.mark.parametrize(
    "group", [[2, 1], (2.0, 1.0), np.array([2, 1], "u1"), pd.Series([2, 1]), pl.Series([2, 1])]
)
def test_sizes_of_queries_come_from_any_list_of_whole_numbers(group):
    assert read_queries(group, None, 3).tolist() == [0, 0, 1]


@pytest.mark.parametrize(
    ("group", "kind", "message"),
    [
        ([2, 2], DataError, "group adds up to 4 rows, but X has 3$"),
        ([], DataError, "group adds up to 0 rows, but X has 3"),
        (
            [1, 2, 3],
            DataError,
            "group adds up to 6 rows, but X has 3; if it is the query of each row, give it as qid",
        ),
        (
            [0, 0, 1],
            DataError,
            r"group\[0\] = 0; .* 1 or more; if it is the query of each row, give it as qid",
        ),
        ([4, -1], DataError, r"group\[1\] = -1; sizes of queries must be whole numbers of 1 or more$"),
        ([1.5, 1.5], DataError, r"group\[0\] = 1.5; sizes of queries must be whole numbers"),
        ([3, np.nan], DataError, "Input group contains NaN"),
        (3, DataError, r"group=3 is one number; give the sizes of all queries, such as \[3\]"),
        (
            TEXTS,
            DataTypeError,
            "group must hold the sizes of queries, .* the query of each row is given as qid",
        ),
        ([[2, 1]], DataError, r"bad input shape \(1, 2\): group"),
    ],
)
def test_sizes_that_do_not_fit_the_rows_are_refused(group, kind, message):
    with pytest.raises(kind, match=message):
        read_queries(group, None, 3)


def test_queries_are_given_in_one_way_or_not_at_all():
    assert read_queries(None, None, 3) is None
    with pytest.raises(DataError, match="eval_group and eval_qid are both given; give one of them"):
        read_queries([3], [1, 1, 1], 3, "eval_")


@given(st.lists(st.integers(0, 4), min_size=1, max_size=20))
def test_rows_of_a_query_stand_together_in_their_order(names):
    queries = read_queries(None, names, len(names))
    found = by_query(Labels(np.zeros(len(names)), queries=queries))
    assert found.queries == len(set(names))
    for query in range(found.queries):
        rows = found.order[found.begins[query] : found.begins[query + 1]]
        assert rows.tolist() == [row for row, one in enumerate(naive_numbers(names)) if one == query]


def test_without_queries_all_rows_are_one():
    found = by_query(Labels(np.zeros(3)))
    assert (found.order.tolist(), found.begins.tolist()) == ([0, 1, 2], [0, 3])


def test_weights_are_of_rows_or_of_queries_by_their_number():
    queries = np.array([0, 1, 0])
    assert read_query_weight([1, 2, 3], 3, queries).tolist() == [1, 2, 3]
    assert read_query_weight(pd.Series([5, 7]), 3, queries).tolist() == [5, 7, 5]
    assert read_query_weight(2, 3, queries).tolist() == [2, 2, 2]
    assert read_query_weight(None, 3, queries) is None
    assert read_query_weight([1, 2, 3], 3, None).tolist() == [1, 2, 3]
    assert read_query_weight(2, 3, np.arange(3)).tolist() == [2, 2, 2]
    assert read_query_weight([4], 1, np.zeros(1, np.int64)).tolist() == [4]


def test_weights_that_could_be_of_rows_or_of_queries_are_refused():
    with pytest.raises(DataError, match="weight has 3 values, and there are as many queries as rows"):
        read_query_weight([1, 2, 3], 3, np.arange(3), what="weight")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (
            [1, 2, 3, 4],
            "weight has 4 values; give one for each of the 3 rows, or one for each of the 2 queries",
        ),
        ([1, -1], "weight is negative in row 1"),
        ([0, 0], "weight holds only zeros"),
        (np.array(2.0), r"bad input shape \(\): weight"),
    ],
)
def test_weights_of_neither_rows_nor_queries_are_refused(values, message):
    with pytest.raises(DataError, match=message):
        read_query_weight(values, 3, np.array([0, 1, 0]), what="weight")
