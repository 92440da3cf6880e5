"""Drawing rows by their gradients: GOSS, weighted draws, and draws by chance.

Drawn are the rows of the largest keys, which are made from gradients, random numbers, or both; or each row by its own chance.
"""

import numpy as np

from spinney.jit import Member, f64, i64, inline, kernel, own
from spinney.jit.barrier import meet
from spinney.jit.intrinsics import bits_of
from spinney.jit.math import fine_scale, log
from spinney.sampling.kernels.random import (
    PURPOSE_CHANCE,
    PURPOSE_OTHERS,
    PURPOSE_WEIGHTED,
    random_bits,
    unit,
)
from spinney.sampling.kernels.records import Chances, Drawing, Pairs
from spinney.sampling.kernels.rows import (
    DRAWN,
    KEPT,
    RANDOM_SHIFT,
    clear_marks,
    fill_bag,
    mark_largest,
    random_keys,
)

# Gradients are float32. Sizes and waiting times are clipped to these limits, 2**-128 and 2**127.
LEAST = 2.938735877055719e-39
MOST = 1.7014118346046923e38
KEY_OF_LEAST = 938475520
LARGEST_KEY = 268435455
KEY_SHIFT = 16
MOST_TURNS = 100  # of the search for the factor; a handful is usual


@inline
def key_of(x):
    """28 bits in the order of x within the limits: its power of two and the next 20 bits. NaN is the least."""
    low = x if x > LEAST else LEAST
    return (bits_of(low if low < MOST else MOST) >> 32) - KEY_OF_LEAST


@inline
def length(row, pairs, reg_lambda):
    """Size of a row's gradient: the root of the sum of g² + reg_lambda · h² over all outputs."""
    total = 0.0
    for k in range(pairs.outputs):
        at = 2 * (k * pairs.rows + row)
        # Not `float`, which leaves a float32 as it is: its square may be too large for one.
        g = np.float64(pairs.values[at])
        h = np.float64(pairs.values[at + 1])
        total += g * g + reg_lambda * (h * h)
    return np.sqrt(total)


@inline
def gradient_keys(begin, end, drawing, pairs):
    """Keys in the order of the rows' gradients."""
    if pairs.outputs == 1 and drawing.count == drawing.rows:
        # A simpler loop for the common case, which the compiler vectorizes: 0.2 ms instead of 0.7 for 262 000 rows.
        for i in range(begin, end):
            drawing.keys[i] = key_of(abs(np.float64(pairs.values[2 * i])))
    else:
        for i in range(begin, end):
            drawing.keys[i] = key_of(length(np.int64(drawing.eligible[i]), pairs, 0.0))


@inline
def scale_pair(at, values, factor):
    """Multiply a gradient and its hessian."""
    values[at] = np.float32(float(values[at]) * factor)
    values[at + 1] = np.float32(float(values[at + 1]) * factor)


@inline
def scale_rows(begin, end, drawing, pairs, factors):
    """Multiply the rows' gradients by the factor of their mark."""
    for k in range(pairs.outputs):
        for i in range(begin, end):
            # A lookup instead of branches, which took five times as long: no processor can predict the marks.
            at = 2 * (k * pairs.rows + np.int64(drawing.eligible[i]))
            scale_pair(at, pairs.values, factors[drawing.chosen[i]])


@kernel
def draw_goss(
    team: Member, drawing: Drawing, pairs: Pairs, top: i64, other: i64, seed: i64, factors: f64["3"]
):
    """Keep the `top` rows of largest gradients, draw `other` of the rest, whose gradients then stand for all of it.

    A row's gradients are multiplied by the factor of its mark. `drawn[0]` is the number of rows in the bag.
    """
    begin, end = clear_marks(team, drawing)
    if top > 0:
        gradient_keys(begin, end, drawing, pairs)
        if not mark_largest(team, drawing, KEY_SHIFT, top, KEPT):
            return
    if other > 0:
        random_keys(begin, end, drawing, seed, PURPOSE_OTHERS)
        if not mark_largest(team, drawing, RANDOM_SHIFT, other, DRAWN):
            return
    scale_rows(begin, end, drawing, pairs, factors)
    fill_bag(team, drawing)


@inline
def waiting_keys(begin, end, drawing, pairs, seed):
    """Keys of rows by exponential waiting times at a rate of their gradients: the shorter the time, the larger the key."""
    for i in range(begin, end):
        row = np.int64(drawing.eligible[i])
        u = unit(random_bits(seed, PURPOSE_WEIGHTED, drawing.first + row)) + 1.1641532182693481e-10
        rate = length(row, pairs, 0.0)
        drawing.keys[i] = LARGEST_KEY - key_of(-log(u) / rate) if rate > 0.0 else 0


