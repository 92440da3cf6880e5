"""Search: the histograms of a split node's children → their best splits, unit by unit.

A *unit* is a column, or a run of columns with one code each, side by side on the histogram's axis. Each thread does all of the
work of its units: it completes their histograms (`flush`), derives those of the larger child (`derive`), and searches both while
they are in its cache.

A run in which no code has the rows of a leaf is *dead* for the node and all nodes below it: it is not searched. A group at
either end of the axis, all of whose runs are dead, is not even summed (`find_living` in `turns`). Of equal gains the lower
column wins, so units may be searched in any order.

The search is sparsity-aware: each cut is scored with the missing values on the right and on the left, and the better side is the
split's default direction.
"""

import numpy as np

from spinney.binning.kernels.records import NO_DEFAULT
from spinney.growth.kernels.categories import most_rows, search_categories
from spinney.growth.kernels.cuts import (
    INVALID,
    children_weights,
    code_sums,
    few_missing,
    first_of,
    is_better,
    largest,
    leave_to_larger,
    note_split,
    prefix_around,
    prefix_filled,
    prefix_sums,
    rest_of_each,
    score_side,
)  # fmt: skip
from spinney.growth.kernels.draws import any_column, columns_of_children
from spinney.growth.kernels.histogram import clear, clear_sums, derive, flush, histogram_of, join
from spinney.growth.kernels.packing import SUM_BLOCK
from spinney.jit import inline, own
from spinney.jit.intrinsics import tail


@inline
def search_column(column, start, node, histogram, features, direction, rules, scales, cut_sums, split):
    """Best cut of one column in one node; replaces the split if it is better."""
    c = node.count
    bins = features.bins[column]
    codes = features.codes[column]
    default = features.default[column]
    missing_g = np.int64(0)
    missing_h = np.int64(0)
    missing_c = np.int64(0)
    # A node of fewer rows than bins tries only cuts after bins that have rows. With bounds, a cut before all of them counts, too.
    by_filled = c < bins and default >= NO_DEFAULT and rules.penalties.bounded == 0
    tried = bins
    if default < NO_DEFAULT:
        sum_g, sum_h, sum_c = code_sums(histogram, start, codes)
        if sum_c == 0:
            return
        rest_g = node.sum_g - sum_g
        rest_h = node.sum_h - sum_h
        rest_c = c - sum_c
        prefix_around(histogram, start, bins, default, rest_g, rest_h, rest_c, cut_sums)
        if default == bins:
            missing_g = rest_g
            missing_h = rest_h
            missing_c = rest_c
    elif by_filled:
        tried = prefix_filled(histogram, start, bins, cut_sums)
    else:
        prefix_sums(histogram, start, bins, cut_sums)
    if codes > bins or (codes == bins and default < bins):
        missing_at = start + codes - 1
        missing_g = np.int64(histogram.g[missing_at])
        missing_h = np.int64(histogram.h[missing_at])
        missing_c = np.int64(histogram.count[missing_at])
    # Missing values go right, then left; few of them go to the larger side. Without any, a cut after the last bin has no right
    # side.
    for missing_left in range(2 if missing_c > 0 else 1):
        cuts = tried if missing_c > 0 and missing_left == 0 else tried - 1
        score_side(
            cuts,
            missing_left * missing_g,
            missing_left * missing_h,
            missing_left * missing_c,
            node,
            rules,
            scales,
            cut_sums,
            direction,
        )
        if few_missing(missing_c, rules):
            leave_to_larger(cuts, missing_left, c - missing_c, cut_sums)
        score = largest(cut_sums.gains, cuts)
        if is_better(score, column, split):
            at = first_of(cut_sums.gains, score)
            left_c = np.int64(cut_sums.count[at]) + missing_left * missing_c
            note_split(
                split,
                score,
                column,
                np.int64(cut_sums.bin[at]) if by_filled else at,
                missing_left if missing_c > 0 else (1 if 2 * left_c >= c else 0),
                np.int64(cut_sums.g[at]) + missing_left * missing_g,
                np.int64(cut_sums.h[at]) + missing_left * missing_h,
                left_c,
            )


@inline
def search_run(unit, start, node, histogram, axis, marks, rules, scales, cut_sums, split):
    """Best cut of a run of columns that have two bins and one code each: all of them are scored together."""
    members = tail(axis.members, unit.member)
    columns = unit.columns
    directions = rules.columns.directions
    bounded = rules.penalties.bounded != 0
    rest_of_each(histogram, start, columns, node, cut_sums)
    score_side(columns, np.int64(0), np.int64(0), np.int64(0), node, rules, scales, cut_sums, np.int64(0))
    for k in range(0 if any_column(axis, rules) else columns):
        column = members[k]
        if marks[column] == 0:
            cut_sums.gains[k] = INVALID
        elif bounded and directions[column] != 0:
            left, right = children_weights(cut_sums.g[k], cut_sums.h[k], node, scales)
            if float(directions[column]) * (right - left) < 0.0:
                cut_sums.gains[k] = INVALID
    score = largest(cut_sums.gains, columns)
    if score < 0.0 or score < split.gain:
        return
    k = first_of(cut_sums.gains, score)
    column = members[k]
    for other in range(k + 1, columns):
        if cut_sums.gains[other] == score and members[other] < column:
            k = other
            column = members[other]
    if is_better(score, column, split):
        left_c = np.int64(cut_sums.count[k])
        note_split(
            split,
            score,
            column,
            np.int64(0),
            1 if 2 * left_c >= node.count else 0,
            np.int64(cut_sums.g[k]),
            np.int64(cut_sums.h[k]),
            left_c,
        )


