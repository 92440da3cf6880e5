"""Which leaves are split next, by which threads, and how threads share the work on one.

Leaves enter the tree strictly in the order of the queue, but may be split *speculatively*, before their turn. All threads work
together on large nodes. Small nodes are split by one thread each: while the first leaf of the queue is being split, other
threads take leaves behind it, whose turn will come soon, and children of these. A leaf that was split speculatively stays in the
queue until it is the first; only then its children become nodes of the tree, are numbered and queued. So the tree is the one
that a single thread grows, and a split whose turn never comes is dropped. Nothing that is drawn or permitted at a node depends on
when it is split (see `draws`).

Where codes come block by block, many leaves are split in one pass over the blocks (`open_batch`), by the same rule.
"""

import numpy as np

from spinney.growth.kernels.nodes import close_task, comes_before, give_slot, open_task, pop, push
from spinney.growth.kernels.records import APART, FINISHED, IDLE, SPLIT, TOGETHER
from spinney.jit import i64, inline, out, record
from spinney.jit.intrinsics import tail

# --- Turns: leaves are chosen in the order of the queue, or speculatively


# A node of fewer rows than this, or than the tree's rows divided by APART_SHARE and threads, is split by one thread. Time of a
# tree of 255 leaves relative to splitting every node together, two threads, for 8 192, 32 768 and 65 536 rows: 500 000 rows of
# 28 columns .88, .74, .66 while other work slowed one of the cores, in quieter hours about 1; 20 000 rows of 28 columns .90,
# .91, .90; 52 000 rows of 12 groups and 5 500 codes .83, .75, .75.
APART_ROWS = 32768
APART_SHARE = 4
# Rows of a node from which threads that work apart come together if there is nothing else to do.
TOGETHER_ROWS = 2048
# Leaves per thread that may be split speculatively. Each needs a histogram. Time on 262 000 rows of 12 groups: 16 1.00, 64 .89.
SPECULATIVE_LEAVES = 64
BOTH_CHILDREN = 2  # slots that splitting a leaf can take


