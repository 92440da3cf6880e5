"""Quantile summaries: values in, weighted points out.

A summary is a list of ascending points, each with the mass that it stands for. Its guarantees are in `binning/sketch_state.py`.
"""

import numpy as np

from spinney.binning.kernels.cut import (
    Keys,
    SortBuffers,
    key_of,
    merge_equal,
    place_cuts,
    sort_keys,
    sort_masses,
    value_of,
)
from spinney.jit import Member, f32, f64, i64, inline, item, kernel, out, own, record
from spinney.jit.intrinsics import tail

LARGEST = 1.7976931348623157e308
TINY = 2.0**-900
UP = 2.0**900
UP_MORE = 2.0**174  # UP * UP_MORE times the smallest float64 is 1
EXACT = 2.0**52
# Digits from here on, 31 bits, are enough to order most values of a block; the others are sorted by insertion: 12 ns a value
# instead of 17 on one thread. If that takes more than STEPS for each value, keys are sorted by all digits.
HIGH = 3
STEPS = 4


@record
class Stream:
    """Values that are given to a sketch, in parts: float32 where `single` is 1, else float64."""

    total: i64
    single: i64
    weighted: i64
    part: i64  # values of a part
    values32: f32["total * single"]
    values64: f64["total * (1 - single)"]
    weights: f64["total * weighted"]


@record
class PartFacts:
    """Facts of each part: number of values that count, of NaN, what is wrong, weight and range of the values that count."""

    parts: i64
    kept: out(i64["parts"])
    missing: out(i64["parts"])
    wrong: out(i64["parts"])
    sums: out(f64["parts"])
    lows: out(f64["parts"])
    highs: out(f64["parts"])


@record
class Summaries:
    """A summary of each block: its points, whether it moves up a level because it is not exact, and its error."""

    blocks: i64
    block: i64  # values of a block
    points: out(f64["blocks * block"])
    masses: out(f64["blocks * block"])
    made: out(i64["blocks"])
    raised: out(i64["blocks"])
    errors: out(f64["blocks"])


@record
class Points:
    """The points of one summary."""

    count: i64
    points: f64["count"]
    masses: f64["count"]


@item
class Folded:
    """The result of joining two summaries: number of points, 1 if they had to be grouped, and the error that this adds."""

    points: i64
    raised: i64
    error: f64


@inline
def tolerance(share, total):
    """The product, never rounded up: for tiny totals the next float may be far above it."""
    if total > TINY:
        return share * total
    steps = share * (total * UP * UP_MORE)
    whole = float(np.int64(steps)) if steps < EXACT else steps
    return whole / UP_MORE / UP


@inline
def settle(keys, mass, count, limit, share, known, points, masses):
    """Write distinct keys and their masses as a summary: as they are if they fit, else in groups.

    One point stands for each group, and at most `delta` of the group's mass is on either side of it, so that no rank moves
    by more. A group closes when the next key would not fit: all but the last hold more than `delta`. Returns the number of
    points, and the error that this adds to `known`.
    """
    if count <= limit:
        for i in range(count):
            points[i] = value_of(keys[i])
            masses[i] = mass[i]
        return count, 0.0
    total = 0.0
    for i in range(count):
        total += mass[i]
    delta = max(tolerance(share, total) - known, 0.0)
    made = 0
    worst = 0.0
    i = 0
    while i < count:
        before = 0.0
        while i < count - 1 and before + mass[i] <= delta:
            before += mass[i]
            i += 1
        points[made] = value_of(keys[i])
        held = before + mass[i]
        i += 1
        after = 0.0
        while i < count and after + mass[i] <= delta:
            after += mass[i]
            i += 1
        masses[made] = held + after
        made += 1
        worst = max(worst, max(before, after))
    return made, worst


@kernel
def survey_values(team: Member, given: Stream, facts: PartFacts):
    """Write the facts of each part of the values.

    `wrong` is 1 where a value is infinite, 2 where a weight is negative, infinite or NaN.
    """
    for p in range(team.rank, facts.parts, team.size):
        count = 0
        gone = 0
        bad = 0
        weight = 0.0
        low = LARGEST
        high = -LARGEST
        for i in range(p * given.part, min(given.total, (p + 1) * given.part)):
            x = float(given.values32[i]) if given.single != 0 else given.values64[i]
            w = given.weights[i] if given.weighted != 0 else 1.0
            gone += 1 if x != x else 0
            bad |= 1 if x > LARGEST or x < -LARGEST else 0
            bad |= 0 if 0.0 <= w <= LARGEST else 2
            counts = x == x and w > 0.0
            count += 1 if counts else 0
            weight += w if counts else 0.0
            low = x if counts and x < low else low
            high = x if counts and x > high else high
        facts.kept[p] = count
        facts.missing[p] = gone
        facts.wrong[p] = bad
        facts.sums[p] = weight
        facts.lows[p] = low
        facts.highs[p] = high


