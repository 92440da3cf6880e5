"""Drawing rows by their gradients: those of the largest keys, which are made of gradients, of random numbers, or of both."""

import numpy as np

from spinney.jit import f32, f64, i32, i64, inline, kernel, out, u8
from spinney.jit.barrier import meet
from spinney.jit.intrinsics import bits_of
from spinney.jit.math import log
from spinney.sampling.largest_kernels import MARKED, PLACES, clear, mark_largest, share_of
from spinney.sampling.random_kernels import random_bits, unit

PURPOSE_OTHERS = 4
PURPOSE_WEIGHTED = 5
PURPOSE_CHANCE = 6
# Gradients are float32. Sizes and waiting times beyond these limits count as the limits: 2**-128 and 2**127.
LEAST = 2.938735877055719e-39
MOST = 1.7014118346046923e38
KEY_OF_LEAST = 938475520
LARGEST_KEY = 268435455
KEY_SHIFT = 16
# Random keys have 31 bits.
LARGEST_RANDOM = 2147483647
RANDOM_SHIFT = 19
CHUNK = 4096  # rows whose chances are summed in one go, in order
MOST_TURNS = 100  # of looking for the factor; a handful is usual

# shared (int64)
SATURATED = 0

# marks of a row
KEPT = 1
DRAWN = 2


@inline
def key_of(x):
    """28 bits in the order of x within the limits: its power of two and the next 20 bits. NaN is the least."""
    low = x if x > LEAST else LEAST
    return (bits_of(low if low < MOST else MOST) >> 32) - KEY_OF_LEAST


@inline
def length(row, rows, outputs, pairs, reg_lambda):
    """Size of a row's gradient over all outputs, its hessians taken in by `reg_lambda`."""
    total = 0.0
    for k in range(outputs):
        at = 2 * (k * rows + row)
        # `float` would leave a float32 what it is, whose square may be too large for one.
        g = np.float64(pairs[at])
        h = np.float64(pairs[at + 1])
        total += g * g + reg_lambda * (h * h)
    return np.sqrt(total)


@inline
def gradient_keys(begin, end, count, rows, outputs, eligible, pairs, keys):
    """Keys in the order of the rows' gradients."""
    if outputs == 1 and count == rows:
        # The same in a simpler loop, which the compiler turns into vectors: 0.2 ms instead of 0.7 for 262 000 rows.
        for i in range(begin, end):
            keys[i] = key_of(abs(np.float64(pairs[2 * i])))
    else:
        for i in range(begin, end):
            keys[i] = key_of(length(np.int64(eligible[i]), rows, outputs, pairs, 0.0))


@inline
def random_keys(begin, end, seed, eligible, chosen, keys):
    """Random keys for rows that are not marked, -1 for the others."""
    for i in range(begin, end):
        bits = random_bits(seed, PURPOSE_OTHERS, np.int64(eligible[i]))
        keys[i] = (bits >> 33) & LARGEST_RANDOM if chosen[i] == 0 else -1


@inline
def scale_pair(at, pairs, factor):
    """Multiply a gradient and its hessian."""
    pairs[at] = np.float32(float(pairs[at]) * factor)
    pairs[at + 1] = np.float32(float(pairs[at + 1]) * factor)


@inline
def scale_rows(begin, end, rows, outputs, eligible, chosen, pairs, factors):
    """Multiply the rows' gradients by the factor of their mark."""
    for k in range(outputs):
        for i in range(begin, end):
            # Looked up, as no processor can foresee the marks: with branches it took five times as long.
            scale_pair(2 * (k * rows + np.int64(eligible[i])), pairs, factors[chosen[i]])


@inline
def count_marked(begin, end, chosen):
    """How many rows are marked."""
    marked = 0
    for i in range(begin, end):
        marked += 1 if chosen[i] != 0 else 0
    return marked


