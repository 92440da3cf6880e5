"""The node table: a leaf is opened, gets histogram slots and its best split, and in the end the tree is written."""

from spinney.growth.layout import (
    BEING_SPLIT, BOUNDED, CALLED, CAT_L2, CHILD, COUNT, CURRENT, CUT_ABOVE, CUT_BIN, CUT_COLUMN, CUT_DEFAULT, DEPTH, EXACT_G,
    EXACT_H, EXACT_SCALE_G, EXACT_SCALE_H, FOUND_ABOVE, FOUND_BIN, FOUND_COLUMN, FOUND_COUNT, FOUND_DEFAULT, FOUND_G, FOUND_H,
    FOUND_WIDTH, FREE, FROM_PARENT, GAMMA, IDLE, LARGE, LEARNING_RATE, LEAVES, LEFT_COUNT, LEFT_G, LEFT_H, MADE,
    MAX_DEPTH, MAX_LEAVES, MAX_STEP, MIN_COUNT, MIN_HESSIAN, NODE_WIDTH, OF_SET, OPEN, ORDER, PARENT, REG_ALPHA, REG_LAMBDA,
    SCALE_G, SCALE_H, SEARCH_LARGE, SEARCH_SMALL, SLOT, SLOTS, SMALL, SPLIT, STATE, SUM_G, SUM_H, TAKEN, TASK_WIDTH, UNIT,
    USED_NODES, WAITING,
)  # fmt: skip
from spinney.growth.constraint_kernels import clipped, own_score, unbind
from spinney.growth.search_kernels import node_score, node_weight
from spinney.jit.kernel import inline

# Relative gain below which a split is rounding noise of the two scores that are subtracted.
NOISE = 1e-12


@inline
def worth_searching(node, nodes, rulebook):
    """Whether a node could be split at all."""
    limits, rules, scales, _ = rulebook
    row = node * NODE_WIDTH
    count = nodes[row + COUNT]
    if limits[MAX_DEPTH] > 0 and nodes[row + DEPTH] >= limits[MAX_DEPTH]:
        return 0
    if count < 2 * max(limits[MIN_COUNT], 1):
        return 0
    return 1 if float(nodes[row + SUM_H]) >= 2.0 * rules[MIN_HESSIAN] * scales[SCALE_H] else 0


@inline
def make_node(node, count, depth, g, h, nodes, gains):
    """Enter a new leaf into the node table."""
    row = node * NODE_WIDTH
    nodes[row + COUNT] = count
    nodes[row + OF_SET] = 0
    nodes[row + DEPTH] = depth
    nodes[row + SLOT] = -1
    nodes[row + SUM_G] = g
    nodes[row + SUM_H] = h
    nodes[row + CHILD] = 0
    nodes[row + EXACT_G] = 0
    nodes[row + EXACT_H] = 0
    nodes[row + PARENT] = -1
    nodes[row + STATE] = IDLE
    nodes[row + ORDER] = -1
    unbind(node, nodes)
    gains[node] = 0.0


@inline
def start_tree(in_bag, tasks, table, rulebook, parts, size):
    """Set up the root, the free list, and everybody's tasks (thread 0)."""
    nodes, gains, _, free, shared, _ = table
    limits = rulebook[0]
    g = 0
    h = 0
    for t in range(size):
        g += parts[t * 8]
        h += parts[t * 8 + 1]
    make_node(0, in_bag, 0, g, h, nodes, gains)
    nodes[ORDER] = 0
    for s in range(limits[SLOTS]):
        free[s] = limits[SLOTS] - 1 - s
    shared[FREE] = limits[SLOTS]
    shared[MADE] = 1
    shared[USED_NODES] = 1
    shared[LEAVES] = 1
    shared[WAITING] = 0
    shared[OPEN] = 0
    shared[BEING_SPLIT] = 0
    shared[CALLED] = 0
    for at in range(0, size * TASK_WIDTH, TASK_WIDTH):
        tasks[at + CURRENT] = -1
    # The root is searched as the small child of nobody.
    tasks[CURRENT] = 0
    tasks[SMALL] = 0
    tasks[LARGE] = 0
    tasks[FROM_PARENT] = 0
    tasks[SEARCH_SMALL] = worth_searching(0, nodes, rulebook) if limits[MAX_LEAVES] > 1 else 0
    tasks[SEARCH_LARGE] = 0
    nodes[SLOT] = take_slot(shared, free, limits[SLOTS])


