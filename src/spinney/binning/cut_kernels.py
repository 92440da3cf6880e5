"""Quantile cuts.

A value is sorted by an integer *key* that has the same order (-0.0 and 0.0 share one). The low bits of a float32's key are zero,
so the radix sort skips those digits.
"""

import numpy as np

from spinney.jit import f32, f64, i32, i64, inline, kernel, out
from spinney.jit.intrinsics import bits_of, from_bits

MISSING = 9223372036854775807
MAGNITUDE = 9223372036854775807
SIGN = -9223372036854775808
DIGITS = 6
DIGIT = 11
BUCKETS = 2048


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
def sort_keys(keys, at, count, spare, spare_at, order, order_at, weighted, heads, heads_at, lowest):
    """Sort keys[at:at+count] by their digits from `lowest` on; `order` (two lines of count) then tells where each key was."""
    if weighted != 0:
        for i in range(count):
            order[order_at + i] = i
    falls = 0
    for i in range(1, count):
        falls += 1 if keys[at + i] < keys[at + i - 1] else 0
    if falls == 0:
        return
    for b in range(lowest * BUCKETS, DIGITS * BUCKETS):
        heads[heads_at + b] = 0
    for i in range(count):
        key = keys[at + i]
        for d in range(lowest, DIGITS):
            heads[heads_at + d * BUCKETS + digit_of(key, d)] += 1
    swapped = 0
    for d in range(lowest, DIGITS):
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


@inline
def merge_equal(keys, at, count, bits, bits_at, weighted, mass, mass_at):
    """Keep each of `count` sorted keys once, with the mass of all that equal it; returns how many there are.

    Masses are 1, or stand in `bits` in the order of the keys.
    """
    distinct = 0
    for i in range(count):
        m = from_bits(bits[bits_at + i]) if weighted != 0 else 1.0
        if i > 0 and keys[at + i] == keys[at + distinct - 1]:
            mass[mass_at + distinct - 1] += m
        else:
            keys[at + distinct] = keys[at + i]
            mass[mass_at + distinct] = m
            distinct += 1
    return distinct


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
                rank * DIGITS * BUCKETS, 0,
            )
            if weighted != 0:
                # Weights in sorted order, through the line that sorting no longer needs.
                for i in range(count):
                    spare[rank * total + i] = bits_of(mass[mass_at + order[2 * rank * total + i]])
            distinct = merge_equal(keys, at, count, spare, rank * total, weighted, mass, mass_at)
            made[c] = place_cuts(keys, at, mass, mass_at, distinct, most, cuts, c * most)
