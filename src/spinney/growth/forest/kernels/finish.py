"""Finishing a tree: splits in preorder, leaves from left to right, and what the leaves predict.

A node's rows are one range of records, in the order of the table. So everything about a leaf can be summed up from them once the
tree has its shape.
"""

import numpy as np

from spinney.growth.forest.kernels.access import row_of, target_of, weight_of
from spinney.growth.forest.kernels.bags import weight_in_bag
from spinney.growth.forest.kernels.shape import keep_best_splits, prune
from spinney.jit.inline import hole, inline

FINE = 1073741824.0  # 2**30: parts of a step


@inline
def number_nodes(used, nodes, at, finished):
    """Number splits in preorder and leaves from left to right. Children stand behind their parents. Returns the splits."""
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
    """What rounding to steps left over, in parts of a step."""
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
        # The record holds the class of the first output; others are far away.
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
    light = np.int64(1) << max(np.int64(0), 31 - bit_length(end - begin))
    same = True
    weights = np.int64(0)
    whole = np.int64(0)  # sums of products: steps with steps, steps of weight with parts of a target's step, the other way round
    fine = np.int64(0)
    light_weights = np.int64(0)
    light_sum = np.int64(0)
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
            part = fine_part(real, unit, weight, float(light))
            light_weights += part
            light_sum += part * steps
    if same:
        return first
    if light_weights <= -weights * light:  # rows that weigh next to nothing beside the others of the tree: a step each
        light_weights = np.int64(0)
        light_sum = np.int64(0)
    divisor = float(weights) + float(light_weights) / float(light)
    return center + size * ((float(whole) + float(fine) / FINE + float(light_sum) / float(light)) / divisor)


leaf_number = hole("what a leaf of some records predicts for an output")


@inline
def fill_leaf(node, leaf, unit, target, rules, rows, sums, finished):
    """What a leaf predicts, its weight and rows."""
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
    """Write a tree that has its shape: its splits, its leaves and, if they are kept, its rows by leaf."""
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
    # Below a split that was made a leaf again, nodes are not in the tree.
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
            fill_leaf(node, np.int64(finished.leaf[at + i]), facts.weight_unit, target, rules, rows, sums, finished)
    if rules.keep_rows != 0:
        # The ranges of leaves follow each other from left to right.
        for i in range(facts.rows):
            finished.rows[slot * slots.capacity + i] = row_of(i, rows)
