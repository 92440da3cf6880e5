"""The node table: a leaf is opened, gets histogram slots and its best split, and in the end the tree is written."""

from spinney.growth.kernels.constraints import bound_children, clipped, own_score
from spinney.growth.kernels.draws import ROOT, path_of_child, permit_all, permit_columns
from spinney.growth.kernels.gain import node_score, node_weight
from spinney.growth.kernels.partition import mark_sides
from spinney.growth.kernels.records import IDLE, SPLIT, TAKEN
from spinney.growth.kernels.sets import copy_bits
from spinney.jit.inline import inline
from spinney.jit.intrinsics import tail
from spinney.jit.records import own

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
    """Set up the root, the free list, and everybody's tasks (thread 0)."""
    state = table.state[0]
    g = 0
    h = 0
    for t in range(size):
        part = own(tasks.parts, t)
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
    # The root is searched as the small child of nobody.
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
    task.search_small = worth_searching(root, rules.limits, table.scales[0]) if rules.limits.max_leaves > 1 else 0
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
    """Put a slot back on the free list, unless it is one of the spare ones."""
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
        left + 1, number, path_of_child(node.path, 1), node.count - node.left_count, depth, node.sum_g - node.left_g,
        node.sum_h - node.left_h, table,
    )
    sign = rules.columns.signs[node.column] if rules.penalties.bounded != 0 else 0
    bound_children(node, table.nodes[left], table.nodes[left + 1], sign, table.scales[0])


@inline
def open_task(who, number, rules, tasks, table):
    """Make a task of a leaf that is to be split: its children, whose histograms are summed, and what rows must know."""
    make_children(number, rules, table)
    state = table.state[0]
    scales = table.scales[0]
    task = tasks.tasks[who]
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
    scratch = own(tasks.of_task, who)
    copy_bits(table.words, tail(table.sets, number * table.words), scratch.set)
    if rules.columns.group_count > 0:
        permit_columns(number, table.nodes, rules.columns, scratch.permitted)


@inline
def describe_split(who, features, rules, tasks, table):
    """Write down where the codes of a task's column go, and whether a set of categories makes its children."""
    task = tasks.tasks[who]
    column = task.column
    if features.categorical[column] != 0 and features.bins[column] > rules.categories.one_hot:
        table.nodes[task.child].of_set = 1
        table.nodes[task.child + 1].of_set = 1
    scratch = own(tasks.of_task, who)
    mark_sides(task, features, scratch.set, scratch.words, scratch.sides)


@inline
def best_found(which, first, last, found):
    """Which of threads first..last-1 has found the best split of one of two children; -1 for none."""
    best = -1
    for t in range(first, last):
        split = own(found, t).splits[which]
        best_split = own(found, max(best, 0)).splits[which]
        better = best < 0 or split.gain > best_split.gain
        if best >= 0 and split.gain == best_split.gain:
            better = split.column < best_split.column
        if split.gain >= 0.0 and better:
            best = t
    return best


@inline
def real_gain(node, score, rules, scales):
    """What a split of this score gains in real units, 0 where it does not pay."""
    unsplit = node_score(
        float(node.sum_g), float(node.sum_h), scales.reg_lambda, scales.reg_alpha, scales.max_step
    )
    more = score - unsplit
    if rules.penalties.bounded != 0:
        unsplit = abs(own_score(node, scales))
        more = score
    if more > NOISE * unsplit:
        return 0.5 * more * scales.unit - rules.limits.gamma
    return 0.0


@inline
def close_child(number, which, best, rules, found, table):
    """Note the best split of a new leaf, which thread `best` has found, or give its slot back if there is none that pays."""
    node = table.nodes[number]
    of_thread = own(found, max(best, 0))
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
        copy_bits(table.words, tail(of_thread.sets, which * table.words), tail(table.sets, number * table.words))
        if node.slot >= table.slots:
            node.slot = -1
    else:
        give_slot(node.slot, table)
        node.slot = -1


@inline
def close_task(task, first, last, rules, found, table):
    """Take the best splits of a task's children from what threads first..last-1 found."""
    for which in range(2 if task.large != task.small else 1):
        child = task.small if which == 0 else task.large
        searched = task.search_small if which == 0 else task.search_large
        best = best_found(which, first, last, found) if searched != 0 else -1
        close_child(child, which, best, rules, found, table)
    # The root was searched, not split.
    if task.child != 0:
        table.nodes[task.node].state = SPLIT
        table.state[0].being_split -= 1


@inline
def write_tree(table, rules, rate, tree):
    """Turn the node table into the tree's arrays, children before parents (thread 0)."""
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
