"""The node table and the queue of leaves.

A leaf waits in the queue. When it is to be split, a task is opened: its children get places in the table and slots for their
histograms. When the children have been searched, the task is closed: their best splits are stored. In the end the nodes are put
in order, pruned, and written as a tree.

Nodes and their rows stay where they are. `order` of the table lists the nodes in the order in which they entered the tree;
splits whose turn never came are not in it, and pruning shortens it. Whatever needs rows by node reads this list.

A node's bounds, by the directions of columns, stand in the table, too: the children get theirs when the node's task is opened.
"""

from spinney.growth.kernels.cuts import bound_children, clipped, node_score, node_weight, unsplit_score
from spinney.growth.kernels.draws import ROOT, path_of_child, permit_all, permit_columns
from spinney.growth.kernels.partition import copy_bits, mark_goes_left
from spinney.growth.kernels.records import IDLE, SPLIT, TAKEN
from spinney.jit import inline, own
from spinney.jit.intrinsics import tail

# --- The queue of leaves that can be split: one heap, two orders.
#
# lossguide takes the leaf of the largest gain; depthwise takes the shallowest one, of these the largest gain. Ties go to the
# node that is first in the tree.


@inline
def comes_before(a, b, depthwise):
    """Whether node a is to be split before node b."""
    if depthwise != 0 and a.depth != b.depth:
        return a.depth < b.depth
    if a.gain != b.gain:
        return a.gain > b.gain
    return a.order < b.order


@inline
def push(heap, count, leaf, nodes, depthwise):
    """Add a leaf to a heap of `count` leaves."""
    at = count
    heap[at] = leaf
    while at > 0:
        parent = (at - 1) // 2
        if not comes_before(nodes[heap[at]], nodes[heap[parent]], depthwise):
            break
        held = heap[at]
        heap[at] = heap[parent]
        heap[parent] = held
        at = parent


@inline
def pop(heap, count, nodes, depthwise):
    """Take the first leaf out of a heap of `count` > 0 leaves."""
    first = heap[0]
    last = heap[count - 1]
    size = count - 1
    at = 0
    while True:
        child = 2 * at + 1
        if child >= size:
            break
        if child + 1 < size and comes_before(nodes[heap[child + 1]], nodes[heap[child]], depthwise):
            child += 1
        if not comes_before(nodes[heap[child]], nodes[last], depthwise):
            break
        heap[at] = heap[child]
        at = child
    heap[at] = last
    return first


# --- Opening and closing tasks


# Relative gain below which a split is rounding noise of the two scores that are subtracted.
NOISE = 1e-12


@inline
def worth_searching(node, limits, scales):
    """Whether a node could be split at all."""
    if limits.max_depth > 0 and node.depth >= limits.max_depth:
        return 0
    if node.count < 2 * max(limits.min_count, 1):
        return 0
    return 1 if float(node.sum_h) >= 2.0 * limits.min_hessian * scales.h else 0


@inline
def make_node(number, parent, path, count, depth, g, h, table):
    """Enter a new leaf into the node table."""
    node = table.nodes[number]
    node.count = count
    node.depth = depth
    node.path = path
    node.slot = -1
    node.sum_g = g
    node.sum_h = h
    node.lower = float("-inf")
    node.upper = float("inf")
    node.gain = 0.0
    node.child = 0
    node.parent = parent
    node.of_set = 0
    node.state = IDLE
    node.order = -1
    table.exact_g[number] = 0
    table.exact_h[number] = 0


@inline
def start_tree(size, in_bag, rules, tasks, table):
    """Set up the root, the list of free slots, and the tasks of all threads (thread 0)."""
    state = table.state[0]
    g = 0
    h = 0
    for t in range(size):
        part = own(tasks.partial_sums, t)
        g += part.sums[0]
        h += part.sums[1]
    make_node(0, -1, ROOT, in_bag, 0, g, h, table)
    root = table.nodes[0]
    root.order = 0
    for s in range(table.slots):
        table.free[s] = table.slots - 1 - s
    state.free = table.slots
    state.made = 1
    state.used = 1
    state.leaves = 1
    state.waiting = 0
    state.open = 0
    state.being_split = 0
    state.called = 0
    for t in range(size):
        tasks.tasks[t].node = -1
    # The root is searched like a small child, without a split.
    task = tasks.tasks[0]
    root.slot = take_slot(table, table.slots)
    task.node = 0
    task.child = 0
    task.count = in_bag
    task.small = 0
    task.large = 0
    task.small_slot = root.slot
    task.large_slot = root.slot
    task.from_parent = 0
    task.search_small = (
        worth_searching(root, rules.limits, table.scales[0]) if rules.limits.max_leaves > 1 else 0
    )
    task.search_large = 0
    permit_all(tasks.of_task.columns, tasks.of_task.permitted)


