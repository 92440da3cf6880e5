"""Trees of the histogram grower do not depend on how the work is done: subtraction, threads, delays, copies of a bag's rows."""

import numpy as np
import pytest
import scipy.sparse

import problems
import spinney as sp
from problems import TREE_ARRAYS, gradients, gradients_record, grown, random_problem
from spinney.binning.kernels.records import Codes
from spinney.binning.matrix import split8, take_codes
from spinney.growth import hist
from spinney.growth.hist import HistGrower
from spinney.growth.kernels.quantize import gather as gather_rows
from spinney.growth.kernels.quantize import owned_rows, piece_length
from spinney.growth.kernels.records import Control, Gathered, HistBag
from spinney.growth.kernels.turns import SHARE_ROWS
from spinney.growth.workspace import subset_of
from spinney.jit import Member
from spinney.jit.team import Team
from spinney.params import Config
from spinney.sampling import Bag
from spinney.training import growers
from spinney.tree import concatenate


def test_histograms_by_subtraction_and_from_rows_give_the_same_tree(monkeypatch):
    problem = [problems.random_problem(seed) for seed in range(60)]
    for seed, (X, _, _, params, _) in enumerate(problem[30:]):
        params |= problems.column_parameters(np.random.default_rng(seed), X.shape[1])
    kept = [problems.fast_tree(data, pairs, params, **given)[0] for _, data, pairs, params, given in problem]
    monkeypatch.setattr(hist, "KEPT_HISTOGRAMS", 0)
    built = [problems.fast_tree(data, pairs, params, **given)[0] for _, data, pairs, params, given in problem]
    assert concatenate(kept).equal(concatenate(built))


def large_problem(wide=False):
    rng = np.random.default_rng(20)
    rows = 20_000
    X = np.where(rng.random((rows, 5)) < 0.05, np.nan, rng.normal(size=(rows, 5)))
    pairs = np.stack([rng.normal(size=rows) - np.nan_to_num(X[:, 0] * X[:, 1]), rng.random(rows)], axis=1)
    return sp.Dataset(X, max_bin=300 if wide else 255), pairs.astype(np.float32)


@pytest.mark.parametrize("kept", [0, 40_000, 512 * 2**20])
@pytest.mark.parametrize("policy", ["lossguide", "depthwise"])
def test_any_memory_for_histograms_gives_the_same_large_tree(monkeypatch, kept, policy):
    data, pairs = large_problem()
    params = {"max_leaves": 40, "grow_policy": policy}
    expected, _ = problems.forest(data, pairs, params, 1)
    monkeypatch.setattr(hist, "KEPT_HISTOGRAMS", kept)
    for threads in (1, 2):
        assert problems.forest(data, pairs, params, threads)[0].equal(expected)


@pytest.mark.slow
@pytest.mark.parametrize("more", [-30, -1, 0, 1, 2, 3, 20])
def test_memory_for_about_as_many_histograms_as_leaves_gives_the_same_tree(monkeypatch, more):
    data, pairs = large_problem()
    params = {"max_leaves": 40}
    expected, _ = problems.forest(data, pairs, params, 1)
    size = 12 * int(data.binned.matrix().features.group_codes.sum())
    for threads, delay in ((2, 0), (3, 8), (8, 0)):
        others = 2 + 2 * threads
        monkeypatch.setattr(hist, "KEPT_HISTOGRAMS", (40 + more + others) * size)
        assert problems.forest(data, pairs, params, threads, delay)[0].equal(expected)


@pytest.mark.parametrize("wide", [False, True], ids=["bytes", "wide"])
@pytest.mark.parametrize(
    "params",
    [
        {"max_leaves": 25},
        {"grow_policy": "depthwise", "max_depth": 4, "colsample_bynode": 0.6},
        {
            "monotone_constraints": [1, 0, -1, 0, 1],
            "interaction_constraints": [[0, 1, 2], [2, 3, 4]],
            "max_leaves": 25,
        },
        {
            "monotone_constraints": [1, 1, 0, 0, 0],
            "feature_weights": [1, 2, 3, 0, 1],
            "colsample_bynode": 0.6,
        },
    ],
    ids=str,
)
def test_threads_and_delays_before_their_meetings_do_not_change_a_tree(wide, params):
    data, pairs = large_problem(wide)
    expected, moved = problems.forest(data, pairs, params, 1)
    for threads, delay in ((2, 0), (3, 0), (8, 0), (2, 12_345), (3, 77)):
        found, scores = problems.forest(data, pairs, params, threads, delay)
        assert found.equal(expected)
        assert scores.tobytes() == moved.tobytes()


