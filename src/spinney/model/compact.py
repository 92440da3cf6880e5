"""What models have in common whose trees are kept as a compact forest; which nodes rows pass on their way down such trees."""

from __future__ import annotations

from functools import cached_property
from reprlib import repr as short_repr
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.data import Table
from spinney.errors import ModelFormatError
from spinney.model.base import EnsembleView, SavedModel
from spinney.model.file import ArrayGroup, Arrays, attributes
from spinney.model.importance import tree_importances
from spinney.model.predict_compact import ForestPredictor
from spinney.tree import CompactForest, Tree
from spinney.tree.compact import COMPACT_DTYPES, leaf_nodes, split_nodes


class CompactModel(SavedModel):
    """A model of trees that each predict on their own: shares of classes, or numbers."""

    forest: CompactForest
    classes: tuple[int, ...]
    outputs: int

    @property
    def trees(self) -> int:
        """Number of trees."""
        return self.forest.trees

    def tree(self, t: int) -> Tree:
        """Tree t, from 0; its nodes hold shares of classes, or numbers."""
        return self.forest.tree(t, shares=bool(self.classes))

    def _view(self) -> EnsembleView:
        """Of all trees the mean: shares of classes, or numbers, outputs one after another."""
        values = self.forest.values
        return EnsembleView(self.forest, self.tree, np.zeros(values), values, self.trees)

    def shaped(self, values: NDArray[np.float64]) -> NDArray[np.float64] | list[NDArray[np.float64]]:
        """Values, (..., values), in the shape that `predict` gives: apart by output."""
        if not self.classes:
            return values[..., 0] if self.outputs == 1 else values
        if self.outputs == 1:
            return values
        return [np.ascontiguousarray(one) for one in np.split(values, np.cumsum(self.classes)[:-1], axis=-1)]

    def leaf_numbers(
        self, table: Table, first: int = 0, last: int | None = None, n_jobs: int | None = None
    ) -> NDArray[np.int32]:
        """Leaf of every row of a table that `read` gave, in trees first to last - 1.

        Returns
        -------
        int32 array of shape (rows, last - first)
            Numbers of leaves, counted in each tree from left to right.
        """
        last = self.trees if last is None else last
        if not 0 <= first <= last <= self.trees:
            raise IndexError(f"trees {first} to {last} are not all in a forest of {self.trees}")
        return self._predictor.leaf_numbers(table, first, last, n_jobs)

    def tree_values(
        self, table: Table, first: int = 0, last: int | None = None, n_jobs: int | None = None
    ) -> NDArray[np.float64]:
        """What each of some trees predicts for every row of a table that `read` gave: (rows, last - first, values)."""
        last = self.trees if last is None else last
        leaf = self.leaf_numbers(table, first, last, n_jobs) + self.forest.leaf_start[first:last]
        by_leaf = self.forest.value.reshape(self.forest.leaves, -1)
        values: NDArray[np.float64] = by_leaf[leaf].astype(np.float64, copy=False)
        if self.classes:
            values /= self.forest.weight[leaf][..., None]
        return values

    def predict_leaf(self, X: object, n_jobs: int | None = None) -> NDArray[np.int32]:
        """Return the leaf that each row reaches in each tree. The parameters are those of `predict`.

        Returns
        -------
        int32 array of shape (rows, trees)
            Numbers of nodes: the root is 0, and a child has a larger number than its parent.
        """
        numbers = self.leaf_numbers(self.read(X), n_jobs=n_jobs)
        return leaf_nodes_of(self.forest, numbers)

    def decision_path(self, X: object, n_jobs: int | None = None) -> tuple[Any, NDArray[np.int64]]:
        """Return the nodes that each row passes. The parameters are those of `predict`.

        Returns
        -------
        indicator : scipy.sparse.csr_matrix of shape (rows, nodes of all trees)
            1 where a row passes a node, the trees one after another.
        n_nodes_ptr : int64 array of shape (trees + 1,)
            Columns n_nodes_ptr[t] to n_nodes_ptr[t + 1] - 1 are the nodes of tree t.
        """
        return decision_path(self.forest, self.predict_leaf(X, n_jobs))

    def tree_importances(self) -> NDArray[np.float64]:
        """Share of each column in the decrease of impurity of each tree, (trees, n_features).

        A row sums up to 1, or is all 0 where no split of its tree lowers impurity.
        """
        return tree_importances(self.forest)

    @cached_property
    def _predictor(self) -> ForestPredictor:
        return ForestPredictor(self.forest, bool(self.classes), self.schema.category_counts, self.absent)


def check_counts(classes: tuple[int, ...], outputs: int, rows: int) -> None:
    """Refuse numbers of classes, outputs and rows that no model has."""
    for name, found in (("outputs", outputs), ("rows", rows)):
        if type(found) is not int or found < 1:
            raise ModelFormatError(f"{name} must be a whole number from 1, not {short_repr(found)}")
    if classes and len(classes) != outputs:
        raise ModelFormatError(f"classes are those of {len(classes)} outputs, but there are {outputs}")
    for many in classes:
        if type(many) is not int or many < 1:
            raise ModelFormatError(f"an output must have a class or more, not {short_repr(many)}")


COMPACT_ARRAYS = ArrayGroup("trees", COMPACT_DTYPES, lambda model: attributes(model.forest, COMPACT_DTYPES))


def read_forest(fields: dict[str, Any], arrays: dict[str, Arrays]) -> CompactForest:
    """The trees of a file, as many as its header counts."""
    forest = CompactForest(**arrays["trees"])
    if forest.trees != fields["trees"]:
        raise ModelFormatError(f"the header counts {fields['trees']} trees but there are {forest.trees}")
    return forest


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
