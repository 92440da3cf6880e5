"""One tree from sorted columns: every thread of a team runs `grow_exact`.

A node has a range of the entries of every column, sorted by value. When it is split, each thread marks which rows go left,
partitions the entries of its columns, left ones first, and searches both children there. Node table and queue are those of
histogram trees. Gradients are whole numbers of up to 31 bits, and sums stay below 2**52, so they are exact as float64, too.

Every boundary between two values is a cut (see `scan`). Rows that a column does not list are missing, or 0 in a sparse table;
they get the rest of the node's sums.
"""

import math

import numpy as np

from spinney.binning.kernels.records import SortedColumns
from spinney.data.kernels.records import Gradients, LeafRows
from spinney.growth.kernels.draws import columns_of_children
from spinney.growth.kernels.nodes import prune, put_in_order, start_tree, write_tree
from spinney.growth.kernels.packing import WIDE_LARGEST, WIDE_SUM_LIMIT
from spinney.growth.kernels.quantize import (
    join_sizes,
    power_scale,
    scale_rules,
    sum_sizes,
    write_partial_sums,
)
from spinney.growth.kernels.records import (
    ChosenColumns,
    Control,
    NodeTable,
    Range,
    Tasks,
    ThreadSplits,
    TreeArrays,
    TreeRules,
)
from spinney.growth.kernels.scan import ROW_MASK, NodeColumn, SortedCutSums, search_sorted
from spinney.growth.kernels.turns import advance_tasks
from spinney.jit import Member, i32, i64, inline, kernel, out, own, record, u8
from spinney.jit.barrier import meet
from spinney.jit.intrinsics import tail


@record
class ExactBag:
    """The rows that a tree sees."""

    rows: i64
    control: out(Control["1"])
    chosen: i32["rows"]


@record(per_thread=True)
class ExactScratch:
    """A thread's own memory."""

    spare: out(i64["rows"])  # buffer for partition
    goes_left: out(u8["rows"])  # 1: goes left


@record
class ExactRows:
    """Rows and sorted entries by node. Each thread works on some of the columns."""

    rows: i64
    threads: i64
    columns: i64
    bounds: i64["threads + 1"]  # where the columns of each thread begin among those of the tree
    scratch: ExactScratch
    entries: out(i64["sorted_columns.listed"])
    ranges: out(Range["table.max_nodes * columns"])
    amounts: out(i64["rows"])  # gradient << 32 | hessian
    in_bag: out(u8["rows"])
    spare_members: out(i32["rows"])
    member_ranges: out(Range["table.max_nodes"])
    by_leaf: LeafRows  # its members are listed by node while the tree grows


@record
class ExactWork:
    """All that splitting leaves needs."""

    team: Member
    sorted_columns: SortedColumns
    axis: ChosenColumns
    rules: TreeRules
    rows: ExactRows
    thread_splits: ThreadSplits
    cut_sums: SortedCutSums
    tasks: Tasks
    table: NodeTable


@inline
def set_fine_scales(size, gradients, output, in_bag, rules, partial_sums, scales):
    """Choose the steps of this tree's gradients, as fine as the sums allow (thread 0, after `sum_sizes`)."""
    max_g, max_h, sum_g, sum_h = join_sizes(size, gradients, output, partial_sums)
    scales.g = power_scale(max_g, sum_g, float(in_bag), WIDE_LARGEST, WIDE_SUM_LIMIT)
    scales.h = power_scale(max_h, sum_h, float(in_bag), WIDE_LARGEST, WIDE_SUM_LIMIT)
    scales.exact_g = scales.g
    scales.exact_h = scales.h
    scale_rules(rules, scales)


