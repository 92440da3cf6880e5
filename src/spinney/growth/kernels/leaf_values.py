"""Values of a finished tree's leaves, where they are not those of its growth.

Either the loss has found a value for each leaf (quantiles, for example), which is put into the tree within its limits:
`max_delta_step` and the directions of columns, then times the learning rate. Or a sample has grown the tree, and leaf values are
computed again from all rows.
"""

import numpy as np

from spinney.data.kernels.records import Gradients, LeafRows
from spinney.growth.kernels.nodes import write_tree
from spinney.growth.kernels.quantize import set_scales, sum_sizes
from spinney.growth.kernels.records import Control, NodeTable, PartialSums, TreeArrays, TreeRules
from spinney.jit import Member, f64, i32, i64, inline, item, kernel, out, own, record
from spinney.jit.barrier import meet
from spinney.jit.intrinsics import tail

# --- Leaf values found by the loss: within limits and bounds, times the learning rate


@record
class RefittedLeaves:
    """The value found for each leaf, and bounds of each node's value."""

    steps: out(f64["tree.max_nodes"])
    lower: out(f64["tree.max_nodes"])
    upper: out(f64["tree.max_nodes"])


@inline
def within(value, lower, upper):
    """The value, or the nearest bound."""
    return min(max(value, lower), upper)


@inline
def put_values(nodes, steps, max_step, tree):
    """Values of all nodes without the learning rate; an inner node has the mean of its children, by cover."""
    for back in range(nodes):
        number = nodes - 1 - back
        left = tree.left[number]
        if left == 0:
            tree.value[number] = (
                within(steps[number], -max_step, max_step) if max_step > 0.0 else steps[number]
            )
        else:
            a = tree.cover[left]
            b = tree.cover[left + 1]
            share = a / (a + b) if a + b > 0.0 else 0.5
            tree.value[number] = share * tree.value[left] + (1.0 - share) * tree.value[left + 1]


@inline
def bound_values(nodes, refitted, directions, tree):
    """Apply the directions of columns: values below a split by such a column stay on their side of the middle of both."""
    lower = refitted.lower
    upper = refitted.upper
    lower[0] = float("-inf")
    upper[0] = float("inf")
    for number in range(nodes):
        low = lower[number]
        high = upper[number]
        tree.value[number] = within(tree.value[number], low, high)
        left = tree.left[number]
        if left == 0:
            continue
        direction = directions[tree.feature[number]]
        middle = 0.5 * within(tree.value[left], low, high) + 0.5 * within(tree.value[left + 1], low, high)
        lower[left] = middle if direction < 0 else low
        upper[left] = middle if direction > 0 else high
        lower[left + 1] = middle if direction > 0 else low
        upper[left + 1] = middle if direction < 0 else high


@kernel
def write_values(
    by_leaf: LeafRows, refitted: RefittedLeaves, rules: TreeRules, control: Control["1"], tree: TreeArrays
):
    """Write the values that the loss has found to the latest tree."""
    nodes = by_leaf.grown[0].nodes
    put_values(nodes, refitted.steps, rules.penalties.max_step, tree)
    if rules.penalties.bounded != 0:
        bound_values(nodes, refitted, rules.columns.directions, tree)
    for number in range(nodes):
        tree.value[number] *= control[0].rate


# --- Leaf values from all rows, for a tree grown on a sample


@item
class LeafSums:
    """Sums of a leaf's rows."""

    g: i64
    h: i64
    count: i64
    place: i64  # of its next row in the list


SUMS = 3  # of a leaf: gradients, hessians, rows


@record(per_thread=True)
class SumsByLeaf:
    """Sums of a thread's rows."""

    of_leaf: out(LeafSums["table.max_nodes"])


@record
class CountedRows:
    """The rows that leaf values are computed from: those that count (with weight), and the leaf of every row."""

    count: i64
    total: i64  # of all ranks
    counted: i32["count"]
    leaf_of_row: i32["gradients.rows"]
    control: Control["1"]
    threads: i64
    partial_sums: PartialSums
    sums: SumsByLeaf
    by_leaf: LeafRows
    joined: out(i64["SUMS * table.max_nodes"])  # sums of each leaf over all threads, and over all ranks


@inline
def sum_leaves(begin, end, counted_rows, pairs, used, scales, sums):
    """Sum rows begin..end-1 of those that count by leaf: 64-bit fixed point, in any order."""
    for node in range(used):
        sums[node].g = 0
        sums[node].h = 0
        sums[node].count = 0
    for i in range(begin, end):
        row = np.int64(counted_rows.counted[i])
        leaf = sums[counted_rows.leaf_of_row[row]]
        leaf.g += np.int64(float(pairs[2 * row]) * scales.exact_g)
        leaf.h += np.int64(float(pairs[2 * row + 1]) * scales.exact_h)
        leaf.count += 1