@inline
def fill_bag(rank, size, sync, count, eligible, chosen, counts, bag):
    """Write the marked rows to the bag, ascending; `counts[0]` becomes their number. False: give up."""
    begin = share_of(count, rank, size)
    marked = count_marked(begin, share_of(count, rank + 1, size), chosen)
    counts[rank * PLACES + MARKED] = marked
    if not meet(sync, size):
        return False
    to = 0
    for t in range(rank):
        to += np.int64(counts[t * PLACES + MARKED])
    stop = to + marked
    i = begin
    while to < stop:
        # Written in any case, which is faster than asking; the next one that is marked takes its place.
        bag[to] = eligible[i]
        to += 1 if chosen[i] != 0 else 0
        i += 1
    if rank == size - 1:
        counts[0] = to
    return True


@kernel
def draw_goss(
    rank: i64, size: i64, sync: out(i64["32"]), count: i64, rows: i64, outputs: i64, threads: i64, top: i64, other: i64,
    seed: i64, factors: f64["3"], eligible: i32["count"], pairs: out(f32["2 * rows * outputs"]), keys: out(i32["count"]),
    chosen: out(u8["count"]), counts: out(i32["10272 * threads"]), bag: out(i32["rows"]),
):
    """Keep the `top` rows of largest gradients, draw `other` of the rest, whose gradients then stand for all of it.

    A row's gradients are multiplied by the factor of its mark. `counts[0]` is the number of rows in the bag.
    """
    begin = share_of(count, rank, size)
    end = share_of(count, rank + 1, size)
    clear(chosen, begin, end - begin)
    if top > 0:
        gradient_keys(begin, end, count, rows, outputs, eligible, pairs, keys)
        if not mark_largest(rank, size, sync, count, keys, KEY_SHIFT, top, KEPT, chosen, counts, bag):
            return
    if other > 0:
        random_keys(begin, end, seed, eligible, chosen, keys)
        if not mark_largest(rank, size, sync, count, keys, RANDOM_SHIFT, other, DRAWN, chosen, counts, bag):
            return
    scale_rows(begin, end, rows, outputs, eligible, chosen, pairs, factors)
    fill_bag(rank, size, sync, count, eligible, chosen, counts, bag)


@kernel
def draw_weighted(
    rank: i64, size: i64, sync: out(i64["32"]), count: i64, rows: i64, outputs: i64, threads: i64, wanted: i64, seed: i64,
    factors: f64["3"], eligible: i32["count"], pairs: out(f32["2 * rows * outputs"]), keys: out(i32["count"]),
    chosen: out(u8["count"]), counts: out(i32["10272 * threads"]), bag: out(i32["rows"]),
):
    """Draw `wanted` rows one after another without replacement, each with a chance in proportion to its gradient.

    That is the same as taking the rows whose exponential waiting times, at a rate of their gradients, are the shortest.
    """
    begin = share_of(count, rank, size)
    end = share_of(count, rank + 1, size)
    clear(chosen, begin, end - begin)
    for i in range(begin, end):
        row = np.int64(eligible[i])
        u = unit(random_bits(seed, PURPOSE_WEIGHTED, row)) + 1.1641532182693481e-10
        rate = length(row, rows, outputs, pairs, 0.0)
        keys[i] = LARGEST_KEY - key_of(-log(u) / rate) if rate > 0.0 else 0
    if not mark_largest(rank, size, sync, count, keys, KEY_SHIFT, wanted, KEPT, chosen, counts, bag):
        return
    scale_rows(begin, end, rows, outputs, eligible, chosen, pairs, factors)
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
                # Without a branch: no processor can foresee which rows are certain.
                certain = c * sizes[i] >= 1.0
                full += 1 if certain else 0
                rest += 0.0 if certain else sizes[i]
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
    sums: out(f64["2 * count"]), factor: out(f64["1"]), chosen: out(u8["count"]), counts: out(i32["10272 * threads"]),
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
        chance = min(factor[0] * sizes[i], 1.0)
        drawn = unit(random_bits(seed, PURPOSE_CHANCE, np.int64(eligible[i]))) < chance
        chosen[i] = KEPT if drawn else 0
        sizes[i] = 1.0 / chance if drawn else 0.0
    for k in range(outputs):
        for i in range(begin, end):
            scale_pair(2 * (k * rows + np.int64(eligible[i])), pairs, sizes[i])
    fill_bag(rank, size, sync, count, eligible, chosen, counts, bag)
