"""Drawing rows by their gradients.

The rows with the k largest keys are found without sorting: a histogram of the keys' leading digits tells in which bucket the
k-th one is, then the next digits of that bucket's keys are looked at, three times in all. Drawing at random is the same with
random keys. Of equal keys the first rows count. So the rows do not depend on the number of threads.
"""

import numpy as np

from spinney.jit import f32, f64, i32, i64, inline, kernel, out, u8
from spinney.jit.barrier import meet
from spinney.jit.intrinsics import bits_of
from spinney.jit.math import log
from spinney.sampling.random_kernels import random_bits, unit

PURPOSE_OTHERS = 4
PURPOSE_WEIGHTED = 5
PURPOSE_CHANCE = 6
BUCKETS = 2048
LARGEST_KEY = 2147483647
CHUNK = 4096  # rows whose chances are summed in one go, in order
MOST_TURNS = 100  # of looking for the factor; a handful is usual

# shared (int64)
PREFIX = 0
LEFT = 1
SATURATED = 2

# marks of a row
KEPT = 1
DRAWN = 2


@inline
def share_of(count, rank, size):
    """First position of a thread's share."""
    return count * rank // size


@inline
def key_of(x):
    """31 bits in the order of x >= 0."""
    return bits_of(x) >> 32


@inline
def length(row, rows, outputs, pairs, reg_lambda):
    """Size of a row's gradient over all outputs, its hessians taken in by `reg_lambda`."""
    total = 0.0
    for k in range(outputs):
        at = 2 * (k * rows + row)
        g = float(pairs[at])
        h = float(pairs[at + 1])
        total += g * g + reg_lambda * h * h
    return np.sqrt(total)


@inline
def mark_largest(rank, size, sync, keys, count, wanted, mark, chosen, counts, shared):
    """Mark the rows of the `wanted` largest keys, 1 <= wanted <= how many are not negative. False: give up."""
    begin = share_of(count, rank, size)
    end = share_of(count, rank + 1, size)
    if rank == 0:
        shared[PREFIX] = 0
        shared[LEFT] = wanted
    for d in range(3):
        shift = 20 - 10 * d
        if not meet(sync, size):
            return False
        for b in range(BUCKETS):
            counts[rank * BUCKETS + b] = 0
        for i in range(begin, end):
            key = np.int64(keys[i])
            if key >= 0 and (d == 0 or (key >> (shift + 10)) == shared[PREFIX]):
                counts[rank * BUCKETS + (key >> 20 if d == 0 else (key >> shift) & 1023)] += 1
        if not meet(sync, size):
            return False
        if rank == 0:
            b = BUCKETS
            total = 0
            while total < shared[LEFT]:
                shared[LEFT] -= total
                b -= 1
                total = 0
                for t in range(size):
                    total += counts[t * BUCKETS + b]
            shared[PREFIX] = (shared[PREFIX] << 10) | b
    if not meet(sync, size):
        return False
    smallest = shared[PREFIX]
    ties = 0
    for i in range(begin, end):
        ties += 1 if keys[i] == smallest else 0
    counts[rank * BUCKETS] = ties
    if not meet(sync, size):
        return False
    seen = 0
    for t in range(rank):
        seen += counts[t * BUCKETS]
    for i in range(begin, end):
        if keys[i] > smallest:
            chosen[i] = mark
        elif keys[i] == smallest:
            if seen < shared[LEFT]:
                chosen[i] = mark
            seen += 1
    return meet(sync, size)


@inline
def fill_bag(rank, size, sync, count, eligible, chosen, counts, bag):
    """Write the marked rows to the bag, ascending; `counts[0]` becomes their number. False: give up."""
    begin = share_of(count, rank, size)
    end = share_of(count, rank + 1, size)
    mine = 0
    for i in range(begin, end):
        mine += 1 if chosen[i] != 0 else 0
    counts[rank * BUCKETS + 1] = mine
    if not meet(sync, size):
        return False
    to = 0
    for t in range(rank):
        to += counts[t * BUCKETS + 1]
    for i in range(begin, end):
        if chosen[i] != 0:
            bag[to] = eligible[i]
            to += 1
    if rank == size - 1:
        counts[0] = to
    return True


@inline
def scale_row(row, rows, outputs, pairs, factor):
    """Multiply a row's gradients."""
    for k in range(outputs):
        at = 2 * (k * rows + row)
        pairs[at] = np.float32(float(pairs[at]) * factor)
        pairs[at + 1] = np.float32(float(pairs[at + 1]) * factor)


