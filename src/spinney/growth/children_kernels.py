"""What every thread does for its columns: the histograms of a split node's children, and the search for their splits."""

import numpy as np

from spinney.binning.features import NO_DEFAULT
from spinney.growth.layout import (
    AXIS_BEGIN, AXIS_CELLS, AXIS_COLUMNS, AXIS_END, AXIS_MEMBER, AXIS_UNIT_WIDTH, BOUNDED, BY_ROWS, COUNT, FOUND_BIN,
    FOUND_COLUMN, FOUND_COUNT, FOUND_DEFAULT, FOUND_G, FOUND_H, FOUND_WIDTH, LIVE_FIRST, LIVE_LAST, MAX_STEP, MIN_CATEGORY,
    MIN_COUNT, MIN_HESSIAN, NODE_WIDTH, ONE_HOT, REG_ALPHA, REG_LAMBDA, SCALE_G, SCALE_H, SLOT, SUM_G, SUM_H,
)  # fmt: skip
from spinney.growth.category_kernels import best_set, most_rows, write_set
from spinney.growth.constraint_kernels import (
    any_column, children_weights, columns_of_children, own_score, score_cuts_bounded, search_bounds,
)  # fmt: skip
from spinney.growth.packing import BLOCK, PLANES
from spinney.growth.histogram_kernels import clear_cells, collect_column, subtract, sum_rows
from spinney.growth.search_kernels import (
    INVALID, LEAST, code_sums, first_of, largest, prefix_around, prefix_filled, prefix_sums, rest_of_each, score_cuts,
)  # fmt: skip
from spinney.jit.kernel import inline


@inline
def build(rank, crew, size, node, stretches, entries, bins, used, stored, task, bounds, sums):
    """Sum a node's rows into this thread's cells: all rows of its groups, or (by rows) its rows of all groups."""
    cells, cells_size, shares, _, total = sums
    tasks, task_at = task
    by_rows = tasks[task_at + BY_ROWS]
    first = tasks[task_at + LIVE_FIRST]
    last = tasks[task_at + LIVE_LAST]
    if by_rows == 0 and crew > 1:
        first = max(first, bounds[rank])
        last = min(last, bounds[rank + 1])
    held = 0
    for t in range(rank if by_rows != 0 else 0, rank + 1 if by_rows != 0 else size):
        at = 2 * (node * size + t)
        held = sum_rows(
            entries, stretches[at], stretches[at + 1], held, bins, used, first, last, stored, cells, rank * cells_size,
            shares, rank * PLANES * total, total,
        )


@inline
def score_side(cuts, add_g, add_h, add_c, node, nodes, rulebook, scratch, sign):
    """Score the left sides in `line`, joined by some more sums, as splits of a node by a column of some direction."""
    limits, rules, scales, _ = rulebook
    line, gains, width, line_at, gains_at = scratch
    row = node * NODE_WIDTH
    reg_lambda = rules[REG_LAMBDA] * scales[SCALE_H]
    reg_alpha = rules[REG_ALPHA] * scales[SCALE_G]
    max_step = rules[MAX_STEP] * scales[SCALE_G] / scales[SCALE_H]
    min_hessian = max(rules[MIN_HESSIAN] * scales[SCALE_H], LEAST if reg_lambda < LEAST else 0.0)
    if limits[BOUNDED] == 0:
        score_cuts(
            cuts, float(add_g), float(add_h), float(add_c), float(nodes[row + SUM_G]), float(nodes[row + SUM_H]),
            float(nodes[row + COUNT]), float(limits[MIN_COUNT]), min_hessian, reg_lambda, reg_alpha, max_step,
            line, line_at, width, gains, gains_at,
        )
    else:
        lower, upper = search_bounds(node, nodes, scales)
        score_cuts_bounded(
            cuts, float(add_g), float(add_h), float(add_c), float(nodes[row + SUM_G]), float(nodes[row + SUM_H]),
            float(nodes[row + COUNT]), float(limits[MIN_COUNT]), min_hessian, reg_lambda, reg_alpha, max_step,
            lower, upper, own_score(node, nodes, rulebook), sign,
            line, line_at, width, gains, gains_at,
        )


