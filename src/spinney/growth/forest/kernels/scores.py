"""Scores of cuts, and the best cut of a column's list of cells.

A list has the codes that a node's rows have in a column, ascending, with sums up to each of them; the code of missing values
is the last one.

A cut lies in the middle of the gap between two neighbouring codes that the node's rows have, by the values that stand for their
bins (`cut_after`). At the edge of a bin, a deep node of few rows would be cut far from the middle.
"""

import numpy as np

from spinney.growth.forest.kernels.records import POISSON, RANKS, SQUARES
from spinney.jit import inline
from spinney.jit.intrinsics import first_highest, from_bits
from spinney.jit.math import log

SMALL_BITS = 51  # of a number that `small_float` converts
# A float64 whose last bit counts ones: numbers of both signs may be added to its bits.
SMALL_NUMBERS = 4843621399236968448
SMALL_ZERO = 6755399441055744.0
DECIDE_LATER = -1  # where missing values go: with the larger side
NEVER = -1.0e300  # the score of a cut that is not allowed


@inline
def small_float(number):
    """A whole number as a float: it is added to the bits of one, because AVX2 cannot convert vectors of int64."""
    return from_bits(number + SMALL_NUMBERS) - SMALL_ZERO


@inline
def x_log(x, weight):
    """x log(x / weight), 0 for 0."""
    return x * log((x if x > 0.0 else 1.0) / (weight if x > 0.0 else 1.0))


@inline
def middle_cut(low, high, value, values, at):
    """The last cut from `low` on, before `high`, whose bin's value is not above `value`."""
    # No branch depends on values: the processor could not predict it.
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
    """A score in units of weight times impurity."""
    return score / float(node.weight) if rules.formula == SQUARES else score


@inline
def pair_score(left, s, weight, total, formula):
    """Score of a cut with this weight and sum on its left."""
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
def in_bounds(left, s, weight, total, direction, lower, upper):
    """Whether the means of both sides keep the direction of the column and the bounds of the node."""
    a = s / left
    b = (total - s) / (weight - left)
    return a >= lower and b >= lower and a <= upper and b <= upper and (a - b) * float(direction) <= 0.0


@inline
def score_pairs(count, last, extra, extra_rows, node, rules, direction, mine):
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
    if rules.min_leaf > 1 or node.min_weight > 0.0 or direction != 0:
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
            if direction != 0:
                step = float(np.int64(1) << node.shift)
                if not in_bounds(left, s * step, weight, total * step, direction, node.lower, node.upper):
                    scores[j] = NEVER


@inline
def best_of(count, scores, above):
    """The first of the highest scores, if it is above a number; else -1. None may be NaN; there is memory for seven more."""
    if count == 0:
        return -1
    rounded = (count + 7) & -8
    for j in range(count, rounded):
        scores[j] = NEVER
    found = first_highest(scores, rounded)
    return found if scores[found] > above else -1


@inline
def keep_best(score, column, cut, above, default_left, is_set, mine):
    """Store the best split so far."""
    best = mine.best[0]
    best.score = score
    best.column = column
    best.cut = cut
    best.above = above
    best.default_left = default_left
    best.is_set = is_set


@inline
def cut_after(low, high, bins, at, values, rules):
    """The cut between two neighbouring codes of a node, in the middle of the gap, and the code above. Between ranks the cut is
    the lower one, and the threshold is found when the tree is finished; -1: there is no code above.
    """
    if high == bins:
        return bins - 1, np.int64(-1)
    if rules.access == RANKS:
        return low, high
    return cut_between(low, high, values.values, at), high


@inline
def keep_drawn(score, column, cut, default_left, mine):
    """Store a drawn cut if it is the best so far."""
    if score > mine.best[0].score:
        keep_best(score, column, cut, 0, default_left, 0, mine)


@inline
def side_score(sums, totals, rest, target, formula):
    """The part of one side in the score: with these sums or, with `rest`, with the totals without them."""
    weight = float(totals[0] - sums[0]) if rest else float(sums[0])
    found = 0.0
    for k in range(1, target.channels + 1):
        x = float(totals[k] - sums[k]) if rest else float(sums[k])
        if formula == SQUARES:
            found += x * x
        else:
            if formula == POISSON and x <= 0.0:
                return NEVER
            found += x_log(x, weight)
    return found / weight if formula == SQUARES else found


@inline
def score_channels(on_left, sums, node, target, rules):
    """Score of a cut with these sums on its left."""
    weight = node.weight
    rows = node.end - node.begin
    left = sums[0]
    if left == 0 or left == weight:
        return NEVER
    if rules.min_leaf > 1 and (on_left < rules.min_leaf or rows - on_left < rules.min_leaf):
        return NEVER
    if float(left) < node.min_weight or float(weight - left) < node.min_weight:
        return NEVER
    a = side_score(sums, node.totals, False, target, rules.formula)
    b = side_score(sums, node.totals, True, target, rules.formula)
    if a == NEVER or b == NEVER:
        return NEVER
    return a + b


@inline
def decrease_of_channels(score, node, target, rules):
    """A score in units of weight times impurity: its difference to that of the unsplit node."""
    return score - side_score(node.totals, node.totals, False, target, rules.formula)
