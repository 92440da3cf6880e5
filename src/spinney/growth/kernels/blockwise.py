"""One tree from codes that come block by block: what is done before, in, between and after the passes over the blocks.

The driver in Python runs `gradient_sizes`, `take_rows` and `open_root`, then for each pass `pass_block` on every block and
`end_pass`, until the tree is finished, `list_leaves` and `end_tree`. Where other ranks hold other rows, it joins what was summed
between them: sizes of gradients, sums of the root, histograms, sums of leaves.

In a pass the rows of a batch of leaves are partitioned, and those children are summed whose histograms cannot be found by
subtraction. What is joined over blocks, threads and ranks are sums of integers, and leaves enter the tree in the order of the
queue: so it is the tree that `grow_tree` grows, however rows are cut into blocks.

In a block every thread partitions its own piece. Children that have a large share of the rows are summed by all threads, each
its own rows; others by one thread each.
"""

import numpy as np

from spinney.binning.kernels.records import Binned, Columns
from spinney.growth.kernels.batch import Batch, open_batch
from spinney.growth.kernels.histogram import clear_own, clear_sums, empty, flushed_of, histogram_of, join, sum_rows
from spinney.growth.kernels.nodes import close_task, describe_split, start_tree, write_tree
from spinney.growth.kernels.order import put_in_order
from spinney.growth.kernels.partition import partition
from spinney.growth.kernels.pieces import (
    BlockBag, BlockRows, range_of, rows_of_piece, sum_leaves, take_pieces,
)  # fmt: skip
from spinney.growth.kernels.quantize import set_scales, sum_sizes
from spinney.growth.kernels.records import (
    FINISHED, TOGETHER, Axis, Control, Found, Line, Sums, Table, Tasks, TreeArrays,
)  # fmt: skip
from spinney.growth.kernels.rules import Rules
from spinney.growth.kernels.schedule import share_out
from spinney.growth.kernels.turns import enter_splits
from spinney.growth.kernels.units import search_children, summed_child
from spinney.growth.packing import BLOCK
from spinney.jit import Member, inline, kernel, own, record
from spinney.jit.barrier import end_turn, meet, take_turn
from spinney.jit.intrinsics import atomic_add, tail
from spinney.objectives.kernels.records import Gradients

# A child of more rows than those of all over this and the threads is summed by all threads.
LARGE_SHARE = 4
# Tasks per thread from which each is searched by one thread.
SEARCHED_APART = 4


@record
class Pass:
    """All that a pass over the blocks needs beside them."""

    axis: Axis
    sums: Sums
    tasks: Tasks
    table: Table


@record
class Search:
    """All that searching the children of a batch needs."""

    team: Member
    features: Columns
    axis: Axis
    rules: Rules
    sums: Sums
    found: Found
    lines: Line
    tasks: Tasks
    table: Table


@inline
def rows_to_sum(who, tasks, table):
    """Rows of the children that are summed for a task."""
    rows = np.int64(0)
    for turn in range(2):
        child = summed_child(turn, tasks.tasks[who])
        if child >= 0:
            rows += table.nodes[child].count
    return rows


@inline
def clear_slot(node, sums, axis, table):
    """Clear the histogram of a node that is to be summed."""
    clear_sums(0, axis.total, histogram_of(table.nodes[node].slot, sums, axis))


@inline
def prepare_batch(team, features, axis, rules, sums, tasks, table, batch):
    """Write down what a pass needs of this thread's share of the tasks: where codes go, who sums, and empty histograms."""
    count = batch.count[0]
    total = np.int64(0)
    for who in range(count):
        total += rows_to_sum(who, tasks, table)
    for who in range(team.rank, count, team.size):
        task = tasks.tasks[who]
        if task.child != 0:
            describe_split(who, features, rules, tasks, table)
        share_out(who, 1, 0, False, axis, sums, tasks)
        large = rows_to_sum(who, tasks, table) * LARGE_SHARE * team.size > total
        tasks.schedules[who].by_rows = 1 if team.size > 1 and large else 0
        tasks.schedules[who].in_slot = 1
        for turn in range(2):
            child = summed_child(turn, task)
            if child >= 0:
                clear_slot(child, sums, axis, table)


