"""A tree from codes that come block by block has the bytes of the tree from codes in memory."""

import numpy as np
import pytest
import scipy.sparse

import problems
import spinney as sp
from block_data import FleetingBlocks, block_grower, block_tree, cuts_into_blocks
from problems import part_of
from spinney.binning.binned import MemoryBlocks
from spinney.growth import hist as in_memory
from spinney.jit.team import Team
from spinney.tree import concatenate


def assert_same(dataset, begins, pairs, params, threads=(1, 2, 3), **given):
    expected, moved = problems.fast_tree(dataset, pairs, params, **given)
    for count in threads:
        found, scores, _ = block_tree(dataset, begins, pairs, params, threads=count, **given)
        assert concatenate([found]).equal(concatenate([expected]))
        assert scores.tobytes() == moved.tobytes()
    return expected


def sum_of_two(rows, columns=4, seed=0):
    """A table of numbers, its gradients from a sum that two columns make, and noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, columns))
    pairs = np.stack([rng.normal(size=rows) - X[:, 0] * X[:, 1], np.ones(rows)], axis=1)
    return sp.Dataset(X), pairs.astype(np.float32)


@pytest.mark.kernels
@pytest.mark.parametrize("seed", range(20))
def test_a_tiny_problem_gives_the_tree_of_the_oracle(seed):
    _, dataset, pairs, params, given = problems.random_problem(seed, most_rows=25)
    begins = cuts_into_blocks(np.random.default_rng(seed), dataset.rows)
    found, _, _ = block_tree(dataset, begins, pairs, params, **given)
    problems.assert_same_tree(found, problems.slow_tree(dataset, pairs, params, **given))


@pytest.mark.slow
@pytest.mark.parametrize("fifty", range(3))
def test_random_tables_cuts_and_parameters_give_the_tree_in_memory(fifty):
    for seed in range(3000 + 50 * fifty, 3050 + 50 * fifty):
        _, dataset, pairs, params, given = problems.random_problem(seed)
        rng = np.random.default_rng(seed)
        assert_same(dataset, cuts_into_blocks(rng, dataset.rows), pairs, params, **given)


@pytest.mark.parametrize("seed", range(6))
def test_rules_about_columns_hold_in_blocks(seed):
    rng = np.random.default_rng(seed)
    dataset, pairs = sum_of_two(300, 5, seed)
    params = {"max_leaves": 12, "min_child_samples": 3} | problems.column_parameters(rng, 5)
    assert_same(dataset, cuts_into_blocks(rng, 300), pairs, params, seed=seed)


@pytest.mark.kernels
@pytest.mark.parametrize("begins", [[0, 40], list(range(41)), [0, 1, 39, 40]], ids=["one", "rows", "ends"])
def test_any_size_of_blocks_gives_the_same_tree(begins):
    dataset, pairs = sum_of_two(40)
    tree = assert_same(dataset, begins, pairs, {"max_leaves": 6, "min_child_samples": 2})
    assert tree.leaves == 6


@pytest.mark.kernels
def test_a_block_without_rows_of_the_bag_is_passed_over():
    dataset, pairs = sum_of_two(60)
    bag = np.flatnonzero((np.arange(60) < 20) | (np.arange(60) >= 41)).astype(np.int32)
    assert_same(dataset, [0, 20, 41, 60], pairs, {"max_leaves": 5, "min_child_samples": 2}, bag=bag)
    assert_same(dataset, [0, 20, 41, 60], pairs, {"max_leaves": 5, "min_child_samples": 2}, bag=bag[:20])


@pytest.mark.kernels
@pytest.mark.parametrize("value", [np.nan, 7.0], ids=["missing", "constant"])
def test_constant_columns_give_a_single_leaf_or_are_never_split(value):
    rng = np.random.default_rng(0)
    pairs = problems.gradients(rng, 30)
    nothing = np.full((30, 2), value)
    params = {"max_leaves": 4, "min_child_samples": 2}
    assert assert_same(sp.Dataset(nothing), [0, 11, 30], pairs, params).leaves == 1
    table = sp.Dataset(np.column_stack([nothing, rng.normal(size=30)]))
    assert assert_same(table, [0, 11, 30], pairs, params).leaves == 4


def test_a_root_that_may_not_be_split_takes_no_pass():
    dataset, pairs = sum_of_two(20)
    tree, _, grower = block_tree(dataset, [0, 9, 20], pairs, {"min_child_samples": 11})
    assert (tree.leaves, grower.passes) == (1, 0)


@pytest.mark.parametrize("absent", ["zero", "missing"])
@pytest.mark.parametrize("density", [0.01, 0.1])
def test_sparse_columns_and_bundles_give_the_tree_in_memory(density, absent):
    rng = np.random.default_rng(3)
    stored = scipy.sparse.random_array((900, 40), density=density, rng=rng, format="csr")
    one_hot = scipy.sparse.csr_array(
        (np.ones(900), (np.arange(900), rng.integers(0, 25, 900))), shape=(900, 25)
    )
    dataset = sp.Dataset(scipy.sparse.hstack([stored, one_hot], format="csr"), absent=absent)
    facts = dataset.describe()
    assert facts["sparse_columns"] > 0
    assert facts["bundles"] > 0
    pairs = problems.gradients(rng, 900)
    params = {"max_leaves": 25, "min_child_samples": 2, "absent": absent}
    for begins in ([0, 1, 400, 900], [0, 900], cuts_into_blocks(rng, 900)):
        assert assert_same(dataset, begins, pairs, params).leaves == 25


def test_sets_of_many_categories_give_the_tree_in_memory():
    rng = np.random.default_rng(4)
    X = np.column_stack([rng.integers(0, 100, 800), rng.integers(0, 3, 800), rng.normal(size=800)])
    pairs = np.stack([np.sin(X[:, 0]) + rng.normal(size=800), np.ones(800)], axis=1).astype(np.float32)
    params = {"max_leaves": 15, "min_data_per_group": 3, "cat_smooth": 2.0, "min_child_samples": 3}
    tree = assert_same(sp.Dataset(X, categorical=[0, 1]), [0, 123, 456, 800], pairs, params)
    assert len(tree.sets.node)


@pytest.mark.parametrize("wide", [False, True], ids=["bytes", "wide"])
def test_sums_of_more_rows_than_a_packed_one_holds_are_flushed(wide):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(40_000, 3))
    pairs = np.stack([rng.normal(size=40_000) - X[:, 0], rng.random(40_000)], axis=1).astype(np.float32)
    dataset = sp.Dataset(X, max_bin=300 if wide else 255)
    params = {"max_leaves": 9, "max_bin": 300 if wide else 255}
    assert_same(dataset, [0, 31_000, 40_000], pairs, params, threads=(1, 2))


@pytest.mark.parametrize("policy", ["lossguide", "depthwise"])
@pytest.mark.parametrize("slots", [-5, 1, 2, 3, 7])
def test_any_memory_for_histograms_gives_the_same_tree(monkeypatch, slots, policy):
    dataset, pairs = sum_of_two(600)
    params = {"max_leaves": 30, "min_child_samples": 4, "grow_policy": policy}
    expected, _ = problems.fast_tree(dataset, pairs, params)
    size = 12 * int(dataset.binned.matrix().features.group_codes.sum())
    for threads in (1, 2):
        monkeypatch.setattr(in_memory, "KEPT_HISTOGRAMS", (slots + 2 + 2 * threads) * size)
        found, _, grower = block_tree(dataset, [0, 250, 600], pairs, params, threads=threads)
        assert concatenate([found]).equal(concatenate([expected]))
        assert grower._table.slots == max(slots, 1)


def test_delays_before_the_meetings_of_threads_do_not_change_a_tree():
    dataset, pairs = sum_of_two(20_000)
    params = {"max_leaves": 20}
    expected, moved = problems.fast_tree(dataset, pairs, params)
    for threads, delay in ((2, 12_345), (3, 77), (8, 1)):
        found, scores, _ = block_tree(
            dataset, [0, 9_000, 20_000], pairs, params, threads=threads, delay=delay
        )
        assert concatenate([found]).equal(concatenate([expected]))
        assert scores.tobytes() == moved.tobytes()


def test_a_second_tree_finds_no_trace_of_the_first():
    dataset, pairs = sum_of_two(500)
    params = {"max_leaves": 12, "colsample_bytree": 0.7}
    one, _, _ = block_tree(dataset, [0, 77, 500], pairs, params, seed=9)
    two, _, _ = block_tree(dataset, [0, 77, 500], pairs, params, seed=9, trees=2)
    assert concatenate([two]).equal(concatenate([one]))


@pytest.mark.kernels
@pytest.mark.parametrize("bagged", [False, True], ids=["all rows", "a bag"])
@pytest.mark.parametrize("seed", range(6))
def test_some_rows_of_the_blocks_give_the_tree_of_these_rows_in_memory(seed, bagged):
    _, dataset, _, params, _ = problems.random_problem(seed)
    rng = np.random.default_rng(seed)
    rows = np.unique(np.append(np.flatnonzero(rng.random(dataset.rows) < 0.7), 0)).astype(np.int32)
    pairs = problems.gradients(rng, len(rows))
    bag = np.unique(np.append(np.flatnonzero(rng.random(len(rows)) < 0.6), 0)).astype(np.int32)
    seen = bag if bagged else None
    expected, moved = problems.fast_tree(part_of(dataset, rows, "part"), pairs, params, bag=seen)
    begins = cuts_into_blocks(rng, dataset.rows)
    found, scores, _ = block_tree(dataset, begins, pairs, params, rows=rows, bag=seen)
    assert concatenate([found]).equal(concatenate([expected]))
    assert scores.tobytes() == moved.tobytes()


def depth_of(tree):
    """Splits on the longest path."""
    depth = np.zeros(tree.nodes, int)
    for node in np.flatnonzero(tree.feature >= 0):
        depth[tree.left[node] : tree.left[node] + 2] = depth[node] + 1
    return int(depth.max())


@pytest.mark.parametrize("policy", ["lossguide", "depthwise"])
def test_a_tree_of_depth_8_takes_9_passes(policy):
    dataset, pairs = sum_of_two(4_000)
    params = {"max_depth": 8, "max_leaves": 0, "min_child_samples": 1, "grow_policy": policy}
    tree, _, grower = block_tree(dataset, [0, 1_500, 4_000], pairs, params)
    assert (depth_of(tree), grower.passes) == (8, 9)


@pytest.mark.parametrize("seed", range(4))
def test_a_tree_of_255_leaves_takes_one_pass_more_than_it_is_deep(seed):
    dataset, pairs = sum_of_two(9_000, 6, seed)
    params = {"max_leaves": 255, "min_child_samples": 5}
    tree, _, grower = block_tree(dataset, [0, 4_000, 9_000], pairs, params)
    assert tree.leaves == 255
    assert grower.passes <= depth_of(tree) + 1


def test_blocks_that_stay_in_memory_are_bound_once(monkeypatch):
    dataset, pairs = sum_of_two(400)
    with Team(1) as team:
        grower, _ = block_grower(
            dataset, MemoryBlocks.cut(dataset.binned.matrix(), [0, 100, 400]), pairs, {}, team
        )
        bound = []
        bind = grower._bind_block
        monkeypatch.setattr(grower, "_bind_block", lambda matrix: bound.append(matrix.rows) or bind(matrix))
        for seed in range(3):
            grower.grow(0, seed, 0.1)
    assert bound == [100, 300]


@pytest.mark.kernels
@pytest.mark.parametrize("some", [False, True], ids=["all rows", "some rows"])
def test_other_rows_walk_the_tree_block_by_block(some):
    rng = np.random.default_rng(8)
    dataset, pairs = sum_of_two(80)
    other = sp.Dataset(rng.normal(size=(50, 4)), reference=dataset)
    rows = np.flatnonzero(rng.random(50) < 0.5).astype(np.int32) if some else None
    count = 50 if rows is None else len(rows)
    with Team(1) as team:
        params = {"max_leaves": 7, "min_child_samples": 2}
        grower, _ = block_grower(
            dataset, FleetingBlocks.cut(dataset.binned.matrix(), [0, 33, 80]), pairs, params, team
        )
        grower.grow(0, 1, 0.1)
        at_once, by_block = np.ones((1, count)), np.ones((1, count))
        team.run(grower.walk(other.binned.matrix(), at_once, rows))
        grower.walk_blocks(FleetingBlocks.cut(other.binned.matrix(), [0, 3, 4, 50]), by_block, rows)()
    assert len(np.unique(at_once)) > 2
    assert by_block.tobytes() == at_once.tobytes()


def test_leaves_that_wait_do_not_hold_every_histogram(monkeypatch):
    dataset, pairs = sum_of_two(3_000)
    params = {"max_leaves": 100, "min_child_samples": 2}
    expected, _ = problems.fast_tree(dataset, pairs, params)
    size = 12 * int(dataset.binned.matrix().features.group_codes.sum())
    monkeypatch.setattr(in_memory, "KEPT_HISTOGRAMS", (20 + 2 + 2) * size)
    found, _, grower = block_tree(dataset, [0, 1_000, 3_000], pairs, params)
    assert concatenate([found]).equal(concatenate([expected]))
    assert grower.passes < 30
