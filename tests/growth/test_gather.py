"""A small bag's rows are copied side by side; the trees must not know."""

import numpy as np
import pytest
import scipy.sparse

import spinney as sp
from spinney.binning.entries import split8
from spinney.binning.kernels.records import Codes
from spinney.growth import gather
from spinney.growth.kernels.gather import gather as gather_rows
from spinney.growth.kernels.gather import owned_rows, piece_length
from spinney.growth.kernels.records import Control, Gathered, HistBag
from spinney.growth.subset import subset_of
from spinney.jit import Member
from spinney.training import sharing

GOSS = {"sampling_method": "goss", "top_rate": 0.1, "other_rate": 0.1, "goss_warm_up": False}
WAYS = {
    "uniform": {"subsample": 0.3},
    "goss": GOSS,
    "warm goss": GOSS | {"goss_warm_up": True, "learning_rate": 0.5},
    "gradient_based": {"sampling_method": "gradient_based", "subsample": 0.25},
    "weighted": {"sampling_method": "weighted", "subsample": 0.2},
    "one row": {"subsample": 0.0001},
    "all of them refit": GOSS | {"leaf_values": "all"},
    "approx": {"tree_method": "approx", "subsample": 0.3},
    "depthwise": {"grow_policy": "depthwise", "max_depth": 4, "subsample": 0.3},
}


def table(rows=3001, columns=4, missing=True):
    rng = np.random.default_rng(rows)
    X = rng.normal(size=(rows, columns))
    X[:, 1] = rng.integers(0, 7, rows)
    if missing:
        X[rng.random(rows) < 0.2, 0] = np.nan
    y = np.nan_to_num(X[:, 0]) + np.sin(3 * X[:, 2]) + (X[:, 1] == 3) + 0.1 * rng.normal(size=rows)
    return X, y


def both(monkeypatch, params, data, rounds=4):
    """The forests of a training with gathered rows and of one without."""
    made = []

    def noted(matrix, config, drawn_from):
        room = gather.gathered_room(matrix, config, drawn_from)
        made.append(room.codes.rows)
        return room

    monkeypatch.setattr("spinney.growth.grower.gathered_room", noted)
    forests = []
    for most in (gather.MOST_GATHERED, 0.0):
        monkeypatch.setattr(gather, "MOST_GATHERED", most)
        forests.append(sp.train({"max_leaves": 15, "min_child_samples": 2} | params, data, rounds).forest)
    assert made[0] > 0
    assert made[1] == 0
    return forests


@pytest.mark.parametrize("max_bin", [15, 255, 256, 1000])
@pytest.mark.parametrize("way", WAYS)
def test_the_trees_are_those_of_rows_left_in_their_places(monkeypatch, way, max_bin):
    X, y = table()
    gathered, plain = both(monkeypatch, WAYS[way], sp.Dataset(X, y, max_bin=max_bin))
    assert gathered.equal(plain)


@pytest.mark.kernels
@pytest.mark.parametrize("max_bin", [15, 300])
@pytest.mark.parametrize("way", ["uniform", "goss", "all of them refit"])
def test_few_rows_stay_within_their_memory(monkeypatch, way, max_bin):
    X, y = table(601)
    gathered, plain = both(monkeypatch, WAYS[way] | {"max_leaves": 5}, sp.Dataset(X, y, max_bin=max_bin), 2)
    assert gathered.equal(plain)


@pytest.mark.parametrize("jobs", [1, 2, 3, 8])
def test_any_number_of_threads_gathers_the_same(monkeypatch, jobs):
    monkeypatch.setattr(sharing, "SHARE_VALUES", 0)
    X, y = table(20_011)
    data = sp.Dataset(X, y)
    params = GOSS | {"max_leaves": 63, "min_child_samples": 2}
    alone = sp.train(params | {"n_jobs": 1}, data, 3).forest
    assert sharing.threads_of(sp.params.Config(n_jobs=jobs), data) == jobs
    gathered, plain = both(monkeypatch, params | {"n_jobs": jobs}, data, 3)
    assert gathered.equal(plain)
    assert gathered.equal(alone)


def test_every_class_gathers_its_own_gradients(monkeypatch):
    X, _ = table()
    y = np.digitize(X[:, 2], [-0.5, 0.5])
    params = GOSS | {"objective": "softmax", "num_class": 3}
    gathered, plain = both(monkeypatch, params, sp.Dataset(X, y))
    assert gathered.equal(plain)


def test_categories_and_weights_of_zero(monkeypatch):
    X, y = table()
    weight = np.where(np.arange(len(y)) % 3 == 0, 0.0, 1.0)
    data = sp.Dataset(X, y, weight=weight, categorical=[1])
    gathered, plain = both(monkeypatch, {"subsample": 0.4}, data)
    assert gathered.equal(plain)


