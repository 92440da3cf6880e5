"""Quantile summaries: values in, weighted points out.

A summary is a list of ascending points, each with the mass it stands for. `binning/summary.py` says what it promises.
"""

import numpy as np

from spinney.binning.cut_kernels import BUCKETS, DIGITS, key_of, merge_equal, place_cuts, sort_keys, value_of
from spinney.jit import f32, f64, i32, i64, inline, kernel, out
from spinney.jit.intrinsics import bits_of

LARGEST = 1.7976931348623157e308
TINY = 2.0**-900
UP = 2.0**900
UP_MORE = 2.0**174  # UP * UP_MORE times the smallest float64 is 1
EXACT = 2.0**52
# Digits from here on, 31 bits, tell most values of a block apart, so the others are sorted by insertion: 12 ns a value
# instead of 17 on one thread. Where that takes more than STEPS for each value, all digits are sorted by.
HIGH = 3
STEPS = 4


@inline
def tolerance(share, total):
    """The product, never rounded up to the next of the few numbers there are where totals are tiny."""
    if total > TINY:
        return share * total
    steps = share * (total * UP * UP_MORE)
    whole = float(np.int64(steps)) if steps < EXACT else steps
    return whole / UP_MORE / UP


@inline
def settle(keys, mass, at, count, limit, share, known, points, masses, to):
    """Write distinct keys and their masses as a summary: as they are where there is room, else in groups.

    One point stands for each group, and at most `delta` of the group's mass is on either side of it, so that no rank moves
    by more. A group closes when the next key would not fit: all but the last hold more than `delta`. Returns the number of
    points, and the error that this adds to `known`.
    """
    if count <= limit:
        for i in range(count):
            points[to + i] = value_of(keys[at + i])
            masses[to + i] = mass[at + i]
        return count, 0.0
    total = 0.0
    for i in range(count):
        total += mass[at + i]
    delta = max(tolerance(share, total) - known, 0.0)
    made = 0
    worst = 0.0
    i = 0
    while i < count:
        before = 0.0
        while i < count - 1 and before + mass[at + i] <= delta:
            before += mass[at + i]
            i += 1
        points[to + made] = value_of(keys[at + i])
        held = before + mass[at + i]
        i += 1
        after = 0.0
        while i < count and after + mass[at + i] <= delta:
            after += mass[at + i]
            i += 1
        masses[to + made] = held + after
        made += 1
        worst = max(worst, max(before, after))
    return made, worst


@kernel
def survey_values(
    rank: i64, size: i64, sync: out(i64["32"]), total: i64, single: i64, weighted: i64, part: i64, parts: i64,
    values32: f32["total * single"], values64: f64["total * (1 - single)"], weights: f64["total * weighted"],
    kept: out(i64["parts"]), missing: out(i64["parts"]), wrong: out(i64["parts"]), sums: out(f64["parts"]),
    lows: out(f64["parts"]), highs: out(f64["parts"]),
):
    """What there is in each part of the values: how many count and how many are NaN, their weight and range.

    `wrong` is 1 where a value is infinite, 2 where a weight is negative, infinite or NaN.
    """
    for p in range(rank, parts, size):
        count = 0
        gone = 0
        bad = 0
        weight = 0.0
        low = LARGEST
        high = -LARGEST
        for i in range(p * part, min(total, (p + 1) * part)):
            x = float(values32[i]) if single != 0 else values64[i]
            w = weights[i] if weighted != 0 else 1.0
            gone += 1 if x != x else 0
            bad |= 1 if x > LARGEST or x < -LARGEST else 0
            bad |= 0 if 0.0 <= w <= LARGEST else 2
            counts = x == x and w > 0.0
            count += 1 if counts else 0
            weight += w if counts else 0.0
            low = x if counts and x < low else low
            high = x if counts and x > high else high
        kept[p] = count
        missing[p] = gone
        wrong[p] = bad
        sums[p] = weight
        lows[p] = low
        highs[p] = high


@kernel
def take_values(
    rank: i64, size: i64, sync: out(i64["32"]), total: i64, single: i64, weighted: i64, part: i64, first: i64, parts: i64,
    room: i64, keep: i64,
    values32: f32["total * single"], values64: f64["total * (1 - single)"], weights: f64["total * weighted"],
    starts: i64["parts"], taken: out(f64["room"]), taken_weights: out(f64["room * keep"]),
):
    """Copy the values that count, of `parts` parts from `first` on, each to its start."""
    for p in range(rank, parts, size):
        to = starts[p]
        for i in range((first + p) * part, min(total, (first + p + 1) * part)):
            x = float(values32[i]) if single != 0 else values64[i]
            w = weights[i] if weighted != 0 else 1.0
            if x == x and w > 0.0:
                taken[to] = x + 0.0  # not -0.0
                if keep != 0:
                    taken_weights[to] = w
                to += 1


