"""Prediction from raw values.

There are eight walks at the same time: eight rows down one tree (`walk_rows`), one row down eight trees (`walk_trees`), or any
eight, from nodes inside of their trees (`walk_eight`, a frame). Their loads do not wait for each other, and there is no branch to
mispredict. A leaf points to itself, so a walk that arrives early stays. Rows are taken in blocks small enough that their values
and one tree are in cache together. A block without missing values is walked without checks for them.

The loops of `walk_rows` and `walk_trees` are not made from the frame: with it trees of 31 leaves take 1.01 to 1.02 times as long,
though the loop has 100 instructions in place of 99.

A node is packed into two int64 side by side: place of the left child << 32 | missing goes right << 31 | categorical << 30 |
column, and the bits of its threshold or, for a categorical column, the start of its set in `sets`. The right child follows the
left one. At a leaf the threshold is infinite and the left child is the leaf itself. While walking, a node is given by its place:
twice its number.
"""

import numpy as np

from spinney.jit import Member, f64, hole, i32, i64, inline, kernel, out, own, record, u8
from spinney.jit.intrinsics import bits_of, from_bits
from spinney.model.kernels.records import LANES, PackedForest, ValueFlags, Values

BLOCK = 256
INFINITE = 9218868437227405312  # the bits of infinity
CATEGORICAL = 1073741824
COLUMN = 1073741823


@record
class Trees:
    """The trees of a forest, in the arrays of a model."""

    trees: i64
    nodes: i64
    sets: i64
    starts: i64["trees + 1"]
    feature: i32["nodes"]
    threshold: f64["nodes"]
    left: i32["nodes"]
    default_left: u8["nodes"]
    set_node: i64["sets"]
    set_start: i64["sets + 1"]


@kernel
def pack_nodes(
    forest: Trees,
    packed: out(i64["2 * forest.nodes"]),
    depths: out(i64["forest.trees"]),
    depth: out(i32["forest.nodes"]),
):
    """Pack the nodes of all trees and find each tree's depth."""
    for t in range(forest.trees):
        first = forest.starts[t]
        deepest = 0
        depth[first] = 0
        for i in range(first, forest.starts[t + 1]):
            deepest = max(deepest, np.int64(depth[i]))
            if forest.feature[i] >= 0:
                child = np.int64(forest.left[i])
                depth[first + child] = depth[i] + 1
                depth[first + child + 1] = depth[i] + 1
                packed[2 * i] = (
                    (2 * child << 32)
                    | ((1 - np.int64(forest.default_left[i])) << 31)
                    | np.int64(forest.feature[i])
                )
                packed[2 * i + 1] = bits_of(forest.threshold[i])
            else:
                packed[2 * i] = np.int64(2 * (i - first)) << 32
                packed[2 * i + 1] = INFINITE
        depths[t] = deepest
    for s in range(forest.sets):
        at = 2 * forest.set_node[s]
        packed[at] |= CATEGORICAL
        packed[at + 1] = forest.set_start[s]


@inline
def step(node, first, packed, values, row, column_step, missing, sets):
    """The node below.

    `missing` is None if no value of the row is missing, `column_step` if the columns of a row are neighbours, `sets` if no
    column is categorical: then the compiler leaves out what is not needed.
    """
    link = packed[first + node]
    column = link & COLUMN
    if column_step is not None:
        column = column * column_step
    x = float(values[row + column])
    right = 2 if x > from_bits(packed[first + node + 1]) else 0
    if sets is not None:
        if link & CATEGORICAL != 0:
            number = np.int64(x) if x == x else np.int64(0)
            right = 0 if (sets[packed[first + node + 1] + (number >> 6)] >> (number & 63)) & 1 != 0 else 2
    if missing is not None:
        right = ((link >> 30) & 2) if x != x else right
    return (link >> 32) + right


@inline
def walk_rows(first, depth, packed, values, row, row_step, column_step, missing, sets):
    """Leaves of eight consecutive rows in one tree."""
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
        n0 = step(n0, first, packed, values, r0, column_step, missing, sets)
        n1 = step(n1, first, packed, values, r1, column_step, missing, sets)
        n2 = step(n2, first, packed, values, r2, column_step, missing, sets)
        n3 = step(n3, first, packed, values, r3, column_step, missing, sets)
        n4 = step(n4, first, packed, values, r4, column_step, missing, sets)
        n5 = step(n5, first, packed, values, r5, column_step, missing, sets)
        n6 = step(n6, first, packed, values, r6, column_step, missing, sets)
        n7 = step(n7, first, packed, values, r7, column_step, missing, sets)
        # Children come after their parents, so the sum stands still only when all eight have arrived.
        if n0 + n1 + n2 + n3 + n4 + n5 + n6 + n7 == before:
            break
    return n0, n1, n2, n3, n4, n5, n6, n7