@inline
def take_slot(table, otherwise):
    """A free histogram slot, or `otherwise`."""
    state = table.state[0]
    if state.free == 0:
        return otherwise
    state.free -= 1
    return table.free[state.free]


@inline
def give_slot(slot, table):
    """Put a slot back on the free list, unless it is a spare one."""
    state = table.state[0]
    if 0 <= slot < table.slots:
        table.free[state.free] = slot
        state.free += 1


@inline
def make_children(number, rules, table):
    """Make the two children of a leaf that is to be split."""
    state = table.state[0]
    node = table.nodes[number]
    left = state.made
    node.child = left
    node.state = TAKEN
    state.made += 2
    state.open += 1
    state.being_split += 1
    depth = node.depth + 1
    make_node(
        left, number, path_of_child(node.path, 0), node.left_count, depth, node.left_g, node.left_h, table
    )
    make_node(
        left + 1,
        number,
        path_of_child(node.path, 1),
        node.count - node.left_count,
        depth,
        node.sum_g - node.left_g,
        node.sum_h - node.left_h,
        table,
    )
    direction = rules.columns.directions[node.column] if rules.penalties.bounded != 0 else 0
    bound_children(node, table.nodes[left], table.nodes[left + 1], direction, table.scales[0])


@inline
def open_task(task_id, number, rules, tasks, table):
    """Write the task of a leaf that is to be split: its children, which histograms are summed, and how rows are partitioned."""
    make_children(number, rules, table)
    state = table.state[0]
    scales = table.scales[0]
    task = tasks.tasks[task_id]
    node = table.nodes[number]
    left = node.child
    small = left if node.left_count <= node.count - node.left_count else left + 1
    large = 2 * left + 1 - small
    slot = node.slot
    full = state.leaves + 1 >= rules.limits.max_leaves
    task.node = number
    task.child = left
    task.column = node.column
    task.cut = node.cut
    task.default_left = node.default_left
    task.count = node.count
    task.left_count = node.left_count
    task.small = small
    task.large = large
    task.search_small = 0 if full else worth_searching(table.nodes[small], rules.limits, scales)
    task.search_large = 0 if full else worth_searching(table.nodes[large], rules.limits, scales)
    task.from_parent = 1 if slot >= 0 and task.search_large != 0 else 0
    if task.search_large != 0:
        table.nodes[large].slot = slot if slot >= 0 else take_slot(table, table.slots + 1)
    else:
        give_slot(slot, table)
    if task.search_small != 0 or task.from_parent != 0:
        table.nodes[small].slot = take_slot(table, table.slots)
    task.small_slot = table.nodes[small].slot
    task.large_slot = table.nodes[large].slot
    scratch = own(tasks.of_task, task_id)
    copy_bits(table.words, tail(table.sets, number * table.words), scratch.set)
    if rules.columns.group_count > 0:
        permit_columns(number, table.nodes, rules.columns, scratch.permitted)


@inline
def describe_split(task_id, features, rules, tasks, table):
    """Write which codes of a task's column go left, and whether its children come from a set of categories."""
    task = tasks.tasks[task_id]
    column = task.column
    if features.categorical[column] != 0 and features.bins[column] > rules.categories.one_hot:
        table.nodes[task.child].of_set = 1
        table.nodes[task.child + 1].of_set = 1
    scratch = own(tasks.of_task, task_id)
    mark_goes_left(task, features, scratch.set, scratch.words, scratch.goes_left)


@inline
def best_thread(which, first, last, thread_splits):
    """Which of the threads first..last-1 has the best split of one of two children; -1 for none."""
    best = -1
    for t in range(first, last):
        split = own(thread_splits, t).splits[which]
        best_split = own(thread_splits, max(best, 0)).splits[which]
        better = best < 0 or split.gain > best_split.gain
        if best >= 0 and split.gain == best_split.gain:
            better = split.column < best_split.column
        if split.gain >= 0.0 and better:
            best = t
    return best


