"""Leaf values as weighted quantiles of what is left of the target, for losses whose hessian says nothing.

The weight of a row is its hessian, which for these losses is the row's weight and nothing else. Values are compared as whole
numbers in their order, weights are summed as whole numbers: the quantile does not depend on the order of the rows.
"""

import numpy as np

from spinney.data.kernels.records import LabelArrays
from spinney.jit import Member, f64, i64, inline, kernel, out, own, record
from spinney.jit.intrinsics import prefetch, tail
from spinney.jit.math import fine_scale, order_key, value_of_key
from spinney.objectives.kernels.outputs import target_of
from spinney.objectives.kernels.records import Gradients, LeafRows
from spinney.objectives.kernels.renewal import PREFETCHED, is_own, rows_of_leaves

BUCKETS = 1024
FEW = 32  # values that are sorted one by one
NO_KEY = 9223372036854775807  # no value has it


@record
class Selection:
    """Memory to look for quantiles: each leaf has the places of its rows."""

    keys: out(i64["by_leaf.rows"])
    masses: out(i64["by_leaf.rows"])


@record(per_thread=True)
class Buckets:
    """A thread's own memory: masses of a leaf's rows by bucket of their keys."""

    masses: out(i64["BUCKETS"])


@inline
def take_residuals(begin, end, members, scores, pairs, target, selection):
    """Keys and masses of a leaf's rows: what is left of the target, and the weight. Gives the sum of the masses."""
    least = float("inf")
    most = 0.0
    for i in range(begin, end):
        ahead = members[min(i + PREFETCHED, end - 1)]
        prefetch(scores, ahead)
        prefetch(pairs, 2 * ahead)
        prefetch(target, ahead)
        row = np.int64(members[i])
        selection.keys[i] = order_key(target[row] - scores[row])
        h = float(pairs[2 * row + 1])
        least = min(least, h)
        most = max(most, h)
    if least == most:
        for i in range(begin, end):
            selection.masses[i] = 1
        return end - begin
    total = np.int64(0)
    # A power of two, so that whole weights stay what they are; up to 2**30, so that the masses of 2**31 rows fit an int64.
    scale = fine_scale(most)
    for i in range(begin, end):
        h = float(pairs[2 * np.int64(members[i]) + 1])
        mass = max(np.int64(h * scale), np.int64(1)) if h > 0.0 else np.int64(0)
        selection.masses[i] = mass
        total += mass
    return total


@inline
def find_shift(low, high):
    """By how many bits keys are shifted so that those from low to high fall into the buckets, at least into two of them."""
    shift = 1
    while (high >> shift) - (low >> shift) >= BUCKETS:
        shift += 1
    return 0 if shift == 1 and (high >> 1) - (low >> 1) < BUCKETS // 2 else shift


@inline
def sort_few(begin, end, keys, masses):
    """Sort a few keys, each with its mass."""
    for i in range(begin + 1, end):
        key = keys[i]
        mass = masses[i]
        to = i
        while to > begin and keys[to - 1] > key:
            keys[to] = keys[to - 1]
            masses[to] = masses[to - 1]
            to -= 1
        keys[to] = key
        masses[to] = mass


@inline
def keep_bucket(begin, end, bucket, first, shift, keys, masses):
    """Move the keys of a bucket to the front. Gives where they end, and the least key above the bucket."""
    above = np.int64(NO_KEY)
    to = begin
    for i in range(begin, end):
        key = keys[i]
        mass = masses[i]
        at = (key >> shift) - first
        keys[to] = key
        masses[to] = mass
        to += 1 if at == bucket else 0
        above = min(above, key) if at > bucket else above
    return to, above


@inline
def quantile(begin, end, wanted, selection, buckets):
    """The least value at which the masses up to it reach `wanted`; where they are just that, the middle to the next value."""
    keys = selection.keys
    masses = selection.masses
    below = np.int64(0)
    above = np.int64(NO_KEY)
    while end - begin > FEW:
        low = keys[begin]
        high = low
        for i in range(begin, end):
            low = min(low, keys[i])
            high = max(high, keys[i])
        if low == high:
            break
        shift = find_shift(low, high)
        first = low >> shift
        last = (high >> shift) - first
        for b in range(last + 1):
            buckets[b] = 0
        for i in range(begin, end):
            buckets[(keys[i] >> shift) - first] += masses[i]
        bucket = np.int64(0)
        while bucket < last and float(below + buckets[bucket]) < wanted:
            below += buckets[bucket]
            bucket += 1
        end, next_key = keep_bucket(begin, end, bucket, first, shift, keys, masses)
        above = min(above, next_key)
    if end - begin <= FEW:
        sort_few(begin, end, keys, masses)
    at = begin
    while at < end - 1 and float(below + masses[at]) < wanted:
        below += masses[at]
        at += 1
    value = value_of_key(keys[at])
    after = keys[at + 1] if at + 1 < end else above
    if float(below + masses[at]) == wanted and after != NO_KEY:
        return 0.5 * value + 0.5 * value_of_key(after)
    return value


@kernel
def renew_by_quantile(
    team: Member, by_leaf: LeafRows, gradients: Gradients, labels: LabelArrays,
    levels: f64["gradients.outputs"], selection: Selection, buckets: Buckets, steps: out(f64["by_leaf.max_nodes"]),
):
    """For each leaf the quantile, at the level of its output, of what is left of the target."""
    output = by_leaf.grown[0].output
    target = target_of(labels, output)
    scores = tail(gradients.scores, gradients.rows * output)
    pairs = tail(gradients.pairs, 2 * gradients.rows * output)
    mine = own(buckets, team.rank)
    total = rows_of_leaves(by_leaf)
    before = np.int64(0)
    for node in range(by_leaf.grown[0].nodes):
        begin = by_leaf.begin[node]
        end = by_leaf.end[node]
        if begin < end and is_own(before, end - begin, total, team):
            mass = take_residuals(begin, end, by_leaf.members, scores, pairs, target, selection)
            steps[node] = quantile(begin, end, levels[output] * float(mass), selection, mine.masses)
        before += end - begin
