"""Finishing a tree: cutting it back, splits in preorder, leaves from left to right, and the values of leaves.

A node's rows are one range of records, in the order of the table. So the values of a leaf are summed from them once the tree has
its shape. What the rounding of weights and targets left out is added back in finer steps, so a leaf's value is the weighted mean
of the real targets to the last few bits.
"""

import numpy as np

from spinney.growth.forest.kernels.records import row_of, target_of, weight_of
from spinney.growth.forest.kernels.rows import weight_in_bag
from spinney.jit import hole, inline

# --- Cutting a grown tree back: to the leaves of best-first growth, and by cost-complexity pruning.
#
# A node's split does not depend on when it is made. So the tree that `max_leaf_nodes` grows best first is the top of the fully
# grown one: it is grown whole and then cut back. `ccp_alpha` prunes it in the same way.


@inline
def goes_before(a, b, nodes, at, finished):
    """Whether a node is split before another one: by gain, of equal ones in preorder."""
    gain = nodes[at + a].gain
    other = nodes[at + b].gain
    return gain > other or (gain == other and finished.number[at + a] < finished.number[at + b])


@inline
def push(node, count, heap, nodes, at, finished):
    """Add a node to a heap of `count` nodes."""
    place = count
    while place > 0:
        above = (place - 1) >> 1
        other = np.int64(heap[at + above])
        if not goes_before(node, other, nodes, at, finished):
            break
        heap[at + place] = other
        place = above
    heap[at + place] = node


@inline
def pop(count, heap, nodes, at, finished):
    """Take the first node from a heap of `count` nodes."""
    first = np.int64(heap[at])
    last = np.int64(heap[at + count - 1])
    place = np.int64(0)
    while 2 * place + 1 < count - 1:
        below = 2 * place + 1
        if below + 1 < count - 1:
            right = np.int64(heap[at + below + 1])
            if goes_before(right, np.int64(heap[at + below]), nodes, at, finished):
                below += 1
        other = np.int64(heap[at + below])
        if not goes_before(other, last, nodes, at, finished):
            break
        heap[at + place] = other
        place = below
    heap[at + place] = last
    return first


@inline
def keep_best_splits(most, nodes, at, finished):
    """Keep the splits that best-first growth makes, until there are so many leaves. Nodes must be numbered."""
    heap = finished.leaf
    waiting = np.int64(0)
    if nodes[at].column >= 0:
        heap[at] = 0
        waiting += 1
    leaves = 1
    while waiting > 0 and leaves < most:
        node = pop(waiting, heap, nodes, at, finished)
        waiting -= 1
        leaves += 1
        for side in range(2):
            child = np.int64(nodes[at + node].child) + side
            if nodes[at + child].column >= 0:
                push(child, waiting, heap, nodes, at, finished)
                waiting += 1
    for k in range(waiting):
        nodes[at + heap[at + k]].column = -1


@inline
def prune(alpha, used, nodes, at, finished):
    """Undo every split that, with all below it, decreases the impurity by no more than `alpha` a leaf.

    That leaves the smallest of the subtrees whose impurity plus `alpha` a leaf is least, which is where cutting the weakest link
    again and again stops.
    """
    saved = finished.saved
    for k in range(used):
        i = at + used - 1 - k
        node = nodes[i]
        saved[i] = 0.0
        if node.column >= 0:
            best = node.gain - alpha + saved[at + node.child] + saved[at + node.child + 1]
            if best > 0.0:
                saved[i] = best
            else:
                node.column = -1


# --- Numbers of nodes, and values of leaves


FINE = 1073741824.0  # 2**30: parts of a step


@inline
def number_nodes(used, nodes, at, finished):
    """Number splits in preorder and leaves from left to right. Children come after their parents. Returns the splits."""
    below = finished.below
    for k in range(used):
        i = used - 1 - k
        node = nodes[at + i]
        if node.column >= 0:
            below[at + i] = 1 + below[at + node.child] + below[at + node.child + 1]
        else:
            below[at + i] = 0
    finished.number[at] = 0
    finished.leaf[at] = 0
    for i in range(used):
        node = nodes[at + i]
        if node.column >= 0:
            left = at + node.child
            finished.number[left] = finished.number[at + i] + 1
            finished.number[left + 1] = finished.number[at + i] + 1 + below[left]
            finished.leaf[left] = finished.leaf[at + i]
            finished.leaf[left + 1] = finished.leaf[at + i] + below[left] + 1
    return np.int64(below[at])


@inline
def bit_length(number):
    """Bits of a number."""
    bits = np.int64(0)
    while number > 0:
        number >>= 1
        bits += 1
    return bits


@inline
def fine_part(real, unit, steps, parts):
    """The remainder of rounding to steps, in parts of a step."""
    return np.int64(np.floor((real / unit - float(steps)) * parts + 0.5))


@inline
def sum_classes(begin, end, unit, target, rules, rows, sums, value, at):
    """Weights of the classes of some records. Returns the weight of all."""
    for k in range(target.values):
        sums[k] = 0
    total = np.int64(0)
    fraction = target.weighted != 0 or rules.balanced != 0
    for i in range(begin, end):
        row = row_of(i, rows)
        steps = weight_of(i, rows)
        weight = steps << 30
        if fraction:
            real = weight_in_bag(row, target, rules.balanced, rows.counts, rows.factors)
            weight = max(weight + fine_part(real, unit, steps, FINE), np.int64(1))
        total += weight
        # The record has the class of the first output; others are not in the cache.
        sums[target_of(i, rows)] += weight
        for o in range(1, target.outputs):
            sums[target.first[o] + target.steps[row * target.outputs + o]] += weight
    for k in range(target.values):
        value[at + k] = float(sums[k]) / FINE * unit
    return float(total) / FINE * unit


