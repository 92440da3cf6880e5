"""Growing isolation trees: each thread grows some of the trees, and splits their rows at random until each one is alone.

First the records; then what is drawn at a node: a column, a cut or a set of categories, and the side of missing values; then the
split of a node, and the growth of a tree depth first.
"""

import numpy as np

from spinney.jit import Counter, Member, f64, i32, i64, inline, item, kernel, out, own, record, u8
from spinney.sampling.kernels.bags import fine_unit
from spinney.sampling.kernels.random import (
    LOW_32,
    PURPOSE_CUT,
    PURPOSE_SET,
    PURPOSE_SIDE,
    PURPOSE_SPLIT,
    key_of_child,
    random_bits,
)

# --- What trees are grown from, the trees, and the memory of a thread


@record
class Samples:
    """The values of the rows of some trees, side by side, or the stored entries of a sparse table.

    A tree's *candidates* are the columns that were drawn for it.
    """

    trees: i64
    rows: i64  # of each tree
    columns: i64
    candidates: i64  # of all trees
    dense: i64  # 1: values side by side
    entries: i64
    absent: f64  # value of an entry that is not stored
    values: f64["dense * trees * rows * columns"]
    starts: i64["trees + 1"]  # candidates of each tree
    column: i32["candidates"]
    entry_starts: i64["(candidates + 1) * (1 - dense)"]
    entry_row: i32["entries"]  # place among the rows of its tree
    entry_value: f64["entries"]
    categories: i64["columns"]  # how many a column has, 0: it holds numbers
    seeds: i64["trees"]


@record
class IsolationTrees:
    """Nodes of some trees, one tree after another; node 0 is the root, a right child follows the left one."""

    max_nodes: i64
    max_depth: i64
    max_sets: i64
    words: i64  # of a set of categories
    feature: out(i32["samples.trees * max_nodes"])
    threshold: out(f64["samples.trees * max_nodes"])
    left: out(i32["samples.trees * max_nodes"])
    default_left: out(u8["samples.trees * max_nodes"])
    count: out(i64["samples.trees * max_nodes"])
    set_node: out(i64["samples.trees * max_sets"])
    set_bits: out(i64["samples.trees * max_sets * words"])
    nodes: out(i64["samples.trees"])
    sets: out(Counter["samples.trees"])


@item
class PendingSplit:
    """A node that is to be split: its rows, and the candidates that may still split them, a range of `list`."""

    begin: i64
    end: i64
    node: i64
    depth: i64
    key: i64
    first_candidate: i64
    candidate_count: i64


@record(per_thread=True)
class IsolationScratch:
    """A thread's own memory."""

    candidates: i64  # most of a tree
    stack: out(PendingSplit["grown.max_depth + 2"])
    current: out(PendingSplit["1"])
    order: out(i32["samples.rows"])  # rows by node
    place: out(i32["samples.rows"])  # position of each row in `order`
    spare: out(i32["samples.rows"])
    values: out(f64["samples.rows"])  # of a column, in the order of `order`
    list: out(i32["(grown.max_depth + 2) * candidates"])
    seen: out(i64["grown.words"])  # categories of a node
    set: out(i64["grown.words"])  # that of the node being split


# --- Draws of a node: a column, its cut, and the side of missing values.
#
# They depend on the node's rows and its key alone, which is made from the seed of the tree and the path from the root.


# Columns that are drawn before all are checked: mostly the first one can split the node.
TRIES = 8
SET_TRIES = 64
CATEGORY_BITS = 20  # of a category's number


@inline
def value_range(candidate, begin, end, tree, samples, mine):
    """The least and the largest value of a candidate among a node's rows; low is above high where all are missing.

    Values of a dense table are stored on the way.
    """
    at = samples.starts[tree] + candidate
    low = float("inf")
    high = float("-inf")
    if samples.dense != 0:
        first = tree * samples.rows * samples.columns + np.int64(samples.column[at])
        for i in range(begin, end):
            x = samples.values[first + np.int64(mine.order[i]) * samples.columns]
            mine.values[i] = x
            low = x if x < low else low
            high = x if x > high else high
        return low, high
    stored = np.int64(0)
    for e in range(samples.entry_starts[at], samples.entry_starts[at + 1]):
        i = np.int64(mine.place[samples.entry_row[e]])
        if i >= begin and i < end:
            stored += 1
            x = samples.entry_value[e]
            low = x if x < low else low
            high = x if x > high else high
    if stored < end - begin:
        low = samples.absent if samples.absent < low else low
        high = samples.absent if samples.absent > high else high
    return low, high


