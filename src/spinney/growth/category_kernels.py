"""Splits of categorical columns: sums per category → the set of categories that goes left.

Of few categories one is taken apart from all others. Of many, those with enough rows are ordered by gradient over hessian, and
sets are tried that hold the first few or the last few of them. Missing values join the side where they gain more. A set is
kept as bits, `words` of 64 for each node.
"""

import numpy as np

from spinney.growth.layout import (
    BOUNDED, CAT_L2, CAT_SMOOTH, COUNT, MAX_STEP, MIN_CATEGORY, MIN_COUNT, MIN_GROUP, MIN_HESSIAN, MOST_TAKEN, NODE_WIDTH,
    ONE_HOT, REG_ALPHA, REG_LAMBDA, SCALE_G, SCALE_H, SLOT, SUM_G, SUM_H,
)  # fmt: skip
from spinney.growth.constraint_kernels import own_score, search_bounds, split_gain
from spinney.growth.packing import PLANES
from spinney.growth.search_kernels import INVALID, LEAST, node_score
from spinney.jit.kernel import inline

ALL = -1  # in place of a number of categories
FEW_ENDS = 64  # categories at either end that are picked out one by one, without sorting all of them
TOGETHER = 32  # categories that are looked at together, whether one of them has rows enough


@inline
def has_bit(bits, at, number):
    """1 if a number is in a set."""
    return (bits[at + (number >> 6)] >> (number & 63)) & 1


@inline
def sort_by_key(order, order_at, keys, keys_at, count):
    """Sort category numbers by their keys, of equal ones by number (heap sort: no memory, no bad cases)."""
    size = count
    start = count // 2
    while size > 1:
        if start > 0:
            start -= 1
        else:
            size -= 1
            held = order[order_at]
            order[order_at] = order[order_at + size]
            order[order_at + size] = held
        at = start
        while 2 * at + 1 < size:
            child = 2 * at + 1
            one = order[order_at + child]
            if child + 1 < size:
                other = order[order_at + child + 1]
                if keys[keys_at + one] < keys[keys_at + other] or (
                    keys[keys_at + one] == keys[keys_at + other] and one < other
                ):
                    child += 1
                    one = other
            top = order[order_at + at]
            if keys[keys_at + top] > keys[keys_at + one] or (keys[keys_at + top] == keys[keys_at + one] and top > one):
                break
            order[order_at + at] = one
            order[order_at + child] = top
            at = child


@inline
def comes_first(one, other, last_first, keys, keys_at):
    """Whether a category comes before another one in the order of their keys, or in the reverse order."""
    a = keys[keys_at + one]
    b = keys[keys_at + other]
    return (a < b or (a == b and one < other)) != last_first


@inline
def keep_first(number, kept, kept_at, count, most, last_first, keys, keys_at):
    """Put a category in its place among the first `most` so far, of which there are `count`; returns how many then."""
    if count == most and not comes_first(number, kept[kept_at + most - 1], last_first, keys, keys_at):
        return count
    at = min(count, most - 1)
    while at > 0 and comes_first(number, kept[kept_at + at - 1], last_first, keys, keys_at):
        kept[kept_at + at] = kept[kept_at + at - 1]
        at -= 1
    kept[kept_at + at] = number
    return min(count + 1, most)


@inline
def order_ends(order, order_at, width, keys, keys_at, used, most):
    """Put the first and the last `most` categories into the places that sorting would put them."""
    if most > FEW_ENDS or used <= 4 * most:
        sort_by_key(order, order_at, keys, keys_at, used)
        return
    low_at = order_at + width
    high_at = order_at + 2 * width
    lows = 0
    highs = 0
    for i in range(used):
        number = order[order_at + i]
        lows = keep_first(number, order, low_at, lows, most, False, keys, keys_at)
        highs = keep_first(number, order, high_at, highs, most, True, keys, keys_at)
    for k in range(most):
        order[order_at + k] = order[low_at + k]
        order[order_at + used - 1 - k] = order[high_at + k]


@inline
def side_score(g, h, c, node, nodes, penalty, rulebook):
    """Score of a split whose left side has these sums (within bounds its gain), INVALID where a side is too small."""
    limits, rules, scales, _ = rulebook
    row = node * NODE_WIDTH
    right_g = nodes[row + SUM_G] - g
    right_h = nodes[row + SUM_H] - h
    right_c = nodes[row + COUNT] - c
    least = max(rules[MIN_HESSIAN] * scales[SCALE_H], LEAST if penalty < LEAST else 0.0)
    if min(c, right_c) < limits[MIN_COUNT] or min(float(h), float(right_h)) < least:
        return INVALID
    alpha = rules[REG_ALPHA] * scales[SCALE_G]
    step = rules[MAX_STEP] * scales[SCALE_G] / scales[SCALE_H]
    if limits[BOUNDED] != 0:
        lower, upper = search_bounds(node, nodes, scales)
        own = own_score(node, nodes, rulebook)
        return split_gain(
            float(g), float(h), float(right_g), float(right_h), 0, own, penalty, alpha, step, lower, upper
        )
    return node_score(float(g), float(h), penalty, alpha, step) + node_score(
        float(right_g), float(right_h), penalty, alpha, step
    )


@inline
def weighed_rows(planes, at, total, b, rows_per_hessian):
    """Rows of a category, but no more than its hessians speak for: rows that the model is sure about say little."""
    return min(np.int64(planes[at + 2 * total + b]), np.int64(float(planes[at + total + b]) * rows_per_hessian + 0.5))


