"""Splits of categorical columns: sums per category → the set of categories that goes left.

Of few categories, each one is tried against all others. Of many, those with enough rows are ordered by gradient over hessian,
and the sets tried are the first few or the last few of them. Missing values go to the side where they gain more, or to the
larger one if they are too few for a leaf. A set is kept as bits, `words` of 64 for each node.
"""

import numpy as np

from spinney.growth.kernels.cuts import (
    INVALID,
    few_missing,
    is_better,
    least_hessian,
    node_score,
    note_split,
    split_gain,
)
from spinney.growth.kernels.partition import add_bit
from spinney.jit import inline
from spinney.jit.math import log

# --- Ordering categories by their keys, as far as a split needs it


MAX_PICKED = 64  # categories at either end that are picked out one by one, without sorting all of them


@inline
def sort_by_key(order, keys, count):
    """Sort category numbers by their keys, of equal ones by number (heap sort: no memory, no bad cases)."""
    size = count
    start = count // 2
    while size > 1:
        if start > 0:
            start -= 1
        else:
            size -= 1
            held = order[0]
            order[0] = order[size]
            order[size] = held
        at = start
        while 2 * at + 1 < size:
            child = 2 * at + 1
            one = order[child]
            if child + 1 < size:
                other = order[child + 1]
                if keys[one] < keys[other] or (keys[one] == keys[other] and one < other):
                    child += 1
                    one = other
            top = order[at]
            if keys[top] > keys[one] or (keys[top] == keys[one] and top > one):
                break
            order[at] = one
            order[child] = top
            at = child


@inline
def comes_first(one, other, last_first, keys):
    """Whether a category comes before another one in the order of their keys, or in the reverse order."""
    a = keys[one]
    b = keys[other]
    return (a < b or (a == b and one < other)) != last_first


@inline
def keep_first(number, kept, count, most, last_first, keys):
    """Insert a category among the first `most` so far, of which there are `count`; returns how many there are then."""
    if count == most and not comes_first(number, kept[most - 1], last_first, keys):
        return count
    at = min(count, most - 1)
    while at > 0 and comes_first(number, kept[at - 1], last_first, keys):
        kept[at] = kept[at - 1]
        at -= 1
    kept[at] = number
    return min(count + 1, most)


@inline
def order_ends(order, lows, highs, keys, used, most):
    """Put the first and the last `most` categories where sorting would put them. `lows`, `highs`: scratch."""
    if most > MAX_PICKED or used <= 4 * most:
        sort_by_key(order, keys, used)
        return
    low_count = 0
    high_count = 0
    for i in range(used):
        number = order[i]
        low_count = keep_first(number, lows, low_count, most, False, keys)
        high_count = keep_first(number, highs, high_count, most, True, keys)
    for k in range(most):
        order[k] = lows[k]
        order[used - 1 - k] = highs[k]


# --- Searching sets of categories


ALL = -1  # instead of a number of categories
RUN = 32  # categories that are skipped together if none of them has enough rows


@inline
def side_score(g, h, c, node, penalty, rules, scales):
    """Score of a split whose left side has these sums (within bounds its gain), INVALID where a side is too small."""
    right_g = node.sum_g - g
    right_h = node.sum_h - h
    right_c = node.count - c
    least = least_hessian(penalty, scales)
    if min(c, right_c) < rules.limits.min_count or min(float(h), float(right_h)) < least:
        return INVALID
    if rules.penalties.bounded != 0:
        return split_gain(float(g), float(h), node, penalty, scales)
    alpha = scales.reg_alpha
    step = scales.max_step
    return node_score(float(g), float(h), penalty, alpha, step) + node_score(
        float(right_g), float(right_h), penalty, alpha, step
    )


@inline
def effective_rows(histogram, at, rows_per_hessian):
    """Rows of a category, but no more than its hessian is worth: rows with a small hessian carry little information."""
    return min(np.int64(histogram.count[at]), np.int64(float(histogram.h[at]) * rows_per_hessian + 0.5))


@inline
def most_rows(counts, begin, end):
    """Rows of the category that has most."""
    most = counts[begin]
    for b in range(begin, end):
        most = max(most, counts[b])
    return most


@inline
def list_categories(histogram, start, bins, rows_per_hessian, rules, scales, order, keys):
    """List the categories that have enough rows, with gradient over smoothed hessian as keys; returns how many there are."""
    smooth = rules.categories.smooth * scales.h
    least = rules.categories.min_category
    used = 0
    for begin in range(0, bins, RUN):
        end = min(begin + RUN, bins)
        if most_rows(histogram.count, start + begin, start + end) < least:
            continue
        for b in range(begin, end):
            if effective_rows(histogram, start + b, rows_per_hessian) >= least:
                order[used] = b
                keys[b] = float(histogram.g[start + b]) / (float(histogram.h[start + b]) + smooth + 1e-30)
                used += 1
    return used


