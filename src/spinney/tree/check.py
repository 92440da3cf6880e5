"""Checks that a forest's arrays are sound: kernels walk them without checking any index.

They prove that every walk stays inside its tree, and ends.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.errors import ModelFormatError
from spinney.tree.forest import FOREST_DTYPES, NODE_DTYPES, SET_DTYPES, Forest

# Scores of a row may add up to so much, so that no sum of them is infinite. Training stops at 1e30 a tree.
MOST_SCORE = 1e300


def check(forest: Forest, columns: int, outputs: int, categories: NDArray[np.int64] | None = None) -> None:
    """Refuse a forest that is not made of whole, finite trees over `columns` columns.

    A forest that passes can be walked without checking any bound: every index stays inside its tree, every
    walk ends at a leaf, and every number is finite.

    Parameters
    ----------
    forest : Forest
        What to check; nothing about it is trusted.
    columns : int
        Number of columns the trees may split on.
    outputs : int
        Number of scores per row; the number of trees must be a multiple of it.
    categories : int64[columns], optional
        How many categories each column has, 0 for a column of numbers; without it no column has any.

    Raises
    ------
    ModelFormatError
        Names the array, the tree, the node and the value found.

    Examples
    --------
    >>> from spinney.tree import concatenate
    >>> check(concatenate([]), columns=3, outputs=1)
    """
    _check_layout(forest)
    _check_start(forest, outputs)
    leaf = forest.feature == -1
    _check_numbers(forest, columns, leaf)
    _check_children(forest, leaf)
    _check_sets(forest, leaf, categories)


def check_scores(forest: Forest, base_score: NDArray[np.float64]) -> None:
    """Refuse a sound forest whose trees could add up, with the base score of each output, to scores that are not finite."""
    largest = np.zeros((0, len(base_score)))
    if forest.trees:
        largest = np.maximum.reduceat(np.abs(forest.value), forest.start[:-1]).reshape(-1, len(base_score))
    check_sums(np.vstack([np.abs(base_score), largest]))


def check_sums(largest: NDArray[np.float64]) -> None:
    """Refuse numbers that could add up to a score that is not finite: the largest size of each tree, (trees, outputs)."""
    with np.errstate(over="ignore"):
        reach = largest.sum(axis=0)
    wrong = ~(reach <= MOST_SCORE)
    if wrong.any():
        output = int(np.argmax(wrong))
        raise ModelFormatError(
            f"the values of trees for output {output} can add up to ±{reach[output]:g}; scores must stay within ±{MOST_SCORE:g}"
        )


def _check_sets(forest: Forest, leaf: NDArray[np.bool_], categories: NDArray[np.int64] | None) -> None:
    """Each node that splits a categorical column, and no other, has a bit for every category."""
    sets = forest.sets
    for name, dtype in SET_DTYPES.items():
        check_array(getattr(sets, name), f"set_{name}", dtype)
    node, start = sets.node, sets.start
    inside = (node >= 0) & (node < forest.nodes)
    if not inside.all() or (node[1:] <= node[:-1]).any():
        raise ModelFormatError("the array 'set_node' must hold ascending numbers of nodes")
    wanted = np.zeros(forest.nodes, np.int64)
    if categories is not None:
        wanted[~leaf] = categories[forest.feature[~leaf]]
    if not np.array_equal(np.flatnonzero(wanted), node):
        raise ModelFormatError(
            "the array 'set_node' must name the nodes that split categorical columns, and no others"
        )
    if len(start) != len(node) + 1 or start[0] != 0 or start[-1] != len(sets.bits):
        raise ModelFormatError(
            "the array 'set_start' must lead from 0 to the end of 'set_bits', one step for each set"
        )
    # Compared before it is subtracted: the difference of two unchecked 64-bit numbers may overflow.
    if (start[1:] < start[:-1]).any() or not np.array_equal(np.diff(start), (wanted[node] + 63) // 64):
        raise ModelFormatError(
            "the array 'set_start' must give each set a bit for every category of its column"
        )
    _refuse(forest, (wanted > 0) & (forest.threshold != 0), "threshold", "0 where categories are split")


def check_array(array: object, name: str, dtype: np.dtype[Any]) -> None:
    """Refuse anything but one row of numbers of a type."""
    if not isinstance(array, np.ndarray) or array.dtype != dtype or not array.dtype.isnative:
        found = getattr(array, "dtype", type(array).__name__)
        raise ModelFormatError(f"the array {name!r} holds {found}; it must hold {dtype}")
    if array.ndim != 1 or not array.flags.c_contiguous or not array.flags.aligned:
        raise ModelFormatError(f"the array {name!r} must be one row of aligned numbers without gaps")


def _check_layout(forest: Forest) -> None:
    for name, dtype in FOREST_DTYPES.items():
        check_array(getattr(forest, name), name, dtype)
    for name in NODE_DTYPES:
        if len(getattr(forest, name)) != forest.nodes:
            raise ModelFormatError(
                f"the array {name!r} has {len(getattr(forest, name))} entries for {forest.nodes} nodes; "
                "it needs one for each node"
            )


def _check_start(forest: Forest, outputs: int) -> None:
    start = forest.start
    if len(start) < 1 or start[0] != 0:
        raise ModelFormatError("the array 'start' must begin with 0, the first node of the first tree")
    # Compared, not subtracted: the difference of two unchecked 64-bit numbers may overflow.
    short = start[1:] <= start[:-1]
    if short.any():
        t = int(np.argmax(short))
        raise ModelFormatError(
            f"tree {t} begins at node {start[t]} and ends at {start[t + 1]}; it needs a node"
        )
    if start[-1] != forest.nodes:
        raise ModelFormatError(f"the trees end at node {start[-1]} but there are {forest.nodes} nodes")
    if outputs < 1 or forest.trees % outputs:
        raise ModelFormatError(f"{forest.trees} trees cannot be divided evenly among {outputs} outputs")


def _check_numbers(forest: Forest, columns: int, leaf: NDArray[np.bool_]) -> None:
    feature, default_left, count = forest.feature, forest.default_left, forest.count
    outside = (feature < -1) | (feature >= columns)
    _refuse(forest, outside, "feature", f"-1 or a column from 0 to {columns - 1}")
    _refuse(forest, default_left > 1, "default_left", "0 or 1")
    _refuse(forest, count < 0, "count", "0 or more")
    for name in ("threshold", "value", "gain", "cover"):
        _refuse(forest, ~np.isfinite(getattr(forest, name)), name, "finite")
    for name in ("gain", "cover"):
        _refuse(forest, getattr(forest, name) < 0, name, "0 or more")
    for name in ("threshold", "gain", "default_left", "left"):
        _refuse(forest, leaf & (getattr(forest, name) != 0), name, "0 at a leaf")


def _check_children(forest: Forest, leaf: NDArray[np.bool_]) -> None:
    sizes = np.diff(forest.start)
    first = np.repeat(forest.start[:-1], sizes)
    left = forest.left.astype(np.int64)
    own = np.arange(forest.nodes) - first
    _refuse(forest, ~leaf & (left <= own), "left", "greater than the number of its own node")
    last = np.repeat(sizes, sizes) - 2
    _refuse(forest, ~leaf & (left > last), "left", "so small that both children are in the tree")
    children = (first + left)[~leaf]
    parents = np.bincount(children, minlength=forest.nodes)
    parents += np.bincount(children + 1, minlength=forest.nodes)
    wrong = parents != (own > 0)
    if wrong.any():
        node = int(np.argmax(wrong))
        place = _place(forest, node)
        raise ModelFormatError(f"{place} is the child of {parents[node]} nodes; it must have one parent")


def _refuse(forest: Forest, bad: NDArray[np.bool_], name: str, wanted: str) -> None:
    if bad.any():
        node = int(np.argmax(bad))
        found = getattr(forest, name)[node]
        raise ModelFormatError(f"{_place(forest, node)} has {name} {found}; it must be {wanted}")


def _place(forest: Forest, node: int) -> str:
    t = int(np.searchsorted(forest.start, node, side="right")) - 1
    return f"tree {t}, node {node - int(forest.start[t])}"
