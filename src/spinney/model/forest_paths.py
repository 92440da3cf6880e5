"""Which nodes rows pass on their way down the trees of a compact forest."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.tree import CompactForest
from spinney.tree.compact import leaf_nodes, split_nodes


def leaf_nodes_of(forest: CompactForest, numbers: NDArray[np.int32]) -> NDArray[np.int32]:
    """Node numbers of leaves, (rows, trees), given by their numbers among the leaves of their tree."""
    nodes = np.empty_like(numbers)
    for t in range(forest.trees):
        nodes[:, t] = leaf_nodes(_children(forest, t))[numbers[:, t]]
    return nodes


def decision_path(forest: CompactForest, leaves: NDArray[np.int32]) -> tuple[Any, NDArray[np.int64]]:
    """The nodes from the root of each tree to a leaf, given by its node number, (rows, trees); see `ForestModel`."""
    from scipy import sparse

    starts = np.zeros(forest.trees + 1, np.int64)
    np.cumsum(np.diff(forest.split_start) + np.diff(forest.leaf_start), out=starts[1:])
    parents = [_parents(_children(forest, t)) for t in range(forest.trees)]
    lengths = np.column_stack([_lengths(up, leaves[:, t]) for t, up in enumerate(parents)])
    ends = np.cumsum(lengths.reshape(-1)).reshape(lengths.shape)
    nodes = np.empty(int(ends[-1, -1]) if ends.size else 0, np.int64)
    for t, up in enumerate(parents):
        at, place = leaves[:, t].astype(np.int64), ends[:, t] - 1
        # Upwards from the leaf: parents have smaller numbers, so a row's nodes ascend.
        while len(at):
            nodes[place] = starts[t] + at
            inner = at > 0
            at, place = up[at[inner]], place[inner] - 1
    indptr = np.concatenate([np.zeros(1, np.int64), ends[:, -1]])
    ones = np.ones(len(nodes), np.int64)
    return sparse.csr_matrix((ones, nodes, indptr), shape=(len(leaves), int(starts[-1]))), starts


def _children(forest: CompactForest, t: int) -> NDArray[np.int32]:
    return forest.children[2 * int(forest.split_start[t]) : 2 * int(forest.split_start[t + 1])]


def _parents(children: NDArray[np.int32]) -> NDArray[np.int64]:
    """Parent of each node of a tree, 0 for the root: nodes 2 * i + 1 and 2 * i + 2 are the children of split i."""
    return np.concatenate([np.zeros(1, np.int64), np.repeat(split_nodes(children), 2)])


def _lengths(parents: NDArray[np.int64], leaves: NDArray[np.int32]) -> NDArray[np.int64]:
    """Number of nodes from the root to each of some leaves."""
    length = np.ones(len(leaves), np.int64)
    at = leaves.astype(np.int64)
    while (at > 0).any():
        length += at > 0
        at = parents[at]
    return length
