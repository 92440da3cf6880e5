"""The leaf of every row of a binned table in a grown tree."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from spinney.data.lists import starts_of
from spinney.growth.forest.kernels.leaves import GrownSplits, find_leaves
from spinney.growth.forest.table import ForestTable
from spinney.jit.team import Team
from spinney.tree.arrays import concatenated
from spinney.tree.compact import GrownTree


def leaf_of_rows(table: ForestTable, tree: GrownTree, team: Team) -> NDArray[np.int32]:
    """Number of the leaf, from left to right, that each row reaches; also rows that did not grow the tree.

    Parameters
    ----------
    table : ForestTable
        The bins that the tree was grown on; not ranks.
    tree : GrownTree
        The tree.
    team : Team
        Threads.

    Returns
    -------
    int32 array of shape (rows,)
    """
    begins = starts_of([len(words) for words in tree.sets])
    set_at = np.full(len(tree.column), -1, np.int64)
    chosen = table.binned.features.categorical[tree.column] != 0
    set_at[chosen] = begins[tree.cut[chosen]]
    bits = concatenated(tree.sets, np.int64)
    splits = GrownSplits(
        len(tree.column), len(bits), tree.column.astype(np.int32), tree.cut.astype(np.int32), tree.default_left,
        tree.children, set_at, bits,
    )  # fmt: skip
    leaf = np.empty(table.rows, np.int32)
    team.run(find_leaves.bind(table.binned, splits, leaf))
    return leaf
