"""One tree of a compact forest as nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from spinney.data.lists import starts_of
from spinney.tree.arrays import concatenated
from spinney.tree.forest import Sets, Tree

if TYPE_CHECKING:
    from spinney.tree.compact import CompactForest


def expanded(forest: CompactForest, t: int, shares: bool) -> Tree:
    """Tree t of a forest; `shares` as in `CompactForest.tree`."""
    splits = slice(int(forest.split_start[t]), int(forest.split_start[t + 1]))
    leaves = slice(int(forest.leaf_start[t]), int(forest.leaf_start[t + 1]))
    children = forest.children[2 * splits.start : 2 * splits.stop]
    own, leaf = split_nodes(children), leaf_nodes(children)
    column, cut = forest.column[splits].astype(np.int64), forest.cut[splits].astype(np.int64)
    numeric = forest.compares(column)
    nodes = len(own) + len(leaf)
    weight = forest.weight[leaves].astype(np.float64)
    value = forest.value[leaves.start * forest.values : leaves.stop * forest.values].astype(np.float64)
    value = value.reshape(-1, forest.values)
    sums = np.zeros((nodes, forest.values + 2))
    sums[leaf] = np.column_stack([value if shares else value * weight[:, None], weight, forest.count[leaves]])
    for level in reversed(_levels(children)):
        sums[own[level]] = sums[2 * level + 1] + sums[2 * level + 2]
    means = sums[:, :-2] / sums[:, -2:-1]
    if not shares:
        means[leaf] = value  # without the rounding of a product and a quotient
    threshold = np.zeros(len(own))
    threshold[numeric] = forest.cuts[forest.cut_start[column[numeric]] + cut[numeric]]
    feature = _at(nodes, own, column, np.int32)
    feature[leaf] = -1
    return Tree(
        feature=feature,
        threshold=_at(nodes, own, threshold, np.float64),
        left=_at(nodes, own, 2 * np.arange(len(own)) + 1, np.int32),
        default_left=_at(nodes, own, forest.default_left[splits], np.uint8),
        value=means.reshape(-1),
        gain=_at(nodes, own, forest.gain[splits], np.float64),
        cover=sums[:, -2].copy(),
        count=sums[:, -1].astype(np.int64),
        sets=_sets(forest, own[~numeric], cut[~numeric]),
    )


def _sets(forest: CompactForest, node: NDArray[np.int64], number: NDArray[np.int64]) -> Sets:
    """The sets of some nodes, by ascending node."""
    order = np.argsort(node)
    words = [forest.set_bits[forest.set_start[k] : forest.set_start[k + 1]] for k in number[order]]
    return Sets(node[order], starts_of([len(word) for word in words]), concatenated(words, np.int64))


def split_nodes(children: NDArray[np.int32]) -> NDArray[np.int64]:
    """Node number of each split of a tree.

    Examples
    --------
    >>> split_nodes(np.array([1, ~2, ~0, ~1], np.int32)).tolist()
    [0, 1]
    """
    node = np.zeros(len(children) // 2, np.int64)
    at = np.flatnonzero(children >= 0)
    node[children[at]] = at + 1
    return node


def leaf_nodes(children: NDArray[np.int32]) -> NDArray[np.int64]:
    """Node number of each leaf of a tree.

    Examples
    --------
    >>> leaf_nodes(np.array([1, ~2, ~0, ~1], np.int32)).tolist()
    [3, 4, 2]
    """
    node = np.zeros(len(children) // 2 + 1, np.int64)
    at = np.flatnonzero(children < 0)
    node[~children[at]] = at + 1
    return node


def _levels(children: NDArray[np.int32]) -> list[NDArray[np.int64]]:
    """The splits of a tree by depth."""
    levels = []
    level = np.zeros(min(len(children), 1), np.int64)
    while len(level):
        levels.append(level)
        below = np.concatenate([children[2 * level], children[2 * level + 1]]).astype(np.int64)
        level = below[below >= 0]
    return levels


def _at(nodes: int, place: NDArray[np.int64], values: NDArray[Any], dtype: Any) -> NDArray[Any]:
    """Values at some of the nodes, 0 at the others."""
    array = np.zeros(nodes, dtype)
    array[place] = values
    return array