@inline
def search(unit, node, histogram, axis, features, marks, rules, scales, cut_sums, mine, place):
    """Search the columns of one unit for the best split of a node; replaces the split at `place` if it is better."""
    split = mine.splits[place]
    words = mine.words
    column = axis.members[unit.member]
    start = axis.low[column]
    if unit.columns > 0:
        search_run(unit, start, node, histogram, axis, marks, rules, scales, cut_sums, split)
    elif marks[column] != 0:
        if words > 0 and features.categorical[column] != 0:
            bits = tail(mine.sets, place * words)
            search_categories(
                column,
                start,
                features.bins[column],
                node,
                histogram,
                rules,
                scales,
                cut_sums,
                split,
                bits,
                words,
            )
        else:
            search_column(
                column,
                start,
                node,
                histogram,
                features,
                rules.columns.directions[column],
                rules,
                scales,
                cut_sums,
                split,
            )


@inline
def is_alive(unit, histogram, axis, features, rules):
    """1 if a unit can split a node with this histogram or one below it.

    A run of one-code columns cannot if no code has the rows of a leaf. Many categories cannot if none of them has enough rows.
    """
    columns = unit.columns
    if columns > 0:
        return 1 if most_rows(histogram.count, unit.end - columns, unit.end) >= rules.limits.min_count else 0
    column = axis.members[unit.member]
    bins = features.bins[column]
    if features.categorical[column] == 0 or bins <= rules.categories.one_hot:
        return 1
    begin = unit.begin
    if histogram.count[begin + bins] > 0:
        return 1
    return 1 if most_rows(histogram.count, begin, begin + bins) >= rules.categories.min_category else 0


@inline
def own_units(rank, workers, schedule, bounds, axis):
    """The units that a thread searches: first, last."""
    first = np.int64(0)
    last = axis.extent[0].units
    if workers > 1:
        first = bounds[rank] if schedule.by_rows != 0 else axis.group_units[bounds[rank]]
        last = bounds[rank + 1] if schedule.by_rows != 0 else axis.group_units[bounds[rank + 1]]
    return first, last


@inline
def summed_child(turn, task):
    """The child of a task that is summed in its first turn (0) or its second (1); -1 for none.

    The larger one is found by subtraction; if the parent's histogram was not kept, it is summed like the smaller one.
    """
    wanted = task.search_small if turn == 0 else task.search_large
    subtracting = task.from_parent != 0
    if turn == 1:
        return task.large if wanted != 0 and not subtracting else np.int64(-1)
    return task.small if wanted != 0 or subtracting else np.int64(-1)


@inline
def search_children(workers, task_id, turn, seed, work):
    """Make the histograms of this thread's units and search them for both children, unit by unit in cache.

    The child that was summed in this turn has its sums in the packed ones or in its slot. The larger one gets the rest of its
    parent's histogram, which is in its slot, if it was kept. A unit that is dead in the parent is skipped.
    """
    rank = work.team.rank
    axis = work.axis
    rules = work.rules
    sums = work.sums
    tasks = work.tasks
    mine = own(work.thread_splits, rank)
    task = tasks.tasks[task_id]
    schedule = tasks.schedules[task_id]
    small = summed_child(turn, task)
    large = task.large if turn == 0 and task.from_parent != 0 else np.int64(-1)
    place = task.search_small - 1 if turn == 0 else np.int64(1)
    node_small = work.table.nodes[small]
    node_large = work.table.nodes[max(large, 0)]
    small_slot = node_small.slot
    large_slot = max(node_large.slot, 0)
    histogram_small = histogram_of(small_slot, sums, axis)
    histogram_large = histogram_of(large_slot, sums, axis)
    alive_small = tail(sums.alive, small_slot * axis.unit_count)
    alive_large = tail(sums.alive, large_slot * axis.unit_count)
    packing = work.table.packing[0]
    flushed_too = 1 if node_small.count > SUM_BLOCK else 0
    in_slot = schedule.in_slot != 0
    by_rows = schedule.by_rows != 0 and not in_slot
    first_unit, last_unit = own_units(rank, workers, schedule, tasks.bounds, axis)
    first_summed = axis.group_units[schedule.live_first]
    last_summed = axis.group_units[schedule.live_last]
    first_sparse = axis.group_units[axis.extent[0].groups]
    marks_small, marks_large = columns_of_children(
        node_small, node_large, large >= 0, axis, rules, seed, own(tasks.of_task, task_id).permitted, mine
    )
    cut_sums = own(work.cut_sums, rank)
    for u in range(first_unit, last_unit):
        unit = axis.units[u]
        if large >= 0 and alive_large[u] == 0:
            if not (in_slot or by_rows) and (first_summed <= u < last_summed or u >= first_sparse):
                clear(unit, flushed_too, rank, sums, axis)
            alive_small[u] = 0
            continue
        if by_rows:
            clear_sums(unit.begin, unit.end, histogram_small)
            join(unit, flushed_too, work.team.size, sums, axis, packing, histogram_small)
        elif not in_slot:
            flush(unit, flushed_too, rank, sums, axis, packing, histogram_small)
        # One call for both children: inlining the search twice would double the time to compile it.
        for which in range(2 if large >= 0 else 1):
            if which == 1:
                derive(unit, histogram_large, histogram_small)
            histogram = histogram_small if which == 0 else histogram_large
            lives = is_alive(unit, histogram, axis, work.features, rules)
            if which == 0:
                alive_small[u] = lives
            else:
                alive_large[u] = lives
            to = place if which == 0 else np.int64(1)
            if lives != 0 and to >= 0:
                search(
                    unit,
                    node_small if which == 0 else node_large,
                    histogram,
                    axis,
                    work.features,
                    marks_small if which == 0 else marks_large,
                    rules,
                    work.table.scales[0],
                    cut_sums,
                    mine,
                    to,
                )