@inline
def note_split(column, cut, score, default, left_g, left_h, left_c, found, gain, at):
    """Write down the best split so far."""
    gain[at] = score
    to = at * FOUND_WIDTH
    found[to + FOUND_COLUMN] = column
    found[to + FOUND_BIN] = cut
    found[to + FOUND_DEFAULT] = default
    found[to + FOUND_G] = left_g
    found[to + FOUND_H] = left_h
    found[to + FOUND_COUNT] = left_c


@inline
def is_better(score, column, found, gain, at):
    """Whether a split beats the best one so far. Of equal ones the lower column wins, in whatever order they come."""
    if score != gain[at]:
        return score > gain[at]
    return score >= 0.0 and column < found[at * FOUND_WIDTH + FOUND_COLUMN]


@inline
def search_column(column, start, node, nodes, planes, total, features, sign, rulebook, scratch, found, gain, at):
    """Best cut of one column in one node; replaces the split number `at` of `found` and `gain` if it is better."""
    _, _, codes_of, bins_of, default_of, _, _ = features
    line, gains, width, line_at, gains_at = scratch
    row = node * NODE_WIDTH
    c = nodes[row + COUNT]
    plane_at = nodes[row + SLOT] * PLANES * total
    bins = bins_of[column]
    codes = codes_of[column]
    default = default_of[column]
    missing_g = np.int64(0)
    missing_h = np.int64(0)
    missing_c = np.int64(0)
    # A node of fewer rows than bins tries only cuts after bins that have some. Under bounds a cut before all of them counts, too.
    few = c < bins and default >= NO_DEFAULT and rulebook[0][BOUNDED] == 0
    tried = bins
    if default < NO_DEFAULT:
        sum_g, sum_h, sum_c = code_sums(planes, plane_at, total, start, codes)
        if sum_c == 0:
            return
        rest_g = nodes[row + SUM_G] - sum_g
        rest_h = nodes[row + SUM_H] - sum_h
        rest_c = c - sum_c
        prefix_around(
            planes, plane_at, total, start, bins, default, rest_g, rest_h, rest_c, line, line_at, width
        )
        if default == bins:
            missing_g = rest_g
            missing_h = rest_h
            missing_c = rest_c
    elif few:
        tried = prefix_filled(planes, plane_at, total, start, bins, line, line_at, width)
    else:
        prefix_sums(planes, plane_at, total, start, bins, line, line_at, width)
    if codes > bins or (codes == bins and default < bins):
        missing_at = plane_at + start + codes - 1
        missing_g = np.int64(planes[missing_at])
        missing_h = np.int64(planes[missing_at + total])
        missing_c = np.int64(planes[missing_at + 2 * total])
    # Missing values right, then left. Without any, the last bin leaves nothing on the right.
    for direction in range(2 if missing_c > 0 else 1):
        cuts = tried if missing_c > 0 and direction == 0 else tried - 1
        score_side(
            cuts, direction * missing_g, direction * missing_h, direction * missing_c, node, nodes, rulebook, scratch,
            sign,
        )
        score = largest(gains, gains_at, cuts)
        if is_better(score, column, found, gain, at):
            place = line_at + first_of(gains, gains_at, score)
            left_c = np.int64(line[place + 2 * width]) + direction * missing_c
            note_split(
                column, np.int64(line[place + 3 * width]) if few else place - line_at, score,
                direction if missing_c > 0 else (1 if 2 * left_c >= c else 0),
                np.int64(line[place]) + direction * missing_g, np.int64(line[place + width]) + direction * missing_h, left_c,
                found, gain, at,
            )


