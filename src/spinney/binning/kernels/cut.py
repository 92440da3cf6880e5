"""Quantile cuts of columns, by sorting their values.

A value is sorted by an integer *key* that has the same order (-0.0 and 0.0 share one). The low bits of a float32's key are zero,
so the radix sort skips those digits.
"""

import numpy as np

from spinney.binning.kernels.records import Block
from spinney.jit import Member, f64, i32, i64, inline, kernel, out, own, record
from spinney.jit.intrinsics import bits_of, from_bits, tail
from spinney.jit.math import exp, log

MISSING = 9223372036854775807
MAGNITUDE = 9223372036854775807
SIGN = -9223372036854775808
DIGITS = 6
DIGIT = 11
BUCKETS = 2048
HEADS = DIGITS * BUCKETS


@record(per_thread=True)
class SortBuffers:
    """A thread's buffers to sort up to `longest` keys."""

    longest: i64
    weighted: i64
    spare: out(i64["longest"])
    order: out(i32["2 * longest * weighted"])
    mass: out(f64["longest"])
    heads: out(i32["HEADS"])


@record(per_thread=True)
class Keys:
    """A thread's keys of one column or block at a time."""

    keys: out(i64["buffers.longest"])


@inline
def key_of(x):
    """Integer with the order of x; MISSING for NaN."""
    bits = bits_of(x)
    key = bits if bits >= 0 else -(bits & MAGNITUDE)
    return MISSING if x != x else key


@inline
def value_of(key):
    """The number of a key."""
    return from_bits(key) if key >= 0 else from_bits(np.int64(-key) | SIGN)


@inline
def digit_of(key, d):
    """Digit d of a key; the last one has its sign bit flipped, so that negative keys come first."""
    part = (key >> (DIGIT * d)) & (BUCKETS - 1)
    return part if d < DIGITS - 1 else ((key >> 55) & 511) ^ 256