@kernel
def take_values(
    team: Member,
    given: Stream,
    first: i64,
    parts: i64,
    capacity: i64,
    keep: i64,
    starts: i64["parts"],
    taken: out(f64["capacity"]),
    taken_weights: out(f64["capacity * keep"]),
):
    """Copy the values that count of `parts` parts, from `first` on, each part to its start."""
    for p in range(team.rank, parts, team.size):
        to = starts[p]
        for i in range((first + p) * given.part, min(given.total, (first + p + 1) * given.part)):
            x = float(given.values32[i]) if given.single != 0 else given.values64[i]
            w = given.weights[i] if given.weighted != 0 else 1.0
            if x == x and w > 0.0:
                taken[to] = x + 0.0  # not -0.0
                if keep != 0:
                    taken_weights[to] = w
                to += 1


@inline
def finish_sort(keys, count, mine):
    """Sort keys that are in order except for their lowest digits, by insertion. False if it takes too many steps."""
    order, weighted = mine.order, mine.weighted
    steps = 0
    for i in range(1, count):
        key = keys[i]
        if key >= keys[i - 1]:
            continue
        place = order[i] if weighted != 0 else 0
        j = i
        while j > 0 and keys[j - 1] > key:
            keys[j] = keys[j - 1]
            if weighted != 0:
                order[j] = order[j - 1]
            j -= 1
        keys[j] = key
        if weighted != 0:
            order[j] = place
        steps += i - j
        if steps > STEPS * count:
            return False
    return True


@kernel
def condense_blocks(
    team: Member,
    total: i64,
    limit: i64,
    share: f64,
    values: f64["total"],
    weights: f64["total * buffers.weighted"],
    buffers: SortBuffers,
    keys: Keys,
    found: Summaries,
):
    """A summary of each block of values; `raised` is 1 where it is not exact."""
    block = found.block
    mine, line = own(buffers, team.rank), own(keys, team.rank).keys
    for b in range(team.rank, found.blocks, team.size):
        at = b * block
        for i in range(block):
            line[i] = key_of(values[at + i])
        sort_keys(line, block, mine, HIGH)
        if not finish_sort(line, block, mine):
            for i in range(block):
                line[i] = key_of(values[at + i])
            sort_keys(line, block, mine, 0)
        if buffers.weighted != 0:
            sort_masses(tail(weights, at), block, mine)
        distinct = merge_equal(line, block, mine)
        points, masses = tail(found.points, at), tail(found.masses, at)
        count, error = settle(line, mine.mass, distinct, limit, share, 0.0, points, masses)
        found.made[b] = count
        found.raised[b] = 1 if distinct > limit else 0
        found.errors[b] = error


@kernel
def fold_summaries(
    limit: i64,
    share: f64,
    known: f64,
    a: Points,
    b: Points,
    keys: out(i64["a.count + b.count"]),
    mass: out(f64["a.count + b.count"]),
    points: out(f64["a.count + b.count"]),
    masses: out(f64["a.count + b.count"]),
    folded: out(Folded["1"]),
):
    """One summary of two."""
    count = 0
    i = 0
    j = 0
    while i < a.count or j < b.count:
        a_now = i < a.count and (j == b.count or a.points[i] <= b.points[j])
        b_now = j < b.count and (i == a.count or b.points[j] <= a.points[i])
        keys[count] = key_of(a.points[i] if a_now else b.points[j])
        mass[count] = (a.masses[i] if a_now else 0.0) + (b.masses[j] if b_now else 0.0)
        count += 1
        i += 1 if a_now else 0
        j += 1 if b_now else 0
    made, added = settle(keys, mass, count, limit, share, known, points, masses)
    folded[0].points = made
    folded[0].raised = 1 if count > limit else 0
    folded[0].error = added


@kernel
def cut_points(
    count: i64,
    most: i64,
    points: f64["count"],
    masses: f64["count"],
    keys: out(i64["count"]),
    cuts: out(f64["most"]),
    made: out(i64["1"]),
):
    """Cuts of one column from its distinct values and their masses."""
    for i in range(count):
        keys[i] = key_of(points[i])
    made[0] = place_cuts(keys, masses, count, most, cuts) if count > 0 else 0
