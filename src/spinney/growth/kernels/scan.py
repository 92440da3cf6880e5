"""Searching a sorted column: one walk over a node's entries, which tries a cut before every value.

The sums of the entries walked so far are the left side of a cut before the next value. They are written to `SortedCutSums`; when
these are full, all of their cuts are scored together. Rows without an entry are either missing, or have one value in the middle,
the *rest* (0 in a sparse table), and are added to the left side there.
"""

import numpy as np

from spinney.growth.kernels.cuts import (
    INVALID,
    few_missing,
    first_of,
    is_better,
    largest,
    leave_to_larger,
    note_split,
    score_side,
)  # fmt: skip
from spinney.jit import f64, i64, inline, out, record
from spinney.jit.intrinsics import prefetch

ROW_MASK = 4294967295
PREFETCH_ROWS = 24
CUTS = 512  # scored together
# Positions of cuts that are not before an entry.
BEFORE_REST = -1
AFTER_ALL = -2


@record(per_thread=True)
class SortedCutSums:
    """A thread's sums on the left of some cuts (gradients, hessians, rows), the entries behind these cuts, and gains."""

    g: out(f64["CUTS"])
    h: out(f64["CUTS"])
    count: out(f64["CUTS"])
    position: out(i64["CUTS"])
    gains: out(f64["CUTS"])


@record
class NodeColumn:
    """The entries of a node in a column, sorted by value."""

    number: i64
    direction: i64
    begin: i64
    end: i64
    rest: i64  # rank of the rows without an entry
    ranks: i64  # rank of missing values
    zero: i64  # rank of 0, -1 if the column does not have this value
    candidates: i64  # cuts to try, spaced by hessian; 0 for every value
    entries: i64["1"]
    amounts: i64["1"]  # gradient and hessian of each row


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
        prefetch(amounts, entries[min(i + PREFETCH_ROWS, end - 1)] & ROW_MASK)
        amount = amounts[entries[i] & ROW_MASK]
        g += amount >> 32
        h += amount & ROW_MASK
    return g, h


@inline
def push_cut(k, position, g, h, c, cut_sums):
    """Write one cut."""
    cut_sums.g[k] = float(g)
    cut_sums.h[k] = float(h)
    cut_sums.count[k] = float(c)
    cut_sums.position[k] = position


@inline
def fill_cut_sums(i, count, column, g, h, c, last, cut_sums, k):
    """Walk over some entries and write a cut before each new value."""
    entries = column.entries
    amounts = column.amounts
    for at in range(i, i + count):
        prefetch(amounts, entries[min(at + PREFETCH_ROWS, column.end - 1)] & ROW_MASK)
        entry = entries[at]
        rank = entry >> 32
        push_cut(k, at, g, h, c, cut_sums)
        k += 1 if rank != last else 0
        last = rank
        amount = amounts[entry & ROW_MASK]
        g += amount >> 32
        h += amount & ROW_MASK
        c += 1
    return g, h, c, last, k


