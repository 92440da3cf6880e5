"""One tree, from gradients to leaf values: every thread of a team runs `grow_tree`.

The verbs are in files of their own: choose the next leaf (queue, node), partition its rows (partition, rows), build
histograms (histogram), search splits (search, children). Here they are put together. Thread 0 keeps the queue and the node
table; what the others need of its decisions is in `shared`, written between two meetings. Sums are integers, so how rows or
columns are shared out among threads never changes the tree.
"""

import numpy as np

from spinney.growth.children_kernels import build, search_children
from spinney.growth.constraint_kernels import permit_all
from spinney.growth.layout import (
    ALL_ROWS, BY_ROWS, CHILD, CLASS, COLUMNS_USED, COUNT, CURRENT, CUT_BIN, CUT_COLUMN, CUT_DEFAULT, FROM_PARENT,
    GROUPS_USED, IN_BAG, LARGE, NODE_WIDTH, NODES, OF_SET, ONE_HOT, PARTED, SEARCH_LARGE, SEARCH_SMALL, SEED,
    SMALL, SPARSE_AT, SPARSE_CELLS, STATS, UNITS_USED, USED_NODES,
)  # fmt: skip
from spinney.growth.node_kernels import start_tree, take_next, write_tree
from spinney.growth.partition_kernels import mark_sides, owned_rows
from spinney.growth.prune_kernels import prune
from spinney.growth.quantize_kernels import make_entries, set_scales
from spinney.growth.rows_kernels import add_scores, leaf_sums, partition
from spinney.growth.share_kernels import share_out
from spinney.jit import f32, f64, i32, i64, inline, kernel, out, u8, u16
from spinney.jit.barrier import meet

# Rows from which every thread partitions its own rows of a node; below, thread 0 does it for all, sooner than a meeting.
# 52 000 rows of 12 groups and 5 500 codes, 255 leaves, two threads: 16 384 7.4 ms, 4 096 6.6 ms, 1 024 5.9 ms a tree,
# 512 no slower.
SHARE_PARTITION = 512


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
def work_on_node(rank, size, sync, stretches, entries, spare, bins, used, count, stored, by_column, axis, features, table, sums,
                 rulebook, finds):  # fmt: skip
    """This thread's part of splitting the current node and searching its children. False: give up."""
    nodes, _, _, _, shared, _ = table
    by_rows = shared[BY_ROWS]
    node = shared[CURRENT]
    small = shared[SMALL]
    large = shared[LARGE]
    subtracting = shared[FROM_PARENT] != 0
    if shared[PARTED] == 0:
        partition(node, rank, rank + 1, size, stretches, entries, spare, by_column, nodes)
        # A thread that sums its own rows need not wait until the others have partitioned theirs.
        if by_rows == 0 and not meet(sync, size):
            return False
    finds[1][2 * rank] = -1.0
    finds[1][2 * rank + 1] = -1.0
    # The larger child is found by subtraction; where nothing was kept of the parent, it is built like the smaller one.
    for turn in range(2):
        child = small if turn == 0 else large
        wanted = shared[SEARCH_SMALL] if turn == 0 else shared[SEARCH_LARGE]
        if turn == 1 and (subtracting or wanted == 0):
            continue
        if turn == 0 and wanted == 0 and not subtracting:
            continue
        if turn == 1 and by_rows != 0 and not meet(sync, size):
            return False
        build(rank, size, child, stretches, entries, bins, used, stored, shared, axis[4][2], sums)
        if by_rows != 0 and not meet(sync, size):
            return False
        rest = large if turn == 0 and subtracting else np.int64(-1)
        place = wanted - 1 if turn == 0 else wanted
        search_children(
            rank, size, child, rest, place, count, axis, features, nodes, shared, sums, rulebook, finds
        )
    return meet(sync, size)


@inline
def next_node(size, stretches, entries, spare, by_column, features, table, column_rules, rulebook, finds):
    """Queue the current node's children, choose the node to split next, and partition it if it is small (thread 0)."""
    nodes, _, _, _, shared, sets = table
    limits = rulebook[0]
    node = take_next(size, finds[4], table, column_rules, rulebook, finds)
    if node < 0:
        return
    row = node * NODE_WIDTH
    column = nodes[row + CUT_COLUMN]
    if features[6][column] != 0 and features[3][column] > limits[ONE_HOT]:
        nodes[nodes[row + CHILD] * NODE_WIDTH + OF_SET] = 1
        nodes[(nodes[row + CHILD] + 1) * NODE_WIDTH + OF_SET] = 1
    mark_sides(
        node, column, nodes[row + CUT_BIN], nodes[row + CUT_DEFAULT], features, sets, finds[7], by_column[4]
    )
    if size == 1 or nodes[row + COUNT] < SHARE_PARTITION:
        partition(node, 0, size, size, stretches, entries, spare, by_column, nodes)
        shared[PARTED] = 1


