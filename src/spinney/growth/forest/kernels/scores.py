"""How good a cut is, and choosing the best one of a column's list of cells.

A list has the codes that a node's rows have in a column, ascending, with sums up to each of them; the code of missing values
is the last one.
"""

import numpy as np

from spinney.growth.forest.kernels.records import POISSON, SQUARES
from spinney.jit.inline import inline
from spinney.jit.math import log

NEVER = -1.0e300  # the score of a cut that is not allowed


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
    if rules.formula == SQUARES:
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
    """The first of the highest scores, if it is above a number; else -1."""
    found = -1
    for j in range(count):
        if scores[j] > above:
            above = scores[j]
            found = j
    return found
