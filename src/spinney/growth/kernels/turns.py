"""Whose turn it is: leaves enter the tree strictly in the order of the queue, but may be split before their turn.

On large nodes all threads work together. Small ones are split by one thread each: while the first leaf of the queue is being
split, other threads take the leaves behind it, whose turn will come soon. A leaf that was split early stays in the queue until
it is the first; only then are its children nodes of the tree, numbered and queued. So the tree is the one that a single thread
grows, whichever leaves were split early, and a split whose turn never comes is forgotten.
"""

import numpy as np

from spinney.growth.kernels.nodes import close_task, open_task
from spinney.growth.kernels.queue import comes_before, pop, push
from spinney.growth.kernels.records import APART, FINISHED, IDLE, SPLIT, TOGETHER
from spinney.jit.inline import inline

# Rows below which a node is split by one thread, or its share of the tree's rows over this. Time of a tree of 255 leaves against
# that of splitting every node together, two threads, for 8 192, 32 768 and 65 536 rows: 500 000 rows of 28 columns .88, .74, .66
# while other work slowed one of the cores, in quieter hours about 1; 20 000 rows of 28 columns .90, .91, .90; 52 000 rows of 12
# groups and 5 500 codes .83, .75, .75.
APART_ROWS = 32768
APART_SHARE = 4
# Rows of a node for which threads that work apart come together if there is nothing else to do.
TOGETHER_ROWS = 2048
# Leaves per thread that may be split before their turn. Each needs a histogram. 262 000 rows of 12 groups: 16 1.00, 64 .89.
AHEAD = 64
BOTH_CHILDREN = 2  # slots that splitting a leaf can take


@inline
def set_apart(in_bag, size, state):
    """Decide which nodes of a tree are split by one thread (thread 0)."""
    state.apart_below = max(APART_ROWS, in_bag // (APART_SHARE * size))


@inline
def enter_splits(table, limits):
    """Enter the splits whose turn has come into the tree and queue the leaves that they make."""
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
    """Whether a leaf can be split by one thread and nobody has taken it."""
    return leaf.state == IDLE and leaf.gain > 0.0 and leaf.count < state.apart_below


@inline
def look_ahead(size, table, limits):
    """A free leaf behind the first one whose turn comes soon, -1 for none, and how many there are, as far as threads need some.

    The children of a split whose turn has not come count, too. There are none where no more will be needed, or where there is no
    room for their histograms.
    """
    state = table.state[0]
    nodes = table.nodes
    best = np.int64(-1)
    count = 0
    enough = state.open >= table.most_ahead or state.leaves + state.open >= limits.max_leaves
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
    """The leaf that a thread, or all together, should split next; -1 for none. Threads that work apart may be called together."""
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
    best, others = look_ahead(size, table, limits)
    if table.nodes[first].state != IDLE:
        return best if state.called == 0 else none
    # Nobody works, and less than half of the threads would have something to do.
    lonely = state.being_split == 0 and 2 * (others + 1) <= size and (together or rows >= TOGETHER_ROWS)
    # The slots for histograms that are not kept are for all threads together.
    roomy = table.most_ahead > 0 and state.free >= BOTH_CHILDREN
    join = not roomy or rows >= state.apart_below or lonely
    if together:
        state.mode = TOGETHER if join else APART
        return first
    if join:
        state.called = 1
    return first if state.called == 0 else none


@inline
def close_tasks(first, last, together, size, rules, tasks, found, table):
    """Note what was found for the tasks first..last-1, and enter the splits whose turn has come into the tree.

    A task that all work on together has what every thread found, another one what the thread of its number found.
    """
    for who in range(first, last):
        close_task(tasks.tasks[who], 0 if together else who, size if together else who + 1, rules, found, table)
    enter_splits(table, rules.limits)


@inline
def open_tasks(first, last, together, size, rules, tasks, table):
    """Give the tasks first..last-1 leaves to split, as long as there are some; the node of a task without one is -1."""
    for who in range(first, last):
        leaf = choose_leaf(together, size, table, rules.limits)
        tasks.tasks[who].node = leaf
        if leaf >= 0:
            open_task(who, leaf, rules, tasks, table)


@inline
def go_on(first, last, working, together, size, rules, tasks, found, table):
    """Close a batch of tasks, if they were worked on, and open the next batch in their place.

    One thread at a time; while all work together, thread 0. True: threads that work apart should come together.
    """
    if working:
        close_tasks(first, last, together, size, rules, tasks, found, table)
    open_tasks(first, last, together, size, rules, tasks, table)
    return table.state[0].called != 0