@inline
def search_categories(column, start, node, nodes, planes, total, features, rulebook, scratch, found, gain, sets, words, at):
    """Best set of a categorical column, as `search_column`."""
    bins = features[3][column]
    line, gains, width, line_at, gains_at = scratch
    score, end, count, missing, g, h, c, used = best_set(
        start, bins, node, nodes, planes, total, rulebook, line, line_at, width, gains, gains_at
    )
    if is_better(score, column, found, gain, at):
        note_split(column, np.int64(0), score, missing, g, h, c, found, gain, at)
        write_set(bins <= rulebook[0][ONE_HOT], end, count, used, line, line_at, bins, sets, at * words, words)


@inline
def is_alive(unit, axis, node, nodes, planes, total, features, rulebook):
    """1 if a unit can split a node or one below it.

    A run of one-code columns cannot where no code has rows for a leaf, nor can many categories of which none has rows enough.
    """
    units, members, _, _, _, _, _, _ = axis
    limits = rulebook[0]
    counts_at = (nodes[node * NODE_WIDTH + SLOT] * PLANES + 2) * total
    columns = units[unit + AXIS_COLUMNS]
    if columns > 0:
        end = units[unit + AXIS_END]
        return 1 if most_rows(planes, counts_at, end - columns, end) >= limits[MIN_COUNT] else 0
    column = members[units[unit + AXIS_MEMBER]]
    bins = features[3][column]
    if features[6][column] == 0 or bins <= limits[ONE_HOT]:
        return 1
    begin = units[unit + AXIS_BEGIN]
    if planes[counts_at + begin + bins] > 0:
        return 1
    return 1 if most_rows(planes, counts_at, begin, begin + bins) >= limits[MIN_CATEGORY] else 0


@inline
def search_run(
    member, columns, start, node, nodes, planes, total, free, signs, members, marks, marks_at, rulebook, scratch, found, gain,
    at,
):
    """Best cut of a run of columns that have two bins and one code each: all of them scored in one go."""
    line, gains, width, line_at, gains_at = scratch
    row = node * NODE_WIDTH
    c = nodes[row + COUNT]
    plane_at = nodes[row + SLOT] * PLANES * total
    rest_of_each(
        planes, plane_at, total, start, columns, nodes[row + SUM_G], nodes[row + SUM_H], c, line, line_at, width
    )
    score_side(columns, np.int64(0), np.int64(0), np.int64(0), node, nodes, rulebook, scratch, np.int64(0))
    for k in range(0 if free else columns):
        column = members[member + k]
        if marks[marks_at + column] == 0:
            gains[gains_at + k] = INVALID
        elif rulebook[0][BOUNDED] != 0 and signs[column] != 0:
            left, right = children_weights(line[line_at + k], line[line_at + width + k], node, nodes, rulebook)
            if float(signs[column]) * (right - left) < 0.0:
                gains[gains_at + k] = INVALID
    score = largest(gains, gains_at, columns)
    if score < 0.0 or score < gain[at]:
        return
    k = first_of(gains, gains_at, score)
    column = members[member + k]
    for other in range(k + 1, columns):
        if gains[gains_at + other] == score and members[member + other] < column:
            k = other
            column = members[member + other]
    if is_better(score, column, found, gain, at):
        left_c = np.int64(line[line_at + 2 * width + k])
        note_split(
            column, np.int64(0), score, 1 if 2 * left_c >= c else 0, np.int64(line[line_at + k]),
            np.int64(line[line_at + width + k]), left_c, found, gain, at,
        )