@inline
def take_slot(shared, free, otherwise):
    """A free histogram slot, or `otherwise`."""
    if shared[FREE] == 0:
        return otherwise
    shared[FREE] -= 1
    return free[shared[FREE]]


@inline
def give_slot(slot, slots, shared, free):
    """Put a slot back on the free list, unless it is one of the two spare ones."""
    if 0 <= slot < slots:
        free[shared[FREE]] = slot
        shared[FREE] += 1


@inline
def open_node(node, task, table, rulebook):
    """Make the two children of a leaf that is to be split and decide whose histograms are built."""
    nodes, gains, _, free, shared, _ = table
    tasks, at = task
    limits = rulebook[0]
    row = node * NODE_WIDTH
    left_count = nodes[row + LEFT_COUNT]
    right_count = nodes[row + COUNT] - left_count
    depth = nodes[row + DEPTH] + 1
    left = shared[MADE]
    nodes[row + CHILD] = left
    nodes[row + STATE] = TAKEN
    shared[MADE] += 2
    shared[OPEN] += 1
    shared[BEING_SPLIT] += 1
    make_node(left, left_count, depth, nodes[row + LEFT_G], nodes[row + LEFT_H], nodes, gains)
    make_node(
        left + 1, right_count, depth, nodes[row + SUM_G] - nodes[row + LEFT_G], nodes[row + SUM_H] - nodes[row + LEFT_H],
        nodes, gains,
    )
    nodes[left * NODE_WIDTH + PARENT] = node
    nodes[(left + 1) * NODE_WIDTH + PARENT] = node
    small = left if left_count <= right_count else left + 1
    large = 2 * left + 1 - small
    slot = nodes[row + SLOT]
    full = shared[LEAVES] + 1 >= limits[MAX_LEAVES]
    search_small = 0 if full else worth_searching(small, nodes, rulebook)
    search_large = 0 if full else worth_searching(large, nodes, rulebook)
    tasks[at + CURRENT] = node
    tasks[at + SMALL] = small
    tasks[at + LARGE] = large
    tasks[at + SEARCH_SMALL] = search_small
    tasks[at + SEARCH_LARGE] = search_large
    tasks[at + FROM_PARENT] = 1 if slot >= 0 and search_large != 0 else 0
    if search_large != 0:
        nodes[large * NODE_WIDTH + SLOT] = slot if slot >= 0 else take_slot(shared, free, limits[SLOTS] + 1)
    else:
        give_slot(slot, limits[SLOTS], shared, free)
    if search_small != 0 or tasks[at + FROM_PARENT] != 0:
        nodes[small * NODE_WIDTH + SLOT] = take_slot(shared, free, limits[SLOTS])


@inline
def best_found(which, first, last, found, gain):
    """Where the best split of one of two children is among those that threads first..last-1 have found; -1 for none."""
    best = -1
    for t in range(first, last):
        at = 2 * t + which
        better = best < 0 or gain[at] > gain[best]
        if best >= 0 and gain[at] == gain[best]:
            better = found[at * FOUND_WIDTH + FOUND_COLUMN] < found[best * FOUND_WIDTH + FOUND_COLUMN]
        if gain[at] >= 0.0 and better:
            best = at
    return best


