"""Rows are read several times: other rows than the first time are refused, the same ones cut otherwise are not."""

import os
from itertools import pairwise

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import sparse

import spinney as sp
from paged import check_same
from spinney.binning import cuts
from spinney.binning.raw_table import Checksum
from spinney.data import read_table
from spinney.data.files import FileSource
from spinney.errors import DataError, DataTypeError

X, Y = np.arange(12.0).reshape(6, 2), np.arange(6.0)
FRAME = pd.DataFrame({"a": X[:, 0], "tree": ["oak", "ash", None, "oak", "ash", "oak"]})
STORED = sparse.csr_array(np.where(X % 3 == 0, X, 0.0))


def turning(first, second):
    """A source that gives something else when it is read again."""
    readings = iter([first, second, second])
    return lambda: iter(next(readings))


def beside(**more):
    return [{"X": X, "y": Y, **more}]


def changed(table, row, column, value):
    other = table.copy()
    other.loc[row, column] = value
    return other


AGAIN = "when these rows were read before; the same rows must come in the same order every time"


@pytest.mark.parametrize(
    ("first", "second", "error", "said"),
    [
        ([(X, Y)], [(X[:4], Y[:4])], DataError, "source gave 6 rows the first time and 4 rows when it was read"),
        ([(X, Y)], [(X, Y), (X, Y)], DataError, "source gave 6 rows the first time and more than 6 rows"),
        ([(X, Y)], [], DataError, "it can be read only once, but must give a fresh iterator each time"),
        ([(X, Y)], [(X[:, :1], Y)], DataError, "batch 0: it has 1 columns, but rows before it have 2"),
        ([(X, Y)], [(X[::-1], Y[::-1])], DataError, f"batch 0: y is not what it was {AGAIN}"),
        ([(X, Y)], [(sparse.csr_array(X), Y)], DataError, "batch 0: it is sparse, but rows before it are dense"),
        ([(X, Y)], [(X[::-1], Y)], DataError, f"batch 0: columns hold other values than {AGAIN}"),
        ([X], [X[::-1]], DataError, "batch 0: columns hold other values than"),
        ([(X, Y)], [(X[:, ::-1], Y)], DataError, "batch 0: columns hold other values than"),
        ([(X, Y)], [(X[:2], Y[:2]), (X[3:1:-1], Y[2:4]), (X[4:], Y[4:])], DataError, "batch 2: columns hold other"),
        ([(X[:2], Y[:2]), (X[2:], Y[2:])], [(X[:2], Y[:2]), (X[2:] + 1, Y[2:])], DataError, "batch 1: columns hold"),
        ([STORED], [2 * STORED], DataError, "batch 0: columns hold other values than"),
        ([STORED], [STORED[:, [1, 0]]], DataError, "batch 0: columns hold other values than"),
        ([FRAME], [changed(FRAME, 1, "tree", "yew")], DataError, "batch 0: columns hold other values than"),
        ([FRAME], [changed(FRAME, 1, "tree", None)], DataError, "batch 0: columns hold other values than"),
        (
            [(X, Y)], [(X.astype(np.float32), Y)], DataTypeError,
            f"batch 0: column 0 holds float32, but held float64 {AGAIN}",
        ),
        ([(X, Y)], [(X.astype(int), Y)], DataTypeError, "column 0 holds int64, but held float64"),
        ([STORED], [STORED.astype(int)], DataTypeError, "column 0 holds int64, but held float64"),
        ([(X, Y)], [(pd.DataFrame(X.astype(str)), Y)], DataTypeError, "column 0 holds text, but held float64"),
        (
            [(X, Y)], [(pd.DataFrame(X[:5].astype(str)), Y[:5]), (X[5:], Y[5:])], DataTypeError,
            "batch 0: column 0 holds text .* It was of another kind when these rows were read before",
        ),
        (beside(weight=Y), beside(weight=Y + 1), DataError, f"batch 0: weight is not what it was {AGAIN}"),
        (beside(base_margin=Y), beside(base_margin=Y + 1), DataError, "base_margin is not what it was"),
        (beside(qid=Y // 2), beside(qid=Y // 3), DataError, "qid is not what it was"),
        (beside(group=[2, 4]), beside(group=[4, 2]), DataError, "group is not what it was"),
        (
            beside(group=[2, 4]), beside(qid=[*"aabbbb"]), DataError,
            "batch 0: it has qid, but the rows that were read before have group",
        ),
        (
            beside(qid=[*"112222"]), beside(qid=[1, 1, 2, 2, 2, 2]), DataTypeError,
            "batch 0: qid holds numbers, but text in the rows that were read before",
        ),
        (beside(weight=Y), beside(), DataError, "batch 0: it has no weight, but the rows that were read before have it"),
    ],
)  # fmt: skip
def test_a_source_that_gives_other_rows_the_second_time_is_refused(first, second, error, said):
    with pytest.raises(error, match=said):
        sp.Dataset.from_batches(turning(first, second))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ([{"X": X, "y": Y}], [(X[:1], Y[:1]), (X[1:4], Y[1:4]), (X[4:], Y[4:])]),
        ([{"X": X, "y": Y}], [(np.asfortranarray(X), Y)]),
        ([{"X": STORED}], [STORED[:1].tocsc(), STORED[1:]]),
        ([{"X": FRAME}], [FRAME[:3], FRAME[3:]]),
        (
            beside(group=[2, 4]),
            [{"X": X[:2], "y": Y[:2], "group": [2]}, {"X": X[2:], "y": Y[2:], "group": [4]}],
        ),
    ],
)
def test_the_same_rows_may_come_in_other_batches_and_another_layout(monkeypatch, first, second):
    monkeypatch.setattr(cuts, "SAMPLE", 4)  # so that they are read three times
    whole = sp.Dataset(**first[0])
    check_same(sp.Dataset.from_batches(turning(first, second)), whole)
    check_same(sp.Dataset.from_batches(turning(second, first)), whole)