@inline
def sum_pieces(first, last, block, child, who, rank, data, rows, work, target):
    """Sum a child's rows in the pieces of threads first..last-1 of a block into this thread's packed sums.

    Sums that are full go to the histogram `target`. Gives how many rows the packed sums hold.
    """
    schedule = work.tasks.schedules[who]
    packed = own(work.sums.by_thread, rank).packed
    held = np.int64(0)
    for t in range(first, last):
        piece = rows_of_piece(block, t, rows)
        in_piece = piece.ranges.of_node[child]
        held = sum_rows(
            piece, in_piece.begin, in_piece.end, held, data.codes, data.sparse, work.axis, schedule.live_first,
            schedule.live_last, packed, work.table.packing[0], target,
        )
    return held


@inline
def sum_apart(who, block, team, data, rows, work):
    """Sum the children of a task in a block by this thread alone, into their histograms."""
    schedule = work.tasks.schedules[who]
    packed = own(work.sums.by_thread, team.rank).packed
    for turn in range(2):
        child = summed_child(turn, work.tasks.tasks[who])
        if child >= 0:
            histogram = histogram_of(work.table.nodes[child].slot, work.sums, work.axis)
            if sum_pieces(0, team.size, block, child, who, team.rank, data, rows, work, histogram) > 0:
                empty(
                    data.codes, data.sparse, work.axis, schedule.live_first, schedule.live_last, packed,
                    work.table.packing[0], histogram,
                )  # fmt: skip