@inline
def fill_candidates(i, count, column, g, h, c, last, cut_sums, k, step, due):
    """As `fill_cut_sums`, but a cut only after another `step` of hessian, and on both sides of 0."""
    entries = column.entries
    amounts = column.amounts
    zero = column.zero
    for at in range(i, i + count):
        prefetch(amounts, entries[min(at + PREFETCH_ROWS, column.end - 1)] & ROW_MASK)
        entry = entries[at]
        rank = entry >> 32
        if rank != last and (h >= due or rank == zero or last == zero):
            push_cut(k, at, g, h, c, cut_sums)
            k += 1
            due = (h // step + 1) * step
        last = rank
        amount = amounts[entry & ROW_MASK]
        g += amount >> 32
        h += amount & ROW_MASK
        c += 1
    return g, h, c, last, k, due


@inline
def unlisted_sums(node, column):
    """Sums of the rest and of missing values, and where the entries above the rest and those of missing values begin.

    Returns (middle, present, rest g, h, count, missing g, h, count): entries begin..middle-1 are below the rest,
    middle..present-1 above it. Where rows without an entry are missing, there is no rest and `middle` is the end.
    """
    entries = column.entries
    begin = column.begin
    end = column.end
    unlisted = node.count - (end - begin)
    middle = end
    present = end
    if column.rest < column.ranks:
        middle = first_above(entries, begin, end, column.rest)
        present = first_above(entries, middle, end, column.ranks - 1)
    missing_g, missing_h = sum_entries(entries, present, end, column.amounts)
    rest_g = np.int64(0)
    rest_h = np.int64(0)
    if unlisted > 0:
        listed_g, listed_h = sum_entries(entries, begin, present, column.amounts)
        rest_g = node.sum_g - listed_g - missing_g
        rest_h = node.sum_h - listed_h - missing_h
        if column.rest == column.ranks:
            return middle, present, np.int64(0), np.int64(0), np.int64(0), rest_g, rest_h, unlisted
    return middle, present, rest_g, rest_h, unlisted, missing_g, missing_h, end - present


@inline
def best_cut(cuts, missing_g, missing_h, missing_c, node, rules, scales, cut_sums, direction):
    """Best score of some cuts, its cut, and whether missing values go left. Of equal scores: right, then the first cut."""
    best = INVALID
    cut = np.int64(0)
    best_missing_left = np.int64(0)
    for missing_left in range(2 if missing_c > 0 else 1):
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
            leave_to_larger(cuts, missing_left, float(node.count - missing_c), cut_sums)
        score = largest(cut_sums.gains, cuts)
        if score > best:
            best = score
            cut = np.int64(first_of(cut_sums.gains, score))
            best_missing_left = np.int64(missing_left)
    return best, cut, best_missing_left


@inline
def note_cut(column, position, middle, rest_c, missing_c, score, missing_left, left, count, split):
    """Store the best cut of a column: the ranks on both sides of it."""
    entries = column.entries
    left_g, left_h, left_c = left
    if position == BEFORE_REST:
        below = entries[middle - 1] >> 32
        above = column.rest
    elif position == AFTER_ALL:
        below = column.ranks - 1
        above = np.int64(-1)
    else:
        below = column.rest if position == middle and rest_c > 0 else entries[position - 1] >> 32
        above = entries[position] >> 32
    if missing_c == 0:
        missing_left = 1 if 2 * left_c >= count else 0
    note_split(split, score, column.number, below, missing_left, left_g, left_h, left_c)
    split.above = above


@inline
def search_sorted(column, node, rules, scales, cut_sums, split):
    """Best cut of a column in a node; replaces the split if it is better."""
    begin = column.begin
    end = column.end
    entries = column.entries
    listed = end - begin
    if listed == node.count and (listed == 0 or entries[begin] >> 32 == entries[end - 1] >> 32):
        return
    middle, present, rest_g, rest_h, rest_c, missing_g, missing_h, missing_c = unlisted_sums(node, column)
    step = max((node.sum_h - missing_h) // column.candidates, 1) if column.candidates > 0 else np.int64(0)
    due = step
    g = np.int64(0)
    h = np.int64(0)
    c = np.int64(0)
    # No cut before the first value: its left side would be empty, or missing values alone.
    last = entries[begin] >> 32 if begin < present else np.int64(-1)
    i = begin
    stop = middle
    k = np.int64(0)
    part = 0
    best = INVALID
    position = np.int64(0)
    best_missing_left = np.int64(0)
    left = (g, h, c)
    while part < 2 or k > 0:
        while part < 2 and 2 * k < CUTS:
            count = min(stop - i, CUTS - 1 - k)
            if step > 0:
                g, h, c, last, k, due = fill_candidates(
                    i, count, column, g, h, c, last, cut_sums, k, step, due
                )
            else:
                g, h, c, last, k = fill_cut_sums(i, count, column, g, h, c, last, cut_sums, k)
            i += count
            if i < stop:
                continue
            if part == 0 and rest_c > 0:
                if c > 0:
                    push_cut(k, BEFORE_REST, g, h, c, cut_sums)
                    k += 1
                g += rest_g
                h += rest_h
                c += rest_c
                last = np.int64(-1)
                due = np.int64(0)
            elif part == 1 and missing_c > 0:
                push_cut(k, AFTER_ALL, g, h, c, cut_sums)
                k += 1
            stop = present
            part += 1
        score, cut, missing_left = best_cut(
            k, missing_g, missing_h, missing_c, node, rules, scales, cut_sums, column.direction
        )
        if score > best:
            best = score
            position = cut_sums.position[cut]
            best_missing_left = missing_left
            left = (
                np.int64(cut_sums.g[cut]) + missing_left * missing_g,
                np.int64(cut_sums.h[cut]) + missing_left * missing_h,
                np.int64(cut_sums.count[cut]) + missing_left * missing_c,
            )
        k = np.int64(0)
    if best >= 0.0 and is_better(best, column.number, split):
        note_cut(
            column, position, middle, rest_c, missing_c, best, best_missing_left, left, node.count, split
        )