@inline
def search_unit(unit, node, nodes, axis, marks, marks_at, planes, total, features, rulebook, finds, at):
    """Search the columns of one unit."""
    found, gain, _, _, all_columns, scratch, sets, words = finds
    units, members, low, _, _, chosen, _, _ = axis
    signs = chosen[3][0]
    first = units[unit + AXIS_MEMBER]
    columns = units[unit + AXIS_COLUMNS]
    column = members[first]
    if columns > 0:
        search_run(
            first, columns, low[column], node, nodes, planes, total, any_column(chosen, rulebook[0], all_columns), signs,
            members, marks, marks_at, rulebook, scratch, found, gain, at,
        )
    elif marks[marks_at + column] != 0:
        if words > 0 and features[6][column] != 0:
            search_categories(
                column, low[column], node, nodes, planes, total, features, rulebook, scratch, found, gain, sets, words, at
            )
        else:
            search_column(
                column, low[column], node, nodes, planes, total, features, signs[column], rulebook, scratch, found, gain, at
            )


@inline
def search_children(
    rank, crew, size, small, large, search_small, count, unit_total, axis, features, nodes, task, sums, rulebook, finds
):
    """Collect the histograms of this thread's units and search them for both children, unit by unit in cache.

    `small` is the node that was built; its split goes to place `search_small` of this thread's two, -1 for none. `large` gets
    the rest of its parent's histogram, which is in its slot, and the second place; -1 for nobody. A unit that has died in the
    parent is left alone.
    """
    units, _, _, group_units, costs, chosen, alive, unit_count = axis
    cells, cells_size, shares, planes, total = sums
    _, _, drawn, mask, columns, _, _, _ = finds
    small_at = nodes[small * NODE_WIDTH + SLOT] * PLANES * total
    large_at = nodes[max(large, 0) * NODE_WIDTH + SLOT] * PLANES * total
    small_alive = nodes[small * NODE_WIDTH + SLOT] * unit_count
    large_alive = nodes[max(large, 0) * NODE_WIDTH + SLOT] * unit_count
    flushed = 1 if nodes[small * NODE_WIDTH + COUNT] > BLOCK else 0
    tasks, task_at = task
    by_rows = tasks[task_at + BY_ROWS]
    from_thread = 0 if by_rows != 0 else rank
    to_thread = size if by_rows != 0 else rank + 1
    bounds = costs[2]
    first_unit = np.int64(0)
    last_unit = unit_total
    if crew > 1:
        first_unit = bounds[rank] if by_rows != 0 else group_units[bounds[rank]]
        last_unit = bounds[rank + 1] if by_rows != 0 else group_units[bounds[rank + 1]]
    first_summed = group_units[tasks[task_at + LIVE_FIRST]]
    last_summed = group_units[tasks[task_at + LIVE_LAST]]
    first_sparse = group_units[count]
    marks, mask_small, mask_large = columns_of_children(
        rank, small, large, nodes, chosen, rulebook, drawn, mask, columns
    )
    for u in range(first_unit, last_unit):
        unit = u * AXIS_UNIT_WIDTH
        begin = units[unit + AXIS_BEGIN]
        end = units[unit + AXIS_END]
        cells_at = units[unit + AXIS_CELLS]
        if large >= 0 and alive[large_alive + u] == 0:
            if first_summed <= u < last_summed or u >= first_sparse:
                clear_cells(
                    cells, cells_at, cells_size, shares, PLANES * total, flushed, from_thread, to_thread, total, begin, end
                )
            alive[small_alive + u] = 0
            continue
        collect_column(
            cells, cells_at, cells_size, shares, PLANES * total, flushed, from_thread, to_thread, planes, small_at, total,
            begin, end,
        )
        # One place for both children: inlining the search twice would double the time to compile it.
        for turn in range(2 if large >= 0 else 1):
            node = small if turn == 0 else large
            if turn == 1:
                subtract(planes, large_at, small_at, total, begin, end)
            lives = is_alive(unit, axis, node, nodes, planes, total, features, rulebook)
            alive[(small_alive if turn == 0 else large_alive) + u] = lives
            place = search_small if turn == 0 else np.int64(1)
            if lives != 0 and place >= 0:
                search_unit(
                    unit, node, nodes, axis, marks, mask_small if turn == 0 else mask_large, planes, total, features,
                    rulebook, finds, 2 * rank + place,
                )
