"""Rows in batches: what is read, and what is refused by name."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import spinney as sp
from paged import check_same, paged
from spinney.binning import cuts
from spinney.data.sources import BatchSource
from spinney.errors import DataError, DataTypeError, ParameterError, ParameterTypeError

X, Y = np.arange(12.0).reshape(6, 2), np.arange(6.0)


@pytest.mark.parametrize(
    ("batches", "error", "message"),
    [
        ([(X, Y), X], DataError, "batch 1: it has no y, but rows before it have it"),
        ([X, (X, Y)], DataError, "batch 1: it has y, but rows before it have none"),
        ([(X, Y), (X, Y[:5])], DataError, "batch 1: y has 5 values, but X has 6 rows"),
        ([(X, Y), (X,)], DataError, r"batch 1 is a tuple of 1; it must be \(X, y\)"),
        ([{"X": X, "z": 1}], DataError, "batch 0 is a dict with the key 'z'; it must have X"),
        ([{"y": Y}], DataError, "batch 0 is a dict with no key 'X'"),
        ([(X, Y), (X[:, :1], Y)], DataError, "batch 1: it has 1 columns, but rows before it have 2"),
        ([(X, Y), (np.where(X == 5, -np.inf, X), Y)], DataError, "batch 1: column 1 holds an infinite value in row 2"),
        (
            [sparse.csr_array(X), sparse.csr_array(np.where(X == 5, np.inf, X))],
            DataError,
            "batch 1: column 1 holds an infinite value in row 2",
        ),
        ([(X, Y), (sparse.csr_array(X), Y)], DataError, "batch 1: it is sparse, but rows before it are dense"),
        ([{"X": X, "weight": np.zeros(6)}], DataError, "weight holds only zeros"),
        ([(X, Y), ("oak", Y)], DataError, "batch 1: Expected 2D array"),
        ([], DataError, "source gave no rows; give at least one"),
        ([{"X": X, "group": [6]}, {"X": X, "qid": Y}], DataError, "batch 1: it has qid, but rows before it have group"),
        ([{"X": X, "qid": Y}, {"X": X, "group": [6]}], DataError, "batch 1: it has group, but rows before it have qid"),
        (
            [{"X": X, "qid": [*"aabbcc"]}, {"X": X, "qid": Y}], DataTypeError,
            "batch 1: qid holds numbers, but text in rows before it; give queries as one of them",
        ),
        ([{"X": X, "qid": Y}, {"X": X, "qid": [*"123456"]}], DataTypeError, "batch 1: qid holds text, but numbers in"),
        (
            [pd.DataFrame({"a": ["x"]}), pd.DataFrame({"a": [1.0]})],
            DataTypeError,
            'batch 1: column "a" holds plain numbers, but text in earlier rows; give one kind only',
        ),
        (
            [pd.DataFrame({"a": [1.0]}), pd.DataFrame({"a": pd.Categorical([1])})],
            DataTypeError,
            'batch 1: column "a" holds categories that are numbers, but plain numbers in earlier rows',
        ),
        (
            [pd.DataFrame({"a": [1.0]}), pd.DataFrame({"b": [1.0]})],
            DataError,
            "batch 1: it has columns of other names, such as 'b'",
        ),
        (
            [(X, pd.DataFrame({"p": Y, "q": -Y})), (X, pd.DataFrame({"q": -Y, "p": Y}))],
            DataError,
            "batch 1: y has the columns q, p, but rows before it have p, q; give them in one order",
        ),
        (
            [(X, pd.DataFrame({0: Y, 1: -Y})), (X, pd.DataFrame({1: -Y, 0: Y}))],
            DataError,
            "batch 1: y has the columns 1, 0, but rows before it have 0, 1",
        ),
        (
            [pd.DataFrame({"a": [1.0]}), np.ones((1, 1))],
            DataError,
            "batch 1: it has columns in another order, or without names; every batch",
        ),
        ([pd.DataFrame({"a": ["1", "2"]}), pd.DataFrame({"a": ["3"]})], DataError, "text that reads as numbers"),
    ],
)  # fmt: skip
def test_a_bad_batch_is_named(batches, error, message):
    with pytest.raises(error, match=message):
        sp.Dataset.from_batches(batches)


def test_an_iterator_that_cannot_be_read_twice_is_refused():
    with pytest.raises(
        DataTypeError, match="it is a generator, which can be read only once: give a function"
    ):
        sp.Dataset.from_batches(batch for batch in [(X, Y)])
    with pytest.raises(DataTypeError, match="it is a int, which is neither"):
        sp.Dataset.from_batches(3)
    with pytest.raises(
        DataTypeError, match="must give an iterator of batches when it is called; it gave a int"
    ):
        list(BatchSource(lambda: 3).batches())


def test_an_unknown_category_is_an_error_where_the_reference_demands_it():
    table = pd.DataFrame({"a": Y / 4, "tree": ["oak", "ash", None] * 2, "flag": Y > 3})
    reference = sp.Dataset(table, Y, unseen="error")
    other = table.assign(tree="yew")
    with pytest.raises(
        DataError, match="batch 1: column \"tree\" holds 'yew', a category that training did not see"
    ):
        sp.Dataset.from_batches([(table, Y), (other, Y)], reference=reference)


def test_the_number_of_rows_spares_a_reading_and_must_be_right(monkeypatch):
    monkeypatch.setattr(cuts, "SAMPLE", 4)
    readings = []

    def source():
        readings.append(1)
        yield X, Y
        yield X, Y

    check_same(sp.Dataset.from_batches(source), sp.Dataset(np.vstack([X, X]), [*Y, *Y]))
    assert len(readings) == 3
    check_same(sp.Dataset.from_batches(source, rows=12), sp.Dataset(np.vstack([X, X]), [*Y, *Y]))
    assert len(readings) == 5
    for rows, message in ((11, "should give 11 rows, but gave more than 11"), (13, "13 rows, but gave 12")):
        with pytest.raises(DataError, match=message):
            sp.Dataset.from_batches(source, rows=rows)
    with pytest.raises(ParameterTypeError, match="rows='9' must be a whole number"):
        sp.Dataset.from_batches(source, rows="9")
    with pytest.raises(ParameterError, match="rows=0 must be 1 or more"):
        sp.Dataset.from_batches(source, rows=0)
    with pytest.raises(DataError, match="there are more than 2147483647 rows in source"):
        sp.Dataset.from_batches(source, rows=2**70)


def test_batches_without_rows_are_passed_over():
    dataset = sp.Dataset.from_batches([(X[:0], Y[:0]), (X, Y), (X[:0], Y[:0])])
    check_same(dataset, sp.Dataset(X, Y))


def test_rows_of_weight_0_may_fill_a_batch():
    weight = np.array([0.0, 0, 0, 1, 2, 3])
    check_same(paged(X, Y, 3, {"weight": weight}), sp.Dataset(X, Y, weight=weight))
