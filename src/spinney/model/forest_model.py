"""The model that training a forest gives."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.data import Schema, Table
from spinney.model import forest_header, forest_paths
from spinney.model.base import SavedModel
from spinney.model.forest_parts import ForestParts
from spinney.model.forest_predict import ForestPredictor
from spinney.model.importance import forest_importance, tree_importances
from spinney.model.leaf_rows import LeafRows
from spinney.params import ForestConfig
from spinney.tree import CompactForest, Tree


class ForestModel(SavedModel):
    """A trained forest, of which every tree predicts on its own; it never changes.

    Two models are equal (`==`) when their files would hold the same bytes. A model is pickled as those bytes.

    Parameters
    ----------
    forest : CompactForest
        Its trees.
    config : ForestConfig
        The parameters it was trained with.
    schema : Schema
        The columns of the training table.
    classes : tuple of int
        Number of classes of each output; empty where numbers are predicted.
    outputs : int
        Number of outputs.
    rows : int
        Number of rows of the training table.
    leaf_rows : LeafRows, optional
        The training rows behind each leaf.

    Examples
    --------
    >>> import numpy as np
    >>> from spinney.tree import GrownTree
    >>> stump = GrownTree(
    ...     column=np.array([1], np.int32), cut=np.array([0], np.int32), default_left=np.array([1], np.uint8),
    ...     children=np.array([~0, ~1], np.int32), gain=np.array([0.5]), value=np.array([3.0, 0.0, 1.0, 3.0]),
    ...     weight=np.array([3.0, 4.0]), count=np.array([3, 4]),
    ... )
    >>> forest = CompactForest.of([stump], np.array([0, 0, 1]), np.array([0.25]), values=2)
    >>> model = ForestModel(forest, ForestConfig(criterion="gini"), Schema(None, 2), (2,), 1, 7)
    >>> model
    ForestModel(trees=1, classes=(2,), outputs=1, n_features=2)
    >>> model.predict([[9.0, 0.0], [9.0, 1.0]]).tolist()
    [[1.0, 0.0], [0.25, 0.75]]
    """

    _parts: ForestParts

    def __init__(
        self,
        forest: CompactForest,
        config: ForestConfig,
        schema: Schema,
        classes: tuple[int, ...],
        outputs: int,
        rows: int,
        leaf_rows: LeafRows | None = None,
    ) -> None:
        self._parts = ForestParts(forest, config, schema, classes, outputs, rows, leaf_rows)

    @classmethod
    def _kind(cls) -> type[ForestParts]:
        return ForestParts

    @property
    def forest(self) -> CompactForest:
        """Its trees; their arrays cannot be written to."""
        return self._parts.forest

    @property
    def config(self) -> ForestConfig:
        """The parameters it was trained with."""
        return self._parts.params

    @property
    def classes(self) -> tuple[int, ...]:
        """Number of classes of each output; empty where numbers are predicted."""
        return self._parts.classes

    @property
    def outputs(self) -> int:
        """Number of outputs."""
        return self._parts.outputs

    @property
    def rows(self) -> int:
        """Number of rows of the training table."""
        return self._parts.rows

    @property
    def leaf_rows(self) -> LeafRows | None:
        """The training rows behind each leaf, None where they were not kept."""
        return self._parts.leaf_rows

    @property
    def trees(self) -> int:
        """Number of trees."""
        return self.forest.trees

    def tree(self, t: int) -> Tree:
        """Tree t, from 0; its nodes hold shares of classes, or numbers."""
        return self.forest.tree(t, shares=bool(self.classes))

    def predict(
        self, X: object, n_jobs: int | None = None
    ) -> NDArray[np.float64] | list[NDArray[np.float64]]:
        """Predict the mean over all trees: numbers, or probabilities of classes.

        Parameters
        ----------
        X : table
            NumPy array, pandas, Polars or Arrow table, or SciPy sparse matrix, with the columns of the training table. It
            may have no rows.
        n_jobs : int, optional
            Number of threads; the result does not depend on it.

        Returns
        -------
        float64 array, or list of them
            Numbers: (rows,), or (rows, outputs) for several outputs. Classes: (rows, classes), or a list of one such array for
            each output.
        """
        return self.shaped(self.values(self.read(X), n_jobs))

    def shaped(self, values: NDArray[np.float64]) -> NDArray[np.float64] | list[NDArray[np.float64]]:
        """Values, (..., values), in the shape that `predict` gives: apart by output."""
        if not self.classes:
            return values[..., 0] if self.outputs == 1 else values
        if self.outputs == 1:
            return values
        return [np.ascontiguousarray(one) for one in np.split(values, np.cumsum(self.classes)[:-1], axis=-1)]

    def values(self, table: Table, n_jobs: int | None = None) -> NDArray[np.float64]:
        """Mean over all trees for a table that `read` gave: (rows, values), outputs one after another."""
        return self._predictor.means(table, n_jobs)

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

    def importance(self) -> NDArray[np.float64]:
        """Tell how much each column lowers impurity: the mean of what `tree_importances` gives for each tree.

        Returns
        -------
        float64 array of shape (n_features,)
            It sums up to 1, or is all 0 where no split lowers impurity.
        """
        return forest_importance(self.forest)

    def tree_importances(self) -> NDArray[np.float64]:
        """Share of each column in the decrease of impurity of each tree, (trees, n_features).

        A row sums up to 1, or is all 0 where no split of its tree lowers impurity.
        """
        return tree_importances(self.forest)

    def to_json(self) -> str:
        """Write the model for people: JSON with its header and its trees as nested nodes, one line a node.

        A leaf of a tree that tells classes apart lists the share of each. A split of categories lists those that go left.
        """
        return self._json(forest_header.describe(self._parts), (self.tree(t) for t in range(self.trees)))

    def __repr__(self) -> str:
        classes = f"classes={self.classes}, " if self.classes else ""
        return (
            f"ForestModel(trees={self.trees}, {classes}outputs={self.outputs}, n_features={self.n_features})"
        )

    @cached_property
    def _predictor(self) -> ForestPredictor:
        return ForestPredictor(self.forest, bool(self.classes), self.schema.category_counts, self.absent)
