"""One tree, from gradients to leaf values: every thread of a team runs `grow_tree`.

The verbs are in files of their own: choose the next leaf (queue, node), partition its rows (partition, rows), build
histograms (histogram), search splits (search, children). Here they are put together. Thread 0 keeps the queue and the node
table; what the others need of its decisions is in `shared`, written between two meetings. Sums are integers, so how rows or
columns are shared out among threads never changes the tree.
"""

import numpy as np

from spinney.growth.children_kernels import build, search_children
from spinney.growth.layout import (
    ALL_ROWS, CLASS, COUNT, CURRENT, DEPTHWISE, FROM_PARENT, IN_BAG, LARGE, LEAVES, MAX_LEAVES,
    NODE_WIDTH, NODES, PARTED, SEARCH_LARGE, SEARCH_SMALL, SEED, SMALL, STATS, USED_NODES, WAITING,
)  # fmt: skip
from spinney.growth.node_kernels import close_child, open_node, start_tree, write_tree
from spinney.growth.partition_kernels import owned_rows
from spinney.growth.quantize_kernels import make_entries, set_scales
from spinney.growth.queue_kernels import pop
from spinney.growth.rows_kernels import add_scores, leaf_sums, partition
from spinney.jit import f32, f64, i32, i64, inline, kernel, out, u8, u16
from spinney.jit.barrier import meet

# Rows from which every thread partitions its own rows of a node; below, thread 0 does it for all, sooner than a meeting.
SHARE_PARTITION = 4096
# Rows from which a histogram is shared by rows and not by columns, where a row of bins fits one cache line.
SHARE_ROWS = 4096
LINE = 64


@inline
def take_rows(rank, size, in_bag, bag, pairs, pairs_at, control, scales, stretches, entries, parts):
    """Make the entries of this thread's rows, its stretch of the root."""
    begin = 0
    for t in range(rank):
        begin += owned_rows(in_bag, t, size)
    stretches[2 * rank] = begin
    stretches[2 * rank + 1] = begin + owned_rows(in_bag, rank, size)
    make_entries(
        rank, size, begin, in_bag, bag, control[ALL_ROWS], pairs, pairs_at, scales, control[SEED], entries, parts
    )


@inline
def work_on_node(
    rank, size, sync, stretches, entries, spare, bins, by_column, bins_of, used, count, table, sums, rulebook, finds
):
    """This thread's part of splitting the current node and searching its children. False: give up."""
    nodes, _, _, _, shared = table
    wide = bins[2]
    node = shared[CURRENT]
    small = shared[SMALL]
    large = shared[LARGE]
    subtracting = shared[FROM_PARENT] != 0
    spread = size > 1 and bins[3] <= LINE and nodes[small * NODE_WIDTH + COUNT] >= SHARE_ROWS
    by_rows = np.int64(1 if spread else 0)
    if shared[PARTED] == 0:
        partition(node, rank, rank + 1, size, stretches, entries, spare, by_column, bins_of, nodes)
        # A thread that sums its own rows need not wait until the others have partitioned theirs.
        if by_rows == 0 and not meet(sync, size):
            return False
    finds[1][2 * rank] = -1.0
    finds[1][2 * rank + 1] = -1.0
    if shared[SEARCH_SMALL] != 0 or subtracting:
        build(rank, size, small, by_rows, stretches, entries, bins, used, count, sums)
        if by_rows != 0 and not meet(sync, size):
            return False
        rest = large if subtracting else -1
        place = shared[SEARCH_SMALL] - 1
        search_children(
            rank, size, small, rest, place, by_rows, count, bins_of, wide, used, nodes, sums, rulebook, finds
        )
    if shared[SEARCH_LARGE] != 0 and not subtracting:
        # Nothing was kept of the parent: the larger child is built like the smaller one.
        if by_rows != 0 and not meet(sync, size):
            return False
        build(rank, size, large, np.int64(0), stretches, entries, bins, used, count, sums)
        place = shared[SEARCH_LARGE]
        # (np.int64: a plain constant would make the compiler build a second version of the function.)
        search_children(
            rank, size, large, np.int64(-1), place, np.int64(0), count, bins_of, wide, used, nodes, sums, rulebook,
            finds,
        )
    return meet(sync, size)