@kernel
def gather_keys(
    team: Member,
    block: Block,
    picked: i64,
    total: i64,
    at: i64,
    picks: i64["picked"],
    keys: out(i64["block.columns * total"]),
):
    """Keys of the picked rows of a block, as positions at..at+picked-1 of each column's line of `total` keys."""
    for i in range(picked * team.rank // team.size, picked * (team.rank + 1) // team.size):
        row = picks[i] * block.row_step
        if block.span32 > 0:
            for c in range(block.columns):
                keys[c * total + at + i] = key_of(float(block.values32[row + c * block.column_step]))
        else:
            for c in range(block.columns):
                keys[c * total + at + i] = key_of(block.values64[row + c * block.column_step])


@inline
def sort_keys(keys, count, mine, lowest):
    """Sort the first `count` keys by their digits from `lowest` on; the thread's `order` then has where each key was."""
    spare, order, heads, weighted = mine.spare, mine.order, mine.heads, mine.weighted
    if weighted != 0:
        for i in range(count):
            order[i] = i
    falls = 0
    for i in range(1, count):
        falls += 1 if keys[i] < keys[i - 1] else 0
    if falls == 0:
        return
    for b in range(lowest * BUCKETS, HEADS):
        heads[b] = 0
    for i in range(count):
        key = keys[i]
        for d in range(lowest, DIGITS):
            heads[d * BUCKETS + digit_of(key, d)] += 1
    swapped = 0
    for d in range(lowest, DIGITS):
        head = d * BUCKETS
        first = keys[0] if swapped == 0 else spare[0]
        if heads[head + digit_of(first, d)] == count:
            continue
        total = 0
        for b in range(BUCKETS):
            held = heads[head + b]
            heads[head + b] = total
            total += held
        from_order = swapped * count
        to_order = (1 - swapped) * count
        for i in range(count):
            key = keys[i] if swapped == 0 else spare[i]
            bucket = head + digit_of(key, d)
            to = heads[bucket]
            heads[bucket] = to + 1
            if swapped == 0:
                spare[to] = key
            else:
                keys[to] = key
            if weighted != 0:
                order[to_order + to] = order[from_order + i]
        swapped = 1 - swapped
    if swapped != 0:
        for i in range(count):
            keys[i] = spare[i]
        if weighted != 0:
            for i in range(count):
                order[i] = order[count + i]


@inline
def between(low, high):
    """A number half-way between two: at least `low` and less than `high`."""
    middle = low * 0.5 + high * 0.5
    return middle if low <= middle < high else low


@inline
def place_cuts(keys, mass, distinct, most, cuts):
    """Cut a column of distinct values with given masses into at most `most` bins; returns the number of cuts.

    Values with at least the mass of an average bin get a bin of their own; the others share the remaining bins evenly.
    """
    if distinct <= most:
        for i in range(distinct - 1):
            cuts[i] = between(value_of(keys[i]), value_of(keys[i + 1]))
        return max(distinct - 1, 0)
    rest = 0.0
    for i in range(distinct):
        rest += mass[i]
    average = rest / float(most)
    rest_bins = most
    for i in range(distinct):
        if mass[i] >= average:
            rest -= mass[i]
            rest_bins -= 1
    share = rest / float(max(rest_bins, 1))
    made = 0
    held = 0.0
    for i in range(distinct - 1):
        m = mass[i]
        own_bin = m >= average
        next_own_bin = mass[i + 1] >= average
        held += m
        if not own_bin:
            rest -= m
        if own_bin or held >= share or (next_own_bin and held >= 0.5 * share):
            cuts[made] = between(value_of(keys[i]), value_of(keys[i + 1]))
            made += 1
            if made == most - 1:
                break
            held = 0.0
            if not own_bin:
                rest_bins -= 1
                share = rest / float(max(rest_bins, 1))
    return made


@inline
def spread_masses(keys, mass, distinct):
    """Give more mass to values far from their neighbours: the cube root of mass times distance squared.

    Bins of equal mass are then those in which values are nearest to each other, in the mean of squares (Panter and Dite).
    """
    for i in range(distinct):
        low = value_of(keys[max(i - 1, 0)])
        high = value_of(keys[min(i + 1, distinct - 1)])
        # Halves are subtracted, because the difference of huge values would overflow.
        mass[i] = exp((log(mass[i]) + 2.0 * log(high * 0.5 - low * 0.5)) / 3.0)


@inline
def sort_masses(masses, count, mine):
    """Write the masses of sorted keys in their order, as bits, to the buffer that sorting no longer needs."""
    for i in range(count):
        mine.spare[i] = bits_of(masses[mine.order[i]])


@inline
def merge_equal(keys, count, mine):
    """Keep each of `count` sorted keys once, with the mass of all equal keys; returns how many there are.

    Masses are 1, or those of `sort_masses`.
    """
    bits, mass = mine.spare, mine.mass
    distinct = 0
    for i in range(count):
        m = from_bits(bits[i]) if mine.weighted != 0 else 1.0
        if i > 0 and keys[i] == keys[distinct - 1]:
            mass[distinct - 1] += m
        else:
            keys[distinct] = keys[i]
            mass[distinct] = m
            distinct += 1
    return distinct


@kernel
def cut_columns(
    team: Member,
    columns: i64,
    most: i64,
    spread: i64,
    buffers: SortBuffers,
    weight: f64["buffers.longest * buffers.weighted"],
    keys: out(i64["columns * buffers.longest"]),
    cuts: out(f64["columns * most"]),
    made: out(i64["columns"]),
):
    """Cuts of each column from the keys of its sampled rows. Rows with a missing value or without weight do not count."""
    total = buffers.longest
    weighted = buffers.weighted
    mine = own(buffers, team.rank)
    mass = mine.mass
    for c in range(team.rank, columns, team.size):
        column = tail(keys, c * total)
        count = 0
        for i in range(total):
            if column[i] != MISSING and (weighted == 0 or weight[i] > 0.0):
                if weighted != 0:
                    mass[count] = weight[i]
                column[count] = column[i]
                count += 1
        made[c] = 0
        if count > 0:
            sort_keys(column, count, mine, 0)
            if weighted != 0:
                sort_masses(mass, count, mine)
            distinct = merge_equal(column, count, mine)
            if spread != 0 and distinct > most:
                spread_masses(column, mass, distinct)
            made[c] = place_cuts(column, mass, distinct, most, tail(cuts, c * most))
