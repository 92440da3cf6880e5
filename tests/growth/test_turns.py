"""Leaves may be split before their turn, each by one thread; the tree is the one that grows leaf by leaf."""

from dataclasses import replace

import numpy as np
import pytest

import problems
import spinney as sp
from spinney.growth.kernels import turns
from spinney.growth.kernels.nodes import prune, put_in_order
from spinney.growth.kernels.records import APART, FINISHED, IDLE, SPLIT, TAKEN, TOGETHER, Limits
from spinney.growth.workspace import ColumnChoice, allocate_splits, allocate_table, allocate_tasks, rules_of
from spinney.jit.library import runs_as_python
from spinney.params import Config

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
@pytest.mark.parametrize("rows", [turns.APART_ROWS - 1, 3 * turns.APART_ROWS])
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
    "more",
    [
        {},
        {"colsample_bylevel": 0.5},
        {"colsample_bynode": 0.5},
        {"interaction_constraints": [[0, 1], [2, 3, 4]]},
    ],
    ids=str,
)
def test_threads_work_apart_whichever_columns_a_node_may_be_split_by(more):
    X, pairs = numbers(5000)
    data, params = sp.Dataset(X), {"max_leaves": 60} | more
    expected, _ = problems.forest(data, pairs, params, 1)
    for threads, delay in ((2, 0), (3, 5), (8, 0)):
        found, _ = problems.forest(
            data, pairs, params, threads, delay, watch=lambda grower: ahead.append(grower.max_speculative)
        )
        assert found.equal(expected)
    assert min(ahead[-3:]) > 0


ahead = []


def node_table(children, gains, states, spare=0):
    """A table of a root and pairs of children (parent: number of its first child), all with few rows; `spare` nodes follow."""
    count = 1 + 2 * len(children)
    table = allocate_table(count + spare, 50, 8)
    nodes, state = table.nodes[:count], table.state[0]
    nodes.order = -1
    nodes[0].order = 0
    nodes.count = np.arange(count)
    nodes.gain = gains
    nodes.state = states
    for parent, child in children.items():
        nodes[parent].child = child
    state.made, state.used, state.leaves = count, 1, 1
    state.apart_below, state.free = 100, 50
    return nodes, state, table


def limits_with(leaves):
    return Limits(0, leaves, 1, 0.0, 0, 0.0, 0.0)


def test_a_split_enters_the_tree_only_in_its_turn():
    # Root 0 → 1, 2. Leaf 2 (gain 5) comes before leaf 1 (gain 3), which was split early, into 3 and 4.
    children, gains, states = {0: 1, 1: 3}, [9, 3, 5, 4, 0], [SPLIT, SPLIT, IDLE, IDLE, IDLE]
    nodes, state, table = node_table(children, gains, states)
    state.open = 2
    turns.enter_splits(table, limits_with(10))
    assert nodes.order.tolist() == [0, 1, 2, -1, -1]
    assert [state.leaves, state.waiting, state.open] == [2, 2, 1]
    assert turns.choose_leaf(True, 2, table, limits_with(10)) == 2
    assert state.mode == APART
    # While somebody splits leaf 2, its follower may take leaf 3, a child of the split that waits, but not leaf 4: no gain.
    nodes[2].state = TAKEN
    assert turns.next_speculative(2, table, limits_with(10)) == (3, 1)
    assert turns.next_speculative(2, table, limits_with(3)) == (-1, 0)
    assert turns.next_speculative(2, replace(table, max_speculative=1), limits_with(10)) == (-1, 0)
    nodes[3].count = 100
    assert turns.next_speculative(2, table, limits_with(10)) == (-1, 0)


