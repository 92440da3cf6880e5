"""One tree, from gradients to leaf values: every thread of a team runs `grow_tree`.

One call of a kernel grows a whole tree, because a Python step for each split would cost as much as the split. The steps are in
modules of their own: choose the next leaf (`turns`, `nodes`), partition its rows (`partition`), sum the histogram of its smaller
child (`histogram`; the larger one is the parent's minus the smaller one's), search both for their best splits (`units`). This
module calls them in order.

All threads split a large node together: thread 0 keeps the queue and the node table, and writes what the others need to its
task, between two barriers. Each thread partitions its own rows. The histogram is summed by rows, each thread its own, or by
groups of columns (`summed_by_rows`). Then each thread searches its share of the units. Small nodes are split by one thread each,
without a barrier, and threads take turns at the queue and the table (`take_turn` in `jit/barrier.py`).

Sums are integers and leaves enter the tree in the order of the queue, so the tree does not depend on how threads share the work.
"""

import numpy as np

from spinney.binning.kernels.records import Binned, Codes, Columns
from spinney.data.kernels.records import Gradients
from spinney.growth.kernels.histogram import clear_own, flushed_of, sum_rows
from spinney.growth.kernels.leaves import leaf_sums
from spinney.growth.kernels.nodes import describe_split, prune, put_in_order, start_tree, write_tree
from spinney.growth.kernels.packing import SUM_BLOCK
from spinney.growth.kernels.partition import partition
from spinney.growth.kernels.quantize import gather, make_entries, owned_rows, set_scales, sum_sizes
from spinney.growth.kernels.records import (
    FINISHED,
    TOGETHER,
    Axis,
    CutSums,
    HistBag,
    NodeRows,
    NodeTable,
    Sums,
    Tasks,
    ThreadSplits,
    TreeArrays,
    TreeRules,
)  # fmt: skip
from spinney.growth.kernels.turns import advance_tasks, set_apart, share_out, summed_by_rows
from spinney.growth.kernels.units import search_children, summed_child
from spinney.jit import Member, inline, kernel, own, record
from spinney.jit.barrier import end_turn, meet, take_turn, wait_for_news
from spinney.jit.intrinsics import tail


@record
class Work:
    """All that splitting leaves needs."""

    team: Member
    codes: Codes
    data: Binned
    features: Columns
    axis: Axis
    rules: TreeRules
    rows: NodeRows
    sums: Sums
    thread_splits: ThreadSplits
    cut_sums: CutSums
    tasks: Tasks
    table: NodeTable


@inline
def take_rows(team, bag, gathered, pairs, table, rows, partial_sums):
    """Write the entries of this thread's rows and its range of the root."""
    in_bag = bag.control[0].in_bag
    begin = 0
    for t in range(team.rank):
        begin += owned_rows(in_bag, t, team.size)
    root = own(rows.ranges, team.rank).of_node[0]
    root.begin = begin
    root.end = begin + owned_rows(in_bag, team.rank, team.size)
    make_entries(team, begin, bag, gathered, pairs, table, rows, partial_sums)


@inline
def sum_node(workers, task_id, node, work):
    """Sum a node's rows into this thread's packed sums: all rows of its groups, or (by rows) its rows of all groups."""
    rank = work.team.rank
    size = work.team.size
    rows = work.rows
    schedule = work.tasks.schedules[task_id]
    by_rows = schedule.by_rows != 0
    first = schedule.live_first
    last = schedule.live_last
    if not by_rows and workers > 1:
        first = max(first, work.tasks.bounds[rank])
        last = min(last, work.tasks.bounds[rank + 1])
    packed = own(work.sums.by_thread, rank).packed
    flushed = flushed_of(rank, work.sums, work.axis)
    held = 0
    for t in range(rank if by_rows else 0, rank + 1 if by_rows else size):
        of_thread = own(rows.ranges, t).of_node[node]
        held = sum_rows(
            rows, of_thread.begin, of_thread.end, held, work.codes, work.data.sparse, work.axis, first, last, packed,
            work.table.packing[0], flushed,
        )  # fmt: skip


@inline
def work_on_node(workers, task_id, seed, work):
    """This thread's part of splitting a task's node and searching its children, with `workers` threads. False: aborted."""
    team = work.team
    rank = team.rank
    mine = own(work.thread_splits, rank)
    tasks = work.tasks
    task = tasks.tasks[task_id]
    by_rows = tasks.schedules[task_id].by_rows != 0
    if task.child != 0:
        goes_left = own(tasks.of_task, task_id).goes_left
        partition(
            task, rank if workers > 1 else 0, rank + 1 if workers > 1 else team.size, team.size, work.codes, work.data, work.rows,
            goes_left,
        )  # fmt: skip
        # A thread that sums its own rows need not wait until the others have partitioned theirs.
        if not by_rows and not meet(team, workers):
            return False
    mine.splits[0].gain = -1.0
    mine.splits[1].gain = -1.0
    schedule = tasks.schedules[task_id]
    first = schedule.live_first
    last = schedule.live_last
    flushed_too = np.int64(0)
    for turn in range(2):
        child = summed_child(turn, task)
        if child < 0:
            continue
        if turn == 1 and by_rows:
            if not meet(team, workers):
                return False
            clear_own(rank, first, last, flushed_too, work.codes, work.data.sparse, work.axis, work.sums)
        flushed_too = 1 if work.table.nodes[child].count > SUM_BLOCK else 0
        sum_node(workers, task_id, child, work)
        if by_rows and not meet(team, workers):
            return False
        search_children(workers, task_id, turn, seed, work)
    if not meet(team, workers):
        return False
    # No thread reads these sums any more. Thread 0 may already write the next task, so this one must not be read here.
    if by_rows:
        clear_own(rank, first, last, flushed_too, work.codes, work.data.sparse, work.axis, work.sums)
    return True