def value_of(*tables):
    found = Checksum()
    for table in tables:
        found.add(read_table(table, allow_empty=True))
    return found.value


@pytest.mark.parametrize(
    "kind", ["float64", "float32", "int64", "int8", "longdouble", "fortran", "text", "sparse"]
)
@pytest.mark.parametrize("rows", [1, 50, 1_000])
def test_a_checksum_does_not_depend_on_where_batches_begin(kind, rows):
    rng = np.random.default_rng(rows)
    table = rng.integers(0, 3, (rows, 3)).astype(np.float64)
    table[rng.random(table.shape) < 0.2] = 0 if kind.startswith("int") else np.nan
    if kind == "text":
        table = (
            pd.DataFrame(table).astype(object).map(lambda value: None if value != value else f"tree {value}")
        )
    elif kind == "sparse":
        table = sparse.csr_array(table)
    else:
        table = np.asfortranarray(table) if kind == "fortran" else table.astype(kind)
    whole = value_of(table)
    for _ in range(3):
        ends = [0, *np.sort(rng.integers(0, rows + 1, 4)).tolist(), rows]
        pieces = [table[a:b] for a, b in pairwise(ends)]
        assert value_of(*pieces) == whole


def test_categories_count_by_what_they_are_and_not_by_their_numbers():
    trees, turned = (
        pd.Categorical(["oak", "ash", None], order) for order in (["ash", "oak"], ["oak", "elm", "ash"])
    )
    whole = value_of(pd.DataFrame({"a": trees}))
    assert (
        whole == value_of(pd.DataFrame({"a": turned})) == value_of(pd.DataFrame({"a": ["oak", "ash", None]}))
    )
    assert whole != value_of(pd.DataFrame({"a": ["ash", "oak", None]}))
    numbers = pd.DataFrame({"a": pd.Categorical([3, 1, None], [1, 3])})
    assert value_of(numbers) == value_of(np.array([[3.0], [1.0], [np.nan]]))


SIGNS = np.random.default_rng(0).choice([-1.0, 1.0], (60, 2))