@inline
def most_rows(planes, at, begin, end):
    """Rows of the category that has most."""
    most = planes[at + begin]
    for b in range(begin, end):
        most = max(most, planes[at + b])
    return most


@inline
def list_categories(planes, at, total, bins, rows_per_hessian, rulebook, order, order_at, keys, keys_at):
    """List the categories that have enough rows, with gradient over smoothed hessian as keys; returns how many there are."""
    limits, rules, scales, _ = rulebook
    smooth = rules[CAT_SMOOTH] * scales[SCALE_H]
    least = limits[MIN_CATEGORY]
    used = 0
    for begin in range(0, bins, TOGETHER):
        end = min(begin + TOGETHER, bins)
        if most_rows(planes, at + 2 * total, begin, end) < least:
            continue
        for b in range(begin, end):
            if weighed_rows(planes, at, total, b, rows_per_hessian) >= least:
                order[order_at + used] = b
                keys[keys_at + b] = float(planes[at + b]) / (float(planes[at + total + b]) + smooth + 1e-30)
                used += 1
    return used


@inline
def best_set(column_at, bins, node, nodes, planes, total, rulebook, order, order_at, width, keys, keys_at):
    """Best split of a categorical column: (score, from the end, how many categories, missing left, left g, h, count, used).

    The categories are those at the beginning or end of the first `used` of `order`; of few categories, the last of these alone.
    """
    limits, rules, scales, _ = rulebook
    row = node * NODE_WIDTH
    at = nodes[row + SLOT] * PLANES * total + column_at
    rows_per_hessian = float(nodes[row + COUNT]) / max(float(nodes[row + SUM_H]), 1.0)
    single = bins <= limits[ONE_HOT]
    penalty = rules[REG_LAMBDA] * scales[SCALE_H]
    group_rows = np.int64(1)
    used = bins
    most = bins
    if single:
        for b in range(bins):
            order[order_at + b] = b
    else:
        penalty += rules[CAT_L2] * scales[SCALE_H]
        used = list_categories(planes, at, total, bins, rows_per_hessian, rulebook, order, order_at, keys, keys_at)
        most = min(limits[MOST_TAKEN], (used + 1) // 2)
        order_ends(order, order_at, width, keys, keys_at, used, most)
        group_rows = limits[MIN_GROUP]
    best = (INVALID, np.int64(0), np.int64(0), np.int64(0), np.int64(0), np.int64(0), np.int64(0))
    for end in range(1 if single else 2):
        g = np.int64(0)
        h = np.int64(0)
        c = np.int64(0)
        held = np.int64(0)
        for k in range(most):
            b = order[order_at + (used - 1 - k if end != 0 else k)]
            if single:
                g = np.int64(0)
                h = np.int64(0)
                c = np.int64(0)
            g += np.int64(planes[at + b])
            h += np.int64(planes[at + total + b])
            c += np.int64(planes[at + 2 * total + b])
            held += c if single else weighed_rows(planes, at, total, b, rows_per_hessian)
            if held < group_rows:
                continue
            if nodes[row + COUNT] - c < group_rows:
                break
            held = np.int64(0)
            best = try_set(best, end, k + 1, g, h, c, planes, at + bins, total, node, nodes, penalty, rulebook)
    if planes[at + 2 * total + bins] > 0:
        # Missing values apart from all categories.
        best = try_all(best, planes, at + bins, total, node, nodes, penalty, rulebook)
    score, best_end, count, missing, g, h, c = best
    if planes[at + 2 * total + bins] == 0:
        missing = np.int64(1 if 2 * c >= nodes[row + COUNT] else 0)
    return score, best_end, count, missing, g, h, c, used


@inline
def try_set(best, end, count, g, h, c, planes, missing_at, total, node, nodes, penalty, rulebook):
    """The better of the best split so far and one with these sums on the left, missing values joining either side."""
    missing_g = np.int64(planes[missing_at])
    missing_h = np.int64(planes[missing_at + total])
    missing_c = np.int64(planes[missing_at + 2 * total])
    for missing in range(2 if missing_c > 0 else 1):
        left_g = g + missing * missing_g
        left_h = h + missing * missing_h
        left_c = c + missing * missing_c
        score = side_score(left_g, left_h, left_c, node, nodes, penalty, rulebook)
        if score > best[0]:
            best = (score, np.int64(end), np.int64(count), np.int64(missing), left_g, left_h, left_c)
    return best


@inline
def try_all(best, planes, missing_at, total, node, nodes, penalty, rulebook):
    """The better of the best split so far and all categories on the left."""
    row = node * NODE_WIDTH
    g = nodes[row + SUM_G] - np.int64(planes[missing_at])
    h = nodes[row + SUM_H] - np.int64(planes[missing_at + total])
    c = nodes[row + COUNT] - np.int64(planes[missing_at + 2 * total])
    score = side_score(g, h, c, node, nodes, penalty, rulebook)
    if score > best[0]:
        best = (score, np.int64(0), np.int64(ALL), np.int64(0), g, h, c)
    return best


@inline
def write_set(single, end, count, used, order, order_at, bins, bits, bits_at, words):
    """Write the chosen categories as bits."""
    for w in range(words):
        bits[bits_at + w] = 0
    if count == ALL:
        for b in range(bins):
            bits[bits_at + (b >> 6)] |= np.int64(1) << (np.int64(b) & 63)
        return
    for k in range(count - 1 if single else 0, count):
        b = np.int64(order[order_at + (used - 1 - k if end != 0 else k)])
        bits[bits_at + (b >> 6)] |= np.int64(1) << (b & 63)
