"""Searching every value: one walk over a node's sorted entries in a column.

Sums of the entries walked so far are the left side of a cut before the next value. They are written to `line`, and whenever it
is full all of its cuts are scored in one go. Rows that are not listed are either missing, or hold one value in the middle (0 in
a sparse table) and join the left side there.
"""

import numpy as np

from spinney.growth.children_kernels import is_better, note_split, score_side
from spinney.growth.layout import COUNT, FOUND_ABOVE, FOUND_WIDTH, NODE_WIDTH, SUM_G, SUM_H
from spinney.growth.search_kernels import INVALID, first_of, largest
from spinney.jit.intrinsics import prefetch
from spinney.jit.kernel import inline

ROW_MASK = 4294967295
AHEAD = 24
LINE = 512  # cuts scored in one go
# Cuts that do not stand before an entry.
BEFORE_REST = -1
AFTER_ALL = -2


@inline
def first_above(entries, begin, end, rank):
    """First entry of a greater rank."""
    low = begin
    high = end
    while low < high:
        middle = (low + high) >> 1
        if entries[middle] >> 32 > rank:
            high = middle
        else:
            low = middle + 1
    return low


@inline
def sum_entries(entries, begin, end, amounts):
    """Gradient and hessian of some entries."""
    g = np.int64(0)
    h = np.int64(0)
    for i in range(begin, end):
        prefetch(amounts, entries[min(i + AHEAD, end - 1)] & ROW_MASK)
        amount = amounts[entries[i] & ROW_MASK]
        g += amount >> 32
        h += amount & ROW_MASK
    return g, h


@inline
def fill_line(entries, i, count, end, amounts, g, h, c, last, line, line_at, positions, positions_at, k):
    """Walk some entries and write down a cut before each new value."""
    for at in range(i, i + count):
        prefetch(amounts, entries[min(at + AHEAD, end - 1)] & ROW_MASK)
        entry = entries[at]
        rank = entry >> 32
        line[line_at + k] = float(g)
        line[line_at + LINE + k] = float(h)
        line[line_at + 2 * LINE + k] = float(c)
        positions[positions_at + k] = at
        k += 1 if rank != last else 0
        last = rank
        amount = amounts[entry & ROW_MASK]
        g += amount >> 32
        h += amount & ROW_MASK
        c += 1
    return g, h, c, last, k


