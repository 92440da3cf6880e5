"""Prediction from raw values.

Eight rows walk down a tree in step: their loads do not wait for each other, and there is no branch to mispredict. A leaf
points to itself, so a row that arrives early stays. Rows are taken in blocks small enough that their values and one
tree are in cache together.

A tree's nodes are packed for walking: `links` holds (left child << 32 | column << 1 | missing goes right); the right child
is the next one. At a leaf the threshold is infinite and the left child is the leaf itself.
"""

import numpy as np

from spinney.jit import f32, f64, i32, i64, inline, kernel, out

LANES = 8
BLOCK = 256


@kernel
def pack_nodes(
    rank: i64, size: i64, sync: out(i64["32"]), trees: i64, nodes: i64, starts: i64["trees + 1"], feature: i32["nodes"],
    threshold: f64["nodes"], left: i32["nodes"], missing_right: i64["nodes"], links: out(i64["nodes"]),
    limits: out(f64["nodes"]), depths: out(i64["trees"]), depth: out(i32["nodes"]),
):
    """Pack the nodes of all trees and find each tree's depth."""
    for t in range(trees * rank // size, trees * (rank + 1) // size):
        first = starts[t]
        deepest = 0
        depth[first] = 0
        for i in range(first, starts[t + 1]):
            deepest = max(deepest, np.int64(depth[i]))
            if feature[i] >= 0:
                child = np.int64(left[i])
                depth[first + child] = depth[i] + 1
                depth[first + child + 1] = depth[i] + 1
                links[i] = (child << 32) | (np.int64(feature[i]) << 1) | missing_right[i]
                limits[i] = threshold[i]
            else:
                links[i] = np.int64(i - first) << 32
                limits[i] = np.inf
        depths[t] = deepest


@inline
def step(node, first, links, limits, x):
    """The node below for a row whose value of the node's column is x."""
    link = links[first + node]
    right = 1 if x > limits[first + node] else 0
    right = (link & 1) if x != x else right
    return (link >> 32) + right


@inline
def column_of(node, first, links):
    """Column that a node looks at."""
    return (links[first + node] & 4294967295) >> 1


@inline
def walk_eight(first, depth, links, limits, values, row, row_step, column_step):
    """Leaves of eight consecutive rows."""
    r0 = row * row_step
    r1 = r0 + row_step
    r2 = r1 + row_step
    r3 = r2 + row_step
    r4 = r3 + row_step
    r5 = r4 + row_step
    r6 = r5 + row_step
    r7 = r6 + row_step
    n0 = n1 = n2 = n3 = n4 = n5 = n6 = n7 = np.int64(0)
    for _ in range(depth):
        before = n0 + n1 + n2 + n3 + n4 + n5 + n6 + n7
        n0 = step(n0, first, links, limits, float(values[r0 + column_of(n0, first, links) * column_step]))
        n1 = step(n1, first, links, limits, float(values[r1 + column_of(n1, first, links) * column_step]))
        n2 = step(n2, first, links, limits, float(values[r2 + column_of(n2, first, links) * column_step]))
        n3 = step(n3, first, links, limits, float(values[r3 + column_of(n3, first, links) * column_step]))
        n4 = step(n4, first, links, limits, float(values[r4 + column_of(n4, first, links) * column_step]))
        n5 = step(n5, first, links, limits, float(values[r5 + column_of(n5, first, links) * column_step]))
        n6 = step(n6, first, links, limits, float(values[r6 + column_of(n6, first, links) * column_step]))
        n7 = step(n7, first, links, limits, float(values[r7 + column_of(n7, first, links) * column_step]))
        # Children come after their parents, so the sum stands still only when all eight have arrived.
        if n0 + n1 + n2 + n3 + n4 + n5 + n6 + n7 == before:
            break
    return n0, n1, n2, n3, n4, n5, n6, n7


@inline
def walk_one(first, links, limits, values, at, column_step):
    """Leaf of one row."""
    node = np.int64(0)
    while limits[first + node] != np.inf:
        x = float(values[at + column_of(node, first, links) * column_step])
        node = step(node, first, links, limits, x)
    return node


@inline
def predict_block(begin, end, outputs, trees, starts, depths, links, limits, leaf_value, values, steps, scores):
    """Add the trees to the scores of the rows begin..end-1."""
    row_step, column_step = steps
    output = 0
    for t in range(trees):
        first = starts[t]
        i = begin
        while i + LANES <= end:
            n0, n1, n2, n3, n4, n5, n6, n7 = walk_eight(
                first, depths[t], links, limits, values, i, row_step, column_step
            )
            at = i * outputs + output
            scores[at] += leaf_value[first + n0]
            scores[at + outputs] += leaf_value[first + n1]
            scores[at + 2 * outputs] += leaf_value[first + n2]
            scores[at + 3 * outputs] += leaf_value[first + n3]
            scores[at + 4 * outputs] += leaf_value[first + n4]
            scores[at + 5 * outputs] += leaf_value[first + n5]
            scores[at + 6 * outputs] += leaf_value[first + n6]
            scores[at + 7 * outputs] += leaf_value[first + n7]
            i += LANES
        while i < end:
            node = walk_one(first, links, limits, values, i * row_step, column_step)
            scores[i * outputs + output] += leaf_value[first + node]
            i += 1
        output = output + 1 if output + 1 < outputs else 0


@kernel
def predict_rows(
    rank: i64, size: i64, sync: out(i64["32"]), rows: i64, outputs: i64, trees: i64, all_trees: i64, nodes: i64,
    row_step: i64, column_step: i64, span32: i64, span64: i64,
    values32: f32["span32"], values64: f64["span64"], starts: i64["all_trees + 1"], depths: i64["all_trees"],
    links: i64["nodes"], limits: f64["nodes"], leaf_value: f64["nodes"], scores: out(f64["rows * outputs"]),
):
    """Add the first `trees` trees to row-major scores, tree after tree for every row."""
    steps = (row_step, column_step)
    for begin in range(rank * BLOCK, rows, size * BLOCK):
        end = min(begin + BLOCK, rows)
        if span32 > 0:
            predict_block(
                begin, end, outputs, trees, starts, depths, links, limits, leaf_value, values32, steps, scores
            )
        else:
            predict_block(
                begin, end, outputs, trees, starts, depths, links, limits, leaf_value, values64, steps, scores
            )


@inline
def leaves_of_row(at, trees, starts, links, limits, values, column_step, leaves, to):
    """Leaf of one row in each tree."""
    for t in range(trees):
        leaves[to + t] = walk_one(starts[t], links, limits, values, at, column_step)


@kernel
def leaf_rows(
    rank: i64, size: i64, sync: out(i64["32"]), rows: i64, trees: i64, all_trees: i64, nodes: i64, row_step: i64,
    column_step: i64, span32: i64, span64: i64,
    values32: f32["span32"], values64: f64["span64"], starts: i64["all_trees + 1"], links: i64["nodes"],
    limits: f64["nodes"], leaves: out(i32["rows * trees"]),
):
    """Leaf of every row in each of the first `trees` trees."""
    for i in range(rows * rank // size, rows * (rank + 1) // size):
        if span32 > 0:
            leaves_of_row(i * row_step, trees, starts, links, limits, values32, column_step, leaves, i * trees)
        else:
            leaves_of_row(i * row_step, trees, starts, links, limits, values64, column_step, leaves, i * trees)


@inline
def infinite_column(values, at, columns, column_step):
    """1 + a column of one row that is infinite, or 0."""
    unbounded = 0
    for c in range(columns):
        x = values[at + c * column_step]
        unbounded |= 1 if x == x and x - x != 0 else 0
    if unbounded != 0:
        for c in range(columns):
            x = float(values[at + c * column_step])
            if x == x and x - x != 0.0:
                return 1 + c
    return 0


@kernel
def find_infinite(
    rank: i64, size: i64, sync: out(i64["32"]), rows: i64, columns: i64, row_step: i64, column_step: i64, span32: i64,
    span64: i64, threads: i64, values32: f32["span32"], values64: f64["span64"], found: out(i64["threads"]),
):
    """Set found[rank] to 1 + the first column that holds an infinite value in this thread's rows, if there is one."""
    for i in range(rows * rank // size, rows * (rank + 1) // size):
        column = 0
        if span32 > 0:
            column = infinite_column(values32, i * row_step, columns, column_step)
        else:
            column = infinite_column(values64, i * row_step, columns, column_step)
        if column != 0 and (found[rank] == 0 or column < found[rank]):
            found[rank] = column
