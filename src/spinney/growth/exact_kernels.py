"""One tree from sorted columns: every thread of a team runs `grow_exact`.

A node owns a stretch of the entries of every column, sorted by value. When it is split, the rows' sides are marked once and
each thread sorts out the entries of its columns, left ones first, and searches both children there. Node table and queue are
those of the histogram learner. Gradients are whole numbers of up to 31 bits, sums stay below 2**52: exact as float64 too.
"""

import math

import numpy as np

from spinney.growth.constraint_kernels import columns_of_children, permit_all
from spinney.growth.layout import (
    ALL_ROWS, CHILD, CLASS, COLUMNS_USED, CURRENT, CUT_BIN, CUT_COLUMN, CUT_DEFAULT, EXACT_G, EXACT_H,
    EXACT_SCALE_G, EXACT_SCALE_H, IN_BAG, LARGE, NODE_WIDTH, NODES,
    SCALE_G, SCALE_H, SEARCH_LARGE, SEARCH_SMALL, SEED, SMALL, STATS,
    SUM_G, SUM_H, UNIT, USED_NODES,
)  # fmt: skip
from spinney.growth.node_kernels import start_tree, write_tree
from spinney.growth.prune_kernels import prune
from spinney.growth.quantize_kernels import join_stats, power_scale
from spinney.growth.scan_kernels import LINE, ROW_MASK, search_sorted
from spinney.growth.turn_kernels import go_on
from spinney.jit import f32, f64, i32, i64, inline, kernel, out, u8
from spinney.jit.barrier import meet

LARGEST = 2147483000.0  # a little below 2**31
SUM_LIMIT = 4.5e15  # a little below 2**52


@inline
def set_fine_scales(stats, blocks, at, in_bag, scales):
    """Choose the steps of this tree's gradients, as fine as the sums allow."""
    max_g, max_h, sum_g, sum_h = join_stats(stats, blocks, at)
    scales[SCALE_G] = power_scale(max_g, sum_g, float(in_bag), LARGEST, SUM_LIMIT)
    scales[SCALE_H] = power_scale(max_h, sum_h, float(in_bag), LARGEST, SUM_LIMIT)
    scales[EXACT_SCALE_G] = scales[SCALE_G]
    scales[EXACT_SCALE_H] = scales[SCALE_H]
    scales[UNIT] = scales[SCALE_H] / (scales[SCALE_G] * scales[SCALE_G])


