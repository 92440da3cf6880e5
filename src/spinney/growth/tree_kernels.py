"""One tree, from gradients to leaf values: every thread of a team runs `grow_tree`.

The verbs are in files of their own: choose the next leaf (queue, turn, node), partition its rows (partition, rows), build
histograms (histogram), search splits (search, children). Here they are put together. All threads split a large node together:
thread 0 keeps the queue and the node table, and what the others need of its decisions is in its task, written between two
meetings. Small nodes are split by one thread each, and threads take turns at the queue and the table. Sums are integers and
leaves enter the tree in the order of the queue, so how work is shared out among threads never changes the tree.
"""

import numpy as np

from spinney.growth.children_kernels import build, search_children
from spinney.growth.constraint_kernels import permit_all
from spinney.growth.gather_kernels import gather
from spinney.growth.layout import (
    ALL_ROWS, BY_ROWS, CHILD, CLASS, COLUMNS_USED, CURRENT, CUT_BIN, CUT_COLUMN, CUT_DEFAULT, FINISHED, FROM_PARENT,
    GROUPS_USED, IN_BAG, LARGE, MODE, MOST_AHEAD, NODE_WIDTH, NODES, OF_SET, ONE_HOT, SEARCH_LARGE, SEARCH_SMALL, SEED,
    SMALL, SPARSE_AT, SPARSE_CELLS, STATS, TASK_WIDTH, TOGETHER, UNITS_USED, USED_NODES,
)  # fmt: skip
from spinney.growth.node_kernels import start_tree, write_tree
from spinney.growth.partition_kernels import mark_sides, owned_rows
from spinney.growth.prune_kernels import prune
from spinney.growth.quantize_kernels import make_entries, set_scales
from spinney.growth.rows_kernels import add_scores, leaf_sums, partition
from spinney.growth.share_kernels import share_out
from spinney.growth.turn_kernels import go_on, put_in_order, set_apart
from spinney.jit import f32, f64, i32, i64, inline, kernel, out, u8, u16
from spinney.jit.barrier import end_turn, meet, take_turn, wait_for_news
from spinney.jit.intrinsics import tail


@inline
def take_rows(rank, size, in_bag, bag, gathered, pairs, pairs_at, control, scales, stretches, entries, parts):
    """Make the entries of this thread's rows, its stretch of the root."""
    begin = 0
    for t in range(rank):
        begin += owned_rows(in_bag, t, size)
    stretches[2 * rank] = begin
    stretches[2 * rank + 1] = begin + owned_rows(in_bag, rank, size)
    make_entries(
        rank, size, begin, in_bag, bag, control[ALL_ROWS], gathered, pairs, pairs_at, scales, control[SEED], entries, parts
    )


@inline
def work_on_node(rank, crew, size, sync, task, stretches, entries, spare, bins, used, count, unit_total, stored, by_column,
                 sides, axis, features, nodes, sums, rulebook, finds):  # fmt: skip
    """This thread's part of splitting a task's node and searching its children, with `crew` threads. False: give up."""
    tasks, at = task
    by_rows = tasks[at + BY_ROWS]
    node = tasks[at + CURRENT]
    small = tasks[at + SMALL]
    large = tasks[at + LARGE]
    subtracting = tasks[at + FROM_PARENT] != 0
    if nodes[node * NODE_WIDTH + CHILD] != 0:
        partition(
            node, rank if crew > 1 else 0, rank + 1 if crew > 1 else size, size, stretches, entries, spare, by_column, sides,
            nodes,
        )
        # A thread that sums its own rows need not wait until the others have partitioned theirs.
        if by_rows == 0 and not meet(sync, crew):
            return False
    finds[1][2 * rank] = -1.0
    finds[1][2 * rank + 1] = -1.0
    # The larger child is found by subtraction; where nothing was kept of the parent, it is built like the smaller one.
    for turn in range(2):
        child = small if turn == 0 else large
        wanted = tasks[at + SEARCH_SMALL] if turn == 0 else tasks[at + SEARCH_LARGE]
        if turn == 1 and (subtracting or wanted == 0):
            continue
        if turn == 0 and wanted == 0 and not subtracting:
            continue
        if turn == 1 and by_rows != 0 and not meet(sync, crew):
            return False
        build(rank, crew, size, child, stretches, entries, bins, used, stored, task, axis[4][2], sums)
        if by_rows != 0 and not meet(sync, crew):
            return False
        rest = large if turn == 0 and subtracting else np.int64(-1)
        place = wanted - 1 if turn == 0 else wanted
        search_children(
            rank, crew, size, child, rest, place, count, unit_total, axis, features, nodes, task, sums, rulebook, finds
        )
    return meet(sync, crew)


