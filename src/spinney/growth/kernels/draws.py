"""Which columns may split a node: those drawn for the tree, its level and the node, if interaction constraints permit them.

The draw of a node is seeded by its path from the root, so it does not depend on when the node was made. Both children of a node
have the same path of columns, so the constraints permit the same columns to both: one mask, which stands in their task. Every
thread joins it with the columns drawn.
"""

import numpy as np

from spinney.jit import inline
from spinney.jit.intrinsics import tail
from spinney.sampling.kernels.random import PURPOSE_LEVEL, PURPOSE_NODE, choose, choose_by_weight, mixed

ROOT = 1  # its path


@inline
def path_of_child(path, right):
    """Path of a node's left (0) or right (1) child."""
    return mixed(2 * path + right)


@inline
def is_among(number, numbers, begin, end):
    """Whether a number is among some ascending numbers."""
    low = begin
    high = end
    while low < high:
        middle = (low + high) >> 1
        if numbers[middle] < number:
            low = middle + 1
        else:
            high = middle
    return low < end and numbers[low] == number


@inline
def permit_all(columns, permitted):
    """Any column may split the root."""
    for j in range(columns):
        permitted[j] = 1


@inline
def permit_columns(number, nodes, rules, permitted):
    """Mark the columns that may split the children of a node: those of its path, and of each group that holds all of these."""
    starts = rules.group_starts
    members = rules.group_members
    for j in range(rules.columns):
        permitted[j] = 0
    for group in range(rules.group_count):
        holds = True
        above = number
        while holds and above >= 0:
            holds = is_among(nodes[above].column, members, starts[group], starts[group + 1])
            above = nodes[above].parent
        if holds:
            for k in range(starts[group], starts[group + 1]):
                permitted[members[k]] = 1
    above = number
    while above >= 0:
        permitted[nodes[above].column] = 1
        above = nodes[above].parent


@inline
def mark_columns(node, axis, rules, seed, permitted, mine, mask):
    """Mark the columns that may split a node: permitted ones among those drawn per level, then per node, an exact number."""
    drawn = mine.drawn
    left = axis.extent[0].columns
    for j in range(mine.columns):
        mask[j] = 0
    for j in range(left):
        drawn[j] = axis.used_columns[j]
    for stage in range(2):
        wanted = rules.per_level if stage == 0 else rules.per_node
        purpose = PURPOSE_LEVEL + node.depth if stage == 0 else np.int64(PURPOSE_NODE)
        key = seed if stage == 0 else mixed(seed ^ node.path)
        if wanted > 0 and rules.weighted != 0:
            left = choose_by_weight(drawn, 0, left, wanted, key, purpose, rules.weights, mine.keys, 0)
        elif wanted > 0:
            left = choose(drawn, 0, left, wanted, key, purpose)
    for j in range(left):
        column = drawn[j]
        mask[column] = 1 if rules.group_count == 0 or permitted[column] != 0 else 0


@inline
def same_columns(rules):
    """Whether every node may be split by the same columns."""
    return rules.columns.per_level == 0 and rules.columns.per_node == 0 and rules.columns.group_count == 0


@inline
def any_column(axis, rules):
    """Whether every column may split every node, in either direction."""
    every = same_columns(rules) and axis.extent[0].columns == axis.columns
    return every and rules.penalties.bounded == 0


@inline
def columns_of_children(small, large, both, axis, rules, seed, permitted, mine):
    """Marks of the columns that may split two nodes, in a thread's memory; only of the first node unless `both`."""
    if same_columns(rules):
        return axis.allowed, axis.allowed
    mask_small = mine.mask
    mask_large = tail(mine.mask, mine.columns)
    mark_columns(small, axis, rules.columns, seed, permitted, mine, mask_small)
    if both:
        mark_columns(large, axis, rules.columns, seed, permitted, mine, mask_large)
    return mask_small, mask_large
