"""Quantile cuts and bin numbers.

A value is sorted by an integer *key* that has the same order (-0.0 and 0.0 share one). The low bits of a float32's key are zero,
so the radix sort skips those digits.
"""

import numpy as np

from spinney.jit import f32, f64, i32, i64, inline, kernel, out, u8, u16
from spinney.jit.intrinsics import bits_of, from_bits

MISSING = 9223372036854775807
MAGNITUDE = 9223372036854775807
SIGN = -9223372036854775808
DIGITS = 6
DIGIT = 11
BUCKETS = 2048
CHUNK = 1024  # rows binned at a time: the chunk's values of all columns stay in cache


@inline
def key_of(x):
    """Integer with the order of x; MISSING for NaN."""
    bits = bits_of(x)
    key = bits if bits >= 0 else -(bits & MAGNITUDE)
    return MISSING if x != x else key


@inline
def value_of(key):
    """The number behind a key."""
    return from_bits(key) if key >= 0 else from_bits(np.int64(-key) | SIGN)


@inline
def digit_of(key, d):
    """Digit d of a key; the last one has its sign bit turned over, so that negative keys come first."""
    part = (key >> (DIGIT * d)) & (BUCKETS - 1)
    return part if d < DIGITS - 1 else ((key >> 55) & 511) ^ 256