def test_bundles_of_more_than_256_codes(monkeypatch):
    rng = np.random.default_rng(1)
    rows, levels = 4000, 400
    level = rng.integers(0, levels, rows)
    X = np.zeros((rows, levels + 1))
    X[np.arange(rows), level] = 1.0
    X[:, levels] = rng.normal(size=rows)
    data = sp.Dataset(X, (level % 7 == 0) + X[:, levels])
    assert data.matrix.groups == 2
    assert data.matrix.wide
    gathered, plain = both(monkeypatch, GOSS | {"min_child_samples": 1}, data)
    assert gathered.equal(plain)


def room_of(share, X):
    matrix = sp.Dataset(X, np.arange(len(X)), bundle=False).matrix
    return gather.gathered_room(matrix, sp.params.Config(subsample=share)).codes.rows


def test_room_is_made_where_copying_pays():
    X = np.random.default_rng(0).normal(size=(1000, 40))
    assert room_of(1.0, X[:, :1]) == 0
    assert room_of(0.41, X[:, :1]) == 0
    assert 400 <= room_of(0.4, X[:, :11]) < 600
    assert room_of(0.4, X[:, :12]) == 0
    assert room_of(0.1, X) >= 100
    assert room_of(0.2, X) == 0
    sparse = sp.Dataset(
        np.where(np.random.default_rng(0).random((1000, 3)) < 0.9, 0.0, X[:, :3]), np.arange(1000)
    )
    assert gather.gathered_room(sparse.matrix, sp.params.Config(subsample=0.1)).codes.rows == 0


def test_room_for_a_sparse_table_is_half_of_its_codes_at_most():
    level = np.random.default_rng(0).integers(0, 30, 1000)
    entries = scipy.sparse.csr_array((np.ones(1000), (np.arange(1000), level)), shape=(1000, 30))
    matrix = sp.Dataset(entries, level).matrix
    assert matrix.groups == 1
    assert gather.gathered_room(matrix, sp.params.Config(subsample=0.3)).codes.rows > 0
    assert gather.gathered_room(matrix, sp.params.Config(subsample=0.4)).codes.rows == 0
    dense = sp.Dataset(entries.toarray(), level).matrix
    assert gather.gathered_room(dense, sp.params.Config(subsample=0.4)).codes.rows > 0


@pytest.mark.kernels
@pytest.mark.parametrize("in_bag", [0, 1, 7, 8, 9, 511, 512, 513, 1500])
@pytest.mark.parametrize(("kind", "wide"), [(np.uint8, 0), (np.uint16, 1)])
@pytest.mark.parametrize("some", [False, True], ids=["all rows", "some rows"])
def test_copies_hold_the_codes_and_gradients_of_the_bag(some, kind, wide, in_bag):
    rng = np.random.default_rng(in_bag)
    rows, groups, stride, room = 2000, 5, 16, 1504
    by_row = rng.integers(0, np.iinfo(kind).max + 1, (rows + 300, stride)).astype(kind)
    chosen = np.sort(rng.choice(rows + 300, rows, replace=False)).astype(np.int32) if some else None
    codes_of = by_row[chosen] if some else by_row
    pairs = rng.normal(size=(2, rows, 2)).astype(np.float32)
    bag = np.sort(rng.choice(rows, in_bag, replace=False)).astype(np.int32)
    own, columns = np.zeros((room, stride), kind), np.zeros((groups, room), kind)
    own_pairs = np.zeros((room, 2), np.float32)
    codes = Codes(room, groups, stride, wide, *split8(own.ravel()), *split8(columns.ravel()))
    words = own.ravel().view(np.int64), columns.ravel().view(np.int64)
    control = Control.zeros(1)
    control[0].in_bag = in_bag
    gathered = Gathered(codes, *words, own_pairs.ravel())
    subset = subset_of(chosen, rows + 300)
    whole = HistBag(rows, control, bag, subset, by_row.ravel().view(np.int64), gathered)
    for rank in range(3):
        gather_rows(Member(rank, 3, np.zeros(32, np.int64)), whole, pairs[1].ravel())
    assert np.array_equal(own[:in_bag], codes_of[bag])
    assert np.array_equal(columns[:, :in_bag], codes_of[bag, :groups].T)
    assert np.array_equal(own_pairs[:in_bag], pairs[1, bag])


@pytest.mark.parametrize("size", [1, 2, 3, 16])
@pytest.mark.parametrize("count", [0, 1, 511, 512, 513, 8191, 16_385, 100_001, 500_000])
def test_every_row_is_owned_by_one_thread_and_shares_are_about_even(count, size):
    length = int(piece_length(count, size))
    owner = np.arange(count) // length % size
    owned = [int(owned_rows(count, rank, size)) for rank in range(size)]
    assert owned == [int((owner == rank).sum()) for rank in range(size)]
    assert max(owned) - min(owned) <= max(512, count // (16 * size))