@inline
def real_gain(node, score, rules, scales):
    """The gain of a split of this score in real units, 0 where it does not pay."""
    unsplit = node_score(
        float(node.sum_g), float(node.sum_h), scales.reg_lambda, scales.reg_alpha, scales.max_step
    )
    more = score - unsplit
    if rules.penalties.bounded != 0:
        unsplit = abs(unsplit_score(node, scales))
        more = score
    if more > NOISE * unsplit:
        return 0.5 * more * scales.unit - rules.limits.gamma
    return 0.0


@inline
def close_child(number, which, best, rules, thread_splits, table):
    """Store the best split of a new leaf, from thread `best`, or free its slot if no split pays."""
    node = table.nodes[number]
    of_thread = own(thread_splits, max(best, 0))
    split = of_thread.splits[which]
    gain = 0.0
    if best >= 0:
        gain = real_gain(node, split.gain, rules, table.scales[0])
    if gain > 0.0:
        node.gain = gain
        node.column = split.column
        node.cut = split.cut
        node.default_left = split.default_left
        node.left_g = split.g
        node.left_h = split.h
        node.left_count = split.count
        node.above = split.above
        copy_bits(
            table.words, tail(of_thread.sets, which * table.words), tail(table.sets, number * table.words)
        )
        if node.slot >= table.slots:
            node.slot = -1
    else:
        give_slot(node.slot, table)
        node.slot = -1


@inline
def close_task(task, first, last, rules, thread_splits, table):
    """Store the best splits of a task's children, found by the threads first..last-1."""
    for which in range(2 if task.large != task.small else 1):
        child = task.small if which == 0 else task.large
        searched = task.search_small if which == 0 else task.search_large
        best = best_thread(which, first, last, thread_splits) if searched != 0 else -1
        close_child(child, which, best, rules, thread_splits, table)
    # The root was searched, not split.
    if task.child != 0:
        table.nodes[task.node].state = SPLIT
        table.state[0].being_split -= 1


# --- The finished tree: its nodes in order, pruned, and written to arrays.
#
# Nodes stay where they are; `order` lists those of the tree. Code that has rows by node reads this list.


@inline
def put_in_order(table):
    """List the nodes as they entered the tree, and drop splits whose turn never came (thread 0)."""
    for number in range(table.state[0].made):
        node = table.nodes[number]
        if node.child != 0 and table.nodes[node.child].order < 0:
            node.child = 0
        if node.order >= 0:
            table.order[node.order] = number


@inline
def prune(least, table):
    """Make leaves of splits with two leaves below them and a gain under `least`, from the bottom up (thread 0).

    The nodes that are left close up, in their order.
    """
    nodes = table.nodes
    order = table.order
    reached = table.heap  # no leaf waits any more
    used = table.state[0].used
    for back in range(used):
        node = nodes[order[used - 1 - back]]
        child = node.child
        if child != 0 and node.gain < least and nodes[child].child == 0 and nodes[child + 1].child == 0:
            node.child = 0
    reached[0] = 1
    for number in range(1, used):
        reached[number] = 0
    for number in range(used):
        child = nodes[order[number]].child
        if reached[number] != 0 and child != 0:
            reached[nodes[child].order] = 1
            reached[nodes[child + 1].order] = 1
    kept = 0
    for number in range(used):
        if reached[number] != 0:
            order[kept] = order[number]
            nodes[order[kept]].order = kept
            kept += 1
    table.state[0].used = kept


@inline
def write_tree(table, rules, rate, tree):
    """Write the node table to the tree's arrays, children before parents (thread 0)."""
    scales = table.scales[0]
    penalties = rules.penalties
    used = table.state[0].used
    for back in range(used):
        number = used - 1 - back
        at = table.order[number]
        node = table.nodes[at]
        child = node.child
        if child != 0:
            table.exact_g[at] = table.exact_g[child] + table.exact_g[child + 1]
            table.exact_h[at] = table.exact_h[child] + table.exact_h[child + 1]
        g = float(table.exact_g[at]) / scales.exact_g
        h = float(table.exact_h[at]) / scales.exact_h
        penalty = penalties.reg_lambda + (rules.categories.l2 if node.of_set != 0 else 0.0)
        weight = clipped(node_weight(g, h, penalty, penalties.reg_alpha, penalties.max_step), node)
        tree.feature[number] = node.column if child != 0 else -1
        tree.cut_bin[number] = node.cut if child != 0 else 0
        tree.left[number] = table.nodes[child].order if child != 0 else 0
        tree.default_left[number] = node.default_left if child != 0 else 0
        tree.value[number] = rate * weight
        tree.gain[number] = node.gain if child != 0 else 0.0
        tree.cover[number] = h
        tree.count[number] = node.count