@inline
def prepare(workers, task_id, work):
    """Write what a task's threads need before they start: which codes go left, and how they share the work."""
    tasks = work.tasks
    describe_split(task_id, work.features, work.rules, tasks, work.table)
    rows = work.table.nodes[tasks.tasks[task_id].small].count
    by_rows = summed_by_rows(rows, work.codes.stride, work.data.sparse)
    share_out(task_id, workers, rows, by_rows, work.axis, work.sums, tasks)


@inline
def next_task(task_id, working, together, work):
    """Close a task and choose and prepare the next one, in this thread's turn or (together) for all.

    Returns the number of the latest news, -1 if aborted, and whether threads that work apart should come together.
    """
    team = work.team
    if not together and not take_turn(team.sync):
        return np.int64(-1), False
    called = advance_tasks(
        task_id,
        task_id + 1,
        working,
        together,
        team.size,
        work.rules,
        work.tasks,
        work.thread_splits,
        work.table,
    )
    seen = np.int64(0) if together else end_turn(team.sync, working or called)
    if work.tasks.tasks[task_id].node >= 0:
        prepare(team.size if together and work.table.state[0].mode == TOGETHER else 1, task_id, work)
    return seen, called


@inline
def split_leaves(seed, work):
    """Search the root, then split leaves until the tree is finished, together or apart. False: aborted."""
    team = work.team
    rank = team.rank
    state = work.table.state[0]
    together = True
    working = True
    while True:
        task_id = 0 if together else rank
        if working and not work_on_node(team.size if together else 1, task_id, seed, work):
            return False
        seen = np.int64(0)
        called = False
        if rank == 0 or not together:
            seen, called = next_task(task_id, working, together, work)
        if seen < 0:
            return False
        if together:
            if not meet(team, team.size):
                return False
            if state.mode == FINISHED:
                return True
            together = state.mode == TOGETHER
            working = together or rank == 0
        elif called:
            if not meet(team, team.size):
                return False
            together = True
            working = False
        else:
            working = work.tasks.tasks[task_id].node >= 0
            if not working and not wait_for_news(team.sync, seen):
                return False


@kernel
def grow_tree(
    team: Member,
    bag: HistBag,
    data: Binned,
    axis: Axis,
    gradients: Gradients,
    rules: TreeRules,
    rows: NodeRows,
    sums: Sums,
    thread_splits: ThreadSplits,
    cut_sums: CutSums,
    tasks: Tasks,
    table: NodeTable,
    tree: TreeArrays,
):
    """Grow one tree on the bag's rows, write it to `tree`, and list its rows by leaf."""
    control = bag.control[0]
    in_bag = control.in_bag
    all_rows = control.all_rows != 0
    output = control.output
    all_pairs = tail(gradients.pairs, 2 * gradients.rows * output)
    gathered = not all_rows and in_bag <= bag.gathered.codes.rows
    if gathered:
        gather(team, bag, all_pairs)
    # From here on, the rows of a gathered bag are numbered by their positions in it.
    codes = bag.gathered.codes if gathered else data.codes
    pairs = bag.gathered.pairs if gathered else all_pairs
    work = Work(
        team, codes, data, data.features, axis, rules, rows, sums, thread_splits, cut_sums, tasks, table
    )
    sum_sizes(team, gradients, output, tasks.partial_sums)
    if not meet(team, team.size):
        return
    if team.rank == 0:
        set_scales(team.size, gradients, output, in_bag, rules, tasks.partial_sums, table)
    if not meet(team, team.size):
        return
    take_rows(team, bag, gathered, pairs, table, rows, tasks.partial_sums)
    if not meet(team, team.size):
        return
    if team.rank == 0:
        start_tree(team.size, in_bag, rules, tasks, table)
        set_apart(in_bag, team.size, table.state[0])
        by_rows = summed_by_rows(in_bag, codes.stride, data.sparse)
        share_out(0, team.size, in_bag, by_rows, axis, sums, tasks)
    if not meet(team, team.size):
        return
    if not split_leaves(control.seed, work):
        return
    if team.rank == 0:
        put_in_order(table)
        if rules.limits.least_gain > 0.0:
            prune(rules.limits.least_gain, table)
    if not meet(team, team.size):
        return
    leaf_sums(team, rows, bag, gathered, pairs, table)
    if not meet(team, team.size):
        return
    if team.rank == 0:
        rows.by_leaf.grown[0].output = output
        rows.by_leaf.grown[0].nodes = table.state[0].used
        write_tree(table, rules, control.rate, tree)
