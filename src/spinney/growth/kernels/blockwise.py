"""One tree from codes that come block by block: the kernels before, in, between and after the passes over the blocks.

The driver in Python runs `gradient_sizes`, `take_rows` and `open_root`; then, until the tree is finished, `pass_block` on every
block and `end_pass`; then `list_leaves` and `end_tree`. Where other ranks have other rows, it adds up between them what was
summed: sizes of gradients, sums of the root, histograms, sums of leaves.

A *pass* does the work of a *batch* of tasks. In each block it partitions the rows of every task's node, and sums those children
whose histograms cannot be found by subtraction. After the pass siblings are derived, both are searched, and splits enter the
tree in the order of the queue (`end_pass`). A batch has every leaf that could still be split before the tree is full
(`open_batch` in `turns`), so a tree takes one pass more than it is deep: 9 for depth 8. All that is added over blocks, threads
and ranks are integers, and rounding and draws depend on the row's number: so it is the same tree as that of `grow_tree`, and a
block may begin anywhere.

In a block every thread partitions its own piece. Children that have a large share of the rows are summed by all threads, each its
own rows; others by one thread each. A child's sums are flushed once a block, so blocks should have many more rows than a tree
has leaves: 262 144 or so.
"""

import numpy as np

from spinney.binning.kernels.records import Binned, Columns
from spinney.data.kernels.records import Gradients
from spinney.growth.kernels.histogram import (
    clear_own,
    clear_sums,
    empty,
    fields_of,
    flushed_of,
    histogram_of,
    join,
    sum_rows,
    unpacked,
)
from spinney.growth.kernels.nodes import close_task, describe_split, put_in_order, start_tree, write_tree
from spinney.growth.kernels.packing import HALF, LOW_HALF, SUM_BLOCK
from spinney.growth.kernels.partition import partition
from spinney.growth.kernels.pieces import (
    BlockBag,
    BlockRows,
    range_of,
    rows_of_piece,
    sum_leaves,
    take_pieces,
)  # fmt: skip
from spinney.growth.kernels.quantize import set_scales, sum_sizes
from spinney.growth.kernels.records import (
    FINISHED,
    TOGETHER,
    Axis,
    Control,
    CutSums,
    NodeTable,
    Packing,
    Sums,
    Tasks,
    ThreadSplits,
    TreeArrays,
    TreeRules,
)  # fmt: skip
from spinney.growth.kernels.turns import TaskBatch, enter_splits, open_batch, share_out
from spinney.growth.kernels.units import search_children, summed_child
from spinney.jit import Member, i64, inline, kernel, out, own, record
from spinney.jit.barrier import end_turn, meet, take_turn
from spinney.jit.intrinsics import atomic_add, tail

# --- Before the passes: entries of rows, and the task of the root


@kernel
def gradient_sizes(team: Member, control: Control["1"], gradients: Gradients, tasks: Tasks):
    """Sum the sizes of all gradients, by thread."""
    sum_sizes(team, gradients, control[0].output, tasks.partial_sums)


@kernel
def take_rows(
    team: Member,
    bag: BlockBag,
    gradients: Gradients,
    rules: TreeRules,
    rows: BlockRows,
    tasks: Tasks,
    table: NodeTable,
):
    """Choose the steps of gradients, make the entries of the bag's rows, and sum these, by thread."""
    control = bag.control[0]
    output = control.output
    if team.rank == 0:
        set_scales(team.size, gradients, output, control.in_bag, rules, tasks.partial_sums, table)
    if not meet(team, team.size):
        return
    pairs = tail(gradients.pairs, 2 * gradients.rows * output)
    take_pieces(team, bag, pairs, rows, table, tasks.partial_sums)


@kernel
def open_root(
    team: Member,
    control: Control["1"],
    features: Columns,
    axis: Axis,
    rules: TreeRules,
    sums: Sums,
    tasks: Tasks,
    table: NodeTable,
    batch: TaskBatch,
):
    """Write the task of the root."""
    if team.rank == 0:
        start_tree(team.size, control[0].in_bag, rules, tasks, table)
        batch.count[0] = 1
        # A root that is not worth a search is a leaf, and its codes are not needed.
        table.state[0].mode = TOGETHER if tasks.tasks[0].search_small != 0 else FINISHED
    if not meet(team, team.size):
        return
    prepare_batch(team, features, axis, rules, sums, tasks, table, batch)


# --- A pass over the blocks