@kernel
def draw_goss(
    rank: i64, size: i64, sync: out(i64["32"]), count: i64, rows: i64, outputs: i64, threads: i64, top: i64, other: i64,
    seed: i64, eligible: i32["count"], pairs: out(f32["2 * rows * outputs"]), keys: out(i32["count"]),
    chosen: out(u8["count"]), counts: out(i64["2048 * threads"]), shared: out(i64["8"]), bag: out(i32["rows"]),
):
    """Keep the `top` rows of largest gradients, draw `other` of the rest, whose gradients then stand for all of it.

    Gradients of rows that are left out become 0. `counts[0]` is the number of rows in the bag.
    """
    begin = share_of(count, rank, size)
    end = share_of(count, rank + 1, size)
    for i in range(begin, end):
        chosen[i] = 0
        keys[i] = key_of(length(np.int64(eligible[i]), rows, outputs, pairs, 0.0))
    if top > 0 and not mark_largest(rank, size, sync, keys, count, top, KEPT, chosen, counts, shared):
        return
    for i in range(begin, end):
        bits = random_bits(seed, PURPOSE_OTHERS, np.int64(eligible[i]))
        keys[i] = (bits >> 33) & LARGEST_KEY if chosen[i] == 0 else -1
    if other > 0 and not mark_largest(rank, size, sync, keys, count, other, DRAWN, chosen, counts, shared):
        return
    factor = float(count - top) / float(max(other, 1))
    for i in range(begin, end):
        if chosen[i] != KEPT:
            scale_row(np.int64(eligible[i]), rows, outputs, pairs, factor if chosen[i] == DRAWN else 0.0)
    fill_bag(rank, size, sync, count, eligible, chosen, counts, bag)


@kernel
def draw_weighted(
    rank: i64, size: i64, sync: out(i64["32"]), count: i64, rows: i64, outputs: i64, threads: i64, wanted: i64, seed: i64,
    eligible: i32["count"], pairs: out(f32["2 * rows * outputs"]), keys: out(i32["count"]), chosen: out(u8["count"]),
    counts: out(i64["2048 * threads"]), shared: out(i64["8"]), bag: out(i32["rows"]),
):
    """Draw `wanted` rows one after another without replacement, each with a chance in proportion to its gradient.

    That is the same as taking the rows whose exponential waiting times, at a rate of their gradients, are the shortest.
    """
    for i in range(share_of(count, rank, size), share_of(count, rank + 1, size)):
        row = np.int64(eligible[i])
        chosen[i] = 0
        u = unit(random_bits(seed, PURPOSE_WEIGHTED, row)) + 1.1641532182693481e-10
        rate = length(row, rows, outputs, pairs, 0.0)
        keys[i] = LARGEST_KEY - key_of(-log(u) / rate) if rate > 0.0 else 0
    if not mark_largest(rank, size, sync, keys, count, wanted, KEPT, chosen, counts, shared):
        return
    for i in range(share_of(count, rank, size), share_of(count, rank + 1, size)):
        if chosen[i] == 0:
            scale_row(np.int64(eligible[i]), rows, outputs, pairs, 0.0)
    fill_bag(rank, size, sync, count, eligible, chosen, counts, bag)


@inline
def find_factor(rank, size, sync, count, wanted, sizes, sums, shared, factor):
    """`factor[0]` such that min(1, factor · size) adds up to `wanted` over all rows. False: give up."""
    chunks = (count + CHUNK - 1) // CHUNK
    if rank == 0:
        factor[0] = 0.0
        shared[SATURATED] = -1
    for _ in range(MOST_TURNS):
        if not meet(sync, size):
            return False
        before = shared[SATURATED]
        c = factor[0]
        for chunk in range(rank, chunks, size):
            rest = 0.0
            full = 0
            for i in range(chunk * CHUNK, min((chunk + 1) * CHUNK, count)):
                s = sizes[i]
                if c * s >= 1.0:
                    full += 1
                else:
                    rest += s
            sums[2 * chunk] = rest
            sums[2 * chunk + 1] = float(full)
        if not meet(sync, size):
            return False
        if rank == 0:
            rest = 0.0
            full = 0.0
            for chunk in range(chunks):
                rest += sums[2 * chunk]
                full += sums[2 * chunk + 1]
            shared[SATURATED] = np.int64(full)
            if rest > 0.0 and full < float(wanted):
                factor[0] = (float(wanted) - full) / rest
        if not meet(sync, size):
            return False
        # Rows with a chance of 1 only ever become more; when they do not, the factor is right.
        if shared[SATURATED] == before:
            return True
    return True


@kernel
def draw_by_chance(
    rank: i64, size: i64, sync: out(i64["32"]), count: i64, rows: i64, outputs: i64, threads: i64, wanted: i64, seed: i64,
    reg_lambda: f64, eligible: i32["count"], pairs: out(f32["2 * rows * outputs"]), sizes: out(f64["count"]),
    sums: out(f64["2 * count"]), factor: out(f64["1"]), chosen: out(u8["count"]), counts: out(i64["2048 * threads"]),
    shared: out(i64["8"]), bag: out(i32["rows"]),
):
    """Draw each row with a chance in proportion to its gradient, and divide its gradients by the chance.

    `wanted` rows are drawn on average; the expected sums are those of all rows.
    """
    begin = share_of(count, rank, size)
    end = share_of(count, rank + 1, size)
    for i in range(begin, end):
        sizes[i] = length(np.int64(eligible[i]), rows, outputs, pairs, reg_lambda)
    if not find_factor(rank, size, sync, count, wanted, sizes, sums, shared, factor):
        return
    for i in range(begin, end):
        row = np.int64(eligible[i])
        chance = min(factor[0] * sizes[i], 1.0)
        drawn = unit(random_bits(seed, PURPOSE_CHANCE, row)) < chance
        chosen[i] = KEPT if drawn else 0
        scale_row(row, rows, outputs, pairs, 1.0 / chance if drawn else 0.0)
    fill_bag(rank, size, sync, count, eligible, chosen, counts, bag)