@inline
def join_units(block, child, team, rows, work):
    """Add what all threads have summed of a child in a block to its histogram, this thread's share of the units.

    Gives whether threads have flushed some of it.
    """
    axis = work.axis
    flushed_too = np.int64(0)
    for t in range(team.size):
        other = range_of(block, t, child, rows)
        if other.end - other.begin > BLOCK:
            flushed_too = np.int64(1)
    histogram = histogram_of(work.table.nodes[child].slot, work.sums, axis)
    units = axis.extent[0].units
    for u in range(units * team.rank // team.size, units * (team.rank + 1) // team.size):
        join(axis.units[u], flushed_too, team.size, work.sums, axis, work.table.packing[0], histogram)
    return flushed_too


@inline
def sum_together(who, block, team, data, rows, work):
    """This thread's part of summing the children of a task in a block: its own piece, then its own units. False: give up."""
    rank = team.rank
    for turn in range(2):
        child = summed_child(turn, work.tasks.tasks[who])
        if child >= 0:
            flushed = flushed_of(rank, work.sums, work.axis)
            sum_pieces(rank, rank + 1, block, child, who, rank, data, rows, work, flushed)
            if not meet(team, team.size):
                return False
            flushed_too = join_units(block, child, team, rows, work)
            if not meet(team, team.size):
                return False
            schedule = work.tasks.schedules[who]
            first = schedule.live_first
            clear_own(
                rank, first, schedule.live_last, flushed_too, data.codes, data.sparse, work.axis, work.sums
            )
    return True


@kernel
def pass_block(
    team: Member, data: Binned, axis: Axis, rows: BlockRows, sums: Sums, tasks: Tasks, table: Table,
    batch: Batch,
):
    """Partition the rows of one block for the tasks of a batch, and sum the children that are to be summed."""
    block = rows.current[0]
    work = Pass(axis, sums, tasks, table)
    count = batch.count[0]
    piece = rows_of_piece(block, team.rank, rows)
    if team.rank == 0:
        batch.taken[0] = 0
    for who in range(count):
        task = tasks.tasks[who]
        if task.child != 0:
            partition(task, 0, 1, 1, data.codes, data, piece, own(tasks.of_task, who).sides)
    for who in range(count):
        if tasks.schedules[who].by_rows != 0 and not sum_together(who, block, team, data, rows, work):
            return
    if not meet(team, team.size):
        return
    who = atomic_add(batch.taken, 0, 1)
    while who < count:
        if tasks.schedules[who].by_rows == 0:
            sum_apart(who, block, team, data, rows, work)
        who = atomic_add(batch.taken, 0, 1)


@kernel
def gradient_sizes(team: Member, control: Control["1"], gradients: Gradients, tasks: Tasks):
    """Sum the sizes of all gradients, by thread."""
    sum_sizes(team, gradients, control[0].output, tasks.parts)


@kernel
def take_rows(
    team: Member, bag: BlockBag, gradients: Gradients, rules: Rules, rows: BlockRows, tasks: Tasks, table: Table
):
    """Choose the steps of gradients, make the entries of the bag's rows, and sum these, by thread."""
    control = bag.control[0]
    output = control.output
    if team.rank == 0:
        set_scales(team.size, gradients, output, control.in_bag, rules, tasks.parts, table)
    if not meet(team, team.size):
        return
    pairs = tail(gradients.pairs, 2 * gradients.rows * output)
    take_pieces(team, bag, pairs, rows, table, tasks.parts)


@kernel
def open_root(
    team: Member, control: Control["1"], features: Columns, axis: Axis, rules: Rules, sums: Sums, tasks: Tasks,
    table: Table, batch: Batch,
):
    """Make a task for the root."""
    if team.rank == 0:
        start_tree(team.size, control[0].in_bag, rules, tasks, table)
        batch.count[0] = 1
        # A root that is not worth a search is a leaf, and nobody asks for its codes.
        table.state[0].mode = TOGETHER if tasks.tasks[0].search_small != 0 else FINISHED
    if not meet(team, team.size):
        return
    prepare_batch(team, features, axis, rules, sums, tasks, table, batch)


@inline
def search_task(crew, who, seed, work):
    """This thread's part of searching the children of a task, with `crew` threads."""
    found = own(work.found, work.team.rank)
    found.splits[0].gain = -1.0
    found.splits[1].gain = -1.0
    for turn in range(2):
        if summed_child(turn, work.tasks.tasks[who]) >= 0:
            search_children(crew, who, turn, seed, work)


@inline
def search_batch(count, seed, work, batch):
    """Search the children of all tasks and note their best splits: a task by one thread or, where there are few, by all.

    False: give up.
    """
    team = work.team
    crew = 1 if count >= SEARCHED_APART * team.size else team.size
    together = crew > 1
    who = np.int64(0) if together else atomic_add(batch.taken, 0, 1)
    while who < count:
        if together:
            if team.rank == 0:
                share_out(who, crew, 0, True, work.axis, work.sums, work.tasks)
            if not meet(team, crew):
                return False
        search_task(crew, who, seed, work)
        if not (meet(team, crew) if together else take_turn(team.sync)):
            return False
        if team.rank == 0 or not together:
            first = np.int64(0) if together else team.rank
            close_task(work.tasks.tasks[who], first, first + crew, work.rules, work.found, work.table)
        if not together:
            end_turn(team.sync, False)
        who = who + 1 if together else atomic_add(batch.taken, 0, 1)
    return True


@kernel
def end_pass(
    team: Member, control: Control["1"], features: Columns, axis: Axis, rules: Rules, sums: Sums, found: Found,
    lines: Line, tasks: Tasks, table: Table, batch: Batch,
):
    """Search the children of a batch, enter splits into the tree whose turn has come, and open the next batch."""
    work = Search(team, features, axis, rules, sums, found, lines, tasks, table)
    if team.rank == 0:
        batch.taken[0] = 0
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


@kernel
def list_leaves(team: Member, bag: BlockBag, gradients: Gradients, rows: BlockRows, table: Table):
    """Put the nodes of the finished tree in order, list its rows by leaf, and sum them."""
    if team.rank == 0:
        put_in_order(table)
    if not meet(team, team.size):
        return
    pairs = tail(gradients.pairs, 2 * gradients.rows * bag.control[0].output)
    sum_leaves(team.rank, rows, bag.subset, pairs, table)


@kernel
def end_tree(control: Control["1"], rules: Rules, rows: BlockRows, table: Table, tree: TreeArrays):
    """Write the finished tree."""
    rows.by_leaf.grown[0].output = control[0].output
    rows.by_leaf.grown[0].nodes = table.state[0].used
    write_tree(table, rules, control[0].rate, tree)
