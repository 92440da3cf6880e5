"""Leaves may be split before their turn, each by one thread; the tree is the one that grows leaf by leaf."""

import numpy as np
import pytest

import problems
import spinney as sp
from spinney.growth import layout, turn_kernels
from spinney.jit.library import runs_as_python

several = pytest.mark.skipif(runs_as_python(), reason="plain Python runs on one thread")


def numbers(rows, columns=5, ties=False):
    """Normal columns with gaps, and gradients that depend on them; with ties, many splits have equal gains."""
    rng = np.random.default_rng(rows)
    X = np.where(rng.random((rows, columns)) < 0.05, np.nan, rng.normal(size=(rows, columns)))
    if ties:
        X = np.repeat(np.sign(X[:, :2]), 3, axis=1)
    noise = rng.choice([-1.0, 1.0], rows) if ties else rng.normal(size=rows)
    pairs = np.stack([noise - np.nan_to_num(X[:, 0] * X[:, 1]), np.ones(rows)], axis=1)
    return X, pairs.astype(np.float32)


PARAMS = {
    "lossguide": {"max_leaves": 120, "min_child_samples": 5},
    "depthwise": {"max_leaves": 50, "grow_policy": "depthwise"},
    "depth": {"max_leaves": 0, "max_depth": 5},
    "unlimited": {"max_leaves": 0, "min_child_samples": 40},
    "pruned": {"max_leaves": 90, "gamma": 1.5},
    "bounds": {"max_leaves": 90, "monotone_constraints": [1, 0, -1, 0, 1], "reg_alpha": 0.3},
    "levels": {"max_leaves": 90, "colsample_bylevel": 0.6},
    "two leaves": {"max_leaves": 2},
    "no split": {"max_leaves": 40, "min_child_samples": 5_000},
}


@several
@pytest.mark.parametrize("params", PARAMS.values(), ids=PARAMS)
def test_a_tree_grown_by_threads_apart_is_that_of_one_thread(params):
    X, pairs = numbers(6_000)
    data = sp.Dataset(X)
    expected, moved = problems.forest(data, pairs, params, 1)
    for threads, delay in ((2, 0), (3, 0), (8, 0), (2, 31), (5, 9)):
        found, scores = problems.forest(data, pairs, params, threads, delay)
        assert found.equal(expected)
        assert scores.tobytes() == moved.tobytes()


@several
def test_splits_of_equal_gain_keep_their_order():
    X, pairs = numbers(3_000, ties=True)
    data = sp.Dataset(X, bundle=False)
    expected, _ = problems.forest(data, pairs, {"max_leaves": 40, "min_child_samples": 1}, 1)
    assert len(np.unique(expected.gain)) < (expected.gain > 0).sum()
    for threads in (2, 3, 8):
        assert problems.forest(data, pairs, {"max_leaves": 40, "min_child_samples": 1}, threads, 3)[0].equal(
            expected
        )


@several
@pytest.mark.parametrize("rows", [turn_kernels.APART_ROWS - 1, 3 * turn_kernels.APART_ROWS])
def test_large_nodes_are_split_together_and_small_ones_apart(rows):
    X, pairs = numbers(rows, 3)
    data = sp.Dataset(X)
    params = {"max_leaves": 60}
    expected, moved = problems.forest(data, pairs, params, 1, trees=1)
    for threads in (2, 3):
        found, scores = problems.forest(data, pairs, params, threads, trees=1)
        assert found.equal(expected)
        assert scores.tobytes() == moved.tobytes()


@several
def test_sets_of_categories_move_with_their_nodes():
    rng = np.random.default_rng(4)
    codes = rng.integers(0, 150, (4_000, 2)).astype(float)
    y = np.sin(codes).sum(axis=1) + 0.1 * rng.normal(size=4_000)
    data = sp.Dataset(codes, y, categorical=[0, 1])
    params = {"max_leaves": 60, "min_data_per_group": 5, "n_jobs": 1}
    pairs = np.stack([-y, np.ones(4_000)], axis=1).astype(np.float32)
    alone, moved = problems.forest(data, pairs, params, 1)
    for threads in (2, 3, 8):
        found, scores = problems.forest(data, pairs, params, threads, 5)
        assert found.equal(alone)
        assert scores.tobytes() == moved.tobytes()


@several
@pytest.mark.parametrize("seed", range(40))
def test_small_trees_grown_by_threads_apart_are_those_of_the_oracle(seed):
    _, data, pairs, params, given = problems.random_problem(seed, most_rows=200)
    fast, _ = problems.fast_tree(data, pairs, params, threads=3, **given)
    problems.assert_same_tree(fast, problems.slow_tree(data, pairs, params, **given))


@several
@pytest.mark.parametrize(
    ("more", "allowed"),
    [({}, True), ({"colsample_bylevel": 0.5}, True), ({"colsample_bynode": 0.5}, False),
     ({"interaction_constraints": [[0, 1], [2, 3, 4]]}, False)],
    ids=str,
)  # fmt: skip
def test_nodes_that_choose_their_own_columns_wait_for_their_turn(more, allowed):
    def watch(grower):
        assert (grower._limits[layout.MOST_AHEAD] > 0) == allowed

    X, pairs = numbers(500)
    problems.forest(sp.Dataset(X), pairs, {"max_leaves": 20} | more, 2, watch=watch)


