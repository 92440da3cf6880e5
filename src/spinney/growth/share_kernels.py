"""How the work on a node is shared out: thread 0 writes for every thread which groups or units are its own.

A unit that is dead in the parent (see `is_alive`) costs nothing, so what is left is shared out evenly. Groups at either end of
the axis of which nothing lives are not even summed.
"""

import numpy as np

from spinney.growth.layout import BY_ROWS, COUNT, FROM_PARENT, LARGE, LIVE_FIRST, LIVE_LAST, NODE_WIDTH, SLOT, SMALL
from spinney.jit.kernel import inline

# Rows from which a histogram is shared by rows and not by columns, where a row has few groups. 52 000 rows of 12 groups and 5 500
# codes, 255 leaves, two threads: 4 096 7.2 ms, 1 024 6.9 ms, 512 6.8 ms a tree; with 28 or 60 lone columns none was seen.
SHARE_ROWS = 1024
FEW_GROUPS = 64


@inline
def sum_costs(total, alive_at, unit_costs, alive, before):
    """What searching the units before each one costs; `alive_at` is -1 where all are alive."""
    before[0] = 0
    for u in range(total):
        lives = alive_at < 0 or alive[alive_at + u] != 0
        before[u + 1] = before[u] + (unit_costs[u] if lives else 0)


@inline
def find_living(count, group_units, before, shared):
    """First and last group of which something lives."""
    first = 0
    while first < count and before[group_units[first + 1]] == before[group_units[first]]:
        first += 1
    last = count
    while last > first and before[group_units[last]] == before[group_units[last - 1]]:
        last -= 1
    shared[LIVE_FIRST] = first
    shared[LIVE_LAST] = last


@inline
def cost_before(i, by_rows, rows, group_units, before, shared):
    """Cost of the units (by rows) or groups before one: of their searches, and of adding every row of the smaller child."""
    if by_rows:
        return before[i]
    first = shared[LIVE_FIRST]
    return before[group_units[i]] + rows * (min(max(i, first), shared[LIVE_LAST]) - first)


@inline
def share_out(size, count, unit_total, bins, sparse, table, axis):
    """Decide who works on what in the current node (thread 0)."""
    nodes, _, _, _, shared, _ = table
    _, _, _, group_units, costs, _, alive, unit_count = axis
    unit_costs, before, bounds = costs
    rows = nodes[shared[SMALL] * NODE_WIDTH + COUNT]
    # Sparse columns cannot be shared out for summing.
    by_rows = size == 1 or sparse > 0 or (bins[3] <= FEW_GROUPS and rows >= SHARE_ROWS)
    shared[BY_ROWS] = 1 if by_rows else 0
    alive_at = nodes[shared[LARGE] * NODE_WIDTH + SLOT] * unit_count if shared[FROM_PARENT] != 0 else -1
    sum_costs(unit_total, alive_at, unit_costs, alive, before)
    find_living(count, group_units, before, shared)
    items = unit_total if by_rows else count
    total = cost_before(items, by_rows, rows, group_units, before, shared)
    cost = np.int64(0)
    rank = 1
    bounds[0] = 0
    for i in range(items):
        # Whose half lies beyond what the threads so far should have belongs to the next one.
        after = cost_before(i + 1, by_rows, rows, group_units, before, shared)
        while rank < size and (cost + after) * size >= 2 * total * rank:
            bounds[rank] = i
            rank += 1
        cost = after
    for r in range(rank, size + 1):
        bounds[r] = items