# A child is summed by all threads if it has more rows than all children together, divided by this and the number of threads.
LARGE_SHARE = 4
# Tasks per thread from which each is searched by one thread.
SEARCHED_APART = 4


@record
class BlockPass:
    """All that a pass over the blocks needs, except the block."""

    axis: Axis
    sums: Sums
    tasks: Tasks
    table: NodeTable


@record
class BatchSearch:
    """All that searching the children of a batch needs."""

    team: Member
    features: Columns
    axis: Axis
    rules: TreeRules
    sums: Sums
    thread_splits: ThreadSplits
    cut_sums: CutSums
    tasks: Tasks
    table: NodeTable


@inline
def rows_to_sum(task_id, tasks, table):
    """Rows of the children that are summed for a task."""
    rows = np.int64(0)
    for turn in range(2):
        child = summed_child(turn, tasks.tasks[task_id])
        if child >= 0:
            rows += table.nodes[child].count
    return rows


@inline
def clear_slot(node, sums, axis, table):
    """Clear the histogram of a node that is to be summed."""
    clear_sums(0, axis.total, histogram_of(table.nodes[node].slot, sums, axis))


@inline
def prepare_batch(team, features, axis, rules, sums, tasks, table, batch):
    """Prepare this thread's share of the tasks for a pass: which codes go left, which threads sum, and empty histograms."""
    count = batch.count[0]
    total = np.int64(0)
    for task_id in range(count):
        total += rows_to_sum(task_id, tasks, table)
    for task_id in range(team.rank, count, team.size):
        task = tasks.tasks[task_id]
        if task.child != 0:
            describe_split(task_id, features, rules, tasks, table)
        share_out(task_id, 1, 0, False, axis, sums, tasks)
        large = rows_to_sum(task_id, tasks, table) * LARGE_SHARE * team.size > total
        tasks.schedules[task_id].by_rows = 1 if team.size > 1 and large else 0
        tasks.schedules[task_id].in_slot = 1
        for turn in range(2):
            child = summed_child(turn, task)
            if child >= 0:
                clear_slot(child, sums, axis, table)


@inline
def sum_pieces(first, last, block, child, task_id, rank, data, rows, work, target):
    """Sum a child's rows in the pieces of threads first..last-1 of a block into this thread's packed sums.

    Full sums are added to the histogram `target`. Returns how many rows the packed sums have.
    """
    schedule = work.tasks.schedules[task_id]
    packed = own(work.sums.by_thread, rank).packed
    held = np.int64(0)
    for t in range(first, last):
        piece = rows_of_piece(block, t, rows)
        in_piece = piece.ranges.of_node[child]
        held = sum_rows(
            piece,
            in_piece.begin,
            in_piece.end,
            held,
            data.codes,
            data.sparse,
            work.axis,
            schedule.live_first,
            schedule.live_last,
            packed,
            work.table.packing[0],
            target,
        )
    return held


@inline
def sum_apart(task_id, block, team, data, rows, work):
    """Sum the children of a task in a block into their histograms, by this thread alone."""
    schedule = work.tasks.schedules[task_id]
    packed = own(work.sums.by_thread, team.rank).packed
    for turn in range(2):
        child = summed_child(turn, work.tasks.tasks[task_id])
        if child >= 0:
            histogram = histogram_of(work.table.nodes[child].slot, work.sums, work.axis)
            if sum_pieces(0, team.size, block, child, task_id, team.rank, data, rows, work, histogram) > 0:
                empty(
                    data.codes, data.sparse, work.axis, schedule.live_first, schedule.live_last, packed,
                    work.table.packing[0], histogram,
                )  # fmt: skip


