"""How good a cut is, and choosing the best one of a column's list of cells.

A list has the codes that a node's rows have in a column, ascending, with sums up to each of them; the code of missing values
is the last one.
"""

import numpy as np

from spinney.growth.forest.kernels.records import POISSON, SQUARES
from spinney.jit.inline import inline
from spinney.jit.intrinsics import first_highest, from_bits
from spinney.jit.math import log

SMALL_BITS = 51  # of a number that `small_float` takes
SMALL_NUMBERS = 4843621399236968448  # the bits of the float64 whose last digits count ones, beside numbers of both signs
SMALL_ZERO = 6755399441055744.0  # that float
NEVER = -1.0e300  # the score of a cut that is not allowed


@inline
def small_float(number):
    """A whole number as a float: by adding it to the bits of one, because AVX2 has no instruction that turns vectors of int64."""
    return from_bits(number + SMALL_NUMBERS) - SMALL_ZERO


@inline
def x_log(x, weight):
    """x log(x / weight), 0 for 0."""
    return x * log((x if x > 0.0 else 1.0) / (weight if x > 0.0 else 1.0))


@inline
def middle_cut(low, high, value, values, at):
    """The last cut from `low` on, before `high`, whose bin's value is not above `value`."""
    # No branch depends on values, which a processor could not guess.
    first = low
    size = high - low
    while size > 1:
        half = size >> 1
        first += half if values[at + first + half] <= value else np.int64(0)
        size -= half
    return first


@inline
def cut_between(low, high, values, at):
    """The cut in the middle of the gap between two neighbouring codes of a node."""
    if low + 1 == high:
        return low
    return middle_cut(low, high, values[at + low] + (values[at + high] - values[at + low]) * 0.5, values, at)


@inline
def decrease_of_pairs(score, node, target, rules):
    """What a score says in units of weight times impurity."""
    return score / float(node.weight) if rules.formula == SQUARES else score


@inline
def pair_score(left, s, weight, total, formula):
    """Score of a cut that has so much weight and so large a sum on its left."""
    right = weight - left
    if formula == SQUARES:
        d = s * weight - total * left
        return d * d / (left * right)
    rest = total - s
    if formula == POISSON:
        if s <= 0.0 or rest <= 0.0:
            return NEVER
        return x_log(s, left) + x_log(rest, right) - x_log(total, weight)
    return (
        x_log(s, left) + x_log(left - s, left) + x_log(rest, right) + x_log(right - rest, right)
        - x_log(total, weight) - x_log(weight - total, weight)
    )  # fmt: skip


@inline
def in_bounds(left, s, weight, total, sign, lower, upper):
    """Whether the means of both sides keep the direction of the column and the bounds of the node."""
    a = s / left
    b = (total - s) / (weight - left)
    return a >= lower and b >= lower and a <= upper and b <= upper and (a - b) * float(sign) <= 0.0


@inline
def score_pairs(count, last, extra, extra_rows, node, rules, sign, mine):
    """Scores of the first `count` cuts of a list of packed sums that ends at `last`; `extra` is added to each left side."""
    sums = mine.list_sums
    scores = mine.scores
    bits = node.bits
    mask = (np.int64(1) << bits) - 1
    weight = float(node.weight)
    total = float(sums[last] >> bits)  # of the shifted targets
    if rules.formula == SQUARES and bits + rules.target_bits <= SMALL_BITS:
        for j in range(count):
            packed = sums[j] + extra
            left = small_float(packed & mask)
            s = small_float(packed >> bits)
            d = s * weight - total * left
            scores[j] = d * d / (left * (weight - left))
    elif rules.formula == SQUARES:
        for j in range(count):
            packed = sums[j] + extra
            left = float(packed & mask)
            s = float(packed >> bits)
            d = s * weight - total * left
            scores[j] = d * d / (left * (weight - left))
    else:
        for j in range(count):
            packed = sums[j] + extra
            scores[j] = pair_score(float(packed & mask), float(packed >> bits), weight, total, rules.formula)
    if rules.min_leaf > 1 or node.min_weight > 0.0 or sign != 0:
        rows = node.end - node.begin
        for j in range(count):
            packed = sums[j] + extra
            left = float(packed & mask)
            s = float(packed >> bits)
            on_left = np.int64(mine.list_rows[j]) + extra_rows
            if rules.min_leaf > 1 and (on_left < rules.min_leaf or rows - on_left < rules.min_leaf):
                scores[j] = NEVER
            if left < node.min_weight or weight - left < node.min_weight:
                scores[j] = NEVER
            if sign != 0:
                step = float(np.int64(1) << node.shift)
                if not in_bounds(left, s * step, weight, total * step, sign, node.lower, node.upper):
                    scores[j] = NEVER


@inline
def best_of(count, scores, above):
    """The first of the highest scores, if it is above a number; else -1. None is NaN, and behind them is room for seven more."""
    if count == 0:
        return -1
    rounded = (count + 7) & -8
    for j in range(count, rounded):
        scores[j] = NEVER
    found = first_highest(scores, rounded)
    return found if scores[found] > above else -1
