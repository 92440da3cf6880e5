"""What models have in common whose trees are kept as a compact forest."""

from __future__ import annotations

from abc import abstractmethod
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.data import Table
from spinney.model import forest_paths
from spinney.model.base import SavedModel
from spinney.model.forest_predict import ForestPredictor
from spinney.model.importance import tree_importances
from spinney.tree import CompactForest, Tree


class CompactModel(SavedModel):
    """A model of trees that each say something of their own: shares of classes, or numbers."""

    @property
    @abstractmethod
    def forest(self) -> CompactForest:
        """Its trees; their arrays cannot be written to."""

    @property
    @abstractmethod
    def classes(self) -> tuple[int, ...]:
        """Number of classes of each output; empty where numbers are predicted."""

    @property
    @abstractmethod
    def outputs(self) -> int:
        """Number of outputs."""

    @property
    def trees(self) -> int:
        """Number of trees."""
        return self.forest.trees

    def tree(self, t: int) -> Tree:
        """Tree t, from 0; its nodes hold shares of classes, or numbers."""
        return self.forest.tree(t, shares=bool(self.classes))

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
        """What each of some trees says of every row of a table that `read` gave: (rows, last - first, values)."""
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
        return forest_paths.leaf_nodes_of(self.forest, numbers)

    def decision_path(self, X: object, n_jobs: int | None = None) -> tuple[Any, NDArray[np.int64]]:
        """Return the nodes that each row passes. The parameters are those of `predict`.

        Returns
        -------
        indicator : scipy.sparse.csr_matrix of shape (rows, nodes of all trees)
            1 where a row passes a node, the trees one after another.
        n_nodes_ptr : int64 array of shape (trees + 1,)
            Columns n_nodes_ptr[t] to n_nodes_ptr[t + 1] - 1 are the nodes of tree t.
        """
        return forest_paths.decision_path(self.forest, self.predict_leaf(X, n_jobs))

    def tree_importances(self) -> NDArray[np.float64]:
        """Share of each column in the decrease of impurity of each tree, (trees, n_features).

        A row sums up to 1, or is all 0 where no split of its tree lowers impurity.
        """
        return tree_importances(self.forest)

    @cached_property
    def _predictor(self) -> ForestPredictor:
        return ForestPredictor(self.forest, bool(self.classes), self.schema.category_counts, self.absent)