def test_a_batch_of_tasks_is_that_of_the_tasks_one_by_one():
    config = Config(min_child_samples=1, min_child_weight=0.0, max_leaves=10)
    rules = rules_of(config, 100, ColumnChoice(config, 3), 3, 1.0, False)
    opened = []
    for batches in ([(0, 2)], [(0, 1), (1, 2)]):
        nodes, state, table = node_table({0: 1}, [9, 3, 5], [SPLIT, IDLE, IDLE], spare=4)
        nodes.count, nodes.left_count, nodes.slot, state.open = [90, 50, 40], [50, 20, 10], -1, 1
        tasks = allocate_tasks(2, 3)
        turns.enter_splits(table, rules.limits)
        for first, last in batches:
            with np.errstate(over="ignore"):  # as plain Python: machines wrap around without a word
                turns.open_tasks(first, last, False, 2, rules, tasks, table)
        opened.append((tasks.tasks.tolist(), nodes.tolist(), state.tolist()))
        assert tasks.tasks.node.tolist() == [2, 1]
        assert tasks.tasks.child.tolist() == [3, 5]
        tasks.tasks.search_small, tasks.tasks.search_large = 0, 0
        turns.close_tasks(0, 2, False, 2, rules, tasks, allocate_splits(2, 3, rules), table)
        assert state.used == 7
        assert table.nodes.order[:7].tolist() == [0, 1, 2, 3, 4, 5, 6]
    assert opened[0] == opened[1]


def test_threads_are_called_together_for_a_large_leaf_and_at_the_end():
    nodes, state, table = node_table({0: 1}, [9, 3, 5], [SPLIT, IDLE, IDLE])
    state.open = 1
    turns.enter_splits(table, limits_with(10))
    nodes[2].count = 100
    assert turns.choose_leaf(False, 2, table, limits_with(10)) == -1
    assert state.called == 1
    assert turns.choose_leaf(True, 2, table, limits_with(10)) == 2
    assert [state.called, state.mode] == [0, TOGETHER]
    assert turns.choose_leaf(True, 2, table, limits_with(2)) == -1
    assert state.mode == FINISHED


def test_threads_come_together_for_a_leaf_of_some_rows_if_there_is_nothing_else_to_do():
    nodes, state, table = node_table({0: 1}, [9, 0, 5], [SPLIT, IDLE, IDLE])
    state.open = 1
    turns.enter_splits(table, limits_with(10))
    state.apart_below = 2 * turns.TOGETHER_ROWS
    nodes[2].count = turns.TOGETHER_ROWS - 1
    assert turns.choose_leaf(False, 2, table, limits_with(10)) == 2
    nodes[2].count = turns.TOGETHER_ROWS
    state.being_split = 1
    assert turns.choose_leaf(False, 2, table, limits_with(10)) == 2
    state.being_split = 0
    assert turns.choose_leaf(False, 2, table, limits_with(10)) == -1
    assert state.called == 1
    assert turns.choose_leaf(True, 2, table, limits_with(10)) == 2
    assert state.mode == TOGETHER


def test_nodes_are_numbered_in_the_order_of_their_turns_and_late_splits_forgotten():
    # Leaf 1 was split first, into 3 and 4, but the turn came for leaf 2, split into 5 and 6. That of leaf 1 never came.
    nodes, state, table = node_table(
        {0: 1, 1: 3, 2: 5}, [9, 3, 5, 4, 0, 1, 2], [SPLIT, SPLIT, SPLIT, IDLE, IDLE, IDLE, IDLE]
    )
    state.open = 3
    turns.enter_splits(table, limits_with(3))
    put_in_order(table)
    assert state.used == 5
    assert table.order[:5].tolist() == [0, 1, 2, 5, 6]
    assert nodes.child.tolist()[:3] == [1, 0, 5]
    assert nodes.order[[1, 2, 5, 6]].tolist() == [1, 2, 3, 4]


def test_pruning_lists_the_nodes_that_are_left_in_their_order():
    # The split of 1 gains too little, and so does that of 0, but 0 has a split below it that stays.
    nodes, state, table = node_table({0: 1, 1: 3, 2: 5}, [1, 1, 5, 0, 0, 0, 0], [SPLIT] * 3 + [IDLE] * 4)
    state.open = 3
    turns.enter_splits(table, limits_with(10))
    put_in_order(table)
    assert table.order[:7].tolist() == [0, 1, 2, 5, 6, 3, 4]
    prune(2.0, table)
    assert state.used == 5
    assert table.order[:5].tolist() == [0, 1, 2, 5, 6]
    assert nodes.child.tolist()[:3] == [1, 0, 5]
    assert nodes.order[[0, 1, 2, 5, 6]].tolist() == [0, 1, 2, 3, 4]
    prune(9.0, table)
    assert [state.used, nodes[0].child] == [1, 0]
