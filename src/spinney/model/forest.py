"""`ForestModel`, the model that training a forest gives."""

from __future__ import annotations

from dataclasses import dataclass
from operator import attrgetter
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from spinney.data import Schema, Table
from spinney.data.schema import check_schema
from spinney.errors import ModelFormatError, ParameterError
from spinney.model import header, leaf_rows
from spinney.model.compact import COMPACT_ARRAYS, CompactModel, check_counts, read_forest
from spinney.model.file import ArrayGroup, Arrays, FileFormat, attributes, one_dtype
from spinney.model.header import COLUMNS, Count, CountList, Flag
from spinney.model.importance import forest_importance
from spinney.model.leaf_rows import LEAF_ROWS_DTYPES, TrainingRowsByLeaf
from spinney.params import ForestConfig
from spinney.tree import CompactForest, check_compact


@dataclass(frozen=True, eq=False, repr=False)
class ForestModel(CompactModel):
    """A trained forest, of which every tree predicts on its own; it never changes, and one that exists is sound.

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

    forest: CompactForest
    config: ForestConfig
    schema: Schema
    classes: tuple[int, ...]
    outputs: int
    rows: int
    leaf_rows: TrainingRowsByLeaf | None = None
    grown: bool = False

    FILE: ClassVar[FileFormat]

    def __post_init__(self) -> None:
        check_counts(self.classes, self.outputs, self.rows)
        if self.config.of_classes != bool(self.classes):
            raise ModelFormatError(
                f"a forest of {len(self.classes)} outputs with classes cannot have the criterion {self.config.criterion!r}"
            )
        check_schema(self.schema)
        if not self.grown:
            counts = self.schema.category_counts
            check_compact(self.forest, self.schema.columns, self.classes, self.outputs, counts)
        if not self.forest.trees:
            raise ModelFormatError("a forest must have a tree")
        try:
            self.config.rows_per_tree(self.rows)
            self.config.resolve_columns(self.schema.names, self.schema.columns, self.schema.categorical)
        except ParameterError as error:
            raise ModelFormatError(f"the model has a wrong parameter: {error}") from error
        if self.leaf_rows is not None:
            leaf_rows.check(self.leaf_rows, self.forest.leaves, self.rows, self.outputs)
        # What was checked must stay as it was: kernels walk these arrays without looking.
        object.__setattr__(self, "forest", self.forest.read_only())

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
        """How much each column lowers impurity: the mean of what `tree_importances` gives for each tree.

        Returns
        -------
        float64 array of shape (n_features,)
            It sums up to 1, or is all 0 where no split lowers impurity.
        """
        return forest_importance(self.forest)

    def to_json(self) -> str:
        """Write the model for people: JSON with its header and its trees as nested nodes, one line a node.

        A leaf of a tree that separates classes lists the share of each. A split of categories lists those that go left.
        """
        return self._json(self.FILE.describe(self), (self.tree(t) for t in range(self.trees)))

    def __repr__(self) -> str:
        classes = f"classes={self.classes}, " if self.classes else ""
        return (
            f"ForestModel(trees={self.trees}, {classes}outputs={self.outputs}, n_features={self.n_features})"
        )


def _build(fields: dict[str, Any], arrays: dict[str, Arrays]) -> ForestModel:
    forest, kept, many = read_forest(fields, arrays), arrays.get("leaf_rows"), fields["outputs"]
    if kept is not None:
        if len(kept["targets"]) != fields["rows"] * many:
            raise ModelFormatError(
                f"leaf_row_targets has {len(kept['targets'])} entries for {fields['rows']} rows of {many} outputs"
            )
        kept["targets"] = kept["targets"].reshape(fields["rows"], many)
    listed = None if kept is None else TrainingRowsByLeaf(**kept)
    return ForestModel(
        forest, fields["params"], fields["schema"], fields["classes"], many, fields["rows"], listed
    )


def _leaf_row_arrays(model: ForestModel) -> Arrays | None:
    return None if model.leaf_rows is None else attributes(model.leaf_rows, LEAF_ROWS_DTYPES)


ForestModel.FILE = FileFormat(
    number=header.WITH_FOREST,
    kind="forest",
    config=ForestConfig,
    parameters_of=attrgetter("config"),
    fields=(
        CountList("classes"),
        Count("outputs"),
        Count("rows"),
        COLUMNS,
        Count("trees"),
        Flag("leaf_rows", lambda model: model.leaf_rows is not None),
    ),
    arrays=(
        COMPACT_ARRAYS,
        ArrayGroup(
            "leaf_rows",
            one_dtype(LEAF_ROWS_DTYPES),
            _leaf_row_arrays,
            prefix="leaf_row_",
            optional=lambda fields: bool(fields["leaf_rows"]),
        ),
    ),
    build=_build,
)
