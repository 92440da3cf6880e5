"""The model that training a forest gives."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from spinney.data import Schema, Table
from spinney.model import forest_header
from spinney.model.compact_model import CompactModel
from spinney.model.forest_parts import ForestParts
from spinney.model.importance import forest_importance
from spinney.model.leaf_rows import TrainingRowsByLeaf
from spinney.params import ForestConfig
from spinney.tree import CompactForest


class ForestModel(CompactModel):
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
    leaf_rows : TrainingRowsByLeaf, optional
        The training rows behind each leaf.
    grown : bool, default=False
        Whether the trees have just been grown; others are checked, which takes a tenth of the time of growing large extra trees.

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
        leaf_rows: TrainingRowsByLeaf | None = None,
        grown: bool = False,
    ) -> None:
        self._parts = ForestParts(forest, config, schema, classes, outputs, rows, leaf_rows, grown)

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
    def leaf_rows(self) -> TrainingRowsByLeaf | None:
        """The training rows behind each leaf, None where they were not kept."""
        return self._parts.leaf_rows

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

    def values(self, table: Table, n_jobs: int | None = None) -> NDArray[np.float64]:
        """Mean over all trees for a table that `read` gave: (rows, values), outputs one after another."""
        return self._predictor.means(table, n_jobs)

    def importance(self) -> NDArray[np.float64]:
        """Tell how much each column lowers impurity: the mean of what `tree_importances` gives for each tree.

        Returns
        -------
        float64 array of shape (n_features,)
            It sums up to 1, or is all 0 where no split lowers impurity.
        """
        return forest_importance(self.forest)

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