@inline
def take_amounts(rank, size, in_bag, bag, all_rows, pairs, pairs_at, scales, amounts, members, sides, parts):
    """Round the gradients of this thread's rows of the bag, sum them, and mark the rows."""
    g_sum = 0
    h_sum = 0
    for i in range(in_bag * rank // size, in_bag * (rank + 1) // size):
        row = np.int64(i) if all_rows != 0 else np.int64(bag[i])
        g = np.int64(math.floor(float(pairs[pairs_at + 2 * row]) * scales[SCALE_G] + 0.5))
        h = np.int64(math.floor(float(pairs[pairs_at + 2 * row + 1]) * scales[SCALE_H] + 0.5))
        amounts[row] = (g << 32) | h
        members[i] = row
        sides[row] = 1
        g_sum += g
        h_sum += h
    parts[rank * 8] = g_sum
    parts[rank * 8 + 1] = h_sum


@inline
def take_entries(first, last, used_columns, columns, source, starts, all_rows, sides, entries, begins, ends):
    """Copy the entries of some columns, of rows in the bag only."""
    for k in range(first, last):
        column = used_columns[k]
        to = starts[column]
        if all_rows != 0:
            for i in range(starts[column], starts[column + 1]):
                entries[i] = source[i]
            to = starts[column + 1]
        else:
            for i in range(starts[column], starts[column + 1]):
                entries[to] = source[i]
                to += sides[source[i] & ROW_MASK]
        begins[column] = starts[column]
        ends[column] = to


@inline
def part_entries(entries, spare, spare_at, begin, end, sides):
    """Put the entries of rows that go left first, both sides in their order; returns where the right side begins.

    An entry's low bits are its row; a row alone is an entry too.
    """
    left = begin
    right = spare_at
    for i in range(begin, end):
        entry = entries[i]
        side = sides[entry & ROW_MASK]
        entries[left] = entry
        spare[right] = entry
        left += side
        right += 1 - side
    for i in range(right - spare_at):
        entries[left + i] = spare[spare_at + i]
    return left


@inline
def mark_rows(node, nodes, columns, entries, begins, ends, blocks, members, spare_members, stretches, sides):
    """Mark where the rows of an opened node go and part them (thread 0)."""
    rest_of, ranks_of, _ = blocks
    row = node * NODE_WIDTH
    column = nodes[row + CUT_COLUMN]
    cut = nodes[row + CUT_BIN]
    default = nodes[row + CUT_DEFAULT]
    child = nodes[row + CHILD]
    begin = begins[node * columns + column]
    end = ends[node * columns + column]
    first = stretches[2 * node]
    last = stretches[2 * node + 1]
    ranks = ranks_of[column]
    if end - begin < last - first:
        other = default
        if rest_of[column] < ranks:
            other = 1 if rest_of[column] <= cut else 0
        for i in range(first, last):
            sides[members[i]] = other
    for i in range(begin, end):
        entry = entries[i]
        rank = entry >> 32
        sides[entry & ROW_MASK] = default if rank == ranks else (1 if rank <= cut else 0)
    left = part_entries(members, spare_members, first, first, last, sides)
    stretches[2 * child] = first
    stretches[2 * child + 1] = left
    stretches[2 * child + 2] = left
    stretches[2 * child + 3] = last


@inline
def work_on_columns(rank, first, last, rows, columns, chosen, tasks, nodes, lists, candidates, rulebook, finds, places):
    """Part the current node's entries in this thread's columns and search both children there."""
    entries, spare, begins, ends, sides, amounts, blocks = lists
    used_columns, _, _, column_rules = chosen
    found, gain, drawn, mask, _, scratch, _, _ = finds
    gain[2 * rank] = -1.0
    gain[2 * rank + 1] = -1.0
    node = tasks[CURRENT]
    small = tasks[SMALL]
    large = tasks[LARGE]
    search_small = tasks[SEARCH_SMALL]
    search_large = tasks[SEARCH_LARGE] if large != small else 0
    if search_small == 0 and search_large == 0:
        return
    marks, marks_small, marks_large = columns_of_children(
        rank, small, large, nodes, chosen, rulebook, drawn, mask, columns
    )
    child = nodes[node * NODE_WIDTH + CHILD]
    for k in range(first, last):
        column = used_columns[k]
        if child != 0:
            begin = begins[node * columns + column]
            end = ends[node * columns + column]
            middle = part_entries(entries, spare, rank * rows, begin, end, sides)
            begins[child * columns + column] = begin
            ends[child * columns + column] = middle
            begins[(child + 1) * columns + column] = middle
            ends[(child + 1) * columns + column] = end
        for turn in range(2):
            one = small if turn == 0 else large
            wanted = search_small if turn == 0 else search_large
            if wanted != 0 and marks[(marks_small if turn == 0 else marks_large) + column] != 0:
                search_sorted(
                    column, column_rules[0][column], one, nodes, entries, begins[one * columns + column],
                    ends[one * columns + column], amounts, blocks, candidates, rulebook, scratch, places, found, gain,
                    2 * rank + turn,
                )


@inline
def next_node(size, columns, lists, rows_of, tasks, table, column_rules, rulebook, finds):
    """Queue the current node's children, choose the node to split next and part its rows (thread 0)."""
    nodes = table[0]
    entries, _, begins, ends, sides, _, blocks = lists
    members, spare_members, stretches = rows_of
    go_on(0, size, True, True, (tasks, 0), columns, table, column_rules, rulebook, finds)
    node = tasks[CURRENT]
    if node < 0:
        return
    mark_rows(node, nodes, columns, entries, begins, ends, blocks, members, spare_members, stretches, sides)


@inline
def finish(least, rows_of, table, rulebook, tree):
    """Prune the tree and write it down (thread 0)."""
    nodes, _, heap, _, shared, _ = table
    if least > 0.0:
        prune(least, table, heap, rows_of[2], 2, 0)
    for node in range(shared[USED_NODES]):
        row = node * NODE_WIDTH
        nodes[row + EXACT_G] = nodes[row + SUM_G]
        nodes[row + EXACT_H] = nodes[row + SUM_H]
    write_tree(table, rulebook, tree)


@kernel
def grow_exact(
    rank: i64, size: i64, sync: out(i64["32"]),
    rows: i64, columns: i64, outputs: i64, threads: i64, listed: i64, max_nodes: i64, blocks: i64, candidates: i64,
    group_count: i64, grouped: i64, weighted: i64,
    source: i64["listed"], starts: i64["columns + 1"], rest: i64["columns"], ranks: i64["columns"],
    zero: i64["columns"],
    used_columns: i64["columns"], allowed: u8["columns"], shares: i64["threads + 1"], extent: i64["5"],
    signs: i64["columns"], group_starts: i64["group_count + 1"], group_members: i64["grouped"],
    weights: f64["columns * weighted"],
    bag: i32["rows"], pairs: f32["2 * rows * outputs"], stats: f64["4 * blocks * outputs"],
    control: out(i64["8"]), limits: i64["13"], rules: f64["8"], least: f64["1"], scores: out(f64["rows * outputs"]),
    entries: out(i64["listed"]), spare: out(i64["threads * rows"]), begins: out(i64["max_nodes * columns"]),
    ends: out(i64["max_nodes * columns"]), amounts: out(i64["rows"]), sides: out(u8["rows"]),
    members: out(i32["rows"]), spare_members: out(i32["rows"]), stretches: out(i64["2 * max_nodes"]),
    lines: out(f64["3 * 512 * threads"]), line_gains: out(f64["512 * threads"]), positions: out(i64["512 * threads"]),
    nodes: out(i64["21 * max_nodes"]), gains: out(f64["max_nodes"]), heap: out(i64["max_nodes"]), free: out(i64["1"]),
    shared: out(i64["16"]), tasks: out(i64["16 * threads"]), scales: out(f64["8"]), parts: out(i64["8 * threads"]),
    found: out(i64["16 * threads"]), found_gain: out(f64["2 * threads"]),
    drawn: out(i64["threads * columns"]), mask: out(u8["2 * threads * columns"]),
    permitted: out(u8["columns"]), keys: out(f64["threads * columns * weighted"]), sets: out(i64["1"]),
    feature: out(i32["max_nodes"]), cut_bin: out(i32["max_nodes"]), left: out(i32["max_nodes"]),
    default_left: out(u8["max_nodes"]), value: out(f64["max_nodes"]), gain: out(f64["max_nodes"]),
    cover: out(f64["max_nodes"]), counts: out(i64["max_nodes"]),
):
    """Grow one tree on the bag's rows, write it to `feature` ... `counts`, and add it to the scores if the bag is all rows."""
    in_bag = control[IN_BAG]
    output = control[CLASS]
    between = (group_starts, group_members, group_count)
    column_rules = (signs, between, group_count, permitted, weights, weighted, keys)
    chosen = (used_columns, extent[COLUMNS_USED], allowed, column_rules)
    lists = (entries, spare, begins, ends, sides, amounts, (rest, ranks, zero))
    rows_of = (members, spare_members, stretches)
    table = (nodes, gains, heap, free, shared, sets)
    rulebook = (limits, rules, scales, control[SEED])
    scratch = (lines, line_gains, LINE, rank * 3 * LINE, rank * LINE)
    finds = (found, found_gain, drawn, mask, columns, scratch, sets, np.int64(0))
    places = (positions, rank * LINE)
    if rank == 0:
        set_fine_scales(stats, blocks, STATS * blocks * output, in_bag, scales)
    for row in range(rows * rank // size, rows * (rank + 1) // size):
        sides[row] = 0
    if not meet(sync, size):
        return
    take_amounts(
        rank, size, in_bag, bag, control[ALL_ROWS], pairs, 2 * rows * output, scales, amounts, members, sides, parts
    )
    if not meet(sync, size):
        return
    if rank == 0:
        stretches[0] = 0
        stretches[1] = in_bag
        start_tree(in_bag, tasks, table, rulebook, parts, size)
        permit_all(columns, permitted)
    take_entries(
        shares[rank], shares[rank + 1], used_columns, columns, source, starts, control[ALL_ROWS], sides, entries,
        begins, ends,
    )
    if not meet(sync, size):
        return
    while tasks[CURRENT] >= 0:
        work_on_columns(
            rank, shares[rank], shares[rank + 1], rows, columns, chosen, tasks, nodes, lists, candidates, rulebook, finds,
            places,
        )
        if not meet(sync, size):
            return
        if rank == 0:
            next_node(size, columns, lists, rows_of, tasks, table, column_rules, rulebook, finds)
        if not meet(sync, size):
            return
    if rank == 0:
        finish(least[0], rows_of, table, rulebook, (feature, cut_bin, left, default_left, value, gain, cover, counts))
        control[NODES] = shared[USED_NODES]
    if control[ALL_ROWS] != 0:
        if not meet(sync, size):
            return
        for node in range(rank, shared[USED_NODES], size):
            if nodes[node * NODE_WIDTH + CHILD] == 0:
                for i in range(stretches[2 * node], stretches[2 * node + 1]):
                    scores[rows * output + members[i]] += value[node]