def node_table(children, gains, states):
    """A table of a root and pairs of children (parent: number of its first child), all with few rows."""
    count = 1 + 2 * len(children)
    nodes = np.zeros(layout.NODE_WIDTH * count, np.int64)
    rows = nodes.reshape(count, layout.NODE_WIDTH)
    rows[:, layout.ORDER] = -1
    rows[0, layout.ORDER] = 0
    rows[:, layout.COUNT] = np.arange(count)
    rows[:, layout.STATE] = states
    for parent, child in children.items():
        rows[parent, layout.CHILD] = child
    shared = np.zeros(layout.SHARED, np.int64)
    shared[layout.MADE], shared[layout.USED_NODES], shared[layout.LEAVES] = count, 1, 1
    shared[layout.APART_BELOW], shared[layout.FREE] = 100, 50
    table = (
        nodes,
        np.array(gains, float),
        np.zeros(count, np.int64),
        np.zeros(1, np.int64),
        shared,
        np.arange(count),
    )
    return rows, shared, table


def limits_with(leaves, ahead=8):
    limits = np.zeros(layout.LIMITS, np.int64)
    limits[layout.MAX_LEAVES], limits[layout.MOST_AHEAD] = leaves, ahead
    return limits


IDLE, TAKEN, SPLIT = layout.IDLE, layout.TAKEN, layout.SPLIT


def test_a_split_enters_the_tree_only_in_its_turn():
    # Root 0 → 1, 2. Leaf 2 (gain 5) comes before leaf 1 (gain 3), which was split early, into 3 and 4.
    rows, shared, table = node_table({0: 1, 1: 3}, [9, 3, 5, 4, 0], [SPLIT, SPLIT, IDLE, IDLE, IDLE])
    shared[layout.OPEN] = 2
    turn_kernels.enter_splits(table, limits_with(10))
    assert rows[:, layout.ORDER].tolist() == [0, 1, 2, -1, -1]
    assert [shared[layout.LEAVES], shared[layout.WAITING], shared[layout.OPEN]] == [2, 2, 1]
    assert turn_kernels.choose_leaf(True, 2, table, limits_with(10)) == 2
    assert shared[layout.MODE] == layout.APART
    # While somebody splits leaf 2, its follower may take leaf 3, a child of the split that waits, but not leaf 4: no gain.
    rows[2, layout.STATE] = TAKEN
    assert turn_kernels.look_ahead(2, table, limits_with(10)) == (3, 1)
    assert turn_kernels.look_ahead(2, table, limits_with(3)) == (-1, 0)
    assert turn_kernels.look_ahead(2, table, limits_with(10, ahead=1)) == (-1, 0)
    rows[3, layout.COUNT] = 100
    assert turn_kernels.look_ahead(2, table, limits_with(10)) == (-1, 0)


def test_threads_are_called_together_for_a_large_leaf_and_at_the_end():
    rows, shared, table = node_table({0: 1}, [9, 3, 5], [SPLIT, IDLE, IDLE])
    shared[layout.OPEN] = 1
    turn_kernels.enter_splits(table, limits_with(10))
    rows[2, layout.COUNT] = 100
    assert turn_kernels.choose_leaf(False, 2, table, limits_with(10)) == -1
    assert shared[layout.CALLED] == 1
    assert turn_kernels.choose_leaf(True, 2, table, limits_with(10)) == 2
    assert [shared[layout.CALLED], shared[layout.MODE]] == [0, layout.TOGETHER]
    assert turn_kernels.choose_leaf(True, 2, table, limits_with(2)) == -1
    assert shared[layout.MODE] == layout.FINISHED


def test_threads_come_together_for_a_leaf_of_some_rows_if_there_is_nothing_else_to_do():
    rows, shared, table = node_table({0: 1}, [9, 0, 5], [SPLIT, IDLE, IDLE])
    shared[layout.OPEN] = 1
    turn_kernels.enter_splits(table, limits_with(10))
    shared[layout.APART_BELOW] = 2 * turn_kernels.TOGETHER_ROWS
    rows[2, layout.COUNT] = turn_kernels.TOGETHER_ROWS - 1
    assert turn_kernels.choose_leaf(False, 2, table, limits_with(10)) == 2
    rows[2, layout.COUNT] = turn_kernels.TOGETHER_ROWS
    shared[layout.BEING_SPLIT] = 1
    assert turn_kernels.choose_leaf(False, 2, table, limits_with(10)) == 2
    shared[layout.BEING_SPLIT] = 0
    assert turn_kernels.choose_leaf(False, 2, table, limits_with(10)) == -1
    assert shared[layout.CALLED] == 1
    assert turn_kernels.choose_leaf(True, 2, table, limits_with(10)) == 2
    assert shared[layout.MODE] == layout.TOGETHER


def test_nodes_are_numbered_in_the_order_of_their_turns_and_late_splits_forgotten():
    # Leaf 1 was split first, into 3 and 4, but the turn came for leaf 2, split into 5 and 6. That of leaf 1 never came.
    rows, shared, table = node_table(
        {0: 1, 1: 3, 2: 5}, [9, 3, 5, 4, 0, 1, 2], [SPLIT, SPLIT, SPLIT, IDLE, IDLE, IDLE, IDLE]
    )
    shared[layout.OPEN] = 3
    turn_kernels.enter_splits(table, limits_with(3))
    stretches = np.repeat(np.arange(7), 2)
    turn_kernels.put_in_order(table, stretches, 2, 1)
    used = shared[layout.USED_NODES]
    assert used == 5
    assert rows[:used, layout.CHILD].tolist() == [1, 0, 3, 0, 0]
    assert rows[:used, layout.COUNT].tolist() == [0, 1, 2, 5, 6]
    assert stretches[: 2 * used].tolist() == [0, 0, 1, 1, 2, 2, 5, 5, 6, 6]
    assert table[1][:used].tolist() == [9, 3, 5, 1, 2]
    assert table[5][:used].tolist() == [0, 1, 2, 5, 6]