@inline
def sum_weights(begin, end, unit, target, rows):
    """Weight of some records."""
    total = np.int64(0)
    for i in range(begin, end):
        steps = weight_of(i, rows)
        weight = steps << 30
        if target.weighted != 0:
            real = weight_in_bag(row_of(i, rows), target, 0, rows.counts, rows.factors)
            weight = max(weight + fine_part(real, unit, steps, FINE), np.int64(1))
        total += weight
    return float(total) / FINE * unit


@inline
def mean_number(begin, end, o, unit, target, rows):
    """Weighted mean of an output of some records: the number itself where all are the same."""
    outputs = target.outputs
    first = target.numbers[row_of(begin, rows) * outputs + o]
    size = target.units[o]
    center = target.centers[o]
    # Parts of a step of weight, so many that products with targets cannot overflow.
    parts = np.int64(1) << max(np.int64(0), 31 - bit_length(end - begin))
    same = True
    weights = np.int64(0)
    # Sums of products: steps with steps, steps of weight with parts of a target's step, and the other way round.
    whole = np.int64(0)
    fine = np.int64(0)
    part_weights = np.int64(0)
    part_sum = np.int64(0)
    for i in range(begin, end):
        row = row_of(i, rows)
        number = target.numbers[row * outputs + o]
        same = same and number == first
        steps = np.int64(target.steps[row * outputs + o])
        weight = weight_of(i, rows)
        weights += weight
        whole += weight * steps
        fine += weight * fine_part(number - center, size, steps, FINE)
        if target.weighted != 0:
            real = weight_in_bag(row, target, 0, rows.counts, rows.factors)
            part = fine_part(real, unit, weight, float(parts))
            part_weights += part
            part_sum += part * steps
    if same:
        return first
    # The weights of these rows are tiny compared with others of the tree: each counts as a step.
    if part_weights <= -weights * parts:
        part_weights = np.int64(0)
        part_sum = np.int64(0)
    divisor = float(weights) + float(part_weights) / float(parts)
    return center + size * ((float(whole) + float(fine) / FINE + float(part_sum) / float(parts)) / divisor)


leaf_number = hole("the prediction of a leaf of some records for an output")


@inline
def fill_leaf(node, leaf, unit, target, rules, rows, sums, finished):
    """Write the prediction of a leaf, its weight and rows."""
    begin = np.int64(node.begin)
    end = np.int64(node.end)
    at = (rows.leaves_at + leaf) * target.values
    if target.classes != 0:
        weight = sum_classes(begin, end, unit, target, rules, rows, sums, finished.value, at)
        if rules.bounded != 0:
            share = min(max(finished.value[at + 1] / weight, node.lower), node.upper)
            finished.value[at] = (1.0 - share) * weight
            finished.value[at + 1] = share * weight
    else:
        weight = sum_weights(begin, end, unit, target, rows)
        for o in range(target.outputs):
            finished.value[at + o] = leaf_number(begin, end, o, unit, target, rows)
        if rules.bounded != 0:
            low = target.centers[0] + target.units[0] * node.lower
            high = target.centers[0] + target.units[0] * node.upper
            finished.value[at] = min(max(finished.value[at], low), high)
    finished.weight[rows.leaves_at + leaf] = weight
    finished.count[rows.leaves_at + leaf] = end - begin


@inline
def finish_tree(slot, target, rules, slots, rows, sums, finished):
    """Cut a grown tree back and write it: its splits, its leaves and, if they are kept, its rows by leaf."""
    facts = slots.facts[slot]
    used = slots.node_counts[slot].value
    nodes = slots.nodes
    at = slot * slots.max_nodes
    splits_at = slot * finished.max_splits
    facts.splits = number_nodes(used, nodes, at, finished)
    if rules.max_leaves > 0:
        keep_best_splits(rules.max_leaves, nodes, at, finished)
    if rules.prune >= 0.0:
        prune(rules.prune, used, nodes, at, finished)
    if rules.max_leaves > 0 or rules.prune >= 0.0:
        facts.splits = number_nodes(used, nodes, at, finished)
    # Nodes below a split that became a leaf again are not in the tree.
    reached = finished.below
    for i in range(used):
        reached[at + i] = 1 if i == 0 else 0
    for i in range(used):
        node = nodes[at + i]
        inside = reached[at + i]
        if inside != 0 and node.column >= 0:
            k = splits_at + finished.number[at + i]
            finished.column[k] = node.column
            finished.cut[k] = node.cut
            finished.above[k] = node.above
            finished.default_left[k] = node.default_left
            finished.gain[k] = node.gain
            for side in range(2):
                child = at + node.child + side
                reached[child] = 1
                inner = nodes[child].column >= 0
                finished.children[2 * k + side] = finished.number[child] if inner else ~finished.leaf[child]
        elif inside != 0:
            fill_leaf(
                node, np.int64(finished.leaf[at + i]), facts.weight_unit, target, rules, rows, sums, finished
            )
    if rules.keep_rows != 0:
        # The ranges of leaves follow each other from left to right.
        for i in range(facts.rows):
            finished.rows[slot * slots.capacity + i] = row_of(i, rows)