@kernel
def gather_keys(
    rank: i64, size: i64, sync: out(i64["32"]), columns: i64, row_step: i64, column_step: i64, span32: i64, span64: i64,
    picked: i64, total: i64, at: i64,
    values32: f32["span32"], values64: f64["span64"], picks: i64["picked"], keys: out(i64["columns * total"]),
):
    """Keys of the picked rows of some columns, as positions at..at+picked-1 of each column's line of `total` keys."""
    for i in range(picked * rank // size, picked * (rank + 1) // size):
        row = picks[i] * row_step
        if span32 > 0:
            for c in range(columns):
                keys[c * total + at + i] = key_of(float(values32[row + c * column_step]))
        else:
            for c in range(columns):
                keys[c * total + at + i] = key_of(values64[row + c * column_step])


@inline
def sort_keys(keys, at, count, spare, spare_at, order, order_at, weighted, heads, heads_at):
    """Sort keys[at:at+count] by radix; `order` (two lines of count) then tells where each key was."""
    for b in range(DIGITS * BUCKETS):
        heads[heads_at + b] = 0
    for i in range(count):
        key = keys[at + i]
        for d in range(DIGITS):
            heads[heads_at + d * BUCKETS + digit_of(key, d)] += 1
    if weighted != 0:
        for i in range(count):
            order[order_at + i] = i
    swapped = 0
    for d in range(DIGITS):
        head = heads_at + d * BUCKETS
        first = keys[at] if swapped == 0 else spare[spare_at]
        if heads[head + digit_of(first, d)] == count:
            continue
        total = 0
        for b in range(BUCKETS):
            held = heads[head + b]
            heads[head + b] = total
            total += held
        from_order = order_at + swapped * count
        to_order = order_at + (1 - swapped) * count
        for i in range(count):
            key = keys[at + i] if swapped == 0 else spare[spare_at + i]
            bucket = head + digit_of(key, d)
            to = heads[bucket]
            heads[bucket] = to + 1
            if swapped == 0:
                spare[spare_at + to] = key
            else:
                keys[at + to] = key
            if weighted != 0:
                order[to_order + to] = order[from_order + i]
        swapped = 1 - swapped
    if swapped != 0:
        for i in range(count):
            keys[at + i] = spare[spare_at + i]
        if weighted != 0:
            for i in range(count):
                order[order_at + i] = order[order_at + count + i]


@inline
def between(low, high):
    """A number half-way between two: at least `low` and less than `high`."""
    middle = low * 0.5 + high * 0.5
    return middle if low <= middle < high else low


@inline
def place_cuts(keys, at, mass, mass_at, distinct, most, cuts, cuts_at):
    """Cut a column of distinct values with given masses into at most `most` bins; returns the number of cuts.

    Values that weigh as much as an average bin get one of their own; the rest share what is left evenly.
    """
    if distinct <= most:
        for i in range(distinct - 1):
            cuts[cuts_at + i] = between(value_of(keys[at + i]), value_of(keys[at + i + 1]))
        return max(distinct - 1, 0)
    rest = 0.0
    for i in range(distinct):
        rest += mass[mass_at + i]
    heavy = rest / float(most)
    rest_bins = most
    for i in range(distinct):
        if mass[mass_at + i] >= heavy:
            rest -= mass[mass_at + i]
            rest_bins -= 1
    share = rest / float(max(rest_bins, 1))
    made = 0
    held = 0.0
    for i in range(distinct - 1):
        m = mass[mass_at + i]
        is_heavy = m >= heavy
        next_heavy = mass[mass_at + i + 1] >= heavy
        held += m
        if not is_heavy:
            rest -= m
        if is_heavy or held >= share or (next_heavy and held >= 0.5 * share):
            cuts[cuts_at + made] = between(value_of(keys[at + i]), value_of(keys[at + i + 1]))
            made += 1
            if made == most - 1:
                break
            held = 0.0
            if not is_heavy:
                rest_bins -= 1
                share = rest / float(max(rest_bins, 1))
    return made


@kernel
def cut_columns(
    rank: i64, size: i64, sync: out(i64["32"]), columns: i64, total: i64, threads: i64, weighted: i64, most: i64,
    keys: out(i64["columns * total"]), weight: f64["total * weighted"],
    spare: out(i64["threads * total"]), order: out(i32["2 * threads * total * weighted"]), mass: out(f64["threads * total"]),
    heads: out(i32["threads * 12288"]), cuts: out(f64["columns * most"]), made: out(i64["columns"]),
):
    """Cuts of each column from the keys of its sampled rows. Rows that are missing or weigh nothing do not count."""
    for c in range(rank, columns, size):
        at = c * total
        mass_at = rank * total
        count = 0
        for i in range(total):
            if keys[at + i] != MISSING and (weighted == 0 or weight[i] > 0.0):
                if weighted != 0:
                    mass[mass_at + count] = weight[i]
                keys[at + count] = keys[at + i]
                count += 1
        made[c] = 0
        if count > 0:
            sort_keys(
                keys, at, count, spare, rank * total, order, 2 * rank * total, weighted, heads,
                rank * DIGITS * BUCKETS,
            )
            if weighted != 0:
                # Weights in sorted order, through the line that sorting no longer needs.
                for i in range(count):
                    spare[rank * total + i] = bits_of(mass[mass_at + order[2 * rank * total + i]])
            distinct = 0
            for i in range(count):
                w = from_bits(spare[rank * total + i]) if weighted != 0 else 1.0
                if i > 0 and keys[at + i] == keys[at + distinct - 1]:
                    mass[mass_at + distinct - 1] += w
                else:
                    keys[at + distinct] = keys[at + i]
                    mass[mass_at + distinct] = w
                    distinct += 1
            made[c] = place_cuts(keys, at, mass, mass_at, distinct, most, cuts, c * most)


@inline
def bin_of(x, cuts, at, count):
    """Number of cuts below x (NaN: all comparisons fail, the caller handles it)."""
    low = at
    left = count
    while left > 1:
        half = left >> 1
        low += half if cuts[low + half - 1] < x else 0
        left -= half
    return low - at + (1 if count > 0 and cuts[low] < x else 0)


@kernel
def bin_values(
    rank: i64, size: i64, sync: out(i64["32"]), rows: i64, first_row: i64, all_rows: i64, columns: i64, first_column: i64,
    all_columns: i64, row_step: i64, column_step: i64, span32: i64, span64: i64, wide: i64, cut_total: i64, threads: i64,
    values32: f32["span32"], values64: f64["span64"], cuts: f64["cut_total"], cut_starts: i64["all_columns + 1"],
    columns8: out(u8["all_rows * all_columns * (1 - wide)"]), columns16: out(u16["all_rows * all_columns * wide"]),
    infinite: out(u8["all_columns"]), line: out(f64["threads * 1024"]),
):
    """Bins of a panel's rows, column by column; missing is the number of bins. Marks columns with infinite values."""
    chunks = (rows + CHUNK - 1) // CHUNK
    line_at = rank * CHUNK
    for chunk in range(rank, chunks, size):
        begin = chunk * CHUNK
        end = min(begin + CHUNK, rows)
        for c in range(columns):
            column = first_column + c
            at = cut_starts[column]
            count = cut_starts[column + 1] - at
            if span32 > 0:
                for i in range(begin, end):
                    line[line_at + i - begin] = float(values32[i * row_step + c * column_step])
            else:
                for i in range(begin, end):
                    line[line_at + i - begin] = values64[i * row_step + c * column_step]
            unbounded = 0
            to = column * all_rows + first_row
            for i in range(begin, end):
                x = line[line_at + i - begin]
                unbounded |= 1 if x == x and x - x != 0.0 else 0
                b = bin_of(x, cuts, at, count)
                b = b if x == x else count + 1
                if wide == 0:
                    columns8[to + i] = b
                else:
                    columns16[to + i] = b
            if unbounded != 0:
                infinite[column] = 1


@kernel
def by_rows(
    rank: i64, size: i64, sync: out(i64["32"]), rows: i64, columns: i64, stride: i64, wide: i64,
    columns8: u8["rows * columns * (1 - wide)"], columns16: u16["rows * columns * wide"],
    rows8: out(u8["rows * stride * (1 - wide)"]), rows16: out(u16["rows * stride * wide"]),
):
    """Copy column-major bins to row-major ones, padded with zeros."""
    chunks = (rows + 255) // 256
    for chunk in range(rank, chunks, size):
        begin = chunk * 256
        end = min(begin + 256, rows)
        for c in range(stride):
            for i in range(begin, end):
                if wide == 0:
                    rows8[i * stride + c] = columns8[c * rows + i] if c < columns else 0
                else:
                    rows16[i * stride + c] = columns16[c * rows + i] if c < columns else 0