@inline
def walk_trees(starts, t, packed, values, row, column_step, missing, sets):
    """Leaves of one row in eight consecutive trees."""
    f0 = 2 * starts[t]
    f1 = 2 * starts[t + 1]
    f2 = 2 * starts[t + 2]
    f3 = 2 * starts[t + 3]
    f4 = 2 * starts[t + 4]
    f5 = 2 * starts[t + 5]
    f6 = 2 * starts[t + 6]
    f7 = 2 * starts[t + 7]
    n0 = n1 = n2 = n3 = n4 = n5 = n6 = n7 = np.int64(0)
    while True:
        before = n0 + n1 + n2 + n3 + n4 + n5 + n6 + n7
        n0 = step(n0, f0, packed, values, row, column_step, missing, sets)
        n1 = step(n1, f1, packed, values, row, column_step, missing, sets)
        n2 = step(n2, f2, packed, values, row, column_step, missing, sets)
        n3 = step(n3, f3, packed, values, row, column_step, missing, sets)
        n4 = step(n4, f4, packed, values, row, column_step, missing, sets)
        n5 = step(n5, f5, packed, values, row, column_step, missing, sets)
        n6 = step(n6, f6, packed, values, row, column_step, missing, sets)
        n7 = step(n7, f7, packed, values, row, column_step, missing, sets)
        if n0 + n1 + n2 + n3 + n4 + n5 + n6 + n7 == before:
            break
    return f0 + n0, f1 + n1, f2 + n2, f3 + n3, f4 + n4, f5 + n5, f6 + n6, f7 + n7


begin_walk = hole(
    "where walk k of a task begins: its node, the place of its tree in `packed`, that of its row in `values`"
)
end_walk = hole("take the node where walk k of a task has ended, in the tree at `first`")


@inline
def walk_eight(k, task, packed, values, column_step, missing, sets):
    """Do walks k to k + 7 of a task, each from a node of its own; `column_step`, `missing` and `sets` are as in `step`."""
    n0, f0, r0 = begin_walk(k, task)
    n1, f1, r1 = begin_walk(k + 1, task)
    n2, f2, r2 = begin_walk(k + 2, task)
    n3, f3, r3 = begin_walk(k + 3, task)
    n4, f4, r4 = begin_walk(k + 4, task)
    n5, f5, r5 = begin_walk(k + 5, task)
    n6, f6, r6 = begin_walk(k + 6, task)
    n7, f7, r7 = begin_walk(k + 7, task)
    while True:
        before = n0 + n1 + n2 + n3 + n4 + n5 + n6 + n7
        n0 = step(n0, f0, packed, values, r0, column_step, missing, sets)
        n1 = step(n1, f1, packed, values, r1, column_step, missing, sets)
        n2 = step(n2, f2, packed, values, r2, column_step, missing, sets)
        n3 = step(n3, f3, packed, values, r3, column_step, missing, sets)
        n4 = step(n4, f4, packed, values, r4, column_step, missing, sets)
        n5 = step(n5, f5, packed, values, r5, column_step, missing, sets)
        n6 = step(n6, f6, packed, values, r6, column_step, missing, sets)
        n7 = step(n7, f7, packed, values, r7, column_step, missing, sets)
        if n0 + n1 + n2 + n3 + n4 + n5 + n6 + n7 == before:
            break
    end_walk(k, n0, f0, task)
    end_walk(k + 1, n1, f1, task)
    end_walk(k + 2, n2, f2, task)
    end_walk(k + 3, n3, f3, task)
    end_walk(k + 4, n4, f4, task)
    end_walk(k + 5, n5, f5, task)
    end_walk(k + 6, n6, f6, task)
    end_walk(k + 7, n7, f7, task)


@inline
def walk_one(first, packed, values, row, column_step, sets):
    """Leaf of one row in one tree."""
    node = np.int64(0)
    while packed[2 * first + node + 1] != INFINITE:
        node = step(node, 2 * first, packed, values, row, column_step, 1, sets)
    return node >> 1


@inline
def scan_missing(begin, end, table, values):
    """1 if a value of the rows is missing, plus 2 if one is infinite."""
    row_step = table.row_step
    column_step = table.column_step
    missing = 0
    infinite = 0
    for i in range(begin, end):
        for c in range(table.columns):
            x = values[i * row_step + c * column_step]
            missing |= 1 if x != x else 0
            infinite |= 1 if abs(x) == np.inf else 0
    return missing + 2 * infinite


@inline
def predict_eights(begin, end, outputs, trees, forest, values, row_step, column_step, missing, sets, scores):
    """Add the trees to the scores of rows begin..end-1, eight at a time; returns the first row left over.

    `column_step`, `missing` and `sets` may be None, see `step`.
    """
    packed = forest.packed
    value = forest.value
    stop = begin + (end - begin) // LANES * LANES
    output = 0
    for t in range(trees):
        first = 2 * forest.starts[t]
        for i in range(begin, stop, LANES):
            n0, n1, n2, n3, n4, n5, n6, n7 = walk_rows(
                first, forest.depths[t], packed, values, i, row_step, column_step, missing, sets
            )
            at = i * outputs + output
            scores[at] += value[(first + n0) >> 1]
            scores[at + outputs] += value[(first + n1) >> 1]
            scores[at + 2 * outputs] += value[(first + n2) >> 1]
            scores[at + 3 * outputs] += value[(first + n3) >> 1]
            scores[at + 4 * outputs] += value[(first + n4) >> 1]
            scores[at + 5 * outputs] += value[(first + n5) >> 1]
            scores[at + 6 * outputs] += value[(first + n6) >> 1]
            scores[at + 7 * outputs] += value[(first + n7) >> 1]
        output = output + 1 if output + 1 < outputs else 0
    return stop