@inline
def finish_sort(keys, at, count, order, order_at, weighted):
    """Sort keys that are in order but for their lowest digits, by insertion. False where it takes too many steps."""
    steps = 0
    for i in range(1, count):
        key = keys[at + i]
        if key >= keys[at + i - 1]:
            continue
        place = order[order_at + i] if weighted != 0 else 0
        j = i
        while j > 0 and keys[at + j - 1] > key:
            keys[at + j] = keys[at + j - 1]
            if weighted != 0:
                order[order_at + j] = order[order_at + j - 1]
            j -= 1
        keys[at + j] = key
        if weighted != 0:
            order[order_at + j] = place
        steps += i - j
        if steps > STEPS * count:
            return False
    return True


@kernel
def condense_blocks(
    rank: i64, size: i64, sync: out(i64["32"]), threads: i64, blocks: i64, block: i64, room: i64, weighted: i64, limit: i64,
    share: f64, values: f64["room"], weights: f64["room * weighted"],
    keys: out(i64["threads * block"]), spare: out(i64["threads * block"]), order: out(i32["2 * threads * block * weighted"]),
    mass: out(f64["threads * block"]), heads: out(i32["threads * 12288"]),
    points: out(f64["blocks * block"]), masses: out(f64["blocks * block"]), made: out(i64["blocks"]),
    raised: out(i64["blocks"]), errors: out(f64["blocks"]),
):
    """A summary of each block of values; `raised` is 1 where it is not exact."""
    at = rank * block
    for b in range(rank, blocks, size):
        from_ = b * block
        for i in range(block):
            keys[at + i] = key_of(values[from_ + i])
        sort_keys(keys, at, block, spare, at, order, 2 * at, weighted, heads, rank * DIGITS * BUCKETS, HIGH)
        if not finish_sort(keys, at, block, order, 2 * at, weighted):
            for i in range(block):
                keys[at + i] = key_of(values[from_ + i])
            sort_keys(keys, at, block, spare, at, order, 2 * at, weighted, heads, rank * DIGITS * BUCKETS, 0)
        if weighted != 0:
            for i in range(block):
                spare[at + i] = bits_of(weights[from_ + order[2 * at + i]])
        distinct = merge_equal(keys, at, block, spare, at, weighted, mass, at)
        count, error = settle(keys, mass, at, distinct, limit, share, 0.0, points, masses, from_)
        made[b] = count
        raised[b] = 1 if distinct > limit else 0
        errors[b] = error


@kernel
def fold_summaries(
    first: i64, second: i64, limit: i64, share: f64, known: f64,
    points_a: f64["first"], masses_a: f64["first"], points_b: f64["second"], masses_b: f64["second"],
    keys: out(i64["first + second"]), mass: out(f64["first + second"]),
    points: out(f64["first + second"]), masses: out(f64["first + second"]), facts: out(i64["2"]), error: out(f64["1"]),
):
    """One summary of two. The facts are its number of points, and 1 where they had to be grouped."""
    count = 0
    i = 0
    j = 0
    while i < first or j < second:
        a_now = i < first and (j == second or points_a[i] <= points_b[j])
        b_now = j < second and (i == first or points_b[j] <= points_a[i])
        keys[count] = key_of(points_a[i] if a_now else points_b[j])
        mass[count] = (masses_a[i] if a_now else 0.0) + (masses_b[j] if b_now else 0.0)
        count += 1
        i += 1 if a_now else 0
        j += 1 if b_now else 0
    made, added = settle(keys, mass, 0, count, limit, share, known, points, masses, 0)
    facts[0] = made
    facts[1] = 1 if count > limit else 0
    error[0] = added


@kernel
def cut_points(
    count: i64, most: i64, points: f64["count"], masses: f64["count"], keys: out(i64["count"]), cuts: out(f64["most"]),
    made: out(i64["1"]),
):
    """Cuts of one column from its distinct values and their masses."""
    for i in range(count):
        keys[i] = key_of(points[i])
    made[0] = place_cuts(keys, 0, masses, 0, count, most, cuts, 0) if count > 0 else 0
