"""Gradients → small integers, once per tree."""

import numpy as np

from spinney.growth.kernels.gather import piece_length
from spinney.growth.packing import BLOCK, CELL_BITS, EXACT_LIMIT, FEW, FEWEST_COUNT_BITS, HALF, LARGEST, SUM_LIMIT
from spinney.jit.inline import inline
from spinney.jit.intrinsics import tail
from spinney.jit.math import fine_scale
from spinney.jit.records import own
from spinney.objectives.kernels.records import PAIR
from spinney.sampling.kernels.purposes import PURPOSE_ROUNDING
from spinney.sampling.kernels.random import random_bits, unit

HALF_PI = 1.5707963267948966
TINY = 1e-300
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
def largest_of_all(gradients, output):
    """Largest |g| and h of all rows."""
    max_g = 0.0
    max_h = 0.0
    first = PAIR * gradients.blocks * output
    for at in range(first, first + PAIR * gradients.blocks, PAIR):
        max_g = max(max_g, gradients.largest[at])
        max_h = max(max_h, gradients.largest[at + 1])
    return max_g, max_h


@inline
def put_parts(sum_g, sum_h, rank, parts):
    """Note what a thread has summed."""
    mine = own(parts, rank)
    mine.sums[0] = sum_g
    mine.sums[1] = sum_h


@inline
def sum_sizes(team, gradients, output, parts):
    """Sum |g| and h of this thread's share of all rows, as whole numbers of a fine step."""
    max_g, max_h = largest_of_all(gradients, output)
    scale_g = fine_scale(max_g)
    scale_h = fine_scale(max_h)
    pairs = tail(gradients.pairs, 2 * gradients.rows * output)
    sum_g = np.int64(0)
    sum_h = np.int64(0)
    length = piece_length(gradients.rows, team.size)
    for piece in range(team.rank * length, gradients.rows, team.size * length):
        for row in range(piece, min(piece + length, gradients.rows)):
            # By way of int32, which vectors can convert to.
            sum_g += np.int64(np.int32(abs(float(pairs[2 * row])) * scale_g))
            sum_h += np.int64(np.int32(float(pairs[2 * row + 1]) * scale_h))
    put_parts(sum_g, sum_h, team.rank, parts)


@inline
def join_sizes(size, gradients, output, parts):
    """Largest |g| and h and the sums of both over all rows, from what every thread has summed.

    Maxima and sums of whole numbers: they do not depend on how rows are shared out, nor on their order.
    """
    max_g, max_h = largest_of_all(gradients, output)
    sum_g = np.int64(0)
    sum_h = np.int64(0)
    for t in range(size):
        part = own(parts, t)
        sum_g += part.sums[0]
        sum_h += part.sums[1]
    return max_g, max_h, float(sum_g) / fine_scale(max_g), float(sum_h) / fine_scale(max_h)


@inline
def scale_rules(rules, scales):
    """Write penalties in terms of quantized gradients."""
    scales.unit = scales.h / (scales.g * scales.g)
    scales.reg_lambda = rules.penalties.reg_lambda * scales.h
    scales.reg_alpha = rules.penalties.reg_alpha * scales.g
    scales.max_step = rules.penalties.max_step * scales.g / scales.h
    scales.min_hessian = rules.limits.min_hessian * scales.h


@inline
def set_packing(in_bag, packing):
    """Choose where packed sums hold their parts: sums of few rows, or of a block of many."""
    packing.few = 1 if in_bag <= FEW else 0
    most = in_bag if packing.few != 0 else BLOCK
    count_bits = FEWEST_COUNT_BITS
    while (1 << count_bits) <= most:
        count_bits += 1
    hessian_bits = (CELL_BITS - count_bits) // 2
    packing.gradient_shift = count_bits + hessian_bits
    packing.hessian_shift = count_bits
    packing.hessian_mask = (1 << hessian_bits) - 1
    packing.count_mask = (1 << count_bits) - 1


@inline
def few_scale(largest, total, count, limit):
    """Largest power of two that keeps the sum over few rows within its limit, and so every single value.

    Rounding may add half a step a row to the sum, and `sum_sizes` may have left out up to one.
    """
    return power_scale(largest, min(total, largest * count), 2.0 * count, limit, limit)