@inline
def best_set(start, bins, node, histogram, rules, scales, cut_sums):
    """Best split of a categorical column: (score, from the end, how many categories, missing left, left g, h, count, used).

    The set is the first or the last `how many` of the `used` categories in the order that `cut_sums.g` holds; of few categories,
    only the last of these.
    """
    order = cut_sums.g
    rows_per_hessian = float(node.count) / max(float(node.sum_h), 1.0)
    single = bins <= rules.categories.one_hot
    penalty = scales.reg_lambda
    group_rows = np.int64(1)
    used = bins
    most = bins
    if single:
        for b in range(bins):
            order[b] = b
    else:
        penalty += rules.categories.l2 * scales.h
        used = list_categories(histogram, start, bins, rows_per_hessian, rules, scales, order, cut_sums.gains)
        most = min(rules.categories.most_taken, (used + 1) // 2)
        order_ends(order, cut_sums.h, cut_sums.count, cut_sums.gains, used, most)
        group_rows = rules.categories.min_group
    best = (INVALID, np.int64(0), np.int64(0), np.int64(0), np.int64(0), np.int64(0), np.int64(0))
    for end in range(1 if single else 2):
        g = np.int64(0)
        h = np.int64(0)
        c = np.int64(0)
        held = np.int64(0)
        for k in range(most):
            b = order[used - 1 - k if end != 0 else k]
            if single:
                g = np.int64(0)
                h = np.int64(0)
                c = np.int64(0)
            g += np.int64(histogram.g[start + b])
            h += np.int64(histogram.h[start + b])
            c += np.int64(histogram.count[start + b])
            held += c if single else effective_rows(histogram, start + b, rows_per_hessian)
            if held < group_rows:
                continue
            if node.count - c < group_rows:
                break
            held = np.int64(0)
            charge = 0.0 if single else set_charge(k + 1, used, rules, scales)
            best = try_set(
                best, end, k + 1, g, h, c, histogram, start + bins, node, penalty, charge, rules, scales
            )
    if histogram.count[start + bins] > 0:
        # Missing values apart from all categories.
        best = try_all(best, histogram, start + bins, node, penalty, rules, scales)
    score, best_end, count, missing, g, h, c = best
    if histogram.count[start + bins] == 0:
        missing = np.int64(1 if 2 * c >= node.count else 0)
    return score, best_end, count, missing, g, h, c, used


@inline
def set_charge(count, used, rules, scales):
    """What is subtracted from the score of a set of so many categories: the best of very many sets fits noise.

    It is in terms of the score that a split of no use would have (`noise_score` in `quantize`).
    """
    taken = float(count)
    return rules.categories.charge * scales.noise * taken * (1.0 + log(float(used) / taken))


@inline
def try_set(best, end, count, g, h, c, histogram, missing_at, node, penalty, charge, rules, scales):
    """The better of the best split so far and one with these sums on the left, and missing values on either side.

    Few missing values go to the larger side. The charge of a set is subtracted from its score.
    """
    missing_g = np.int64(histogram.g[missing_at])
    missing_h = np.int64(histogram.h[missing_at])
    missing_c = np.int64(histogram.count[missing_at])
    first = np.int64(0)
    last = np.int64(1 if missing_c > 0 else 0)
    if few_missing(missing_c, rules):
        present = node.count - missing_c
        first = np.int64(1 if 2 * c > present else 0)
        last = np.int64(1 if 2 * c >= present else 0)
    for missing in range(first, last + 1):
        left_g = g + missing * missing_g
        left_h = h + missing * missing_h
        left_c = c + missing * missing_c
        score = side_score(left_g, left_h, left_c, node, penalty, rules, scales) - charge
        if score >= 0.0 and score > best[0]:
            best = (score, np.int64(end), np.int64(count), np.int64(missing), left_g, left_h, left_c)
    return best


@inline
def try_all(best, histogram, missing_at, node, penalty, rules, scales):
    """The better of the best split so far and all categories on the left."""
    g = node.sum_g - np.int64(histogram.g[missing_at])
    h = node.sum_h - np.int64(histogram.h[missing_at])
    c = node.count - np.int64(histogram.count[missing_at])
    score = side_score(g, h, c, node, penalty, rules, scales)
    if score > best[0]:
        best = (score, np.int64(0), np.int64(ALL), np.int64(0), g, h, c)
    return best


@inline
def write_set(single, end, count, used, order, bins, bits, words):
    """Write the chosen categories as bits."""
    for w in range(words):
        bits[w] = 0
    if count == ALL:
        for b in range(bins):
            add_bit(bits, b)
        return
    for k in range(count - 1 if single else 0, count):
        add_bit(bits, np.int64(order[used - 1 - k if end != 0 else k]))


@inline
def search_categories(column, start, bins, node, histogram, rules, scales, cut_sums, split, bits, words):
    """Best set of a categorical column; replaces the split and its set if it is better."""
    score, end, count, missing, g, h, c, used = best_set(
        start, bins, node, histogram, rules, scales, cut_sums
    )
    if is_better(score, column, split):
        note_split(split, score, column, np.int64(0), missing, g, h, c)
        write_set(bins <= rules.categories.one_hot, end, count, used, cut_sums.g, bins, bits, words)