@inline
def join_units(block, child, team, rows, work):
    """Add the sums that all threads have of a child in a block to its histogram, for this thread's share of the units.

    Returns whether threads have flushed some of them.
    """
    axis = work.axis
    flushed_too = np.int64(0)
    for t in range(team.size):
        other = range_of(block, t, child, rows)
        if other.end - other.begin > SUM_BLOCK:
            flushed_too = np.int64(1)
    histogram = histogram_of(work.table.nodes[child].slot, work.sums, axis)
    units = axis.extent[0].units
    for u in range(units * team.rank // team.size, units * (team.rank + 1) // team.size):
        join(axis.units[u], flushed_too, team.size, work.sums, axis, work.table.packing[0], histogram)
    return flushed_too


@inline
def sum_together(task_id, block, team, data, rows, work):
    """This thread's part of summing the children of a task in a block: its own piece, then its own units. False: aborted."""
    rank = team.rank
    for turn in range(2):
        child = summed_child(turn, work.tasks.tasks[task_id])
        if child >= 0:
            flushed = flushed_of(rank, work.sums, work.axis)
            sum_pieces(rank, rank + 1, block, child, task_id, rank, data, rows, work, flushed)
            if not meet(team, team.size):
                return False
            flushed_too = join_units(block, child, team, rows, work)
            if not meet(team, team.size):
                return False
            schedule = work.tasks.schedules[task_id]
            first = schedule.live_first
            clear_own(
                rank, first, schedule.live_last, flushed_too, data.codes, data.sparse, work.axis, work.sums
            )
    return True


@kernel
def pass_block(
    team: Member,
    data: Binned,
    axis: Axis,
    rows: BlockRows,
    sums: Sums,
    tasks: Tasks,
    table: NodeTable,
    batch: TaskBatch,
):
    """Partition the rows of one block for the tasks of a batch, and sum the children that are to be summed."""
    block = rows.current[0]
    work = BlockPass(axis, sums, tasks, table)
    count = batch.count[0]
    piece = rows_of_piece(block, team.rank, rows)
    if team.rank == 0:
        batch.started[0] = 0
    for task_id in range(count):
        task = tasks.tasks[task_id]
        if task.child != 0:
            partition(task, 0, 1, 1, data.codes, data, piece, own(tasks.of_task, task_id).goes_left)
    for task_id in range(count):
        if tasks.schedules[task_id].by_rows != 0 and not sum_together(task_id, block, team, data, rows, work):
            return
    if not meet(team, team.size):
        return
    task_id = atomic_add(batch.started, 0, 1)
    while task_id < count:
        if tasks.schedules[task_id].by_rows == 0:
            sum_apart(task_id, block, team, data, rows, work)
        task_id = atomic_add(batch.started, 0, 1)


# --- After a pass: the search, and the next batch


@inline
def search_task(workers, task_id, seed, work):
    """This thread's part of searching the children of a task, with `workers` threads."""
    mine = own(work.thread_splits, work.team.rank)
    mine.splits[0].gain = -1.0
    mine.splits[1].gain = -1.0
    for turn in range(2):
        if summed_child(turn, work.tasks.tasks[task_id]) >= 0:
            search_children(workers, task_id, turn, seed, work)


@inline
def search_batch(count, seed, work, batch):
    """Search the children of all tasks and store their best splits: each task by one thread or, where tasks are few, by all.

    False: aborted.
    """
    team = work.team
    workers = 1 if count >= SEARCHED_APART * team.size else team.size
    together = workers > 1
    task_id = np.int64(0) if together else atomic_add(batch.started, 0, 1)
    while task_id < count:
        if together:
            if team.rank == 0:
                share_out(task_id, workers, 0, True, work.axis, work.sums, work.tasks)
            if not meet(team, workers):
                return False
        search_task(workers, task_id, seed, work)
        if not (meet(team, workers) if together else take_turn(team.sync)):
            return False
        if team.rank == 0 or not together:
            first = np.int64(0) if together else team.rank
            close_task(
                work.tasks.tasks[task_id], first, first + workers, work.rules, work.thread_splits, work.table
            )
        if not together:
            end_turn(team.sync, False)
        task_id = task_id + 1 if together else atomic_add(batch.started, 0, 1)
    return True


@kernel
def end_pass(
    team: Member,
    control: Control["1"],
    features: Columns,
    axis: Axis,
    rules: TreeRules,
    sums: Sums,
    thread_splits: ThreadSplits,
    cut_sums: CutSums,
    tasks: Tasks,
    table: NodeTable,
    batch: TaskBatch,
):
    """Search the children of a batch, move splits whose turn has come into the tree, and open the next batch."""
    work = BatchSearch(team, features, axis, rules, sums, thread_splits, cut_sums, tasks, table)
    if team.rank == 0:
        batch.started[0] = 0
    if not meet(team, team.size):
        return
    if not search_batch(batch.count[0], control[0].seed, work, batch):
        return
    if not meet(team, team.size):
        return
    if team.rank == 0:
        enter_splits(table, rules.limits)
        open_batch(batch, rules, tasks, table)
    if not meet(team, team.size):
        return
    prepare_batch(team, features, axis, rules, sums, tasks, table, batch)


# --- Exchange of histograms between ranks: integers with as few bits as possible, whose sums are the sums of the histograms.
#
# A histogram of at most SUM_BLOCK rows over all ranks has 8 bytes a code: gradient, hessian and count side by side, as in packed
# sums. Others have 12: gradient and hessian in one integer, and the counts of two codes in another. Hessians and counts are never
# negative, and the sums over all ranks fit their fields, so no field overflows into the next.


@record
class Exchange:
    """Histograms, and the integers that are exchanged for them."""

    count: i64
    used: i64  # codes of the axis that are in use
    length: i64
    slots: i64["count"]
    small: i64["count"]  # 1: has at most SUM_BLOCK rows
    begins: i64["count"]  # where its integers begin
    packing: Packing["1"]
    cells: out(i64["length"])


@inline
def pack_small(histogram, used, packing, cells):
    """Gradient, hessian and count of each code in one integer."""
    gradient_shift = packing.gradient_shift
    hessian_shift = packing.hessian_shift
    for c in range(used):
        cells[c] = (
            (np.int64(histogram.g[c]) << gradient_shift) + (np.int64(histogram.h[c]) << hessian_shift)
            + np.int64(histogram.count[c])
        )  # fmt: skip


@inline
def unpack_small(histogram, used, packing, cells):
    """The histogram of the integers of `pack_small`."""
    fields = fields_of(packing)
    for c in range(used):
        g, h, count = unpacked(cells[c], fields)
        histogram.g[c] = g
        histogram.h[c] = h
        histogram.count[c] = count


@inline
def pack_large(histogram, used, cells):
    """Gradient and hessian of each code in one integer, then the counts of every two."""
    for c in range(used):
        cells[c] = (np.int64(histogram.g[c]) << HALF) + np.int64(histogram.h[c])
    counts = tail(cells, used)
    for pair in range(used // 2):
        counts[pair] = (np.int64(histogram.count[2 * pair]) << HALF) + np.int64(histogram.count[2 * pair + 1])
    if used % 2 == 1:
        counts[used // 2] = np.int64(histogram.count[used - 1]) << HALF


@inline
def unpack_large(histogram, used, cells):
    """The histogram of the integers of `pack_large`."""
    for c in range(used):
        histogram.g[c] = cells[c] >> HALF
        histogram.h[c] = cells[c] & LOW_HALF
    counts = tail(cells, used)
    for pair in range(used // 2):
        histogram.count[2 * pair] = counts[pair] >> HALF
        histogram.count[2 * pair + 1] = counts[pair] & LOW_HALF
    if used % 2 == 1:
        histogram.count[used - 1] = counts[used // 2] >> HALF


@kernel
def pack_histograms(team: Member, exchange: Exchange, axis: Axis, sums: Sums):
    """Write the integers of this thread's share of the histograms."""
    for k in range(team.rank, exchange.count, team.size):
        histogram = histogram_of(exchange.slots[k], sums, axis)
        if exchange.small[k] != 0:
            pack_small(
                histogram, exchange.used, exchange.packing[0], tail(exchange.cells, exchange.begins[k])
            )
        else:
            pack_large(histogram, exchange.used, tail(exchange.cells, exchange.begins[k]))


@kernel
def unpack_histograms(team: Member, exchange: Exchange, axis: Axis, sums: Sums):
    """Write this thread's share of the histograms from their integers."""
    for k in range(team.rank, exchange.count, team.size):
        histogram = histogram_of(exchange.slots[k], sums, axis)
        if exchange.small[k] != 0:
            unpack_small(
                histogram, exchange.used, exchange.packing[0], tail(exchange.cells, exchange.begins[k])
            )
        else:
            unpack_large(histogram, exchange.used, tail(exchange.cells, exchange.begins[k]))


# --- The finished tree


@kernel
def list_leaves(team: Member, bag: BlockBag, gradients: Gradients, rows: BlockRows, table: NodeTable):
    """Put the nodes of the finished tree in order, list its rows by leaf, and sum them."""
    if team.rank == 0:
        put_in_order(table)
    if not meet(team, team.size):
        return
    pairs = tail(gradients.pairs, 2 * gradients.rows * bag.control[0].output)
    sum_leaves(team.rank, rows, bag.subset, pairs, table)


@kernel
def end_tree(control: Control["1"], rules: TreeRules, rows: BlockRows, table: NodeTable, tree: TreeArrays):
    """Write the finished tree."""
    rows.by_leaf.grown[0].output = control[0].output
    rows.by_leaf.grown[0].nodes = table.state[0].used
    write_tree(table, rules, control[0].rate, tree)
