"""How the work on a node is shared out: where threads work together, thread 0 writes which groups or units are whose own.

A unit that is dead in the parent (see `is_alive`) costs nothing, so what is left is shared out evenly. Groups at either end of
the axis of which nothing lives are not even summed.
"""

import numpy as np

from spinney.growth.layout import (
    BY_ROWS, COUNT, FROM_PARENT, LARGE, LIVE_FIRST, LIVE_LAST, NODE_WIDTH, SLOT, SMALL,
)  # fmt: skip
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
        asked = alive_at < 0 or alive[alive_at + u] != 0
        before[u + 1] = before[u] + (unit_costs[u] if asked else 0)


@inline
def lives(group, group_units, alive, alive_at):
    """Whether anything of a group is alive."""
    living = 0
    for u in range(group_units[group], group_units[group + 1]):
        living += alive[alive_at + u]
    return living > 0


@inline
def find_living(count, group_units, alive, alive_at, task):
    """First and last group of which something lives; `alive_at` is -1 where all are alive."""
    tasks, at = task
    first = 0
    last = count
    if alive_at >= 0:
        while first < count and not lives(first, group_units, alive, alive_at):
            first += 1
        while last > first and not lives(last - 1, group_units, alive, alive_at):
            last -= 1
    tasks[at + LIVE_FIRST] = first
    tasks[at + LIVE_LAST] = last


@inline
def cost_before(i, by_rows, rows, first, last, group_units, before):
    """Cost of the units (by rows) or groups before one: of their searches, and of adding every row of the smaller child."""
    if by_rows:
        return before[i]
    return before[group_units[i]] + rows * (min(max(i, first), last) - first)


@inline
def share_out(crew, count, unit_total, bins, sparse, task, nodes, axis):
    """Decide who works on what in a task of `crew` threads."""
    tasks, at = task
    _, _, _, group_units, costs, _, alive, unit_count = axis
    unit_costs, before, bounds = costs
    alive_at = nodes[tasks[at + LARGE] * NODE_WIDTH + SLOT] * unit_count if tasks[at + FROM_PARENT] != 0 else -1
    find_living(count, group_units, alive, alive_at, task)
    tasks[at + BY_ROWS] = 0
    if crew == 1:
        return
    rows = nodes[tasks[at + SMALL] * NODE_WIDTH + COUNT]
    # Sparse columns cannot be shared out for summing.
    by_rows = sparse > 0 or (bins[3] <= FEW_GROUPS and rows >= SHARE_ROWS)
    tasks[at + BY_ROWS] = 1 if by_rows else 0
    sum_costs(unit_total, alive_at, unit_costs, alive, before)
    items = unit_total if by_rows else count
    first = tasks[at + LIVE_FIRST]
    last = tasks[at + LIVE_LAST]
    total = cost_before(items, by_rows, rows, first, last, group_units, before)
    cost = np.int64(0)
    rank = 1
    bounds[0] = 0
    for i in range(items):
        # Whose half lies beyond what the threads so far should have belongs to the next one.
        after = cost_before(i + 1, by_rows, rows, first, last, group_units, before)
        while rank < crew and (cost + after) * crew >= 2 * total * rank:
            bounds[rank] = i
            rank += 1
        cost = after
    for r in range(rank, crew + 1):
        bounds[r] = items
