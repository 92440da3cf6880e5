from dataclasses import replace

import numpy as np
import pytest

from spinney.errors import ModelFormatError
from spinney.model.leaf_rows import TrainingRowsByLeaf, check

ROWS = 40


def lists_of(leaf_of_row, bag, rng):
    """The rows of a bag by leaf, in any order within a leaf."""
    inside = rng.permutation(np.flatnonzero(bag))
    inside = inside[np.argsort(leaf_of_row[inside], kind="stable")]
    sizes = np.bincount(leaf_of_row[inside], minlength=leaf_of_row.max() + 1)
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64), inside.astype(np.int32)


def forest_of(seed, trees=3, largest=4):
    """Leaves of all rows in some trees, and the bags."""
    rng = np.random.default_rng(seed)
    bags = rng.integers(0, largest, size=(trees, ROWS)).astype(np.int32)
    bags[:, :3] = 1  # every leaf has a row
    leaves = rng.integers(0, 3, size=(trees, ROWS))
    leaves[:, :3] = [0, 1, 2]
    return bags, leaves, rng


@pytest.mark.parametrize("largest", [4, 900])
def test_every_leaf_lists_the_rows_of_its_bag_as_often_as_the_bag_has_them(largest):
    bags, leaves, rng = forest_of(1, largest=largest)
    lists = [lists_of(leaf, bag, rng) for leaf, bag in zip(leaves, bags, strict=True)]
    made = TrainingRowsByLeaf.of(lists, lambda tree: bags[tree], rng.normal(size=(ROWS, 2)))
    check(made, leaves=9, rows=ROWS, outputs=2)
    for tree in range(3):
        for leaf in range(3):
            entries = slice(made.start[3 * tree + leaf], made.start[3 * tree + leaf + 1])
            rows = made.rows[entries]
            assert np.all(np.diff(rows) >= 0)
            found = np.bincount(rows, made.counts[entries], minlength=ROWS)
            assert np.array_equal(found, np.where(leaves[tree] == leaf, bags[tree], 0))


def test_the_order_in_which_a_learner_lists_rows_does_not_matter():
    bags, leaves, _ = forest_of(2)
    made = [
        TrainingRowsByLeaf.of(
            [lists_of(leaves[0], bags[0], np.random.default_rng(seed))],
            lambda tree: bags[tree],
            np.zeros((ROWS, 1)),
        )
        for seed in (3, 4)
    ]
    assert np.array_equal(made[0].rows, made[1].rows)
    assert np.array_equal(made[0].counts, made[1].counts)


def test_trees_that_are_added_later_give_the_leaf_rows_of_one_training():
    bags, leaves, rng = forest_of(5)
    lists = [lists_of(leaf, bag, rng) for leaf, bag in zip(leaves, bags, strict=True)]
    targets, weight = rng.normal(size=(ROWS, 1)), rng.random(ROWS)
    whole = TrainingRowsByLeaf.of(lists, lambda tree: bags[tree], targets, weight)
    first = TrainingRowsByLeaf.of(lists[:2], lambda tree: bags[tree], targets, weight)
    joined = first.joined(TrainingRowsByLeaf.of(lists[2:], lambda tree: bags[tree], targets, weight, first=2))
    for name in ("start", "rows", "counts", "targets", "weight"):
        assert np.array_equal(getattr(joined, name), getattr(whole, name))
        assert np.array_equal(getattr(whole.first(6), name), getattr(first, name))


def sound():
    bags, leaves, rng = forest_of(6, trees=1)
    return TrainingRowsByLeaf.of(
        [lists_of(leaves[0], bags[0], rng)], lambda tree: bags[tree], np.zeros((ROWS, 1))
    )


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("start", lambda a: a.astype(np.int32), "'leaf_row_start' holds int32"),
        ("start", lambda a: a[:-1].copy(), r"'leaf_row_start' has the shape \(3,\)"),
        ("start", lambda a: a + 1, "'leaf_row_start' must lead from 0"),
        ("start", lambda a: np.array([0, 5, 5, a[-1]]), "give every leaf an entry"),
        ("start", lambda a: np.array([0, 2**63 - 1, -(2**63), a[-1]]), "give every leaf an entry"),
        ("rows", lambda a: a - 1, "training rows from 0 to 39"),
        ("rows", lambda a: a + ROWS, "training rows from 0 to 39"),
        ("counts", lambda a: a * np.uint8(0), "numbers above 0"),
        ("counts", lambda a: a[1:].copy(), "'leaf_row_counts' has the shape"),
        ("targets", lambda a: a[:, 0].copy(), r"must be \(40, 1\)"),
        ("targets", lambda a: a * np.nan, "'leaf_row_targets' must hold finite"),
        ("weight", lambda a: -np.ones(ROWS), "'leaf_row_weight' must hold finite numbers of 0 or more"),
        ("weight", lambda a: np.ones(ROWS - 1), "'leaf_row_weight' has the shape"),
    ],
)
def test_arrays_that_do_not_fit_are_refused_by_name(name, change, message):
    whole = sound()
    check(whole, leaves=3, rows=ROWS, outputs=1)
    with pytest.raises(ModelFormatError, match=message):
        check(replace(whole, **{name: change(getattr(whole, name))}), leaves=3, rows=ROWS, outputs=1)