PARAMS = {"max_leaves": 40, "min_child_samples": 20, "learning_rate": 0.3}


def with_many_levels(rows, levels, front, back):
    """One-hot columns of which few have rows enough for a leaf, with single columns before and after them."""
    rng = np.random.default_rng(rows)
    level = np.minimum(rng.geometric(8 / levels, rows), levels) - 1
    hot = scipy.sparse.csr_array((np.ones(rows), (np.arange(rows), level)), shape=(rows, levels))
    around = [scipy.sparse.csr_array(rng.normal(size=(rows, n))) for n in (front, back) if n]
    y = np.sin(level) + sum(one.toarray()[:, 0] for one in around) + 0.3 * rng.normal(size=rows)
    return scipy.sparse.hstack(
        [*around[: 1 if front else 0], hot, *around[1 if front else 0 :]], format="csr"
    ), y


@pytest.mark.parametrize(("front", "back"), [(3, 0), (0, 3), (2, 5), (0, 0)])
@pytest.mark.parametrize("rows", [700, 4 * SHARE_ROWS])
def test_dead_columns_are_left_out_without_a_trace(monkeypatch, rows, front, back):
    monkeypatch.setattr(growers, "SHARE_VALUES", 0)
    X, y = with_many_levels(rows, 400, front, back)
    plain = sp.train(PARAMS | {"n_jobs": 1}, sp.Dataset(X.toarray(), y, bundle=False), 4).forest
    bundled, sparse = sp.Dataset(X, y), sp.Dataset(X, y, bundle=False)
    assert bundled.describe()["bundles"] >= 1
    for data in (bundled, sparse):
        for n_jobs in (1, 2, 3, 8):
            assert sp.train(PARAMS | {"n_jobs": n_jobs}, data, 4).forest.equal(plain)


@pytest.mark.parametrize(
    "more",
    [{"colsample_bytree": 0.4}, {"colsample_bynode": 0.4}, {"monotone_constraints": [1, 0, -1] + [1] * 100 + [0] * 300},
     {"interaction_constraints": [list(range(50)), list(range(50, 403))]}, {"min_child_samples": 1_500}],
    ids=lambda more: next(iter(more)),
)  # fmt: skip
def test_rules_about_columns_hold_in_runs_too(monkeypatch, more):
    monkeypatch.setattr(growers, "SHARE_VALUES", 0)
    X, y = with_many_levels(3_000, 400, 3, 0)
    plain = sp.train(PARAMS | more | {"n_jobs": 1}, sp.Dataset(X.toarray(), y, bundle=False), 4).forest
    for n_jobs in (1, 2, 3):
        assert sp.train(PARAMS | more | {"n_jobs": n_jobs}, sp.Dataset(X, y), 4).forest.equal(plain)


@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("max_bin", [255, 700])
@pytest.mark.parametrize("threads", [1, 2])
def test_nodes_of_fewer_rows_than_bins_give_the_tree_of_the_oracle(threads, max_bin, missing):
    rng = np.random.default_rng(max_bin)
    X = rng.normal(size=(700, 3)).round(2)
    X[rng.random(X.shape) < missing] = np.nan
    pairs = problems.gradients(rng, 700)
    params = {"max_leaves": 60, "min_child_samples": 2, "max_bin": max_bin}
    dataset = sp.Dataset(X, max_bin=max_bin)
    fast, _ = problems.fast_tree(dataset, pairs, params, threads=threads)
    problems.assert_same_tree(fast, problems.slow_tree(dataset, pairs, params))
    assert (fast.count < dataset.binned.matrix().bins.min()).mean() > 0.8


