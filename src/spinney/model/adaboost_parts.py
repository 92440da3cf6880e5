"""What an AdaBoost model is made of, checked once when it is put together."""

from __future__ import annotations

from dataclasses import dataclass
from reprlib import repr as short_repr

import numpy as np
from numpy.typing import NDArray

from spinney.data import Schema
from spinney.errors import ModelFormatError
from spinney.model.ensemble import check_schema
from spinney.model.forest_parts import check_counts
from spinney.params import AdaBoostConfig
from spinney.tree import CompactForest, check_compact
from spinney.tree.check import check_array
from spinney.tree.forest import locked

# By tree: how much it has to say, and its error on the training rows.
TREE_DTYPES = {"tree_weight": np.dtype(np.float64), "tree_error": np.dtype(np.float64)}


@dataclass(frozen=True, eq=False)
class AdaBoostParts:
    """The parts of an AdaBoost model. One that exists is sound: a wrong part is refused when it is put together.

    Attributes
    ----------
    forest : CompactForest
        The trees, through arrays that cannot be written to.
    params : AdaBoostConfig
        The parameters it was trained with.
    schema : Schema
        The columns of the training table.
    classes : tuple of int
        Number of classes; empty where numbers are predicted.
    rows : int
        Number of rows of the training table.
    tree_weight, tree_error : float64[trees]
        Say and error of each tree.
    """

    forest: CompactForest
    params: AdaBoostConfig
    schema: Schema
    classes: tuple[int, ...]
    rows: int
    tree_weight: NDArray[np.float64]
    tree_error: NDArray[np.float64]

    def __post_init__(self) -> None:
        check_counts(self.classes, 1, self.rows)
        if self.params.of_classes != bool(self.classes):
            raise ModelFormatError(
                f"a model of {len(self.classes)} outputs with classes cannot have the loss {self.params.loss!r}"
            )
        check_schema(self.schema)
        check_compact(self.forest, self.schema.columns, self.classes, 1, self.schema.category_counts)
        if not self.forest.trees:
            raise ModelFormatError("an AdaBoost model must have a tree")
        for name, dtype in TREE_DTYPES.items():
            _check_by_tree(getattr(self, name), name, dtype, self.forest.trees)
        with np.errstate(over="ignore"):
            total = float(self.tree_weight.sum())
        if not 0 < total < np.inf:
            raise ModelFormatError(f"the weights of trees sum up to {total}; that must be above 0 and finite")
        # What was checked must stay as it was: kernels walk these arrays without looking.
        object.__setattr__(self, "forest", self.forest.read_only())
        for name in TREE_DTYPES:
            object.__setattr__(self, name, locked(getattr(self, name)))


def _check_by_tree(found: NDArray[np.float64], name: str, dtype: np.dtype[np.float64], trees: int) -> None:
    check_array(found, name, dtype)
    if len(found) != trees:
        raise ModelFormatError(f"the array {name!r} has {len(found)} entries for {trees} trees")
    wrong = ~(np.isfinite(found) & (found >= 0))
    if wrong.any():
        t = int(np.argmax(wrong))
        raise ModelFormatError(
            f"the array {name!r} holds {short_repr(float(found[t]))} for tree {t}; it must be finite and 0 or more"
        )
