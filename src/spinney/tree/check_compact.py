"""Checks that the arrays of a compact forest are sound: kernels walk them without checking any index.

They prove of compact forests what `check` proves of others: every walk stays inside its tree, and ends.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.errors import ModelFormatError
from spinney.tree.check import check_array, check_sums
from spinney.tree.compact import BY_LEAF, BY_SPLIT, COMPACT_DTYPES, CompactForest

# Largest difference between the weight of a leaf and the sum of the weights of its classes, as a part of the weight: the rounding
# of a sum of a billion numbers.
ROUNDING = 1e-7
# Splits that are checked together, unless one tree has more: the arrays for so many stay in cache. 2.9 million splits of 70 trees
# took .18 s so, and .26 s all at once.
BLOCK = 50_000


def check_compact(
    forest: CompactForest,
    columns: int,
    classes: Sequence[int],
    outputs: int,
    categories: NDArray[np.int64] | None = None,
) -> None:
    """Refuse a forest that is not made of whole, finite trees over `columns` columns.

    A forest that passes can be walked without checking any bound: every index stays inside its tree, every walk ends at
    a leaf, every number is finite and every leaf has a weight above 0.

    Parameters
    ----------
    forest : CompactForest
        What to check; nothing about it is trusted.
    columns : int
        Number of columns the trees may split on.
    classes : sequence of int
        Number of classes of each output; none where numbers are predicted.
    outputs : int
        Number of outputs.
    categories : int64[columns], optional
        How many categories each column has, 0 for a column of numbers; without it no column has any.

    Raises
    ------
    ModelFormatError
        Names the array, the tree, the split or leaf and the value found.
    """
    _check_layout(forest)
    # Before anything is made for every column: a file may have a billion of them in its header.
    if len(forest.cut_start) != columns + 1:
        raise ModelFormatError(
            f"the array 'cut_start' has {len(forest.cut_start)} entries; {columns} columns need {columns + 1}"
        )
    counts = np.zeros(columns, np.int64) if categories is None else categories
    _check_starts(forest)
    _check_lengths(forest, sum(classes) if classes else outputs)
    _check_cuts(forest, counts)
    # These check all trees, a few at a time.
    for part in _parts(forest):
        _check_splits(part, columns, counts, forest.sets)
    _check_sets(forest, counts)
    for part in _parts(forest):
        _check_children(part)
        _check_leaves(part, classes)
    if not classes and forest.trees:
        check_sums(np.vstack([_largest_values(part.trees, outputs) for part in _parts(forest)]))


@dataclass(frozen=True)
class _Part:
    """Some trees of a forest that are next to each other: their arrays, and the number of the first one."""

    trees: CompactForest
    first: int


def _parts(forest: CompactForest) -> Iterator[_Part]:
    start, end = 0, forest.trees
    while start < end:
        limit = forest.split_start[start] + BLOCK
        stop = max(start + 1, int(np.searchsorted(forest.split_start, limit, side="right")) - 1)
        yield _Part(forest.between(start, stop), start)
        start = stop


def _check_layout(forest: CompactForest) -> None:
    for name, dtypes in COMPACT_DTYPES.items():
        array = getattr(forest, name)
        found = getattr(array, "dtype", None)
        check_array(array, name, found if found in dtypes else dtypes[0])


def _check_starts(forest: CompactForest) -> None:
    _check_steps(forest.split_start, "split_start", forest.splits, "splits")
    _check_steps(forest.leaf_start, "leaf_start", forest.leaves, "leaves")
    _check_steps(forest.set_start, "set_start", len(forest.set_bits), "words of sets")
    if len(forest.leaf_start) != len(forest.split_start):
        raise ModelFormatError(
            f"the array 'leaf_start' is of {len(forest.leaf_start) - 1} trees, 'split_start' of {forest.trees}"
        )
    splits, leaves = np.diff(forest.split_start), np.diff(forest.leaf_start)
    wrong = leaves != splits + 1
    if wrong.any():
        t = int(np.argmax(wrong))
        raise ModelFormatError(
            f"tree {t} has {splits[t]} splits and {leaves[t]} leaves; it must have one leaf more than splits"
        )


def _check_steps(start: NDArray[np.int64], name: str, many: int, what: str) -> None:
    """Starts go from 0 to the end and never fall."""
    # Compared, not subtracted: the difference of two unchecked 64-bit numbers may overflow.
    if len(start) < 1 or start[0] != 0 or start[-1] != many or (start[1:] < start[:-1]).any():
        raise ModelFormatError(f"the array {name!r} must lead from 0 to {many}, the number of {what}")


def _check_lengths(forest: CompactForest, values: int) -> None:
    wanted = dict.fromkeys(BY_SPLIT, forest.splits) | dict.fromkeys(BY_LEAF, forest.leaves)
    wanted |= {"children": 2 * forest.splits, "value": values * forest.leaves}
    for name, length in wanted.items():
        found = len(getattr(forest, name))
        if found != length:
            raise ModelFormatError(
                f"the array {name!r} has {found} entries for {forest.splits} splits and {forest.leaves} leaves; "
                f"it needs {length}"
            )


def _check_cuts(forest: CompactForest, categories: NDArray[np.int64]) -> None:
    cuts = forest.cuts
    _check_steps(forest.cut_start, "cut_start", len(cuts), "cuts")
    some = np.diff(forest.cut_start) > 0
    wrong = some & (categories > 0)
    if wrong.any():
        raise ModelFormatError(f"column {int(np.argmax(wrong))} is categorical; it must have no cuts")
    if not np.isfinite(cuts).all():
        raise ModelFormatError(f"the array 'cuts' holds {cuts[~np.isfinite(cuts)][0]}; it must be finite")
    first = np.zeros(len(cuts) + 1, np.bool_)
    first[forest.cut_start] = True
    wrong = (cuts[1:] <= cuts[:-1]) & ~first[1:-1]
    if wrong.any():
        k = int(np.argmax(wrong)) + 1
        column = int(np.searchsorted(forest.cut_start, k, side="right")) - 1
        raise ModelFormatError(f"column {column} has the cut {cuts[k]} after {cuts[k - 1]}; cuts must ascend")


def _check_splits(part: _Part, columns: int, categories: NDArray[np.int64], sets: int) -> None:
    forest = part.trees
    _refuse(part, forest.column >= columns, "column", f"one from 0 to {columns - 1}")
    _refuse(part, forest.default_left > 1, "default_left", "0 or 1")
    _refuse(part, ~np.isfinite(forest.gain), "gain", "finite")
    _refuse(part, forest.gain < 0, "gain", "0 or more")
    cuts = np.diff(forest.cut_start)
    many = np.where(categories > 0, sets, cuts)[forest.column]
    _refuse(part, forest.cut >= many, "cut", "the number of a cut of its column")


def _check_sets(forest: CompactForest, categories: NDArray[np.int64]) -> None:
    """Each split of a categorical column, and no other, has a set, which has a bit for every category."""
    many = categories[forest.column]
    splits = np.flatnonzero(many)
    if not np.array_equal(forest.cut[splits], np.arange(forest.sets)):
        raise ModelFormatError(
            "the splits of categorical columns must have the sets 0, 1, 2, ... in this order"
        )
    if not np.array_equal(np.diff(forest.set_start), (many[splits] + 63) // 64):
        raise ModelFormatError(
            "the array 'set_start' must give each set a bit for every category of its column"
        )


def _check_children(part: _Part) -> None:
    forest = part.trees
    splits = np.diff(forest.split_start)
    child = forest.children.astype(np.int64)
    own = np.arange(forest.splits) - np.repeat(forest.split_start[:-1], splits)
    many = np.repeat(np.repeat(splits, splits), 2)
    inner = child >= 0
    _refuse(part, inner & (child <= np.repeat(own, 2)), "children", "after its own split", 2)
    _refuse(part, inner & (child >= many), "children", "a split of its tree", 2)
    _refuse(part, ~inner & (~child > many), "children", "a leaf of its tree", 2)
    # Splits and leaves of all trees.
    below = (child + np.repeat(np.repeat(forest.split_start[:-1], splits), 2))[inner]
    leaf = (~child + np.repeat(np.repeat(forest.leaf_start[:-1], splits), 2))[~inner]
    parents = np.bincount(below, minlength=forest.splits)
    _check_parents(part, parents, own > 0, "split")
    grown = np.repeat(splits > 0, splits + 1)
    _check_parents(part, np.bincount(leaf, minlength=forest.leaves), grown, "leaf")


def _check_parents(part: _Part, parents: NDArray[np.int64], wanted: NDArray[np.bool_], what: str) -> None:
    wrong = parents != wanted
    if wrong.any():
        k = int(np.argmax(wrong))
        raise ModelFormatError(
            f"{_place(part, k, what)} is the child of {parents[k]} splits; it must have one parent"
        )


def _check_leaves(part: _Part, classes: Sequence[int]) -> None:
    forest = part.trees
    value, weight = forest.value, forest.weight
    _refuse_leaf(part, forest.count < 1, "count", "1 or more")
    _refuse_leaf(part, ~np.isfinite(weight), "weight", "finite")
    _refuse_leaf(part, weight <= 0, "weight", "above 0")
    _refuse_leaf(part, ~np.isfinite(value), "value", "finite")
    if not classes:
        return
    _refuse_leaf(part, value < 0, "value", "0 or more")
    by_class = value.reshape(forest.leaves, -1)
    first = 0
    for output, many in enumerate(classes):
        with np.errstate(over="ignore"):
            total = by_class[:, first : first + many].sum(axis=1, dtype=np.float64)
        wrong = np.abs(total - weight) > ROUNDING * weight
        if wrong.any():
            k = int(np.argmax(wrong))
            raise ModelFormatError(
                f"{_place(part, k, 'leaf')} weighs {weight[k]} but its classes of output {output} {total[k]}; "
                "both must be the same"
            )
        first += many


def _largest_values(forest: CompactForest, outputs: int) -> NDArray[np.float64]:
    """The largest size of a number in each tree, (trees, outputs)."""
    by_leaf = np.abs(forest.value.astype(np.float64)).reshape(forest.leaves, outputs)
    largest: NDArray[np.float64] = np.maximum.reduceat(by_leaf, forest.leaf_start[:-1], axis=0)
    return largest


def _refuse(part: _Part, bad: NDArray[np.bool_], name: str, wanted: str, each: int = 1) -> None:
    if bad.any():
        k = int(np.argmax(bad))
        found = getattr(part.trees, name)[k]
        raise ModelFormatError(f"{_place(part, k // each, 'split')} has {name} {found}; it must be {wanted}")


def _refuse_leaf(part: _Part, bad: NDArray[np.bool_], name: str, wanted: str) -> None:
    if bad.any():
        k = int(np.argmax(bad))
        leaf = k * part.trees.leaves // len(bad)
        found = getattr(part.trees, name)[k]
        raise ModelFormatError(f"{_place(part, leaf, 'leaf')} has {name} {found}; it must be {wanted}")


def _place(part: _Part, k: int, what: str) -> str:
    start: NDArray[Any] = part.trees.split_start if what == "split" else part.trees.leaf_start
    t = int(np.searchsorted(start, k, side="right")) - 1
    return f"tree {part.first + t}, {what} {k - int(start[t])}"
