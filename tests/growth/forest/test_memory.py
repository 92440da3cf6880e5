"""Memory of trees that grow at the same time: how much it is, and that trees do not depend on it."""

from dataclasses import fields, replace
from types import SimpleNamespace

import numpy as np
import pytest

from forest_learning import forest_of, seen_by
from forest_oracle import Rules
from forest_problems import table_of, target_of
from spinney import RandomForestClassifier
from spinney.growth.forest import grower, memory
from spinney.growth.forest.kernels.records import SQUARES
from spinney.growth.forest.memory import (
    FREE_BYTES,
    ROWS_AT_ONCE,
    TABLES,
    MemorySizes,
    TreeMemory,
    trees_at_once,
)
from spinney.growth.forest.table import binned_table
from spinney.tree.compact import COMPACT_DTYPES


def assert_same(one, other):
    for name in COMPACT_DTYPES:
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


@pytest.mark.parametrize("threads", [1, 2, 64])
@pytest.mark.parametrize("rows", [1, 1000, ROWS_AT_ONCE, 10_000_000])
@pytest.mark.parametrize("row_bytes", [40, 300, 5000])
def test_trees_that_grow_together_stay_within_their_memory_and_one_always_grows(threads, rows, row_bytes):
    tree_bytes, table_bytes = rows * row_bytes, rows * 60
    trees = trees_at_once(threads, rows, tree_bytes, table_bytes)
    most, wanted = max(FREE_BYTES, TABLES * table_bytes), max(threads, ROWS_AT_ONCE // rows)
    assert trees == 1 or trees * tree_bytes <= most
    assert trees == wanted or (trees + 1) * tree_bytes > most


def test_small_trees_have_a_tree_for_each_thread_and_large_ones_share_the_threads():
    assert trees_at_once(16, 100_000, 300 * 100_000, 60 * 100_000) == 16
    assert trees_at_once(16, 10_000_000, 300 * 10_000_000, 60 * 10_000_000) == 2
    assert trees_at_once(16, 10_000_000, 10**12, 60) == 1


def bytes_of(made):
    """Bytes of all arrays of a record, memory that has several names counted once."""
    arrays = [getattr(made, field.name) for field in fields(made)]
    owners = {id(a if a.base is None else a.base): a.nbytes for a in arrays if isinstance(a, np.ndarray)}
    return sum(owners.values())


@pytest.mark.parametrize(
    "limits", [{}, {"max_depth": 3}, {"min_leaf": 4, "prune": 0.1, "keep_rows": 1}], ids=str
)
@pytest.mark.parametrize("categorical", [(), (3,)], ids=["numbers", "categories"])
def test_what_a_tree_takes_is_what_memory_for_one_more_has_more(limits, categorical):
    X = np.abs(np.round(2 * table_of(1)))
    dataset, _ = seen_by("hist", X, target_of("gini", X, 1), None, (3,), categorical)
    limits = {"min_leaf": 1, "max_depth": 0, "keep_rows": 0, "prune": -1.0, **limits}
    rules = SimpleNamespace(columns=4, formula=SQUARES, **limits)
    target = SimpleNamespace(values=3, channels=3, outputs=1)
    table = binned_table(dataset.binned.matrix(), dataset.cuts)
    one = MemorySizes(1, 2, len(X), 16, rules, target, table)
    taken = []
    for trees in (1, 2):
        made = TreeMemory.of(replace(one, trees=trees))
        taken.append(bytes_of(made.slots) + 2 * bytes_of(made.finished))
    once = made.slots.idle.nbytes
    assert one.tree_bytes() == taken[1] - taken[0] + once
    assert (one.slot_sizes(1)["max_nodes"] == 15) == (rules.max_depth == 3)


@pytest.mark.parametrize("columns", [4, 140])
def test_threads_that_share_the_only_tree_grow_the_same_forest(columns, monkeypatch):
    X = table_of(3, rows=9000, columns=columns)
    dataset, problem = seen_by("hist", X, target_of("gini", X, 3), None, (3,))
    rules = Rules("gini", max_features=2)
    expected = forest_of(dataset, problem, rules, trees=3, bootstrap=True)
    made = []
    allocate = TreeMemory.of
    monkeypatch.setattr(TreeMemory, "of", lambda sizes: made.append(sizes.trees) or allocate(sizes))
    monkeypatch.setattr(memory, "FREE_BYTES", 1)
    monkeypatch.setattr(memory, "TABLES", 0)
    assert_same(forest_of(dataset, problem, rules, trees=3, threads=4, bootstrap=True), expected)
    assert made == [1]


def test_where_sets_of_categories_need_more_memory_fewer_trees_grow_at_a_time(monkeypatch):
    rng = np.random.default_rng(4)
    X = rng.integers(0, 200, (300, 2)).astype(float)
    y = rng.integers(0, 2, 300)
    made = []
    allocate = TreeMemory.of
    monkeypatch.setattr(TreeMemory, "of", lambda sizes: made.append(sizes) or allocate(sizes))

    def grown():
        made.clear()
        forest = (
            RandomForestClassifier(n_estimators=6, random_state=0, categorical=[0, 1]).fit(X, y).model_.forest
        )
        return forest, [sizes.trees for sizes in made]

    expected, trees = grown()
    assert trees == [6]
    monkeypatch.setattr(grower, "FEWEST_SETS", 2)
    again, trees = grown()
    assert_same(again, expected)
    assert len(trees) > 1
    assert set(trees) == {6}
    monkeypatch.setattr(memory, "FREE_BYTES", 6 * made[0].tree_bytes())
    monkeypatch.setattr(memory, "TABLES", 0)
    again, trees = grown()
    assert_same(again, expected)
    assert trees[0] == 6 > trees[1]
