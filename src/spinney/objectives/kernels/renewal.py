"""What the ways to renew leaf values share: whose leaves a thread works on, and their rows side by side."""

import numpy as np

from spinney.jit.inline import inline

PREFETCHED = 16  # rows


@inline
def is_own(before, count, total, team):
    """Whether a leaf of `count` rows, with `before` rows in the leaves before it, is one of this thread's."""
    middle = 2 * before + count
    return 2 * total * team.rank <= middle * team.size < 2 * total * (team.rank + 1)


@inline
def rows_of_leaves(by_leaf):
    """How many rows all leaves have."""
    total = np.int64(0)
    for node in range(by_leaf.grown[0].nodes):
        total += by_leaf.end[node] - by_leaf.begin[node]
    return total
