"""Gradients → small integers, once per tree."""

import numpy as np

from spinney.growth.layout import (
    EXACT_SCALE_G, EXACT_SCALE_H, SCALE_G, SCALE_H, STATS, STAT_MAX_G, STAT_MAX_H, STAT_SUM_G, STAT_SUM_H, STOCHASTIC, UNIT,
)  # fmt: skip
from spinney.growth.packing import BLOCK, EXACT_LIMIT, LARGEST, SUM_LIMIT
from spinney.growth.partition_kernels import OWNED
from spinney.jit.kernel import inline
from spinney.sampling.random_kernels import random_bits, unit

PURPOSE_ROUNDING = 1
TOWERING = 64.0  # times the mean: then less than 64 of 4 095 steps are left for an average row


@inline
def power_scale(largest, total, count, largest_limit, total_limit):
    """Largest power of two that keeps a single value and the sum of all of them within their limits."""
    if largest <= 0.0:
        return 1.0
    scale = 1.0
    while largest * scale > largest_limit or total * scale + count > total_limit:
        scale *= 0.5
    while largest * scale * 2.0 <= largest_limit and total * scale * 2.0 + count <= total_limit:
        scale *= 2.0
    return scale


@inline
def join_stats(stats, blocks, at):
    """Largest |g| and h and the sums of both, over all blocks of rows in their order."""
    max_g = 0.0
    max_h = 0.0
    sum_g = 0.0
    sum_h = 0.0
    for b in range(blocks):
        s = at + b * STATS
        max_g = max(max_g, stats[s + STAT_MAX_G])
        max_h = max(max_h, stats[s + STAT_MAX_H])
        sum_g += stats[s + STAT_SUM_G]
        sum_h += stats[s + STAT_SUM_H]
    return max_g, max_h, sum_g, sum_h


@inline
def set_scales(stats, blocks, at, in_bag, scales):
    """Choose the steps of this tree's gradients from the largest one and the sum, both taken in a fixed order.

    Rounding is to nearest where rows are few and alike. It is stochastic where they are many, or where one towers over the
    others: small gradients would all become 0, but their sums matter.
    """
    max_g, max_h, sum_g, sum_h = join_stats(stats, blocks, at)
    count = float(in_bag)
    scales[SCALE_G] = power_scale(max_g, sum_g, count, float(LARGEST), SUM_LIMIT)
    scales[SCALE_H] = power_scale(max_h, sum_h, count, float(LARGEST), SUM_LIMIT)
    scales[EXACT_SCALE_G] = power_scale(max_g, sum_g, count, EXACT_LIMIT, EXACT_LIMIT)
    scales[EXACT_SCALE_H] = power_scale(max_h, sum_h, count, EXACT_LIMIT, EXACT_LIMIT)
    towering = max_g * count > TOWERING * sum_g or max_h * count > TOWERING * sum_h
    scales[STOCHASTIC] = 1.0 if in_bag > BLOCK or towering else 0.0
    scales[UNIT] = scales[SCALE_H] / (scales[SCALE_G] * scales[SCALE_G])


@inline
def make_entries(rank, size, at, in_bag, bag, all_rows, gathered, pairs, pairs_at, scales, seed, entries, parts):
    """Quantize the gradients of this thread's rows of the bag, and sum them. An entry of a gathered bag names the place in it.

    `scales[STOCHASTIC]` says whether rounding is stochastic (see `set_scales`).
    """
    scale_g = scales[SCALE_G]
    scale_h = scales[SCALE_H]
    stochastic = scales[STOCHASTIC] != 0.0
    to = at
    sum_g = 0
    sum_h = 0
    for block in range(rank * OWNED, in_bag, size * OWNED):
        for i in range(block, min(block + OWNED, in_bag)):
            row = np.int64(i) if all_rows != 0 else np.int64(bag[i])
            place = np.int64(i) if gathered else row
            up_g = 0.5
            up_h = 0.5
            if stochastic:
                bits = random_bits(seed, PURPOSE_ROUNDING, row)
                up_g = unit(bits)
                up_h = unit(bits << 32)
            pair = pairs_at + 2 * place
            # 65536 makes the sum positive, so that cutting off the fraction rounds down.
            g = np.int64(float(pairs[pair]) * scale_g + up_g + 65536.0) - 65536
            h = np.int64(float(pairs[pair + 1]) * scale_h + up_h)
            g = min(max(g, -LARGEST), LARGEST)
            h = min(h, LARGEST)
            entries[to] = (place << 32) | ((g & 65535) << 16) | h
            to += 1
            sum_g += g
            sum_h += h
    parts[rank * 8] = sum_g
    parts[rank * 8 + 1] = sum_h