@inline
def read_values(candidate, begin, end, tree, samples, mine):
    """Read a candidate's values of a node's rows, unless `value_range` has stored them."""
    if samples.dense == 0:
        at = samples.starts[tree] + candidate
        for i in range(begin, end):
            mine.values[i] = samples.absent
        for e in range(samples.entry_starts[at], samples.entry_starts[at + 1]):
            i = np.int64(mine.place[samples.entry_row[e]])
            if i >= begin and i < end:
                mine.values[i] = samples.entry_value[e]


@inline
def draw_place(key, draw, candidate_count):
    """Draw one of so many places."""
    return (((random_bits(key, PURPOSE_SPLIT, draw) >> 32) & LOW_32) * candidate_count) >> 32


@inline
def find_column(node, tree, samples, mine):
    """Draw one of the columns that can split a node's rows, and read it. Returns the candidate, or -1, and its range.

    All of them have the same chance. Where most columns cannot split the node, those that can are listed, also for the nodes
    below.
    """
    for draw in range(min(np.int64(TRIES), node.candidate_count)):
        candidate = np.int64(
            mine.list[node.first_candidate + draw_place(node.key, draw, node.candidate_count)]
        )
        low, high = value_range(candidate, node.begin, node.end, tree, samples, mine)
        if low < high:
            read_values(candidate, node.begin, node.end, tree, samples, mine)
            return candidate, low, high
    behind = node.first_candidate + node.candidate_count
    found = np.int64(0)
    for k in range(node.candidate_count):
        candidate = np.int64(mine.list[node.first_candidate + k])
        low, high = value_range(candidate, node.begin, node.end, tree, samples, mine)
        if low < high:
            mine.list[behind + found] = candidate
            found += 1
    node.first_candidate = behind
    node.candidate_count = found
    if found == 0:
        return np.int64(-1), 0.0, 0.0
    candidate = np.int64(mine.list[behind + draw_place(node.key, np.int64(TRIES), found)])
    low, high = value_range(candidate, node.begin, node.end, tree, samples, mine)
    read_values(candidate, node.begin, node.end, tree, samples, mine)
    return candidate, low, high


@inline
def draw_cut(key, low, high):
    """Draw a threshold, uniform from low to high: low goes left of it, and high right."""
    unit = fine_unit(random_bits(key, PURPOSE_CUT, 0))
    width = high - low
    # The width of a very wide range overflows; half of it does not.
    cut = low + unit * width if width < float("inf") else 2.0 * (0.5 * low + unit * (0.5 * high - 0.5 * low))
    return cut if cut >= low and cut < high else low


@inline
def in_set(x, words):
    """Whether a category belongs to a set."""
    number = np.int64(x)
    return (words[number >> 6] >> (number & 63)) & 1 != 0


@inline
def draw_set(node, words, mine):
    """Draw which of a node's categories go left: some, but not all. Every such set has the same chance."""
    for k in range(words):
        mine.seen[k] = 0
    for i in range(node.begin, node.end):
        if mine.values[i] == mine.values[i]:
            number = np.int64(mine.values[i])
            mine.seen[number >> 6] |= np.int64(1) << (number & 63)
    for attempt in range(SET_TRIES):
        left = np.int64(0)
        right = np.int64(0)
        for k in range(words):
            chosen = np.int64(0)
            if mine.seen[k] != 0:
                chosen = random_bits(node.key, PURPOSE_SET, (attempt << CATEGORY_BITS) + k) & mine.seen[k]
            mine.set[k] = chosen
            left |= chosen
            right |= mine.seen[k] ^ chosen
        if left != 0 and right != 0:
            return
    # Hardly ever: the first category alone.
    alone = np.int64(0)
    for k in range(words):
        mine.set[k] = mine.seen[k] & -mine.seen[k] if alone == 0 else 0
        alone |= mine.seen[k]