@inline
def prepare(crew, task, count, unit_total, bins, sparse, sides, features, nodes, sets, axis, rulebook, finds):
    """Write down what a task's threads need before they start: where codes go, and who works on what."""
    tasks, at = task
    node = tasks[at + CURRENT]
    row = node * NODE_WIDTH
    column = nodes[row + CUT_COLUMN]
    if features[6][column] != 0 and features[3][column] > rulebook[0][ONE_HOT]:
        nodes[nodes[row + CHILD] * NODE_WIDTH + OF_SET] = 1
        nodes[(nodes[row + CHILD] + 1) * NODE_WIDTH + OF_SET] = 1
    mark_sides(node, column, nodes[row + CUT_BIN], nodes[row + CUT_DEFAULT], features, sets, finds[7], sides)
    share_out(crew, count, unit_total, bins, sparse, task, nodes, axis)


@inline
def next_task(rank, size, sync, working, together, task, sides, count, unit_total, bins, sparse, features, table,
              axis, column_rules, rulebook, finds):  # fmt: skip
    """Close a task and choose and prepare the next one, in this thread's turn or (together) for all.

    Gives the number of the latest news, -1 to give up, and whether threads that work apart should come together.
    """
    nodes, _, _, _, shared, sets = table
    tasks, at = task
    if not together and not take_turn(sync):
        return np.int64(-1), False
    called = go_on(rank, size, working, together, task, finds[4], table, column_rules, rulebook, finds)
    seen = np.int64(0) if together else end_turn(sync, working or called)
    if tasks[at + CURRENT] >= 0:
        crew = size if together and shared[MODE] == TOGETHER else 1
        prepare(
            crew, task, count, unit_total, bins, sparse, sides, features, nodes, sets, axis, rulebook, finds
        )
    return seen, called


@inline
def split_leaves(rank, size, sync, tasks, sides, side_size, stretches, entries, spare, bins, used, count, unit_total, stored,
                 by_column, axis, features, table, sums, column_rules, rulebook, finds):  # fmt: skip
    """Search the root, then split leaves until the tree is finished, together or apart. False: give up."""
    nodes, _, _, _, shared, _ = table
    together = True
    working = True
    while True:
        crew = size if together else 1
        owner = 0 if together else rank
        task = (tasks, owner * TASK_WIDTH)
        own_sides = tail(sides, owner * side_size)
        if working and not work_on_node(
            rank, crew, size, sync, task, stretches, entries, spare, bins, used, count, unit_total, stored, by_column,
            own_sides, axis, features, nodes, sums, rulebook, finds,
        ):
            return False
        seen = np.int64(0)
        called = False
        if rank == 0 or not together:
            seen, called = next_task(
                rank, size, sync, working, together, task, own_sides, count, unit_total, bins, stored[2],
                features, table, axis, column_rules, rulebook, finds,
            )
        if seen < 0:
            return False
        if together:
            if not meet(sync, size):
                return False
            if shared[MODE] == FINISHED:
                return True
            together = shared[MODE] == TOGETHER
            working = together or rank == 0
        elif called:
            if not meet(sync, size):
                return False
            together = True
            working = False
        else:
            working = tasks[owner * TASK_WIDTH + CURRENT] >= 0
            if not working and not wait_for_news(sync, seen):
                return False


