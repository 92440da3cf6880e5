"""How the work on a node is shared out: where threads work together, thread 0 writes which groups or units are whose own.

A unit that is dead in the parent (see `is_alive`) costs nothing, so what is left is shared out evenly. Groups at either end of
the axis of which nothing lives are not even summed.
"""

import numpy as np

from spinney.jit.inline import inline
from spinney.jit.intrinsics import tail

# Rows from which a histogram is shared by rows and not by columns, where a row has few groups. 52 000 rows of 12 groups and 5 500
# codes, 255 leaves, two threads: 4 096 7.2 ms, 1 024 6.9 ms, 512 6.8 ms a tree; with 28 or 60 lone columns none was seen.
SHARE_ROWS = 1024
FEW_GROUPS = 64


@inline
def sum_costs(axis, some_dead, alive, costs):
    """What searching the units before each one costs; those that are dead cost nothing."""
    costs[0] = 0
    for u in range(axis.extent[0].units):
        asked = not some_dead or alive[u] != 0
        costs[u + 1] = costs[u] + (axis.units[u].cost if asked else 0)


@inline
def lives(group, axis, alive):
    """Whether anything of a group is alive."""
    living = 0
    for u in range(axis.group_units[group], axis.group_units[group + 1]):
        living += alive[u]
    return living > 0


@inline
def find_living(axis, some_dead, alive, schedule):
    """First and last group of which something lives."""
    count = axis.extent[0].groups
    first = 0
    last = count
    if some_dead:
        while first < count and not lives(first, axis, alive):
            first += 1
        while last > first and not lives(last - 1, axis, alive):
            last -= 1
    schedule.live_first = first
    schedule.live_last = last


@inline
def cost_before(i, rows, schedule, axis, costs):
    """Cost of the units (by rows) or groups before one: of their searches, and of adding every row of the smaller child."""
    if schedule.by_rows != 0:
        return costs[i]
    summed = min(max(i, schedule.live_first), schedule.live_last) - schedule.live_first
    return costs[axis.group_units[i]] + rows * summed


@inline
def summed_by_rows(rows, stride, sparse):
    """Whether threads that work together should each sum their own rows of a child. Sparse columns cannot be shared out."""
    return sparse.axis > 0 or (stride <= FEW_GROUPS and rows >= SHARE_ROWS)


@inline
def share_out(who, crew, rows, by_rows, axis, sums, tasks):
    """Decide who works on what in a task of `crew` threads, whose smaller child has so many rows."""
    task = tasks.tasks[who]
    schedule = tasks.schedules[who]
    bounds = tasks.bounds
    some_dead = task.from_parent != 0
    alive = tail(sums.alive, (task.large_slot if some_dead else 0) * axis.unit_count)
    find_living(axis, some_dead, alive, schedule)
    schedule.by_rows = 0
    if crew == 1:
        return
    schedule.by_rows = 1 if by_rows else 0
    sum_costs(axis, some_dead, alive, tasks.costs)
    items = axis.extent[0].units if by_rows else axis.extent[0].groups
    total = cost_before(items, rows, schedule, axis, tasks.costs)
    cost = np.int64(0)
    rank = 1
    bounds[0] = 0
    for i in range(items):
        # Whose half lies beyond what the threads so far should have belongs to the next one.
        after = cost_before(i + 1, rows, schedule, axis, tasks.costs)
        while rank < crew and (cost + after) * crew >= 2 * total * rank:
            bounds[rank] = i
            rank += 1
        cost = after
    for r in range(rank, crew + 1):
        bounds[r] = items
