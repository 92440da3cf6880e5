"""Searching every value: one walk over a node's sorted entries in a column.

Sums of the entries walked so far are the left side of a cut before the next value. They are written to a line, and whenever it
is full all of its cuts are scored in one go. Rows that are not listed are either missing, or hold one value in the middle (0 in
a sparse table) and join the left side there.
"""

import numpy as np

from spinney.growth.kernels.cuts import (
    few_missing, first_of, is_better, largest, leave_to_larger, note_split, score_side,
)  # fmt: skip
from spinney.growth.kernels.gain import INVALID
from spinney.jit import f64, i64, inline, out, record
from spinney.jit.intrinsics import prefetch

ROW_MASK = 4294967295
PREFETCH_ROWS = 24
CUTS = 512  # scored in one go
# Cuts that do not stand before an entry.
BEFORE_REST = -1
AFTER_ALL = -2


@record(per_thread=True)
class SortedLine:
    """A thread's left sides of some cuts: gradients, hessians and rows, the entries that they stand before, and gains."""

    g: out(f64["CUTS"])
    h: out(f64["CUTS"])
    count: out(f64["CUTS"])
    position: out(i64["CUTS"])
    gains: out(f64["CUTS"])


@record
class Column:
    """The entries of a node in a column, sorted by value."""

    column: i64
    sign: i64
    begin: i64
    end: i64
    rest: i64  # rank of the rows that are not listed
    ranks: i64  # rank of missing values
    zero: i64  # rank of 0, -1 where it is no value of the column
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
def push_cut(k, position, g, h, c, line):
    """Write down one cut."""
    line.g[k] = float(g)
    line.h[k] = float(h)
    line.count[k] = float(c)
    line.position[k] = position


@inline
def fill_line(i, count, own, g, h, c, last, line, k):
    """Walk some entries and write down a cut before each new value."""
    entries = own.entries
    amounts = own.amounts
    for at in range(i, i + count):
        prefetch(amounts, entries[min(at + PREFETCH_ROWS, own.end - 1)] & ROW_MASK)
        entry = entries[at]
        rank = entry >> 32
        push_cut(k, at, g, h, c, line)
        k += 1 if rank != last else 0
        last = rank
        amount = amounts[entry & ROW_MASK]
        g += amount >> 32
        h += amount & ROW_MASK
        c += 1
    return g, h, c, last, k


