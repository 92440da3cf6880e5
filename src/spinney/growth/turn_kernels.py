"""Whose turn it is: leaves enter the tree strictly in the order of the queue, but may be split before their turn.

On large nodes all threads work together. Small ones are split by one thread each: while the first leaf of the queue is being
split, other threads take the leaves behind it, whose turn will come soon. A leaf that was split early stays in the queue until
it is the first; only then are its children nodes of the tree, numbered and queued. So the tree is the one that a single thread
grows, whichever leaves were split early, and a split whose turn never comes is forgotten.
"""

import numpy as np

from spinney.growth.constraint_kernels import bound_children, permit_columns
from spinney.growth.layout import (
    APART, APART_BELOW, BEING_SPLIT, CALLED, CHILD, COUNT, CURRENT, DEPTHWISE, FINISHED, FREE, IDLE, LEAVES, MADE, MAX_LEAVES,
    MODE, MOST_AHEAD, NODE_WIDTH, OPEN, ORDER, SPLIT, STATE, TOGETHER, USED_NODES, WAITING,
)  # fmt: skip
from spinney.growth.node_kernels import close_task, open_node
from spinney.growth.queue_kernels import ahead, pop, push
from spinney.jit.kernel import inline

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
def set_apart(in_bag, size, shared):
    """Decide which nodes of a tree are split by one thread (thread 0)."""
    shared[APART_BELOW] = max(APART_ROWS, in_bag // (APART_SHARE * size))


@inline
def enter_splits(table, limits):
    """Enter the splits whose turn has come into the tree and queue the leaves that they make."""
    nodes, gains, heap, _, shared, _ = table
    depthwise = limits[DEPTHWISE]
    if shared[USED_NODES] == 1 and shared[WAITING] == 0 and gains[0] > 0.0:
        push(heap, 0, 0, nodes, gains, depthwise)
        shared[WAITING] = 1
    while (
        shared[WAITING] > 0 and shared[LEAVES] < limits[MAX_LEAVES] and nodes[heap[0] * NODE_WIDTH + STATE] == SPLIT
    ):
        node = pop(heap, shared[WAITING], nodes, gains, depthwise)
        shared[WAITING] -= 1
        shared[OPEN] -= 1
        shared[LEAVES] += 1
        child = nodes[node * NODE_WIDTH + CHILD]
        for leaf in range(child, child + 2):
            nodes[leaf * NODE_WIDTH + ORDER] = shared[USED_NODES]
            shared[USED_NODES] += 1
            if gains[leaf] > 0.0:
                push(heap, shared[WAITING], leaf, nodes, gains, depthwise)
                shared[WAITING] += 1


@inline
def is_free(leaf, nodes, gains, shared):
    """Whether a leaf can be split by one thread and nobody has taken it."""
    row = leaf * NODE_WIDTH
    return nodes[row + STATE] == IDLE and gains[leaf] > 0.0 and nodes[row + COUNT] < shared[APART_BELOW]


@inline
def look_ahead(size, table, limits):
    """A free leaf behind the first one whose turn comes soon, -1 for none, and how many there are, as far as threads need some.

    The children of a split whose turn has not come count, too. There are none where no more will be needed, or where there is no
    room for their histograms.
    """
    nodes, gains, heap, _, shared, _ = table
    best = np.int64(-1)
    count = 0
    enough = shared[OPEN] >= limits[MOST_AHEAD] or shared[LEAVES] + shared[OPEN] >= limits[MAX_LEAVES]
    if enough or shared[FREE] < BOTH_CHILDREN:
        return best, count
    i = 1
    while i < shared[WAITING] and count < 2 * size:
        leaf = heap[i]
        split = nodes[leaf * NODE_WIDTH + STATE] == SPLIT
        begin = nodes[leaf * NODE_WIDTH + CHILD] if split else leaf
        for other in range(begin, begin + 2 if split else begin + 1):
            if is_free(other, nodes, gains, shared):
                count += 1
                if best < 0 or ahead(other, best, nodes, gains, limits[DEPTHWISE]):
                    best = other
        i += 1
    return best, count


@inline
def choose_leaf(together, size, table, limits):
    """The leaf that a thread, or all together, should split next; -1 for none. Threads that work apart may be called together."""
    nodes, _, heap, _, shared, _ = table
    none = np.int64(-1)
    finished = shared[WAITING] == 0 or shared[LEAVES] >= limits[MAX_LEAVES]
    if together:
        shared[CALLED] = 0
        shared[MODE] = FINISHED
    elif finished:
        shared[CALLED] = 1
    if finished:
        return none
    first = heap[0]
    rows = nodes[first * NODE_WIDTH + COUNT]
    best, others = look_ahead(size, table, limits)
    if nodes[first * NODE_WIDTH + STATE] != IDLE:
        return best if shared[CALLED] == 0 else none
    # Nobody works, and less than half of the threads would have something to do.
    lonely = shared[BEING_SPLIT] == 0 and 2 * (others + 1) <= size and (together or rows >= TOGETHER_ROWS)
    # The slots for histograms that are not kept are for all threads together.
    roomy = limits[MOST_AHEAD] > 0 and shared[FREE] >= BOTH_CHILDREN
    join = not roomy or rows >= shared[APART_BELOW] or lonely
    if together:
        shared[MODE] = TOGETHER if join else APART
        return first
    if join:
        shared[CALLED] = 1
    return first if shared[CALLED] == 0 else none


@inline
def go_on(rank, size, working, together, task, columns, table, column_rules, rulebook, finds):
    """Note what was found for a task, enter what can be entered into the tree, and give the next leaf to split to the task.

    One thread at a time; while all work together, thread 0. True: threads that work apart should come together.
    """
    nodes, _, _, _, shared, _ = table
    signs, groups, group_count, permitted, _, _, _ = column_rules
    limits = rulebook[0]
    tasks, at = task
    if working:
        close_task(task, 0 if together else rank, size if together else rank + 1, finds, table, rulebook)
        enter_splits(table, limits)
    leaf = choose_leaf(together, size, table, limits)
    tasks[at + CURRENT] = leaf
    if leaf >= 0:
        open_node(leaf, task, table, rulebook)
        bound_children(leaf, signs, nodes, rulebook)
        if group_count > 0:
            permit_columns(leaf, nodes, columns, groups, permitted)
    return shared[CALLED] != 0


@inline
def swap_items(array, a, b, width):
    """Let two pieces of an array change places."""
    for i in range(width):
        held = array[a * width + i]
        array[a * width + i] = array[b * width + i]
        array[b * width + i] = held


@inline
def put_in_order(table, stretches, stretch_width, words):
    """Number the nodes as they entered the tree, and forget splits whose turn never came (thread 0).

    `stretches` holds `stretch_width` items a node that move with it, the table's sets `words`.
    """
    nodes, gains, _, _, shared, sets = table
    made = shared[MADE]
    last = shared[USED_NODES]
    for node in range(made):
        row = node * NODE_WIDTH
        child = nodes[row + CHILD]
        if child != 0:
            nodes[row + CHILD] = max(nodes[child * NODE_WIDTH + ORDER], 0)
        if nodes[row + ORDER] < 0:
            nodes[row + ORDER] = last
            last += 1
    for node in range(made):
        while nodes[node * NODE_WIDTH + ORDER] != node:
            other = nodes[node * NODE_WIDTH + ORDER]
            swap_items(nodes, node, other, NODE_WIDTH)
            swap_items(stretches, node, other, stretch_width)
            swap_items(sets, node, other, words)
            swap_items(gains, node, other, 1)
