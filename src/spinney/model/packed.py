"""A forest as the kernels of prediction walk it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spinney.model import kernels
from spinney.tree import Forest


@dataclass(frozen=True, eq=False)
class Packed:
    """Packed nodes beside the forest that they are of.

    Attributes
    ----------
    forest : Forest
        The trees.
    nodes : int64[2 * nodes]
        Two words a node, see `model.kernels`.
    depths : int64[trees]
        Splits on the longest walk down each tree.
    """

    forest: Forest
    nodes: NDArray[np.int64]
    depths: NDArray[np.int64]


def pack(forest: Forest) -> Packed:
    """Pack all trees of a forest.

    Examples
    --------
    >>> from spinney.tree import concatenate
    >>> pack(concatenate([])).depths.tolist()
    []
    """
    nodes = np.empty(2 * forest.nodes, np.int64)
    depths = np.empty(forest.trees, np.int64)
    kernels.pack_nodes(
        forest.trees, forest.nodes, len(forest.sets.node), forest.start, forest.feature, forest.threshold, forest.left,
        forest.default_left, forest.sets.node, forest.sets.start, nodes, depths, np.empty(forest.nodes, np.int32),
    )  # fmt: skip
    return Packed(forest, nodes, depths)