@kernel
def grow_tree(
    rank: i64, size: i64, sync: out(i64["32"]),
    rows: i64, columns: i64, groups: i64, outputs: i64, threads: i64, stride: i64, total: i64, cells_size: i64, width: i64,
    wide: i64, sparse: i64, stored: i64, sparse_codes: i64, side_size: i64, member_count: i64, unit_count: i64,
    words: i64, max_nodes: i64, slots: i64, blocks: i64, group_count: i64, grouped: i64, weighted: i64,
    bins8: u8["rows * stride * (1 - wide)"], bins16: u16["rows * stride * wide"],
    columns8: u8["rows * groups * (1 - wide)"], columns16: u16["rows * groups * wide"],
    row_starts: i64["(rows + 1) * sparse"], row_codes: i32["stored"],
    stored_starts: i64["columns + 1"], stored_rows: i32["stored"], stored_codes: u16["stored"],
    group_of: i64["columns"], low_of: i64["columns"], codes_of: i64["columns"], bins_of: i64["columns"],
    default_of: i64["columns"], group_codes: i64["groups"], categorical: u8["columns"], members: i64["member_count"],
    used_groups: i64["groups"], used_starts: i64["groups + 1"], group_units: i64["groups + 1"],
    unit_costs: i64["unit_count"],
    used_columns: i64["columns"], allowed: u8["columns"], axis_low: i64["columns"], units: i64["5 * unit_count"],
    extent: i64["5"],
    signs: i64["columns"], group_starts: i64["group_count + 1"], group_members: i64["grouped"],
    weights: f64["columns * weighted"],
    bag: i32["rows"], pairs: f32["2 * rows * outputs"], stats: f64["4 * blocks * outputs"],
    control: out(i64["8"]), limits: i64["12"], rules: f64["8"], least: f64["1"], scores: out(f64["rows * outputs"]),
    entries: out(i64["rows"]), spare: out(i64["rows"]), stretches: out(i64["2 * threads * max_nodes"]),
    sides: out(u8["side_size"]), line: out(u16["rows * sparse"]),
    costs_before: out(i64["unit_count + 1"]), bounds: out(i64["threads + 1"]),
    cells: out(i64["threads * cells_size"]), shares: out(i32["threads * 3 * total"]),
    planes: out(i32["(slots + 2) * 3 * total"]), alive: out(u8["(slots + 2) * unit_count"]),
    lines: out(i32["threads * 4 * width"]), line_gains: out(f64["threads * width"]),
    nodes: out(i64["19 * max_nodes"]), gains: out(f64["max_nodes"]), heap: out(i64["max_nodes"]),
    free: out(i64["slots"]), shared: out(i64["16"]), scales: out(f64["8"]), parts: out(i64["8 * threads"]),
    found: out(i64["16 * threads"]), found_gain: out(f64["2 * threads"]),
    drawn: out(i64["threads * columns"]), mask: out(u8["2 * threads * columns"]),
    permitted: out(u8["columns"]), keys: out(f64["threads * columns * weighted"]),
    found_sets: out(i64["2 * threads * words"]), sets: out(i64["max_nodes * words"]),
    feature: out(i32["max_nodes"]), cut_bin: out(i32["max_nodes"]), left: out(i32["max_nodes"]),
    default_left: out(u8["max_nodes"]), value: out(f64["max_nodes"]), gain: out(f64["max_nodes"]),
    cover: out(f64["max_nodes"]), counts: out(i64["max_nodes"]),
):
    """Grow one tree on the bag's rows, write it to `feature` ... `counts`, and add it to the scores if the bag is all rows."""
    in_bag = control[IN_BAG]
    output = control[CLASS]
    count = extent[GROUPS_USED]
    bins = (bins8, bins16, wide, stride)
    used = (used_groups, used_starts, 1 if count == groups else 0)
    by_entry = (stored_starts, stored_rows, stored_codes)
    by_column = (columns8, columns16, wide, rows, sides, group_of, by_entry, line)
    stored_by_row = (row_starts, row_codes, sparse_codes, extent[SPARSE_AT], extent[SPARSE_CELLS])
    features = (group_of, low_of, codes_of, bins_of, default_of, group_codes, categorical)
    between = (group_starts, group_members, group_count)
    column_rules = (signs, between, group_count, permitted, weights, weighted, keys)
    chosen = (used_columns, extent[COLUMNS_USED], allowed, column_rules)
    axis = (units, members, axis_low, group_units, (unit_costs, costs_before, bounds), chosen, alive, unit_count)
    table = (nodes, gains, heap, free, shared, sets)
    sums = (cells, cells_size, shares, planes, total)
    rulebook = (limits, rules, scales, control[SEED])
    scratch = (lines, line_gains, width, rank * 4 * width, rank * width)
    finds = (found, found_gain, drawn, mask, columns, scratch, found_sets, words)
    if rank == 0:
        set_scales(stats, blocks, STATS * blocks * output, in_bag, scales)
    if not meet(sync, size):
        return
    take_rows(rank, size, in_bag, bag, pairs, 2 * rows * output, control, scales, stretches, entries, parts)
    if not meet(sync, size):
        return
    if rank == 0:
        start_tree(in_bag, table, rulebook, parts, size)
        permit_all(columns, permitted)
        share_out(size, count, extent[UNITS_USED], bins, sparse_codes, table, axis)
    if not meet(sync, size):
        return
    while shared[CURRENT] >= 0:
        if not work_on_node(
            rank, size, sync, stretches, entries, spare, bins, used, count, stored_by_row, by_column, axis, features,
            table, sums, rulebook, finds,
        ):
            return
        if rank == 0:
            next_node(size, stretches, entries, spare, by_column, features, table, column_rules, rulebook, finds)
            if shared[CURRENT] >= 0:
                share_out(size, count, extent[UNITS_USED], bins, sparse_codes, table, axis)
        if not meet(sync, size):
            return
    if least[0] > 0.0:
        if rank == 0:
            prune(least[0], table, heap, stretches, 2 * size, words)
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
