"""Gradients → small integers, once per tree, and the rows that each thread owns.

A thread owns the same rows for a whole tree: pieces of the table, assigned to threads in turn (`piece_length`). It rounds their
gradients to whole numbers of a *step*, chosen such that sums fit the integers that hold them, and writes an entry for each row
(see `packing`). A step is a power of two, taken from the largest |g| and h of all rows and from their sums. These are maxima and
sums of whole numbers, so the step does not depend on how rows are cut into blocks or shared among ranks.

These steps are for choosing splits. Leaf values come from a second, fine fixed-point sum of the unrounded float32 gradients in
64 bits (`leaves`), so coarse steps never reach a leaf.

Where a bag has a small share of the rows, it is *gathered* first: its rows are copied side by side, because rows that lie far
apart would cost a cache line each at every split. Entries then name places in the copy. Rounding still depends on a row's number
in the data set, so the tree is the same.
"""

import numpy as np

from spinney.binning.kernels.records import SHORTEST_ROW
from spinney.data.kernels.records import GRADIENT_BLOCK, PAIR
from spinney.growth.kernels.packing import (
    CELL_BITS,
    EXACT_LIMIT,
    HALF,
    LARGEST,
    MIN_COUNT_BITS,
    SMALL_BAG,
    SUM_BLOCK,
    SUM_LIMIT,
)
from spinney.jit import inline, own
from spinney.jit.intrinsics import prefetch, tail
from spinney.jit.math import fine_scale
from spinney.sampling.kernels.random import PURPOSE_ROUNDING, random_bits, unit

# --- The rows that a thread owns


# Rows side by side that one thread owns for the whole tree. Such pieces are assigned to threads in turn. They are at most as
# long as the block of rows whose gradients one thread computes, so that these are in its cache; shorter where threads would have
# few pieces.
MAX_OWNED = GRADIENT_BLOCK
MIN_OWNED = 512
PIECES = 16


@inline
def piece_length(count, size):
    """How many of `count` rows are in a piece."""
    length = np.int64(MAX_OWNED)
    while length > MIN_OWNED and length * PIECES * size > count:
        length >>= 1
    return length


@inline
def owned_rows(count, rank, size):
    """How many of `count` rows a thread owns."""
    length = piece_length(count, size)
    whole = count // length
    rest = count - whole * length
    pieces = (whole - rank + size - 1) // size
    return pieces * length + (rest if whole % size == rank else 0)


# --- The steps of a tree's gradients


HALF_PI = 1.5707963267948966
TINY = 1e-300
TOWERING = 64.0  # times the mean: then an average row has less than 64 of 4 095 steps


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
def write_partial_sums(sum_g, sum_h, rank, partial_sums):
    """Store the sums of a thread."""
    mine = own(partial_sums, rank)
    mine.sums[0] = sum_g
    mine.sums[1] = sum_h


@inline
def sum_sizes(team, gradients, output, partial_sums):
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
    write_partial_sums(sum_g, sum_h, team.rank, partial_sums)


@inline
def join_sizes(size, gradients, output, partial_sums):
    """Largest |g| and h and the sums of both over all rows, from the sums of all threads.

    Maxima and sums of whole numbers do not depend on the order of rows, nor on how threads share them.
    """
    max_g, max_h = largest_of_all(gradients, output)
    sum_g = np.int64(0)
    sum_h = np.int64(0)
    for t in range(size):
        part = own(partial_sums, t)
        sum_g += part.sums[0]
        sum_h += part.sums[1]
    return max_g, max_h, float(sum_g) / fine_scale(max_g), float(sum_h) / fine_scale(max_h)


@inline
def scale_rules(rules, scales):
    """Convert penalties to units of quantized gradients."""
    scales.unit = scales.h / (scales.g * scales.g)
    scales.reg_lambda = rules.penalties.reg_lambda * scales.h
    scales.reg_alpha = rules.penalties.reg_alpha * scales.g
    scales.max_step = rules.penalties.max_step * scales.g / scales.h
    scales.min_hessian = rules.limits.min_hessian * scales.h