@inline
def join_threads(size, counted_rows, table):
    """Add up the sums of all threads (thread 0)."""
    for number in range(table.state[0].used):
        g = np.int64(0)
        h = np.int64(0)
        count = np.int64(0)
        for t in range(size):
            leaf = own(counted_rows.sums, t).of_leaf[number]
            g += leaf.g
            h += leaf.h
            count += leaf.count
        counted_rows.joined[SUMS * number] = g
        counted_rows.joined[SUMS * number + 1] = h
        counted_rows.joined[SUMS * number + 2] = count


@inline
def put_sums(counted_rows, table):
    """Put the joined sums into the node table; rows are added up towards the root (thread 0)."""
    used = table.state[0].used
    joined = counted_rows.joined
    for back in range(used):
        number = used - 1 - back
        at = table.order[number]
        node = table.nodes[at]
        if node.child != 0:
            node.count = table.nodes[node.child].count + table.nodes[node.child + 1].count
            continue
        table.exact_g[at] = joined[SUMS * number]
        table.exact_h[at] = joined[SUMS * number + 1]
        node.count = joined[SUMS * number + 2]


@inline
def list_rows(rank, begin, end, counted_rows, table):
    """List the rows begin..end-1 of those that count by leaf; their places follow from the counts of all threads."""
    by_leaf = counted_rows.by_leaf
    mine = own(counted_rows.sums, rank).of_leaf
    before = np.int64(0)
    for number in range(table.state[0].used):
        to = before
        count = np.int64(0)  # no row names an inner node as its leaf
        for t in range(counted_rows.threads):
            held = own(counted_rows.sums, t).of_leaf[number].count
            count += held
            to += held if t < rank else np.int64(0)
        if rank == 0:
            by_leaf.begin[number] = before
            by_leaf.end[number] = before + count
        mine[number].place = to
        before += count
    for i in range(begin, end):
        row = counted_rows.counted[i]
        leaf = mine[counted_rows.leaf_of_row[row]]
        by_leaf.members[leaf.place] = row
        leaf.place += 1


@inline
def share_of(team, count):
    """The rows of a thread among those that count: first, and behind the last."""
    return count * team.rank // team.size, count * (team.rank + 1) // team.size


@kernel
def size_all(team: Member, counted_rows: CountedRows, gradients: Gradients, table: NodeTable):
    """Sum the sizes of all gradients, by thread."""
    sum_sizes(team, gradients, counted_rows.control[0].output, counted_rows.partial_sums)


@kernel
def sum_all(
    team: Member, counted_rows: CountedRows, gradients: Gradients, rules: TreeRules, table: NodeTable
):
    """Sum the rows that count by leaf."""
    output = counted_rows.control[0].output
    begin, end = share_of(team, counted_rows.count)
    if team.rank == 0:
        set_scales(team.size, gradients, output, counted_rows.total, rules, counted_rows.partial_sums, table)
    if not meet(team, team.size):
        return
    sum_leaves(
        begin,
        end,
        counted_rows,
        tail(gradients.pairs, 2 * gradients.rows * output),
        table.state[0].used,
        table.scales[0],
        own(counted_rows.sums, team.rank).of_leaf,
    )
    if not meet(team, team.size):
        return
    if team.rank == 0:
        join_threads(team.size, counted_rows, table)


@kernel
def refit_leaves(
    team: Member,
    counted_rows: CountedRows,
    gradients: Gradients,
    rules: TreeRules,
    table: NodeTable,
    tree: TreeArrays,
):
    """Compute value, cover and count of every node from the joined sums, and list the rows that count by leaf."""
    begin, end = share_of(team, counted_rows.count)
    if team.rank == 0:
        put_sums(counted_rows, table)
        write_tree(table, rules, counted_rows.control[0].rate, tree)
    list_rows(team.rank, begin, end, counted_rows, table)


@kernel
def add_by_row(
    team: Member,
    by_leaf: LeafRows,
    leaf_of_row: i32["gradients.rows"],
    tree: TreeArrays,
    gradients: Gradients,
):
    """Add to every row's score the value of its leaf."""
    rows = gradients.rows
    scores = tail(gradients.scores, rows * by_leaf.grown[0].output)
    for row in range(rows * team.rank // team.size, rows * (team.rank + 1) // team.size):
        scores[row] += tree.value[leaf_of_row[row]]