def tree_of(dataset, matrix, pairs, params, bag, threads, rows=None, others=None):
    """A tree, the scores that it moved, and those of other rows that walked it."""
    scores = np.zeros((1, len(pairs)))
    seen = Bag.of_all(len(pairs))
    if bag is not None:
        seen.rows[: len(bag)], seen.count = bag, len(bag)
    config = Config.parse(params)
    with Team(threads) as team:
        grower = HistGrower(
            matrix, dataset.cuts, config, gradients_record(scores, pairs), seen, team, rows=rows
        )
        walked = np.zeros(dataset.rows if others is None else len(others))
        job = grower.walk(dataset.binned.matrix(), walked, others)
        tree = grown(grower, 5, config.learning_rate)
        team.run(job)
    return tree, scores[0], walked


@pytest.mark.kernels
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("bagged", [False, True], ids=["all rows", "a bag"])
@pytest.mark.parametrize("seed", range(8))
def test_tree_and_scores_are_those_of_a_table_of_these_rows(seed, bagged, threads):
    _, dataset, _, params, _ = random_problem(seed)
    rng = np.random.default_rng(seed)
    rows = np.flatnonzero(rng.random(dataset.rows) < 0.7).astype(np.int32)
    if not len(rows):
        rows = np.zeros(1, np.int32)
    pairs = gradients(rng, len(rows), None)
    bag = np.flatnonzero(rng.random(len(rows)) < 0.6).astype(np.int32) if bagged else None
    if bag is not None and not len(bag):
        bag = np.zeros(1, np.int32)
    taken = take_codes(dataset.binned.matrix(), rows)
    one, moved, all_walked = tree_of(dataset, taken, pairs, params, bag, threads)
    two, again, walked = tree_of(dataset, dataset.binned.matrix(), pairs, params, bag, threads, rows, rows)
    for name in (*TREE_ARRAYS, "value", "gain", "cover"):
        assert getattr(one, name).tobytes() == getattr(two, name).tobytes()
    assert moved.tobytes() == again.tobytes() == walked.tobytes()
    assert walked.tolist() == all_walked[rows].tolist()


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


def table_and_target(rows=3001, columns=4, missing=True):
    rng = np.random.default_rng(rows)
    X = rng.normal(size=(rows, columns))
    X[:, 1] = rng.integers(0, 7, rows)
    if missing:
        X[rng.random(rows) < 0.2, 0] = np.nan
    y = np.nan_to_num(X[:, 0]) + np.sin(3 * X[:, 2]) + (X[:, 1] == 3) + 0.1 * rng.normal(size=rows)
    return X, y


def both(monkeypatch, params, data, rounds=4):
    """The forests of a training with gathered rows and of one without."""
    made, allocate = [], hist.allocate_gathered

    def recorded(matrix, config, drawn_from):
        gathered = allocate(matrix, config, drawn_from)
        made.append(gathered.codes.rows)
        return gathered

    monkeypatch.setattr(hist, "allocate_gathered", recorded)
    forests = []
    for most in (hist.MOST_GATHERED, 0.0):
        monkeypatch.setattr(hist, "MOST_GATHERED", most)
        forests.append(sp.train({"max_leaves": 15, "min_child_samples": 2} | params, data, rounds).forest)
    assert made[0] > 0
    assert made[1] == 0
    return forests


@pytest.mark.parametrize("max_bin", [15, 255, 256, 1000])
@pytest.mark.parametrize("way", WAYS)
def test_the_trees_are_those_of_rows_left_in_their_places(monkeypatch, way, max_bin):
    X, y = table_and_target()
    gathered, plain = both(monkeypatch, WAYS[way], sp.Dataset(X, y, max_bin=max_bin))
    assert gathered.equal(plain)


@pytest.mark.kernels
@pytest.mark.parametrize("max_bin", [15, 300])
@pytest.mark.parametrize("way", ["uniform", "goss", "all of them refit"])
def test_few_rows_stay_within_their_memory(monkeypatch, way, max_bin):
    X, y = table_and_target(601)
    gathered, plain = both(monkeypatch, WAYS[way] | {"max_leaves": 5}, sp.Dataset(X, y, max_bin=max_bin), 2)
    assert gathered.equal(plain)