@kernel
def draw_weighted(team: Member, drawing: Drawing, pairs: Pairs, wanted: i64, seed: i64, factors: f64["3"]):
    """Draw `wanted` rows one after another without replacement, each with a chance in proportion to its gradient.

    That is the same as taking the rows whose exponential waiting times, at a rate of their gradients, are the shortest.
    """
    begin, end = clear_marks(team, drawing)
    waiting_keys(begin, end, drawing, pairs, seed)
    if not mark_largest(team, drawing, KEY_SHIFT, wanted, KEPT):
        return
    scale_rows(begin, end, drawing, pairs, factors)
    fill_bag(team, drawing)


@inline
def measure_sizes(team, begin, end, drawing, pairs, reg_lambda, chances):
    """Sizes of this thread's rows, and the largest of them."""
    largest = 0.0
    for i in range(begin, end):
        size = length(np.int64(drawing.eligible[i]), pairs, reg_lambda)
        chances.sizes[i] = size
        largest = max(largest, size)
    own(chances.found, team.rank).largest[0] = largest


@inline
def sum_sizes(begin, end, sizes, factor, scale):
    """How many rows have a chance of 1, and the sum of the other rows' sizes in steps, each rounded up."""
    full = 0
    rest = 0
    for i in range(begin, end):
        # Without a branch: no processor can predict which rows are certain.
        certain = factor * sizes[i] >= 1.0
        full += 1 if certain else 0
        size = 0.0 if certain else sizes[i]
        # By way of int32: vector instructions convert to that.
        rest += np.int64(np.int32(size * scale)) + (1 if size > 0.0 else 0)
    return full, rest


@inline
def find_factor(team, begin, end, wanted, chances):
    """The factor for which min(1, factor · size) adds up to `wanted` over all rows, short by 2**-29 a row at most; -1: give up.

    Every turn counts the rows that have a chance of 1 by the last factor, and shares the rest of `wanted` among the others. Their
    sizes are added as whole numbers of a step, so the sum depends neither on threads nor on the order of rows. The step follows
    from the largest size that may be among them: 2**31 of them fit an int64. Sizes are rounded up. So no factor is too large,
    factors only grow, and the step shrinks with them until nothing changes.
    """
    if not meet(team, team.size):
        return -1.0
    largest = 0.0
    for t in range(team.size):
        largest = max(largest, own(chances.found, t).largest[0])
    scale = fine_scale(largest)
    factor = 0.0
    mine = own(chances.found, team.rank)
    for turn in range(MOST_TURNS):
        # Other threads may still read the sums of the last turn.
        at = (turn % 2) * 2
        mine.sums[at], mine.sums[at + 1] = sum_sizes(begin, end, chances.sizes, factor, scale)
        if not meet(team, team.size):
            return -1.0
        left = wanted
        rest = np.int64(0)
        for t in range(team.size):
            sums = own(chances.found, t).sums
            left -= sums[at]
            rest += sums[at + 1]
        last = factor
        if left > 0 and rest > 0:
            factor = max(factor, float(left) / float(rest) * scale)
        if factor == last:
            break
        scale = fine_scale(min(largest, 1.0 / factor))
    return factor


@inline
def draw_chances(begin, end, drawing, pairs, sizes, factor, seed):
    """Mark each row with the chance that the factor gives, and divide its gradients by the chance."""
    for i in range(begin, end):
        chance = min(factor * sizes[i], 1.0)
        position = drawing.first + np.int64(drawing.eligible[i])
        drawn = unit(random_bits(seed, PURPOSE_CHANCE, position)) < chance
        drawing.chosen[i] = KEPT if drawn else 0
        sizes[i] = 1.0 / chance if drawn else 0.0
    for k in range(pairs.outputs):
        for i in range(begin, end):
            scale_pair(2 * (k * pairs.rows + np.int64(drawing.eligible[i])), pairs.values, sizes[i])


@kernel
def draw_by_chance(
    team: Member, drawing: Drawing, pairs: Pairs, chances: Chances, wanted: i64, seed: i64, reg_lambda: f64
):
    """Draw each row with a chance in proportion to its gradient, and divide its gradients by the chance.

    `wanted` rows are drawn on average; the expected sums are those of all rows.
    """
    begin, end = clear_marks(team, drawing)
    measure_sizes(team, begin, end, drawing, pairs, reg_lambda, chances)
    factor = find_factor(team, begin, end, wanted, chances)
    if factor < 0.0:
        return
    draw_chances(begin, end, drawing, pairs, chances.sizes, factor, seed)
    fill_bag(team, drawing)