@inline
def close_child(node, best, finds, table, rulebook):
    """Note the best split of a new leaf, found at `best`, or give its slot back if there is none that pays."""
    found, gain, _, _, _, _, found_sets, words = finds
    nodes, gains, _, free, shared, sets = table
    limits, rules, scales, _ = rulebook
    row = node * NODE_WIDTH
    real = 0.0
    if best >= 0:
        own = node_score(
            float(nodes[row + SUM_G]), float(nodes[row + SUM_H]), rules[REG_LAMBDA] * scales[SCALE_H],
            rules[REG_ALPHA] * scales[SCALE_G], rules[MAX_STEP] * scales[SCALE_G] / scales[SCALE_H],
        )
        more = gain[best] - own
        if limits[BOUNDED] != 0:
            own = abs(own_score(node, nodes, rulebook))
            more = gain[best]
        if more > NOISE * own:
            real = 0.5 * more * scales[UNIT] - rules[GAMMA]
    slot = nodes[row + SLOT]
    if real > 0.0:
        at = best * FOUND_WIDTH
        nodes[row + CUT_COLUMN] = found[at + FOUND_COLUMN]
        nodes[row + CUT_BIN] = found[at + FOUND_BIN]
        nodes[row + CUT_DEFAULT] = found[at + FOUND_DEFAULT]
        nodes[row + LEFT_G] = found[at + FOUND_G]
        nodes[row + LEFT_H] = found[at + FOUND_H]
        nodes[row + LEFT_COUNT] = found[at + FOUND_COUNT]
        nodes[row + CUT_ABOVE] = found[at + FOUND_ABOVE]
        for w in range(words):
            sets[node * words + w] = found_sets[best * words + w]
        gains[node] = real
        if slot >= limits[SLOTS]:
            nodes[row + SLOT] = -1
    else:
        give_slot(slot, limits[SLOTS], shared, free)
        nodes[row + SLOT] = -1


@inline
def close_task(task, first, last, finds, table, rulebook):
    """Take the best splits of a node's children from what threads first..last-1 found."""
    nodes, _, _, _, shared, _ = table
    tasks, at = task
    for which in range(2 if tasks[at + LARGE] != tasks[at + SMALL] else 1):
        child = tasks[at + SMALL] if which == 0 else tasks[at + LARGE]
        searched = tasks[at + SEARCH_SMALL] if which == 0 else tasks[at + SEARCH_LARGE]
        best = best_found(which, first, last, finds[0], finds[1]) if searched != 0 else -1
        close_child(child, best, finds, table, rulebook)
    row = tasks[at + CURRENT] * NODE_WIDTH
    # The root was searched, not split.
    if nodes[row + CHILD] != 0:
        nodes[row + STATE] = SPLIT
        shared[BEING_SPLIT] -= 1


@inline
def write_tree(table, rulebook, tree):
    """Turn the node table into the tree's arrays, children before parents (thread 0)."""
    nodes, gains, _, _, shared, _ = table
    _, rules, scales, _ = rulebook
    used_nodes = shared[USED_NODES]
    feature, cut_bin, left, default_left, value, gain, cover, count = tree
    for back in range(used_nodes):
        node = used_nodes - 1 - back
        row = node * NODE_WIDTH
        child = nodes[row + CHILD]
        if child != 0:
            nodes[row + EXACT_G] = nodes[child * NODE_WIDTH + EXACT_G] + nodes[(child + 1) * NODE_WIDTH + EXACT_G]
            nodes[row + EXACT_H] = nodes[child * NODE_WIDTH + EXACT_H] + nodes[(child + 1) * NODE_WIDTH + EXACT_H]
        g = float(nodes[row + EXACT_G]) / scales[EXACT_SCALE_G]
        h = float(nodes[row + EXACT_H]) / scales[EXACT_SCALE_H]
        penalty = rules[REG_LAMBDA] + (rules[CAT_L2] if nodes[row + OF_SET] != 0 else 0.0)
        weight = clipped(node_weight(g, h, penalty, rules[REG_ALPHA], rules[MAX_STEP]), node, nodes)
        feature[node] = nodes[row + CUT_COLUMN] if child != 0 else -1
        cut_bin[node] = nodes[row + CUT_BIN] if child != 0 else 0
        left[node] = child
        default_left[node] = nodes[row + CUT_DEFAULT] if child != 0 else 0
        value[node] = rules[LEARNING_RATE] * weight
        gain[node] = gains[node] if child != 0 else 0.0
        cover[node] = h
        count[node] = nodes[row + COUNT]