@inline
def set_packing(in_bag, packing):
    """Choose the bits of gradient, hessian and count in packed sums: over a small bag, or over a block of rows."""
    packing.small_bag = 1 if in_bag <= SMALL_BAG else 0
    most = in_bag if packing.small_bag != 0 else SUM_BLOCK
    count_bits = MIN_COUNT_BITS
    while (1 << count_bits) <= most:
        count_bits += 1
    hessian_bits = (CELL_BITS - count_bits) // 2
    packing.gradient_shift = count_bits + hessian_bits
    packing.hessian_shift = count_bits
    packing.hessian_mask = (1 << hessian_bits) - 1
    packing.count_mask = (1 << count_bits) - 1


@inline
def small_bag_scale(largest, total, count, limit):
    """Largest power of two that keeps the sum over a small bag within its limit, and so every single value.

    Rounding may add half a step to the sum for each row, and `sum_sizes` may have dropped up to one.
    """
    return power_scale(largest, min(total, largest * count), 2.0 * count, limit, limit)


@inline
def set_scales(size, gradients, output, in_bag, rules, partial_sums, table):
    """Choose the steps of this tree's gradients from the largest one and the sum (thread 0, after `sum_sizes`).

    A small bag has steps so fine that values are rounded to nearest, as they are in bags of up to a block of rows. Rounding is
    stochastic where rows are more, or where one gradient is far larger than the others: small gradients would all become 0, but
    their sums matter.
    """
    scales = table.scales[0]
    packing = table.packing[0]
    set_packing(in_bag, packing)
    small_bag = packing.small_bag != 0
    max_g, max_h, sum_g, sum_h = join_sizes(size, gradients, output, partial_sums)
    count = float(in_bag)
    if small_bag:
        scales.g = small_bag_scale(
            max_g, sum_g, count, float((1 << (CELL_BITS - 1 - packing.gradient_shift)) - 1)
        )
        scales.h = small_bag_scale(max_h, sum_h, count, float(packing.hessian_mask))
    else:
        scales.g = power_scale(max_g, sum_g, count, float(LARGEST), SUM_LIMIT)
        scales.h = power_scale(max_h, sum_h, count, float(LARGEST), SUM_LIMIT)
    scales.exact_g = power_scale(max_g, sum_g, count, EXACT_LIMIT, EXACT_LIMIT)
    scales.exact_h = power_scale(max_h, sum_h, count, EXACT_LIMIT, EXACT_LIMIT)
    towering = max_g * count > TOWERING * sum_g or max_h * count > TOWERING * sum_h
    scales.stochastic = 1.0 if in_bag > SUM_BLOCK or (towering and not small_bag) else 0.0
    scale_rules(rules, scales)
    scales.noise = noise_score(sum_g, sum_h) / scales.unit


@inline
def noise_score(sum_g, sum_h):
    """Score that a useless split has on average, times the rows: the mean square of gradients over the mean hessian.

    The mean square is computed from the mean size, as for a normal distribution.
    """
    return HALF_PI * sum_g * sum_g / max(sum_h, TINY)


# --- Entries of rows


@inline
def nearest(x):
    """The nearest whole number; of two, the one farther from 0."""
    return np.int64(x + 0.5) if x >= 0.0 else -np.int64(0.5 - x)


@inline
def quantized(number, pairs, at_pair, seed, small_bag, stochastic, scales):
    """Gradient and hessian of a row in whole steps; random rounding is drawn by its number in the data set."""
    if small_bag:
        return nearest(float(pairs[2 * at_pair]) * scales.g), nearest(
            float(pairs[2 * at_pair + 1]) * scales.h
        )
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
def put_entry(at, place, g, h, small_bag, packing, rows):
    """Write an entry: the position of a row among the codes, and its gradient and hessian or its place in `cells`."""
    if small_bag:
        rows.cells[at] = (g << packing.gradient_shift) + (h << packing.hessian_shift) + 1
        rows.entries[at] = (place << HALF) | at
    else:
        rows.entries[at] = (place << HALF) | ((g & 65535) << 16) | h