@inline
def fill_thinly(entries, i, count, end, amounts, g, h, c, last, line, line_at, positions, positions_at, k, step, due,
                zero):  # fmt: skip
    """The same, but a cut only where another `step` of hessian has come together, and on both sides of 0."""
    for at in range(i, i + count):
        prefetch(amounts, entries[min(at + AHEAD, end - 1)] & ROW_MASK)
        entry = entries[at]
        rank = entry >> 32
        if rank != last and (h >= due or rank == zero or last == zero):
            line[line_at + k] = float(g)
            line[line_at + LINE + k] = float(h)
            line[line_at + 2 * LINE + k] = float(c)
            positions[positions_at + k] = at
            k += 1
            due = (h // step + 1) * step
        last = rank
        amount = amounts[entry & ROW_MASK]
        g += amount >> 32
        h += amount & ROW_MASK
        c += 1
    return g, h, c, last, k, due


@inline
def push_cut(position, g, h, c, line, line_at, positions, positions_at, k):
    """Write down one cut."""
    line[line_at + k] = float(g)
    line[line_at + LINE + k] = float(h)
    line[line_at + 2 * LINE + k] = float(c)
    positions[positions_at + k] = position


@inline
def unlisted_sums(column, node, nodes, entries, begin, end, amounts, blocks):
    """Sums of the rows that stand in the middle or are missing, and where the entries above the middle and missing ones begin.

    Gives (middle, present, rest g, h, count, missing g, h, count): entries begin..middle-1 are below the rest, middle..present-1
    above it. Where the rows that are not listed are missing, there is no rest and `middle` is the end.
    """
    rest_of, ranks_of, _ = blocks
    row = node * NODE_WIDTH
    unlisted = nodes[row + COUNT] - (end - begin)
    middle = end
    present = end
    if rest_of[column] < ranks_of[column]:
        middle = first_above(entries, begin, end, rest_of[column])
        present = first_above(entries, middle, end, ranks_of[column] - 1)
    missing_g, missing_h = sum_entries(entries, present, end, amounts)
    rest_g = np.int64(0)
    rest_h = np.int64(0)
    if unlisted > 0:
        listed_g, listed_h = sum_entries(entries, begin, present, amounts)
        rest_g = nodes[row + SUM_G] - listed_g - missing_g
        rest_h = nodes[row + SUM_H] - listed_h - missing_h
        if rest_of[column] == ranks_of[column]:
            return middle, present, np.int64(0), np.int64(0), np.int64(0), rest_g, rest_h, unlisted
    return middle, present, rest_g, rest_h, unlisted, missing_g, missing_h, end - present


@inline
def best_of_line(cuts, missing_g, missing_h, missing_c, node, nodes, rulebook, scratch, sign):
    """Best score of the cuts in a line, which cut it is, and whether missing values go left; equal ones: right, the first."""
    _, gains, _, _, gains_at = scratch
    best = INVALID
    cut = np.int64(0)
    best_direction = np.int64(0)
    for direction in range(2 if missing_c > 0 else 1):
        score_side(
            cuts, direction * missing_g, direction * missing_h, direction * missing_c, node, nodes, rulebook, scratch, sign
        )
        score = largest(gains, gains_at, cuts)
        if score > best:
            best = score
            cut = np.int64(first_of(gains, gains_at, score))
            best_direction = np.int64(direction)
    return best, cut, best_direction


@inline
def note_cut(column, position, middle, rest_c, missing_c, blocks, entries, score, direction, left, count, found, gain, at):
    """Write down the best cut of a column: the ranks on both sides of it."""
    rest_of, ranks_of, _ = blocks
    left_g, left_h, left_c = left
    if position == BEFORE_REST:
        below = entries[middle - 1] >> 32
        above = rest_of[column]
    elif position == AFTER_ALL:
        below = ranks_of[column] - 1
        above = np.int64(-1)
    else:
        below = rest_of[column] if position == middle and rest_c > 0 else entries[position - 1] >> 32
        above = entries[position] >> 32
    if missing_c == 0:
        direction = 1 if 2 * left_c >= count else 0
    note_split(column, below, score, direction, left_g, left_h, left_c, found, gain, at)
    found[at * FOUND_WIDTH + FOUND_ABOVE] = above


@inline
def search_sorted(
    column, sign, node, nodes, entries, begin, end, amounts, blocks, candidates, rulebook, scratch, places, found, gain, at
):
    """Best cut of a column in a node, whose entries are begin..end-1; replaces split `at` of `found` if it is better.

    With `candidates` 0 every distinct value is tried, else about so many, spaced by hessian.
    """
    zero = blocks[2][column]
    positions, positions_at = places
    line, _, _, line_at, _ = scratch
    row = node * NODE_WIDTH
    listed = end - begin
    if listed == nodes[row + COUNT] and (listed == 0 or entries[begin] >> 32 == entries[end - 1] >> 32):
        return
    middle, present, rest_g, rest_h, rest_c, missing_g, missing_h, missing_c = unlisted_sums(
        column, node, nodes, entries, begin, end, amounts, blocks
    )
    step = max((nodes[row + SUM_H] - missing_h) // candidates, 1) if candidates > 0 else np.int64(0)
    due = step
    g = np.int64(0)
    h = np.int64(0)
    c = np.int64(0)
    # No cut before the first value: nothing would be on its left, or missing values alone.
    last = entries[begin] >> 32 if begin < present else np.int64(-1)
    i = begin
    stop = middle
    k = np.int64(0)
    part = 0
    best = INVALID
    position = np.int64(0)
    best_direction = np.int64(0)
    left = (g, h, c)
    while part < 2 or k > 0:
        while part < 2 and 2 * k < LINE:
            count = min(stop - i, LINE - 1 - k)
            if step > 0:
                g, h, c, last, k, due = fill_thinly(
                    entries, i, count, end, amounts, g, h, c, last, line, line_at, positions, positions_at, k, step, due,
                    zero,
                )
            else:
                g, h, c, last, k = fill_line(
                    entries, i, count, end, amounts, g, h, c, last, line, line_at, positions, positions_at, k
                )
            i += count
            if i < stop:
                continue
            if part == 0 and rest_c > 0:
                if c > 0:
                    push_cut(BEFORE_REST, g, h, c, line, line_at, positions, positions_at, k)
                    k += 1
                g += rest_g
                h += rest_h
                c += rest_c
                last = np.int64(-1)
                due = np.int64(0)
            elif part == 1 and missing_c > 0:
                push_cut(AFTER_ALL, g, h, c, line, line_at, positions, positions_at, k)
                k += 1
            stop = present
            part += 1
        score, cut, direction = best_of_line(k, missing_g, missing_h, missing_c, node, nodes, rulebook, scratch, sign)
        if score > best:
            best = score
            position = positions[positions_at + cut]
            best_direction = direction
            left = (
                np.int64(line[line_at + cut]) + direction * missing_g,
                np.int64(line[line_at + LINE + cut]) + direction * missing_h,
                np.int64(line[line_at + 2 * LINE + cut]) + direction * missing_c,
            )
        k = np.int64(0)
    if best >= 0.0 and is_better(best, column, found, gain, at):
        note_cut(
            column, position, middle, rest_c, missing_c, blocks, entries, best, best_direction, left, nodes[row + COUNT],
            found, gain, at,
        )