@inline
def fill_thinly(i, count, own, g, h, c, last, line, k, step, due):
    """The same, but a cut only where another `step` of hessian has come together, and on both sides of 0."""
    entries = own.entries
    amounts = own.amounts
    zero = own.zero
    for at in range(i, i + count):
        prefetch(amounts, entries[min(at + PREFETCH_ROWS, own.end - 1)] & ROW_MASK)
        entry = entries[at]
        rank = entry >> 32
        if rank != last and (h >= due or rank == zero or last == zero):
            push_cut(k, at, g, h, c, line)
            k += 1
            due = (h // step + 1) * step
        last = rank
        amount = amounts[entry & ROW_MASK]
        g += amount >> 32
        h += amount & ROW_MASK
        c += 1
    return g, h, c, last, k, due


@inline
def unlisted_sums(node, own):
    """Sums of the rows that stand in the middle or are missing, and where the entries above the middle and missing ones begin.

    Gives (middle, present, rest g, h, count, missing g, h, count): entries begin..middle-1 are below the rest, middle..present-1
    above it. Where the rows that are not listed are missing, there is no rest and `middle` is the end.
    """
    entries = own.entries
    begin = own.begin
    end = own.end
    unlisted = node.count - (end - begin)
    middle = end
    present = end
    if own.rest < own.ranks:
        middle = first_above(entries, begin, end, own.rest)
        present = first_above(entries, middle, end, own.ranks - 1)
    missing_g, missing_h = sum_entries(entries, present, end, own.amounts)
    rest_g = np.int64(0)
    rest_h = np.int64(0)
    if unlisted > 0:
        listed_g, listed_h = sum_entries(entries, begin, present, own.amounts)
        rest_g = node.sum_g - listed_g - missing_g
        rest_h = node.sum_h - listed_h - missing_h
        if own.rest == own.ranks:
            return middle, present, np.int64(0), np.int64(0), np.int64(0), rest_g, rest_h, unlisted
    return middle, present, rest_g, rest_h, unlisted, missing_g, missing_h, end - present


@inline
def best_of_line(cuts, missing_g, missing_h, missing_c, node, rules, scales, line, sign):
    """Best score of the cuts in a line, which cut it is, and whether missing values go left; equal ones: right, the first."""
    best = INVALID
    cut = np.int64(0)
    best_direction = np.int64(0)
    for direction in range(2 if missing_c > 0 else 1):
        score_side(
            cuts, direction * missing_g, direction * missing_h, direction * missing_c, node, rules, scales, line, sign
        )
        if few_missing(missing_c, rules):
            leave_to_larger(cuts, direction, float(node.count - missing_c), line)
        score = largest(line.gains, cuts)
        if score > best:
            best = score
            cut = np.int64(first_of(line.gains, score))
            best_direction = np.int64(direction)
    return best, cut, best_direction


@inline
def note_cut(own, position, middle, rest_c, missing_c, score, direction, left, count, split):
    """Write down the best cut of a column: the ranks on both sides of it."""
    entries = own.entries
    left_g, left_h, left_c = left
    if position == BEFORE_REST:
        below = entries[middle - 1] >> 32
        above = own.rest
    elif position == AFTER_ALL:
        below = own.ranks - 1
        above = np.int64(-1)
    else:
        below = own.rest if position == middle and rest_c > 0 else entries[position - 1] >> 32
        above = entries[position] >> 32
    if missing_c == 0:
        direction = 1 if 2 * left_c >= count else 0
    note_split(split, score, own.column, below, direction, left_g, left_h, left_c)
    split.above = above


@inline
def search_sorted(own, node, rules, scales, line, split):
    """Best cut of a column in a node; replaces the split if it is better."""
    begin = own.begin
    end = own.end
    entries = own.entries
    listed = end - begin
    if listed == node.count and (listed == 0 or entries[begin] >> 32 == entries[end - 1] >> 32):
        return
    middle, present, rest_g, rest_h, rest_c, missing_g, missing_h, missing_c = unlisted_sums(node, own)
    step = max((node.sum_h - missing_h) // own.candidates, 1) if own.candidates > 0 else np.int64(0)
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
        while part < 2 and 2 * k < CUTS:
            count = min(stop - i, CUTS - 1 - k)
            if step > 0:
                g, h, c, last, k, due = fill_thinly(i, count, own, g, h, c, last, line, k, step, due)
            else:
                g, h, c, last, k = fill_line(i, count, own, g, h, c, last, line, k)
            i += count
            if i < stop:
                continue
            if part == 0 and rest_c > 0:
                if c > 0:
                    push_cut(k, BEFORE_REST, g, h, c, line)
                    k += 1
                g += rest_g
                h += rest_h
                c += rest_c
                last = np.int64(-1)
                due = np.int64(0)
            elif part == 1 and missing_c > 0:
                push_cut(k, AFTER_ALL, g, h, c, line)
                k += 1
            stop = present
            part += 1
        score, cut, direction = best_of_line(k, missing_g, missing_h, missing_c, node, rules, scales, line, own.sign)
        if score > best:
            best = score
            position = line.position[cut]
            best_direction = direction
            left = (
                np.int64(line.g[cut]) + direction * missing_g,
                np.int64(line.h[cut]) + direction * missing_h,
                np.int64(line.count[cut]) + direction * missing_c,
            )
        k = np.int64(0)
    if best >= 0.0 and is_better(best, own.column, split):
        note_cut(own, position, middle, rest_c, missing_c, best, best_direction, left, node.count, split)