@inline
def make_entries(team, at, bag, gathered, pairs, table, rows, partial_sums):
    """Quantize the gradients of this thread's rows of the bag, and sum them. Entries of a gathered bag have positions in it.

    Random rounding is drawn by a row's number in the data set, so a subset of a table gives the same tree as a table of its rows.
    """
    control = bag.control[0]
    in_bag = control.in_bag
    seed = control.seed
    all_rows = control.all_rows != 0
    subset = bag.subset
    scales = table.scales[0]
    packing = table.packing[0]
    small_bag = packing.small_bag != 0
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
            g, h = quantized(number, pairs, at_pair, seed, small_bag, stochastic, scales)
            put_entry(to, place, g, h, small_bag, packing, rows)
            to += 1
            sum_g += g
            sum_h += h
    write_partial_sums(sum_g, sum_h, team.rank, partial_sums)


# --- Gathering a bag: its rows are copied side by side before a tree is grown.
#
# Rows far apart cost a cache line each, at every split. Entries of a gathered bag have positions in the copy instead of rows.
# Nothing else changes: the sums are the same, and so is the tree.
#
# Rows are copied eight bytes at a time, which takes a third of the time of copying codes one by one.


PREFETCH_ROWS = 16  # with 40 it takes as long
WORDS = SHORTEST_ROW // 8  # rows are as long as that or a multiple of it


@inline
def row_of(i, bag):
    """Row of the table at a position of the bag."""
    number = np.int64(bag.chosen[i])
    return np.int64(bag.subset.rows[number]) if bag.subset.some != 0 else number


@inline
def copy_rows(begin, end, bag, words):
    """Copy the codes of the rows begin..end-1 of the bag by rows, each of which takes `words` words."""
    source = bag.row_words
    copied = bag.gathered.row_words
    for i in range(begin, end):
        prefetch(source, row_of(min(i + PREFETCH_ROWS, end - 1), bag) * words)
        at = row_of(i, bag) * words
        for k in range(i * words, (i + 1) * words, WORDS):
            for part in range(WORDS):
                copied[k + part] = source[at + part]
            at += WORDS


@inline
def transpose_rows(begin, end, codes, by_row, items, words):
    """Write copied rows by columns: words of `items` codes. There is memory for a word behind the last row."""
    bits = 64 // items
    for group in range(codes.groups):
        for i in range(begin, end, items):
            at = i * codes.stride + group
            word = np.int64(0)
            for k in range(items):
                word |= np.int64(by_row[at + k * codes.stride]) << (bits * k)
            words[(group * codes.rows + i) // items] = word


@inline
def gather(team, bag, pairs):
    """Copy codes and gradients of the rows of the bag that this thread owns."""
    in_bag = bag.control[0].in_bag
    gathered = bag.gathered
    codes = gathered.codes
    words = codes.stride * (1 + codes.wide) // 8
    length = piece_length(in_bag, team.size)
    for begin in range(team.rank * length, in_bag, team.size * length):
        end = min(begin + length, in_bag)
        copy_rows(begin, end, bag, words)
        if codes.wide != 0:
            transpose_rows(begin, end, codes, codes.by_row16, 4, gathered.column_words)
        else:
            transpose_rows(begin, end, codes, codes.by_row8, 8, gathered.column_words)
        for i in range(begin, end):
            gathered.pairs[2 * i] = pairs[2 * np.int64(bag.chosen[i])]
            gathered.pairs[2 * i + 1] = pairs[2 * np.int64(bag.chosen[i]) + 1]