@inline
def next_node(size, stretches, entries, spare, by_column, bins_of, table, rulebook, finds):
    """Queue the current node's children, choose the node to split next, and partition it if it is small (thread 0)."""
    nodes, gains, heap, _, shared = table
    limits = rulebook[0]
    close_child(shared[SMALL], shared[SEARCH_SMALL], 0, size, finds[0], finds[1], table, rulebook)
    if shared[LARGE] != shared[SMALL]:
        close_child(shared[LARGE], shared[SEARCH_LARGE], 1, size, finds[0], finds[1], table, rulebook)
    if shared[WAITING] == 0 or shared[LEAVES] >= limits[MAX_LEAVES]:
        shared[CURRENT] = -1
        return
    node = pop(heap, shared[WAITING], nodes, gains, limits[DEPTHWISE])
    shared[WAITING] -= 1
    open_node(node, table, rulebook)
    if size == 1 or nodes[node * NODE_WIDTH + COUNT] < SHARE_PARTITION:
        partition(node, 0, size, size, stretches, entries, spare, by_column, bins_of, nodes)
        shared[PARTED] = 1


@kernel
def grow_tree(
    rank: i64, size: i64, sync: out(i64["32"]),
    rows: i64, columns: i64, outputs: i64, threads: i64, stride: i64, total: i64, cells_size: i64, width: i64,
    wide: i64, count: i64, max_nodes: i64, slots: i64, blocks: i64,
    bins8: u8["rows * stride * (1 - wide)"], bins16: u16["rows * stride * wide"],
    columns8: u8["rows * columns * (1 - wide)"], columns16: u16["rows * columns * wide"],
    bins_of: i64["columns"], used_columns: i64["columns"], used_starts: i64["columns + 1"],
    bag: i32["rows"], pairs: f32["2 * rows * outputs"], stats: f64["4 * blocks * outputs"],
    control: out(i64["8"]), limits: i64["8"], rules: f64["8"], scores: out(f64["rows * outputs"]),
    entries: out(i64["rows"]), spare: out(i64["rows"]), stretches: out(i64["2 * threads * max_nodes"]),
    cells: out(i64["threads * cells_size"]), shares: out(i32["threads * 3 * total"]),
    planes: out(i32["(slots + 2) * 3 * total"]),
    lines: out(i32["threads * 3 * width"]), line_gains: out(f64["threads * width"]),
    nodes: out(i64["16 * max_nodes"]), gains: out(f64["max_nodes"]), heap: out(i64["max_nodes"]),
    free: out(i64["slots"]), shared: out(i64["16"]), scales: out(f64["8"]), parts: out(i64["8 * threads"]),
    found: out(i64["16 * threads"]), found_gain: out(f64["2 * threads"]),
    drawn: out(i64["threads * columns"]), mask: out(u8["2 * threads * columns"]),
    feature: out(i32["max_nodes"]), cut_bin: out(i32["max_nodes"]), left: out(i32["max_nodes"]),
    default_left: out(u8["max_nodes"]), value: out(f64["max_nodes"]), gain: out(f64["max_nodes"]),
    cover: out(f64["max_nodes"]), counts: out(i64["max_nodes"]),
):
    """Grow one tree on the bag's rows, write it to `feature` ... `counts`, and add it to the scores if the bag is all rows."""
    in_bag = control[IN_BAG]
    output = control[CLASS]
    bins = (bins8, bins16, wide, stride)
    by_column = (columns8, columns16, wide, rows)
    used = (used_columns, used_starts, 1 if count == columns else 0)
    table = (nodes, gains, heap, free, shared)
    sums = (cells, cells_size, shares, planes, total)
    rulebook = (limits, rules, scales, control[SEED])
    scratch = (lines, line_gains, width, rank * 3 * width, rank * width)
    finds = (found, found_gain, drawn, mask, columns, scratch)
    if rank == 0:
        set_scales(stats, blocks, STATS * blocks * output, in_bag, scales)
    if not meet(sync, size):
        return
    take_rows(rank, size, in_bag, bag, pairs, 2 * rows * output, control, scales, stretches, entries, parts)
    if not meet(sync, size):
        return
    if rank == 0:
        start_tree(in_bag, table, rulebook, parts, size)
    if not meet(sync, size):
        return
    while shared[CURRENT] >= 0:
        if not work_on_node(
            rank, size, sync, stretches, entries, spare, bins, by_column, bins_of, used, count, table, sums, rulebook,
            finds,
        ):
            return
        if rank == 0:
            next_node(size, stretches, entries, spare, by_column, bins_of, table, rulebook, finds)
        if not meet(sync, size):
            return
    leaf_sums(rank, size, stretches, entries, pairs, 2 * rows * output, nodes, shared[USED_NODES], scales)
    if not meet(sync, size):
        return
    if rank == 0:
        control[NODES] = shared[USED_NODES]
        write_tree(table, rulebook, (feature, cut_bin, left, default_left, value, gain, cover, counts))
    if control[ALL_ROWS] != 0:
        if not meet(sync, size):
            return
        add_scores(rank, size, stretches, entries, scores, rows * output, nodes, shared[USED_NODES], value)
