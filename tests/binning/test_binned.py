"""`BinnedData`: some rows of it, its codes block by block, copies."""

import copy
import gc
import pickle
import weakref
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse

import oracles
import spinney as sp
from block_data import in_blocks
from problems import part_of
from spinney.data import find_schema, read_table
from spinney.errors import DataError

ROWS = 90
RNG = np.random.default_rng(0)
X = RNG.normal(size=(ROWS, 3)).round(1)
GIVEN = {
    "y": X[:, 0],
    "weight": RNG.random(ROWS),
    "base_margin": X[:, 1],
    "qid": np.sort(RNG.integers(0, 9, ROWS)),
}
SOME = np.flatnonzero(RNG.random(ROWS) < 0.5)
EXACT = {"tree_method": "exact", "max_leaves": 3}


def dataset(kind="memory"):
    whole = sp.Dataset(X, **GIVEN)
    return in_blocks(whole) if kind == "blocks" else whole


@pytest.mark.parametrize("kind", ["memory", "blocks"])
@pytest.mark.parametrize("rows", [None, SOME, np.zeros(0, np.int64)], ids=["all", "some", "none"])
def test_a_scan_gives_the_codes_of_each_row_once(kind, rows):
    data = dataset(kind).binned
    rows, data = (np.arange(ROWS), data) if rows is None else (rows, data.take(rows))
    expected = oracles.bins_of_matrix(dataset().binned.matrix())[rows]
    found = np.full_like(expected, -1)
    for block in data.scan():
        own = block.own_matrix()
        assert own.rows == block.end - block.begin > 0
        found[block.begin : block.end] = oracles.bins_of_matrix(own)
    assert found.tolist() == expected.tolist()


def test_parts_of_parts_have_their_rows_of_everything():
    data, labels = dataset().binned.take(SOME).take(np.array([2, 3, 9])), dataset().labels()
    rows = SOME[[2, 3, 9]]
    assert data.selected.tolist() == rows.tolist()
    assert data.selected.dtype == np.int32
    for name in ("target", "weight", "margin"):
        assert getattr(data.labels, name).tolist() == getattr(labels, name)[rows].tolist()
    assert data.labels.queries[0] == 0
    assert np.diff(data.labels.queries).tolist() == [int(a != b) for a, b in pairwise(labels.queries[rows])]
    assert data.raw.table().panels[0].values.tolist() == X[rows].tolist()


def test_rows_of_the_whole_table_are_numbered_anew_over_ranks():
    whole = dataset().binned
    chosen = RNG.random(ROWS) < 0.3
    first, second = (whole.take(np.arange(begin, end)) for begin, end in ((0, 40), (40, ROWS)))
    ranks = [copy.copy(one) for one in (first, second)]
    ranks = [
        type(one)(**{**vars(one), "first": begin, "total": ROWS})
        for one, begin in zip(ranks, (0, 40), strict=True)
    ]
    found = [one.take_from_table(chosen) for one in ranks]
    assert [one.first for one in found] == [0, int(chosen[:40].sum())]
    assert {one.total for one in found} == {int(chosen.sum())}
    assert np.concatenate([one.selected for one in found]).tolist() == np.flatnonzero(chosen).tolist()


def test_codes_in_blocks_are_never_one_matrix():
    with pytest.raises(DataError, match="needs all codes at once"):
        dataset("blocks").binned.matrix()


@pytest.mark.parametrize("some", [False, True])
def test_a_copy_keeps_the_table_that_the_other_one_releases(some):
    one = sp.Dataset(X.copy(), X[:, 0])
    one = part_of(one, SOME) if some else one
    sp.train(EXACT, one, 1)
    other = copy.copy(one)
    other.release()
    assert one.has_table
    assert sp.train(EXACT, one, 1) == sp.train(
        EXACT, sp.Dataset(X, X[:, 0]) if not some else part_of(sp.Dataset(X, X[:, 0]), SOME), 1
    )


@pytest.mark.parametrize("some", [False, True])
def test_pickles_and_deep_copies_train_to_the_same_bytes(some):
    one = part_of(dataset(), SOME) if some else dataset()
    expected = sp.train({"max_leaves": 3}, one, 2)
    for other in (pickle.loads(pickle.dumps(one)), copy.deepcopy(one), copy.copy(one)):
        assert sp.train({"max_leaves": 3}, other, 2) == expected


def test_a_part_keeps_its_row_numbers_once():
    part = part_of(dataset(), SOME).binned
    assert part.raw._rows is part.selected


def test_copies_release_the_table_of_the_user_together():
    table = X.copy()
    one = sp.Dataset(table, X[:, 0])
    other = copy.copy(one)
    held = weakref.ref(table)
    del table
    sp.train({"max_leaves": 2}, one, 1)
    gc.collect()
    assert held() is None
    assert not other.has_table


def test_a_copy_keeps_its_class_and_attributes():
    class Noted(sp.Dataset):
        pass

    one = Noted(X, X[:, 0])
    one.note = "mine"
    other = copy.copy(one)
    assert (type(other), other.note, other.rows) == (Noted, "mine", ROWS)


@pytest.mark.parametrize(
    "table",
    [X, np.where(X > 0, np.nan, X) * np.array([1, np.nan, 1]), X.astype(object), scipy.sparse.csr_array(X)],
    ids=["numbers", "no value", "objects", "sparse"],
)
def test_tables_of_numbers_have_the_schema_that_counting_finds(table):
    read = read_table(table)
    schema = sp.Dataset(table).schema
    assert schema == find_schema(read, set(), None, 255)
    assert read.has_numbers_only == (table.dtype != object)
