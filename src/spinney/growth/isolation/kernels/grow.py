"""Growing isolation trees: each thread takes trees of its own, and parts their rows at random until they stand alone."""

import numpy as np

from spinney.growth.isolation.kernels.records import GrownTrees, Samples, Scratch
from spinney.growth.isolation.kernels.split import (
    draw_set, drawn_cut, find_column, in_set, missing_goes_left, place_strangers,
)  # fmt: skip
from spinney.jit import Member, inline, kernel, own
from spinney.sampling.kernels.random import mixed


@inline
def key_of_child(key, right):
    """Key of the random numbers of a node's left (0) or right (1) child."""
    return mixed(2 * key + right + 1)


@inline
def count_left(node, cut, is_set, mine):
    """How many of a node's rows have a value that goes left, and how many one that goes right."""
    left = np.int64(0)
    known = np.int64(0)
    for i in range(node.begin, node.end):
        x = mine.values[i]
        if x == x:
            known += 1
            goes = in_set(x, mine.set) if is_set else x <= cut
            left += 1 if goes else 0
    return left, known - left


@inline
def part_rows(node, cut, is_set, missing_left, mine):
    """Part a node's rows, each side in its order. Returns where the right side begins."""
    middle = node.begin
    others = np.int64(0)
    for i in range(node.begin, node.end):
        x = mine.values[i]
        row = mine.order[i]
        goes = x <= cut
        if x != x:
            goes = missing_left
        elif is_set:
            goes = in_set(x, mine.set)
        if goes:
            mine.order[middle] = row
            middle += 1
        else:
            mine.spare[others] = row
            others += 1
    for i in range(others):
        mine.order[middle + i] = mine.spare[i]
    for i in range(node.begin, node.end):
        mine.place[mine.order[i]] = i
    return middle


@inline
def split_node(node, tree, samples, grown, mine):
    """Split a node at random and write the split down. Returns where its right side begins, or -1 where it stays a leaf."""
    if node.end - node.begin < 2 or node.depth >= grown.max_depth:
        return np.int64(-1)
    candidate, low, high = find_column(node, tree, samples, mine)
    if candidate < 0:
        return np.int64(-1)
    column = samples.column[samples.starts[tree] + candidate]
    categories = samples.categories[column]
    cut = 0.0
    if categories > 0:
        draw_set(node, grown.words, mine)
    else:
        cut = drawn_cut(node.key, low, high)
    left, right = count_left(node, cut, categories > 0, mine)
    missing_left = missing_goes_left(node.key, left, right)
    if categories > 0:
        place_strangers(left < right or (left == right and missing_left), categories, grown.words, mine)
        number = tree * grown.max_sets + grown.sets[tree].value
        grown.set_node[number] = node.node
        for k in range(grown.words):
            grown.set_bits[number * grown.words + k] = mine.set[k]
        grown.sets[tree].value += 1
    at = tree * grown.max_nodes + node.node
    grown.feature[at] = column
    grown.threshold[at] = cut
    grown.default_left[at] = 1 if missing_left else 0
    return part_rows(node, cut, categories > 0, missing_left, mine)


@inline
def push(place, parent, right, node, begin, end, mine):
    """Let a child wait."""
    made = mine.stack[place]
    made.begin = begin
    made.end = end
    made.node = node + right
    made.depth = parent.depth + 1
    made.key = key_of_child(parent.key, right)
    made.first = parent.first
    made.many = parent.many


@inline
def take(waiting, node):
    """Copy a waiting node: where it stands, its children will."""
    node.begin = waiting.begin
    node.end = waiting.end
    node.node = waiting.node
    node.depth = waiting.depth
    node.key = waiting.key
    node.first = waiting.first
    node.many = waiting.many


@inline
def grow_tree(tree, samples, grown, mine):
    """Grow one tree depth first."""
    for i in range(samples.rows):
        mine.order[i] = i
        mine.place[i] = i
    many = samples.starts[tree + 1] - samples.starts[tree]
    for k in range(many):
        mine.list[k] = k
    root = mine.stack[0]
    root.begin = 0
    root.end = samples.rows
    root.node = 0
    root.depth = 0
    root.key = samples.seeds[tree]
    root.first = 0
    root.many = many
    grown.sets[tree].value = 0
    nodes = np.int64(1)
    top = np.int64(1)
    node = mine.current[0]
    while top > 0:
        top -= 1
        take(mine.stack[top], node)
        at = tree * grown.max_nodes + node.node
        grown.count[at] = node.end - node.begin
        grown.feature[at] = -1
        grown.threshold[at] = 0.0
        grown.left[at] = 0
        grown.default_left[at] = 0
        middle = split_node(node, tree, samples, grown, mine)
        if middle >= 0:
            grown.left[at] = nodes
            push(top, node, 1, nodes, middle, node.end, mine)
            push(top + 1, node, 0, nodes, node.begin, middle, mine)
            nodes += 2
            top += 2
    grown.nodes[tree] = nodes


@kernel
def grow_trees(team: Member, samples: Samples, grown: GrownTrees, scratch: Scratch):
    """Grow the trees of some samples."""
    mine = own(scratch, team.rank)
    for tree in range(team.rank, samples.trees, team.size):
        grow_tree(tree, samples, grown, mine)