@pytest.mark.parametrize("jobs", [1, 2, 3, 8])
def test_any_number_of_threads_gathers_the_same(monkeypatch, jobs):
    monkeypatch.setattr(growers, "SHARE_VALUES", 0)
    X, y = table_and_target(20_011)
    data = sp.Dataset(X, y)
    params = GOSS | {"max_leaves": 63, "min_child_samples": 2}
    alone = sp.train(params | {"n_jobs": 1}, data, 3).forest
    assert growers.threads_of(sp.params.Config(n_jobs=jobs), data.binned) == jobs
    gathered, plain = both(monkeypatch, params | {"n_jobs": jobs}, data, 3)
    assert gathered.equal(plain)
    assert gathered.equal(alone)


def test_every_class_gathers_its_own_gradients(monkeypatch):
    X, _ = table_and_target()
    y = np.digitize(X[:, 2], [-0.5, 0.5])
    params = GOSS | {"objective": "softmax", "num_class": 3}
    gathered, plain = both(monkeypatch, params, sp.Dataset(X, y))
    assert gathered.equal(plain)


def test_categories_and_weights_of_zero(monkeypatch):
    X, y = table_and_target()
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
    assert data.binned.matrix().groups == 2
    assert data.binned.matrix().wide
    gathered, plain = both(monkeypatch, GOSS | {"min_child_samples": 1}, data)
    assert gathered.equal(plain)


def gathered_rows(share, X):
    matrix = sp.Dataset(X, np.arange(len(X)), bundle=False).binned.matrix()
    return hist.allocate_gathered(matrix, sp.params.Config(subsample=share)).codes.rows


def test_memory_is_allocated_where_copying_pays():
    X = np.random.default_rng(0).normal(size=(1000, 40))
    assert gathered_rows(1.0, X[:, :1]) == 0
    assert gathered_rows(0.41, X[:, :1]) == 0
    assert 400 <= gathered_rows(0.4, X[:, :11]) < 600
    assert gathered_rows(0.4, X[:, :12]) == 0
    assert gathered_rows(0.1, X) >= 100
    assert gathered_rows(0.2, X) == 0
    sparse = sp.Dataset(
        np.where(np.random.default_rng(0).random((1000, 3)) < 0.9, 0.0, X[:, :3]), np.arange(1000)
    )
    assert hist.allocate_gathered(sparse.binned.matrix(), sp.params.Config(subsample=0.1)).codes.rows == 0


def test_memory_for_a_sparse_table_is_half_of_its_codes_at_most():
    level = np.random.default_rng(0).integers(0, 30, 1000)
    entries = scipy.sparse.csr_array((np.ones(1000), (np.arange(1000), level)), shape=(1000, 30))
    matrix = sp.Dataset(entries, level).binned.matrix()
    assert matrix.groups == 1
    assert hist.allocate_gathered(matrix, sp.params.Config(subsample=0.3)).codes.rows > 0
    assert hist.allocate_gathered(matrix, sp.params.Config(subsample=0.4)).codes.rows == 0
    dense = sp.Dataset(entries.toarray(), level).binned.matrix()
    assert hist.allocate_gathered(dense, sp.params.Config(subsample=0.4)).codes.rows > 0


@pytest.mark.kernels
@pytest.mark.parametrize("in_bag", [0, 1, 7, 8, 9, 511, 512, 513, 1500])
@pytest.mark.parametrize(("kind", "wide"), [(np.uint8, 0), (np.uint16, 1)])
@pytest.mark.parametrize("some", [False, True], ids=["all rows", "some rows"])
def test_copies_hold_the_codes_and_gradients_of_the_bag(some, kind, wide, in_bag):
    rng = np.random.default_rng(in_bag)
    rows, groups, stride, capacity = 2000, 5, 16, 1504
    by_row = rng.integers(0, np.iinfo(kind).max + 1, (rows + 300, stride)).astype(kind)
    chosen = np.sort(rng.choice(rows + 300, rows, replace=False)).astype(np.int32) if some else None
    codes_of = by_row[chosen] if some else by_row
    pairs = rng.normal(size=(2, rows, 2)).astype(np.float32)
    bag = np.sort(rng.choice(rows, in_bag, replace=False)).astype(np.int32)
    own, columns = np.zeros((capacity, stride), kind), np.zeros((groups, capacity), kind)
    own_pairs = np.zeros((capacity, 2), np.float32)
    codes = Codes(capacity, groups, stride, wide, *split8(own.ravel()), *split8(columns.ravel()))
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