@inline
def predict_one(row, outputs, trees, forest, values, row_step, column_step, sets, scores):
    """Add the trees to the scores of one row, in the same order."""
    starts = forest.starts
    packed = forest.packed
    value = forest.value
    at = row * outputs
    t = 0
    while t + LANES <= trees:
        n0, n1, n2, n3, n4, n5, n6, n7 = walk_trees(
            starts, t, packed, values, row * row_step, column_step, 1, sets
        )
        scores[at + t % outputs] += value[n0 >> 1]
        scores[at + (t + 1) % outputs] += value[n1 >> 1]
        scores[at + (t + 2) % outputs] += value[n2 >> 1]
        scores[at + (t + 3) % outputs] += value[n3 >> 1]
        scores[at + (t + 4) % outputs] += value[n4 >> 1]
        scores[at + (t + 5) % outputs] += value[n5 >> 1]
        scores[at + (t + 6) % outputs] += value[n6 >> 1]
        scores[at + (t + 7) % outputs] += value[n7 >> 1]
        t += LANES
    while t < trees:
        node = walk_one(starts[t], packed, values, row * row_step, column_step, sets)
        scores[at + t % outputs] += value[starts[t] + node]
        t += 1


@inline
def predict_block(begin, end, outputs, trees, forest, table, values, sets, scores):
    """Add the trees to the scores of a block of rows. Returns 1 if a value is infinite, without adding anything, else 0."""
    flags = scan_missing(begin, end, table, values)
    if flags >= 2:
        return 1
    row_step = table.row_step
    column_step = table.column_step
    row = begin
    if sets is not None:
        row = predict_eights(
            begin, end, outputs, trees, forest, values, row_step, column_step, 1, sets, scores
        )
    if sets is None:
        if column_step != 1:
            row = predict_eights(
                begin, end, outputs, trees, forest, values, row_step, column_step, 1, None, scores
            )
        elif flags == 1:
            row = predict_eights(begin, end, outputs, trees, forest, values, row_step, None, 1, None, scores)
        else:
            row = predict_eights(
                begin, end, outputs, trees, forest, values, row_step, None, None, None, scores
            )
    while row < end:
        predict_one(row, outputs, trees, forest, values, row_step, column_step, sets, scores)
        row += 1
    return 0


@kernel
def predict_rows(
    team: Member,
    trees: i64,
    outputs: i64,
    forest: PackedForest,
    table: Values,
    scores: out(f64["table.rows * outputs"]),
    value_flags: ValueFlags,
):
    """Add the first `trees` trees to row-major scores, tree after tree for every row. Categories come as float64.

    If the thread finds an infinite value, its `flags` become 1.
    """
    flags = own(value_flags, team.rank).flags
    for begin in range(team.rank * BLOCK, table.rows, team.size * BLOCK):
        end = min(begin + BLOCK, table.rows)
        if table.span32 > 0:
            infinite = predict_block(begin, end, outputs, trees, forest, table, table.values32, None, scores)
        elif forest.words == 0:
            infinite = predict_block(begin, end, outputs, trees, forest, table, table.values64, None, scores)
        else:
            infinite = predict_block(
                begin, end, outputs, trees, forest, table, table.values64, forest.sets, scores
            )
        flags[0] |= infinite


@inline
def leaves_of(begin, end, trees, forest, table, values, sets, leaves):
    """Leaves of a block of rows in each tree. Returns 1 if a value is infinite, without walking, else 0."""
    if scan_missing(begin, end, table, values) >= 2:
        return 1
    for i in range(begin, end):
        for t in range(trees):
            leaves[i * trees + t] = walk_one(
                forest.starts[t], forest.packed, values, i * table.row_step, table.column_step, sets
            )
    return 0


@kernel
def leaf_rows(
    team: Member,
    trees: i64,
    forest: PackedForest,
    table: Values,
    leaves: out(i32["table.rows * trees"]),
    value_flags: ValueFlags,
):
    """Leaf of every row in each of the first `trees` trees; infinite values as in `predict_rows`."""
    flags = own(value_flags, team.rank).flags
    for begin in range(team.rank * BLOCK, table.rows, team.size * BLOCK):
        end = min(begin + BLOCK, table.rows)
        if table.span32 > 0:
            infinite = leaves_of(begin, end, trees, forest, table, table.values32, None, leaves)
        elif forest.words == 0:
            infinite = leaves_of(begin, end, trees, forest, table, table.values64, None, leaves)
        else:
            infinite = leaves_of(begin, end, trees, forest, table, table.values64, forest.sets, leaves)
        flags[0] |= infinite