@inline
def set_apart(in_bag, size, state):
    """Set below how many rows a node is split by one thread (thread 0)."""
    state.apart_below = max(APART_ROWS, in_bag // (APART_SHARE * size))


@inline
def enter_splits(table, limits):
    """Move the splits whose turn has come into the tree and queue their children."""
    state = table.state[0]
    nodes = table.nodes
    heap = table.heap
    if state.used == 1 and state.waiting == 0 and nodes[0].gain > 0.0:
        push(heap, 0, 0, nodes, limits.depthwise)
        state.waiting = 1
    while state.waiting > 0 and state.leaves < limits.max_leaves and nodes[heap[0]].state == SPLIT:
        node = pop(heap, state.waiting, nodes, limits.depthwise)
        state.waiting -= 1
        state.open -= 1
        state.leaves += 1
        child = nodes[node].child
        for number in range(child, child + 2):
            leaf = nodes[number]
            leaf.order = state.used
            state.used += 1
            if leaf.gain > 0.0:
                push(heap, state.waiting, number, nodes, limits.depthwise)
                state.waiting += 1


@inline
def is_free(leaf, state):
    """Whether a leaf can be split by one thread and no thread has taken it."""
    return leaf.state == IDLE and leaf.gain > 0.0 and leaf.count < state.apart_below


@inline
def next_speculative(size, table, limits):
    """The best free leaf behind the first one of the queue, -1 for none, and how many there are, counted up to what threads need.

    Children of splits whose turn has not come are included. There is none if the tree needs no more leaves, or if there are no
    slots for their histograms.
    """
    state = table.state[0]
    nodes = table.nodes
    best = np.int64(-1)
    count = 0
    enough = state.open >= table.max_speculative or state.leaves + state.open >= limits.max_leaves
    if enough or state.free < BOTH_CHILDREN:
        return best, count
    i = 1
    while i < state.waiting and count < 2 * size:
        leaf = table.heap[i]
        split = nodes[leaf].state == SPLIT
        begin = nodes[leaf].child if split else leaf
        for other in range(begin, begin + 2 if split else begin + 1):
            if is_free(nodes[other], state):
                count += 1
                if best < 0 or comes_before(nodes[other], nodes[best], limits.depthwise):
                    best = other
        i += 1
    return best, count


@inline
def choose_leaf(together, size, table, limits):
    """The leaf that a thread, or all together, should split next; -1 for none. May call threads that work apart together."""
    state = table.state[0]
    none = np.int64(-1)
    finished = state.waiting == 0 or state.leaves >= limits.max_leaves
    if together:
        state.called = 0
        state.mode = FINISHED
    elif finished:
        state.called = 1
    if finished:
        return none
    first = table.heap[0]
    rows = table.nodes[first].count
    best, others = next_speculative(size, table, limits)
    if table.nodes[first].state != IDLE:
        return best if state.called == 0 else none
    # No thread works, and less than half of them would have something to do.
    few_tasks = state.being_split == 0 and 2 * (others + 1) <= size and (together or rows >= TOGETHER_ROWS)
    # The spare slots are only for all threads together.
    has_slots = table.max_speculative > 0 and state.free >= BOTH_CHILDREN
    join = not has_slots or rows >= state.apart_below or few_tasks
    if together:
        state.mode = TOGETHER if join else APART
        return first
    if join:
        state.called = 1
    return first if state.called == 0 else none


@inline
def close_tasks(first, last, together, size, rules, tasks, thread_splits, table):
    """Store the best splits of the tasks first..last-1, and move the splits whose turn has come into the tree.

    The splits of a task that all threads work on are those of every thread; of another task, those of the thread of its number.
    """
    for task_id in range(first, last):
        close_task(
            tasks.tasks[task_id],
            0 if together else task_id,
            size if together else task_id + 1,
            rules,
            thread_splits,
            table,
        )
    enter_splits(table, rules.limits)


@inline
def open_tasks(first, last, together, size, rules, tasks, table):
    """Choose leaves for the tasks first..last-1, as long as there are some; the node of a task without one is -1."""
    for task_id in range(first, last):
        leaf = choose_leaf(together, size, table, rules.limits)
        tasks.tasks[task_id].node = leaf
        if leaf >= 0:
            open_task(task_id, leaf, rules, tasks, table)


@inline
def advance_tasks(first, last, working, together, size, rules, tasks, thread_splits, table):
    """Close the tasks first..last-1, if they were worked on, and open the next ones in their place.

    Only one thread at a time may call this; while all work together, thread 0. True: threads that work apart should come
    together.
    """
    if working:
        close_tasks(first, last, together, size, rules, tasks, thread_splits, table)
    open_tasks(first, last, together, size, rules, tasks, table)
    return table.state[0].called != 0


# --- Sharing the work on one node: thread 0 writes which groups or units each thread works on.
#
# A unit that is dead in the parent (see `is_alive`) costs nothing, so the work on the others is shared evenly. Groups at either
# end of the axis that are all dead are not even summed.


# Rows from which a histogram is shared by rows and not by columns, where a row has few groups. 52 000 rows of 12 groups and
# 5 500 codes, 255 leaves, two threads: 4 096 7.2 ms, 1 024 6.9 ms, 512 6.8 ms a tree; with 28 or 60 single columns no difference
# was seen.
SHARE_ROWS = 1024
FEW_GROUPS = 64


@inline
def sum_costs(axis, some_dead, alive, costs):
    """Cost of searching the units before each one; dead units cost nothing."""
    costs[0] = 0
    for u in range(axis.extent[0].units):
        searched = not some_dead or alive[u] != 0
        costs[u + 1] = costs[u] + (axis.units[u].cost if searched else 0)


@inline
def lives(group, axis, alive):
    """Whether anything of a group is alive."""
    living = 0
    for u in range(axis.group_units[group], axis.group_units[group + 1]):
        living += alive[u]
    return living > 0


@inline
def find_living(axis, some_dead, alive, schedule):
    """Find the first group that has a living unit, and the end of the last one."""
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
    """Whether threads that work together should each sum their own rows of a child. Sparse columns cannot be shared by groups."""
    return sparse.axis > 0 or (stride <= FEW_GROUPS and rows >= SHARE_ROWS)


@inline
def share_out(task_id, workers, rows, by_rows, axis, sums, tasks):
    """Share a task, whose smaller child has so many rows, among `workers` threads: write the bounds of their groups or units."""
    task = tasks.tasks[task_id]
    schedule = tasks.schedules[task_id]
    bounds = tasks.bounds
    some_dead = task.from_parent != 0
    alive = tail(sums.alive, (task.large_slot if some_dead else 0) * axis.unit_count)
    find_living(axis, some_dead, alive, schedule)
    schedule.by_rows = 0
    if workers == 1:
        return
    schedule.by_rows = 1 if by_rows else 0
    sum_costs(axis, some_dead, alive, tasks.costs)
    items = axis.extent[0].units if by_rows else axis.extent[0].groups
    total = cost_before(items, rows, schedule, axis, tasks.costs)
    cost = np.int64(0)
    rank = 1
    bounds[0] = 0
    for i in range(items):
        # An item whose middle lies beyond the share of the threads so far belongs to the next thread.
        after = cost_before(i + 1, rows, schedule, axis, tasks.costs)
        while rank < workers and (cost + after) * workers >= 2 * total * rank:
            bounds[rank] = i
            rank += 1
        cost = after
    for r in range(rank, workers + 1):
        bounds[r] = items


# --- Leaves that are split in the next pass over the blocks: all that could still enter the tree.
#
# A pass costs about as much for many leaves as for one. So a batch has every leaf that may be split before the tree is full,
# including children of splits whose turn has not come. A leaf cannot be split any more if the leaves that are queued before it
# are as many as the tree can still split. So no leaf of the tree waits for a second pass, and a tree takes one pass more than
# its depth, as long as there is memory for the histograms. Splits enter the tree in the order of the queue.
#
# On 60 000 rows of 28 columns, 255 leaves best first, the leaves that are split in vain have 6 to 9 % of the rows of the others;
# with at most 32 leaves in a batch .5 to 3 %, but up to two passes more.


@record
class TaskBatch:
    """The tasks of one pass, and a copy of the queue."""

    max_tasks: i64  # tasks, at most
    count: out(i64["1"])  # tasks of this pass
    started: out(i64["1"])  # tasks that threads have started, where each works on one alone
    heap: out(i64["table.max_nodes"])


@inline
def fits_batch(count, table):
    """Whether a batch of so many tasks can take one more. A first task can use the spare slots."""
    state = table.state[0]
    return count == 0 or (state.free >= BOTH_CHILDREN and state.open < table.max_speculative)


@inline
def free_slots(max_leaves, table):
    """Where not every leaf can keep its histogram, free the slots of leaves at the end of the queue.

    Half of the slots are for the next batch: otherwise waiting leaves would hold all of them, and each pass could split only one
    leaf. Both children of a leaf without a histogram are summed.
    """
    state = table.state[0]
    at = state.waiting
    wanted = table.slots // 2 if table.slots < max_leaves + table.max_speculative else 0
    while at > 1 and wanted >= BOTH_CHILDREN and state.free < wanted:
        at -= 1
        leaf = table.nodes[table.heap[at]]
        if leaf.state == IDLE:
            give_slot(leaf.slot, table)
            leaf.slot = -1


@inline
def open_batch(batch, rules, tasks, table):
    """Open tasks for the leaves that the next pass splits; if there are none, the tree is finished (thread 0)."""
    state = table.state[0]
    nodes = table.nodes
    heap = batch.heap
    depthwise = rules.limits.depthwise
    free_slots(rules.limits.max_leaves, table)
    queued = state.waiting
    for i in range(queued):
        heap[i] = table.heap[i]
    left = rules.limits.max_leaves - state.leaves
    count = 0
    while queued > 0 and left > 0 and count < batch.max_tasks and fits_batch(count, table):
        leaf = pop(heap, queued, nodes, depthwise)
        queued -= 1
        left -= 1
        if nodes[leaf].state == IDLE:
            open_task(count, leaf, rules, tasks, table)
            count += 1
        else:
            for child in range(nodes[leaf].child, nodes[leaf].child + 2):
                if nodes[child].gain > 0.0:
                    push(heap, queued, child, nodes, depthwise)
                    queued += 1
    batch.count[0] = count
    state.mode = TOGETHER if count > 0 else FINISHED