@kernel
def grow_tree(
    rank: i64, size: i64, sync: out(i64["32"]),
    rows: i64, columns: i64, groups: i64, outputs: i64, threads: i64, stride: i64, total: i64, cells_size: i64, width: i64,
    wide: i64, sparse: i64, stored: i64, sparse_codes: i64, side_size: i64, member_count: i64, unit_count: i64,
    words: i64, max_nodes: i64, slots: i64, room: i64, blocks: i64, group_count: i64, grouped: i64, weighted: i64,
    bins8: u8["rows * stride * (1 - wide)"], bins16: u16["rows * stride * wide"],
    columns8: u8["rows * groups * (1 - wide)"], columns16: u16["rows * groups * wide"],
    row_words: i64["rows * stride * (1 + wide) // 8"],
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
    control: out(i64["8"]), limits: i64["13"], rules: f64["8"], least: f64["1"], scores: out(f64["rows * outputs"]),
    own8: u8["room * stride * (1 - wide)"], own16: u16["room * stride * wide"],
    own_columns8: u8["room * groups * (1 - wide)"], own_columns16: u16["room * groups * wide"],
    own_words: out(i64["room * stride * (1 + wide) // 8"]), own_column_words: out(i64["room * groups * (1 + wide) // 8"]),
    own_pairs: out(f32["2 * room"]),
    entries: out(i64["rows"]), spare: out(i64["rows"]), stretches: out(i64["2 * threads * max_nodes"]),
    sides: out(u8["threads * side_size"]), line: out(u16["rows * sparse"]),
    costs_before: out(i64["unit_count + 1"]), bounds: out(i64["threads + 1"]),
    cells: out(i64["threads * cells_size"]), shares: out(i32["threads * 3 * total"]),
    planes: out(i32["(slots + 2) * 3 * total"]), alive: out(u8["(slots + 2) * unit_count"]),
    lines: out(i32["threads * 4 * width"]), line_gains: out(f64["threads * width"]),
    nodes: out(i64["21 * max_nodes"]), gains: out(f64["max_nodes"]), heap: out(i64["max_nodes"]),
    free: out(i64["slots"]), shared: out(i64["16"]), tasks: out(i64["16 * threads"]), scales: out(f64["8"]),
    parts: out(i64["8 * threads"]),
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
    unit_total = extent[UNITS_USED]
    pairs_at = 2 * rows * output
    gathered = control[ALL_ROWS] == 0 and in_bag <= room
    if gathered:
        own = (own8, own16, own_words, own_column_words, own_pairs)
        gather(rank, size, in_bag, bag, groups, stride, wide, room, row_words, pairs, pairs_at, own)
    # From here on the rows of a gathered bag are numbered by their places in it.
    height = room if gathered else rows
    gradients = own_pairs if gathered else pairs
    gradients_at = 0 if gathered else pairs_at
    bins = (own8 if gathered else bins8, own16 if gathered else bins16, wide, stride)
    used = (used_groups, used_starts, 1 if count == groups else 0)
    by_entry = (stored_starts, stored_rows, stored_codes)
    by_column = (
        own_columns8 if gathered else columns8, own_columns16 if gathered else columns16, wide, height, group_of, by_entry, line,
    )
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
    take_rows(rank, size, in_bag, bag, gathered, gradients, gradients_at, control, scales, stretches, entries, parts)
    if not meet(sync, size):
        return
    if rank == 0:
        start_tree(in_bag, tasks, table, rulebook, parts, size)
        set_apart(in_bag, size, shared)
        permit_all(columns, permitted)
        share_out(size, count, unit_total, bins, sparse_codes, (tasks, 0), nodes, axis)
    if not meet(sync, size):
        return
    if not split_leaves(
        rank, size, sync, tasks, sides, side_size, stretches, entries, spare, bins, used, count, unit_total, stored_by_row,
        by_column, axis, features, table, sums, column_rules, rulebook, finds,
    ):
        return
    if limits[MOST_AHEAD] > 0 or least[0] > 0.0:
        if rank == 0:
            put_in_order(table, stretches, 2 * size, words)
            if least[0] > 0.0:
                prune(least[0], table, heap, stretches, 2 * size, words)
        if not meet(sync, size):
            return
    leaf_sums(rank, size, stretches, entries, gradients, gradients_at, nodes, shared[USED_NODES], scales)
    if not meet(sync, size):
        return
    if rank == 0:
        control[NODES] = shared[USED_NODES]
        write_tree(table, rulebook, (feature, cut_bin, left, default_left, value, gain, cover, counts))
    if control[ALL_ROWS] != 0:
        if not meet(sync, size):
            return
        add_scores(rank, size, stretches, entries, scores, rows * output, nodes, shared[USED_NODES], value)
