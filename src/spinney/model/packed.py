"""A forest as the kernels of prediction walk it."""

from __future__ import annotations

import numpy as np

from spinney.model.kernels.records import PackedForest
from spinney.model.kernels.walk import Trees, pack_nodes
from spinney.tree import Forest


def pack(forest: Forest) -> PackedForest:
    """Pack all trees of a forest.

    Examples
    --------
    >>> from spinney.tree import concatenate
    >>> pack(concatenate([])).depths.tolist()
    []
    """
    packed = np.empty(2 * forest.nodes, np.int64)
    depths, bits = np.empty(forest.trees, np.int64), forest.sets.bits
    trees = Trees(
        forest.trees, forest.nodes, len(forest.sets.node), forest.start, forest.feature, forest.threshold, forest.left,
        forest.default_left, forest.sets.node, forest.sets.start,
    )  # fmt: skip
    pack_nodes(trees, packed, depths, np.empty(forest.nodes, np.int32))
    return PackedForest(
        forest.trees, forest.nodes, len(bits), forest.start, depths, packed, bits, forest.value
    )
