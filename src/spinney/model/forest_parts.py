"""What a forest model is made of, checked once when it is put together."""

from __future__ import annotations

from dataclasses import InitVar, dataclass
from reprlib import repr as short_repr

from spinney.data import Schema
from spinney.errors import ModelFormatError, ParameterError
from spinney.model import leaf_rows as listed
from spinney.model.ensemble import check_schema
from spinney.model.leaf_rows import TrainingRowsByLeaf
from spinney.params import ForestConfig
from spinney.tree import CompactForest, check_compact


@dataclass(frozen=True, eq=False)
class ForestParts:
    """The parts of a forest model. One that exists is sound: a wrong part is refused when it is put together.

    Attributes
    ----------
    forest : CompactForest
        The trees, through arrays that cannot be written to.
    params : ForestConfig
        The parameters the forest was trained with.
    schema : Schema
        The columns of the training table.
    classes : tuple of int
        Number of classes of each output; empty where numbers are predicted.
    outputs : int
        Number of outputs.
    rows : int
        Number of rows of the training table.
    leaf_rows : TrainingRowsByLeaf or None
        The training rows behind each leaf, where they were kept.
    grown : bool, default=False
        Whether the trees have just been grown; others are checked.
    """

    forest: CompactForest
    params: ForestConfig
    schema: Schema
    classes: tuple[int, ...]
    outputs: int
    rows: int
    leaf_rows: TrainingRowsByLeaf | None = None
    grown: InitVar[bool] = False

    def __post_init__(self, grown: bool) -> None:
        check_counts(self.classes, self.outputs, self.rows)
        if self.params.of_classes != bool(self.classes):
            raise ModelFormatError(
                f"a forest of {len(self.classes)} outputs with classes cannot have the criterion {self.params.criterion!r}"
            )
        check_schema(self.schema)
        if not grown:
            counts = self.schema.category_counts
            check_compact(self.forest, self.schema.columns, self.classes, self.outputs, counts)
        if not self.forest.trees:
            raise ModelFormatError("a forest must have a tree")
        try:
            self.params.rows_per_tree(self.rows)
            self.params.resolve_columns(self.schema.names, self.schema.columns, self.schema.categorical)
        except ParameterError as error:
            raise ModelFormatError(f"the model has a wrong parameter: {error}") from error
        if self.leaf_rows is not None:
            listed.check(self.leaf_rows, self.forest.leaves, self.rows, self.outputs)
        # What was checked must stay as it was: kernels walk these arrays without looking.
        object.__setattr__(self, "forest", self.forest.read_only())


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