@inline
def set_scales(size, gradients, output, in_bag, rules, parts, table):
    """Choose the steps of this tree's gradients from the largest one and the sum (thread 0, after `sum_sizes`).

    Few rows have steps so fine that rounding is to nearest, and so it is where rows are not many and alike. It is stochastic
    where they are many, or where one towers over the others: small gradients would all become 0, but their sums matter.
    """
    scales = table.scales[0]
    packing = table.packing[0]
    set_packing(in_bag, packing)
    few = packing.few != 0
    max_g, max_h, sum_g, sum_h = join_sizes(size, gradients, output, parts)
    count = float(in_bag)
    if few:
        scales.g = few_scale(max_g, sum_g, count, float((1 << (CELL_BITS - 1 - packing.gradient_shift)) - 1))
        scales.h = few_scale(max_h, sum_h, count, float(packing.hessian_mask))
    else:
        scales.g = power_scale(max_g, sum_g, count, float(LARGEST), SUM_LIMIT)
        scales.h = power_scale(max_h, sum_h, count, float(LARGEST), SUM_LIMIT)
    scales.exact_g = power_scale(max_g, sum_g, count, EXACT_LIMIT, EXACT_LIMIT)
    scales.exact_h = power_scale(max_h, sum_h, count, EXACT_LIMIT, EXACT_LIMIT)
    towering = max_g * count > TOWERING * sum_g or max_h * count > TOWERING * sum_h
    scales.stochastic = 1.0 if in_bag > BLOCK or (towering and not few) else 0.0
    scale_rules(rules, scales)
    scales.noise = noise_score(sum_g, sum_h) / scales.unit


@inline
def noise_score(sum_g, sum_h):
    """Score that a split of no use has on average, times the rows: that is the mean square of gradients over the mean hessian.

    The mean square comes from the mean size, as that of a normal distribution does.
    """
    return HALF_PI * sum_g * sum_g / max(sum_h, TINY)


@inline
def nearest(x):
    """The nearest whole number; of two, the one farther from 0."""
    return np.int64(x + 0.5) if x >= 0.0 else -np.int64(0.5 - x)


@inline
def quantized(number, pairs, at_pair, seed, few, stochastic, scales):
    """Gradient and hessian of a row in whole steps; rounding goes by its number in the data set."""
    if few:
        return nearest(float(pairs[2 * at_pair]) * scales.g), nearest(float(pairs[2 * at_pair + 1]) * scales.h)
    up_g = 0.5
    up_h = 0.5
    if stochastic:
        bits = random_bits(seed, PURPOSE_ROUNDING, number)
        up_g = unit(bits)
        up_h = unit(bits << 32)
    # 65536 makes the sum positive, so that cutting off the fraction rounds down.
    g = np.int64(float(pairs[2 * at_pair]) * scales.g + up_g + 65536.0) - 65536
    h = np.int64(float(pairs[2 * at_pair + 1]) * scales.h + up_h)
    return min(max(g, -LARGEST), LARGEST), min(h, LARGEST)


@inline
def put_entry(at, place, g, h, few, packing, rows):
    """Write an entry: the place of a row among the codes, and its gradient and hessian or where stands what it adds."""
    if few:
        rows.cells[at] = (g << packing.gradient_shift) + (h << packing.hessian_shift) + 1
        rows.entries[at] = (place << HALF) | at
    else:
        rows.entries[at] = (place << HALF) | ((g & 65535) << 16) | h


@inline
def make_entries(team, at, bag, gathered, pairs, table, rows, parts):
    """Quantize the gradients of this thread's rows of the bag, and sum them. An entry of a gathered bag names the place in it.

    Rounding goes by a row's number in the data set, so that a subset of a table gives the tree of a table of its rows.
    """
    control = bag.control[0]
    in_bag = control.in_bag
    seed = control.seed
    all_rows = control.all_rows != 0
    subset = bag.subset
    scales = table.scales[0]
    packing = table.packing[0]
    few = packing.few != 0
    stochastic = scales.stochastic != 0.0
    to = np.int64(at)
    sum_g = 0
    sum_h = 0
    length = piece_length(in_bag, team.size)
    for piece in range(team.rank * length, in_bag, team.size * length):
        for i in range(piece, min(piece + length, in_bag)):
            number = np.int64(i) if all_rows else np.int64(bag.chosen[i])
            at_pair = np.int64(i) if gathered else number
            place = np.int64(subset.rows[number]) if subset.some != 0 and not gathered else at_pair
            g, h = quantized(number, pairs, at_pair, seed, few, stochastic, scales)
            put_entry(to, place, g, h, few, packing, rows)
            to += 1
            sum_g += g
            sum_h += h
    put_parts(sum_g, sum_h, team.rank, parts)