@inline
def take_amounts(team, bag, pairs, scales, rows, partial_sums):
    """Round the gradients of this thread's rows of the bag, sum them, and mark the rows."""
    control = bag.control[0]
    in_bag = control.in_bag
    all_rows = control.all_rows != 0
    g_sum = 0
    h_sum = 0
    for i in range(in_bag * team.rank // team.size, in_bag * (team.rank + 1) // team.size):
        row = np.int64(i) if all_rows else np.int64(bag.chosen[i])
        g = np.int64(math.floor(float(pairs[2 * row]) * scales.g + 0.5))
        h = np.int64(math.floor(float(pairs[2 * row + 1]) * scales.h + 0.5))
        rows.amounts[row] = (g << 32) | h
        rows.by_leaf.members[i] = row
        rows.in_bag[row] = 1
        g_sum += g
        h_sum += h
    write_partial_sums(g_sum, h_sum, team.rank, partial_sums)


@inline
def take_entries(rank, all_rows, sorted_columns, used_columns, rows):
    """Copy the entries of this thread's columns, of rows in the bag only."""
    source = sorted_columns.entries
    entries = rows.entries
    for k in range(rows.bounds[rank], rows.bounds[rank + 1]):
        column = used_columns[k]
        begin = sorted_columns.starts[column]
        end = sorted_columns.starts[column + 1]
        to = begin
        if all_rows:
            for i in range(begin, end):
                entries[i] = source[i]
            to = end
        else:
            for i in range(begin, end):
                entries[to] = source[i]
                to += rows.in_bag[source[i] & ROW_MASK]
        rows.ranges[column].begin = begin
        rows.ranges[column].end = to


@inline
def partition_entries(entries, spare, begin, end, goes_left):
    """Put the entries of rows that go left first, and keep the order on both sides; returns where the right side begins.

    An entry's low bits are its row; a row alone is an entry too.
    """
    left = begin
    right = 0
    for i in range(begin, end):
        entry = entries[i]
        side = goes_left[entry & ROW_MASK]
        entries[left] = entry
        spare[right] = entry
        left += side
        right += 1 - side
    for i in range(right):
        entries[left + i] = spare[i]
    return left


@inline
def lists_every_row(task, rows):
    """Whether the column that splits a task's node has an entry for each of its rows."""
    listed = rows.ranges[task.node * rows.columns + task.column]
    members = rows.member_ranges[task.node]
    return listed.end - listed.begin == members.end - members.begin


@inline
def left_is_first(task, sorted_columns):
    """Whether the entries of the column that splits a node are in the order of their sides already; missing values may not be."""
    column = task.column
    last = sorted_columns.entries[max(sorted_columns.starts[column + 1] - 1, np.int64(0))]
    return task.default_left == 0 or last >> 32 != sorted_columns.ranks[column]


@inline
def first_on_right(cut, entries, begin, end):
    """Where the entries above a cut begin, in a sorted range."""
    low = begin
    high = end
    while low < high:
        middle = (low + high) >> 1
        if entries[middle] >> 32 <= cut:
            low = middle + 1
        else:
            high = middle
    return low


@inline
def mark_rows(task, sorted_columns, rows, goes_left):
    """Mark which rows of a task's node go left."""
    column = task.column
    cut = task.cut
    default = task.default_left
    listed = rows.ranges[task.node * rows.columns + column]
    begin = listed.begin
    end = listed.end
    rest = sorted_columns.rest[column]
    ranks = sorted_columns.ranks[column]
    if not lists_every_row(task, rows):
        members = rows.member_ranges[task.node]
        other = default
        if rest < ranks:
            other = 1 if rest <= cut else 0
        for i in range(members.begin, members.end):
            goes_left[rows.by_leaf.members[i]] = other
    for i in range(begin, end):
        entry = rows.entries[i]
        rank = entry >> 32
        goes_left[entry & ROW_MASK] = default if rank == ranks else (1 if rank <= cut else 0)


@inline
def partition_members(task, rows):
    """Partition the rows of a task's node (thread 0)."""
    members = rows.member_ranges[task.node]
    first = members.begin
    last = members.end
    middle = partition_entries(
        rows.by_leaf.members, rows.spare_members, first, last, own(rows.scratch, 0).goes_left
    )
    left = rows.member_ranges[task.child]
    right = rows.member_ranges[task.child + 1]
    left.begin = first
    left.end = middle
    right.begin = middle
    right.end = last


@inline
def partition_column(task, column, in_order, rows, mine):
    """Partition the entries of a task's node in one column, unless they are `in_order`."""
    listed = rows.ranges[task.node * rows.columns + column]
    left = rows.ranges[task.child * rows.columns + column]
    right = rows.ranges[(task.child + 1) * rows.columns + column]
    if in_order:
        middle = first_on_right(task.cut, rows.entries, listed.begin, listed.end)
    else:
        middle = partition_entries(rows.entries, mine.spare, listed.begin, listed.end, mine.goes_left)
    left.begin = listed.begin
    left.end = middle
    right.begin = middle
    right.end = listed.end


@inline
def work_on_columns(candidates, seed, work):
    """Partition the current node's entries in this thread's columns and search both children there. False: aborted."""
    rank = work.team.rank
    rows = work.rows
    mine = own(work.thread_splits, rank)
    table = work.table
    sorted_columns = work.sorted_columns
    task = work.tasks.tasks[0]
    mine.splits[0].gain = -1.0
    mine.splits[1].gain = -1.0
    search_large = task.search_large if task.large != task.small else 0
    searched = task.search_small != 0 or search_large != 0
    scratch = own(rows.scratch, rank)
    if task.child != 0 and (searched or rank == 0):
        mark_rows(task, sorted_columns, rows, scratch.goes_left)
        # Otherwise other threads may still read which rows the node has.
        if rank == 0 and lists_every_row(task, rows):
            partition_members(task, rows)
    if not searched:
        return True
    # Other threads read the entries of the column that splits the node; after the barrier its thread may move them.
    in_order = task.child != 0 and left_is_first(task, sorted_columns)
    if task.child != 0 and not in_order and not meet(work.team, work.team.size):
        return False
    small = table.nodes[task.small]
    large = table.nodes[task.large]
    marks_small, marks_large = columns_of_children(
        small, large, True, work.axis, work.rules, seed, work.tasks.of_task.permitted, mine
    )
    cut_sums = own(work.cut_sums, rank)
    for k in range(rows.bounds[rank], rows.bounds[rank + 1]):
        column = work.axis.used_columns[k]
        if task.child != 0:
            partition_column(task, column, in_order and column == task.column, rows, scratch)
        for turn in range(2):
            wanted = task.search_small if turn == 0 else search_large
            marks = marks_small if turn == 0 else marks_large
            if wanted != 0 and marks[column] != 0:
                listed = rows.ranges[(task.small if turn == 0 else task.large) * rows.columns + column]
                entries = NodeColumn(
                    column,
                    work.rules.columns.directions[column],
                    listed.begin,
                    listed.end,
                    sorted_columns.rest[column],
                    sorted_columns.ranks[column],
                    sorted_columns.zero[column],
                    candidates,
                    rows.entries,
                    rows.amounts,
                )
                search_sorted(
                    entries,
                    small if turn == 0 else large,
                    work.rules,
                    table.scales[0],
                    cut_sums,
                    mine.splits[turn],
                )
    return True


@inline
def next_node(work):
    """Queue the current node's children and choose the node to split next (thread 0)."""
    task = work.tasks.tasks[0]
    if task.child != 0 and not lists_every_row(task, work.rows):
        partition_members(task, work.rows)
    advance_tasks(0, 1, True, True, work.team.size, work.rules, work.tasks, work.thread_splits, work.table)


@inline
def finish(rules, control, rows, table, tree):
    """Prune the tree and write it, and the ranges of its leaves' rows (thread 0)."""
    put_in_order(table)
    if rules.limits.least_gain > 0.0:
        prune(rules.limits.least_gain, table)
    for number in range(table.state[0].made):
        table.exact_g[number] = table.nodes[number].sum_g
        table.exact_h[number] = table.nodes[number].sum_h
    write_tree(table, rules, control.rate, tree)
    by_leaf = rows.by_leaf
    by_leaf.grown[0].output = control.output
    by_leaf.grown[0].nodes = table.state[0].used
    for number in range(table.state[0].used):
        node = table.order[number]
        leaf = table.nodes[node].child == 0
        by_leaf.begin[number] = rows.member_ranges[node].begin if leaf else 0
        by_leaf.end[number] = rows.member_ranges[node].end if leaf else 0


@inline
def split_leaves(candidates, seed, work):
    """Search the root, then split leaves until the tree is finished. False: aborted."""
    team = work.team
    while work.tasks.tasks[0].node >= 0:
        if not work_on_columns(candidates, seed, work) or not meet(team, team.size):
            return False
        if team.rank == 0:
            next_node(work)
        if not meet(team, team.size):
            return False
    return True


@kernel
def grow_exact(
    team: Member,
    candidates: i64,
    bag: ExactBag,
    sorted_columns: SortedColumns,
    axis: ChosenColumns,
    gradients: Gradients,
    rules: TreeRules,
    rows: ExactRows,
    thread_splits: ThreadSplits,
    cut_sums: SortedCutSums,
    tasks: Tasks,
    table: NodeTable,
    tree: TreeArrays,
):
    """Grow one tree on the bag's rows, write it to `tree`, and list its rows by leaf."""
    control = bag.control[0]
    in_bag = control.in_bag
    all_rows = control.all_rows != 0
    output = control.output
    work = ExactWork(team, sorted_columns, axis, rules, rows, thread_splits, cut_sums, tasks, table)
    sum_sizes(team, gradients, output, tasks.partial_sums)
    if not meet(team, team.size):
        return
    if team.rank == 0:
        set_fine_scales(team.size, gradients, output, in_bag, rules, tasks.partial_sums, table.scales[0])
    for row in range(bag.rows * team.rank // team.size, bag.rows * (team.rank + 1) // team.size):
        rows.in_bag[row] = 0
    if not meet(team, team.size):
        return
    pairs = tail(gradients.pairs, 2 * gradients.rows * output)
    take_amounts(team, bag, pairs, table.scales[0], rows, tasks.partial_sums)
    if not meet(team, team.size):
        return
    if team.rank == 0:
        rows.member_ranges[0].begin = 0
        rows.member_ranges[0].end = in_bag
        start_tree(team.size, in_bag, rules, tasks, table)
    take_entries(team.rank, all_rows, sorted_columns, axis.used_columns, rows)
    if not meet(team, team.size):
        return
    if not split_leaves(candidates, control.seed, work):
        return
    if team.rank == 0:
        finish(rules, control, rows, table, tree)