@pytest.mark.parametrize("form", [np.asarray, np.float32, sparse.csr_array])
@pytest.mark.parametrize("how", [np.negative, np.flipud, np.fliplr])
def test_signs_and_places_of_values_that_change_are_noticed(form, how):
    with pytest.raises(DataError, match="batch 0: columns hold other values than"):
        sp.Dataset.from_batches(turning([form(SIGNS)], [form(how(SIGNS))]))


def test_values_that_mean_the_same_are_no_change():
    X = np.array([[0.0, np.nan], [1.0, 2.0], [3.0, 0.0]])
    other = np.array([[-0.0, -np.nan], [1.0, 2.0], [3.0, 0.0]])
    check_same(sp.Dataset.from_batches(turning([X], [other])), sp.Dataset(X))
    check_same(sp.Dataset.from_batches(turning([X], [X.astype(">f8")])), sp.Dataset(X))
    stored, explicit = sparse.csr_array(X), sparse.csr_array(X + 1)
    explicit.data[:] = X.reshape(-1)
    check_same(sp.Dataset.from_batches(turning([stored], [explicit])), sp.Dataset(stored))
    with pytest.raises(DataError, match="columns hold other values"):
        sp.Dataset.from_batches(turning([stored], [explicit]), absent="missing")


def test_the_types_of_batches_may_differ_as_long_as_they_are_the_same_every_time():
    whole, gaps = pd.DataFrame({"a": [1, 2]}), pd.DataFrame({"a": [1.0, np.nan]})
    both = pd.concat([whole, gaps], ignore_index=True)
    check_same(sp.Dataset.from_batches([whole, gaps]), sp.Dataset(both))
    check_same(sp.Dataset.from_batches(turning([whole, gaps], [both])), sp.Dataset(both))
    with pytest.raises(DataError, match="batch 0: columns hold other values"):
        sp.Dataset.from_batches(turning([whole, gaps], [both + 1]))
    with pytest.raises(DataTypeError, match='batch 0: column "a" holds float64, but held int64'):
        sp.Dataset.from_batches(turning([whole, gaps], [whole.astype(float), gaps]))
    with pytest.raises(DataError, match="batch 1: columns hold other values"):
        sp.Dataset.from_batches(turning([whole, gaps], [whole, gaps + 1]))


def written(path, values):
    pq.write_table(pa.table({"a": values}), path)
    return path


@pytest.mark.parametrize("how", ["other size", "other time", "other file", "gone"])
def test_a_file_that_changes_between_readings_is_named(tmp_path, how):
    path = written(tmp_path / "rows.parquet", np.arange(9.0))
    status = path.stat()
    source = FileSource(path)
    assert [batch.table.rows for batch in source.batches()] == [9]
    other = written(tmp_path / "other.parquet", np.arange(9.0) + 1)
    if how == "other size":
        written(path, np.arange(99.0))
    elif how == "other time":
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns + 1))
    elif how == "other file":
        os.replace(other, path)
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    else:
        path.unlink()
    said = "cannot be read" if how == "gone" else "has changed since it was first looked at; the same rows"
    with pytest.raises(DataError, match=rf"rows\.parquet' {said}"):
        list(source.batches())


def test_a_file_that_changes_while_it_is_read_is_named(tmp_path):
    path = written(tmp_path / "rows.parquet", np.arange(9.0))
    reading = FileSource(path).batches()
    next(reading)
    os.utime(path, ns=(0, 0))
    with pytest.raises(DataError, match=r"rows\.parquet' has changed since"):
        list(reading)


@pytest.mark.parametrize(
    ("rows", "sample", "reference", "readings"),
    [
        (None, 100, False, 2),
        (6, 4, False, 2),
        (None, 4, False, 3),
        (None, 4, True, 2),
    ],
    ids=["few", "rows are known", "many", "reference"],
)
def test_a_source_is_read_two_or_three_times(monkeypatch, rows, sample, reference, readings):
    monkeypatch.setattr(cuts, "SAMPLE", sample)
    known = sp.Dataset(X, Y) if reference else None
    read = []

    def batches():
        read.append(1)
        return iter([(X[:4], Y[:4]), (X[4:], Y[4:])])

    sp.Dataset.from_batches(batches, rows=rows, reference=known)
    assert len(read) == readings