@inline
def place_unseen(to_left, categories, words, mine):
    """Send the categories that no row of the node has to one side: to the left, or to the right, where the set has 0."""
    if to_left:
        for k in range(words):
            rest = min(categories - 64 * k, np.int64(64))
            inside = (np.int64(1) << rest) - 1 if rest < 64 else np.int64(-1)
            mine.set[k] |= inside & ~mine.seen[k]


@inline
def missing_goes_left(key, left, right):
    """Draw the side of missing values, with chances in proportion to the rows that have a value on each side."""
    return fine_unit(random_bits(key, PURPOSE_SIDE, 0)) * float(left + right) < float(left)


# --- Splitting nodes


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
def partition_rows(node, cut, is_set, missing_left, mine):
    """Partition a node's rows, each side in its order. Returns where the right side begins."""
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
    """Split a node at random and write the split. Returns where its right side begins, or -1 if it stays a leaf."""
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
        cut = draw_cut(node.key, low, high)
    left, right = count_left(node, cut, categories > 0, mine)
    missing_left = missing_goes_left(node.key, left, right)
    if categories > 0:
        place_unseen(left < right or (left == right and missing_left), categories, grown.words, mine)
        number = tree * grown.max_sets + grown.sets[tree].value
        grown.set_node[number] = node.node
        for k in range(grown.words):
            grown.set_bits[number * grown.words + k] = mine.set[k]
        grown.sets[tree].value += 1
    at = tree * grown.max_nodes + node.node
    grown.feature[at] = column
    grown.threshold[at] = cut
    grown.default_left[at] = 1 if missing_left else 0
    return partition_rows(node, cut, categories > 0, missing_left, mine)


@inline
def push_child(place, parent, right, node, begin, end, mine):
    """Put a child on the stack."""
    pending = mine.stack[place]
    pending.begin = begin
    pending.end = end
    pending.node = node + right
    pending.depth = parent.depth + 1
    pending.key = key_of_child(parent.key, right)
    pending.first_candidate = parent.first_candidate
    pending.candidate_count = parent.candidate_count


@inline
def copy_pending(pending, node):
    """Copy a node from the stack: its children will overwrite it there."""
    node.begin = pending.begin
    node.end = pending.end
    node.node = pending.node
    node.depth = pending.depth
    node.key = pending.key
    node.first_candidate = pending.first_candidate
    node.candidate_count = pending.candidate_count


@inline
def grow_tree(tree, samples, grown, mine):
    """Grow one tree depth first."""
    for i in range(samples.rows):
        mine.order[i] = i
        mine.place[i] = i
    candidate_count = samples.starts[tree + 1] - samples.starts[tree]
    for k in range(candidate_count):
        mine.list[k] = k
    root = mine.stack[0]
    root.begin = 0
    root.end = samples.rows
    root.node = 0
    root.depth = 0
    root.key = samples.seeds[tree]
    root.first_candidate = 0
    root.candidate_count = candidate_count
    grown.sets[tree].value = 0
    nodes = np.int64(1)
    top = np.int64(1)
    node = mine.current[0]
    while top > 0:
        top -= 1
        copy_pending(mine.stack[top], node)
        at = tree * grown.max_nodes + node.node
        grown.count[at] = node.end - node.begin
        grown.feature[at] = -1
        grown.threshold[at] = 0.0
        grown.left[at] = 0
        grown.default_left[at] = 0
        middle = split_node(node, tree, samples, grown, mine)
        if middle >= 0:
            grown.left[at] = nodes
            push_child(top, node, 1, nodes, middle, node.end, mine)
            push_child(top + 1, node, 0, nodes, node.begin, middle, mine)
            nodes += 2
            top += 2
    grown.nodes[tree] = nodes


@kernel
def grow_trees(team: Member, samples: Samples, grown: IsolationTrees, scratch: IsolationScratch):
    """Grow the trees of some samples."""
    mine = own(scratch, team.rank)
    for tree in range(team.rank, samples.trees, team.size):
        grow_tree(tree, samples, grown, mine)
