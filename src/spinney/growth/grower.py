"""What the growers of boosted trees share: the interface that training calls, and what a grower works with.

`training/growers.py` has a `TreeGrower` for each `tree_method`, made of the classes of this package. A new grower is a class
beside `HistGrower` with `grow` and `add`, a tree kernel made of the steps in `kernels/`, and a class there that gives it this
interface.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from spinney.binning.binned import BinnedData
from spinney.collective import ALONE, Communicator
from spinney.data.kernels.records import Gradients, LeafRows
from spinney.growth.leaf_values import LeafValues
from spinney.jit.team import Team
from spinney.params import Config
from spinney.sampling import Bag
from spinney.tree import Tree

AddTree = Callable[[Tree, int], None]  # adds a tree of an output to the scores of some rows


class TreeGrower(Protocol):
    """Grows trees on one data set."""

    def grow(self, output: int, seed: int, rate: float) -> tuple[Tree, LeafRows | None]:
        """Grow a tree for an output on the bag's rows, with `rate` as factor on its leaf values.

        Returns the tree, and all rows by leaf, or None where the bag is not all of them.
        """

    def add(self, tree: Tree, by_leaf: LeafRows | None, output: int) -> None:
        """Add the latest tree to the scores of all rows. Without rows by leaf, all rows walk the tree."""

    def follow(self, data: BinnedData, scores: NDArray[np.float64], name: str) -> AddTree:
        """A function that adds the latest tree to the scores of other rows; messages call their data set by this name."""


@dataclass(frozen=True, eq=False)
class GrowerInputs:
    """What a grower works with.

    Attributes
    ----------
    data : BinnedData
        The training rows.
    config : Config
        Parameters of a tree, with columns by position.
    gradients : Gradients
        Gradients, rewritten by the objective before each tree, and scores.
    bag : Bag
        The rows that the next tree sees.
    values : LeafValues
        Where leaf values come from.
    team : Team
        The threads to grow with.
    communicator : Communicator, optional
        Ranks that hold other rows of the table.
    """

    data: BinnedData
    config: Config
    gradients: Gradients
    bag: Bag
    values: LeafValues
    team: Team
    communicator: Communicator = ALONE
