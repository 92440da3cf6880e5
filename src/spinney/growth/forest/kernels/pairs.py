"""Searching nodes that have a weight and one sum (a *pair*): trees of two classes, or of numbers.

First the best cut of one column, from the list of its cells; then drawn cuts; then the search of the columns chosen for a node.
"""

import numpy as np

from spinney.growth.forest.kernels.categories import FEW_CATEGORIES, is_ordering, order_sign
from spinney.growth.forest.kernels.cells import (
    clear_set,
    count_four_columns,
    list_one_of_four,
    list_pairs,
    list_sparse_pairs,
    packed_sum,
    packed_total,
    put_in,
    sort_by_key,
    sum_four_columns,
    sum_one_column,
)  # fmt: skip
from spinney.growth.forest.kernels.drawn import (
    cut_of_drawn,
    draw_numbers,
    may_draw_together,
    number_between,
    sum_drawn_pairs,
)
from spinney.growth.forest.kernels.entries import entries_of, has_sparse
from spinney.growth.forest.kernels.records import (
    BATCH,
    CHOSEN,
    MOVED,
    SQUARES,
    TARGET,
    WEIGHT,
    columns_at_once,
    payload_of,
    target_of,
    weight_of,
)
from spinney.growth.forest.kernels.rows import read_codes
from spinney.growth.forest.kernels.scores import (
    DECIDE_LATER,
    NEVER,
    best_of,
    cut_after,
    in_bounds,
    keep_best,
    keep_drawn,
    middle_cut,
    pair_score,
    score_pairs,
)  # fmt: skip
from spinney.growth.forest.kernels.small_nodes import is_plain, is_small, search_small_node
from spinney.jit import inline
from spinney.jit.intrinsics import tail
from spinney.sampling.kernels.random import PURPOSE_CUT, random_bits


@inline
def totals_of_pairs(begin, end, target, rows, totals, at):
    """Weight and sum of some records. Returns 1 where their targets differ, else 0."""
    weight = np.int64(0)
    total = np.int64(0)
    first = target_of(begin, rows)
    differ = 0
    for i in range(begin, end):
        w = weight_of(i, rows)
        t = target_of(i, rows)
        weight += w
        total += w * t
        differ |= 1 if t != first else 0
    totals[at] = weight
    totals[at + 1] = total
    return differ


# --- The best cut of a column


@inline
def cut_pairs(listed, column, bins, node, values, rules, mine):
    """Choose the best cut of a column of numbers from the list of its cells."""
    direction = rules.directions[column]
    missing = np.int64(mine.list_code[listed - 1]) == bins
    found = listed - 1 if missing else listed
    at = values.starts[column]
    score_pairs(listed - 1, listed - 1, 0, 0, node, rules, direction, mine)
    j = best_of(listed - 1, mine.scores, mine.best[0].score)
    if j >= 0:
        cut, above = cut_after(
            np.int64(mine.list_code[j]), np.int64(mine.list_code[j + 1]), bins, at, values, rules
        )
        keep_best(mine.scores[j], column, cut, above, 0 if missing else DECIDE_LATER, 0, mine)
    if missing and found > 1:
        extra = mine.list_sums[listed - 1] - mine.list_sums[found - 1]
        extra_rows = np.int64(0)
        if rules.min_leaf > 1:
            extra_rows = np.int64(mine.list_rows[listed - 1]) - np.int64(mine.list_rows[found - 1])
        score_pairs(found - 1, listed - 1, extra, extra_rows, node, rules, direction, mine)
        j = best_of(found - 1, mine.scores, mine.best[0].score)
        if j >= 0:
            cut, above = cut_after(
                np.int64(mine.list_code[j]), np.int64(mine.list_code[j + 1]), bins, at, values, rules
            )
            keep_best(mine.scores[j], column, cut, above, 1, 0, mine)


@inline
def apart(listed, counted, mine):
    """Turn sums up to each code into sums of each code."""
    for k in range(listed - 1):
        j = listed - 1 - k
        mine.list_sums[j] -= mine.list_sums[j - 1]
        if counted:
            mine.list_rows[j] -= mine.list_rows[j - 1]


@inline
def up_to(listed, counted, mine):
    """Turn sums of each code into sums up to it."""
    for j in range(1, listed):
        mine.list_sums[j] += mine.list_sums[j - 1]
        if counted:
            mine.list_rows[j] += mine.list_rows[j - 1]


@inline
def keep_set(score, column, count, bins, words, node_has_missing, mine):
    """Store a split whose left side is the first `count` codes of the list."""
    clear_set(words, mine.best_set)
    default_left = 0 if node_has_missing else DECIDE_LATER
    for k in range(count):
        code = np.int64(mine.list_code[k])
        if code == bins:
            default_left = 1
        else:
            put_in(code, mine.best_set)
    keep_best(score, column, 0, 0, default_left, 1, mine)


@inline
def sum_ordering_half(column, node, data, row_codes, rules, rows, mine):
    """Sum the rows that order a column's categories in its cells. Returns the packed sum of all of them."""
    read_codes(column, node.begin, node.end, data, row_codes, rules, rows, mine)
    total = np.int64(0)
    for i in range(node.begin, node.end):
        packed = packed_sum(target_of(i, rows), weight_of(i, rows), node) & -is_ordering(i, node, rows)
        mine.cells[mine.node_codes[i - node.begin]] += packed
        total += packed
    return total


@inline
def can_evaluate(listed, mine):
    """Whether the evaluating half has rows of two categories, given the sums of each code."""
    evaluating = 0
    for j in range(listed):
        evaluating += 1 if mine.list_sums[j] != mine.cells[mine.list_code[j]] else 0
    return evaluating > 1


@inline
def limit_by_half(listed, ordering, node, rules, mine):
    """Limit the scores of cuts to those of the evaluating half. The cells have the sums of the ordering half."""
    mask = (np.int64(1) << node.bits) - 1
    evaluating = mine.list_sums[listed - 1] - ordering
    weight = float(evaluating & mask)
    total = float(evaluating >> node.bits)
    factor = float(node.weight) / weight
    if rules.formula == SQUARES:  # scores grow with the square of the weight
        factor *= factor
    before = np.int64(0)
    for j in range(listed - 1):
        before += mine.cells[mine.list_code[j]]
        packed = mine.list_sums[j] - before
        left = float(packed & mask)
        score = NEVER
        if left > 0.0 and left < weight:
            score = pair_score(left, float(packed >> node.bits), weight, total, rules.formula) * factor
        mine.scores[j] = min(mine.scores[j], score)


@inline
def cut_categories_of_pairs(listed, column, bins, node, data, row_codes, rules, rows, words, mine):
    """Choose the best set of a column's categories: ordered by the mean of their targets, missing values among them. Where
    categories are many, one half of the rows orders them, and the other half evaluates the sets.
    """
    counted = rules.min_leaf > 1
    missing = np.int64(mine.list_code[listed - 1]) == bins
    apart(listed, counted, mine)
    halves = listed > FEW_CATEGORIES
    ordering = np.int64(0)
    if halves:
        ordering = sum_ordering_half(column, node, data, row_codes, rules, rows, mine)
        halves = can_evaluate(listed, mine)
    mask = (np.int64(1) << node.bits) - 1
    mean = float(ordering >> node.bits) / float(max(ordering & mask, np.int64(1)))
    sign = order_sign(node) if halves else 1.0
    for j in range(listed):
        packed = mine.cells[mine.list_code[j]] if halves else mine.list_sums[j]
        mine.scores[j] = sign * (
            float(packed >> node.bits) / float(packed & mask) if packed & mask != 0 else mean
        )
    sort_by_key(listed, mine.scores, mine.list_code, mine.list_sums, mine.list_rows)
    up_to(listed, counted, mine)
    score_pairs(listed - 1, listed - 1, 0, 0, node, rules, 0, mine)
    if halves:
        limit_by_half(listed, ordering, node, rules, mine)
    if listed > FEW_CATEGORIES:
        for j in range(listed):
            mine.cells[mine.list_code[j]] = 0
    j = best_of(listed - 1, mine.scores, mine.best[0].score)
    if j >= 0:
        keep_set(mine.scores[j], column, j + 1, bins, words, missing, mine)


# --- Drawn cuts


@inline
def try_sums(left_weight, left_sum, total_sum, on_left, column, node, rules):
    """Score of one cut."""
    left = float(left_weight)
    s = float(left_sum)
    weight = float(node.weight)
    total = float(total_sum)
    rows = node.end - node.begin
    allowed = rules.min_leaf == 1 or (on_left >= rules.min_leaf and rows - on_left >= rules.min_leaf)
    allowed = allowed and left >= node.min_weight and weight - left >= node.min_weight
    if not allowed or left == 0.0 or left == weight:
        return NEVER
    if rules.directions[column] != 0:
        step = float(np.int64(1) << node.shift)
        if not in_bounds(
            left, s * step, weight, total * step, rules.directions[column], node.lower, node.upper
        ):
            return NEVER
    return pair_score(left, s, weight, total, rules.formula)


@inline
def draw_categories_of_pairs(draw, listed, column, bins, node, rules, words, mine):
    """Try one set of categories, each of which goes left or right by chance."""
    total = mine.list_sums[listed - 1] >> node.bits
    apart(listed, True, mine)
    packed = np.int64(0)
    on_left = np.int64(0)
    kept = 0
    missing = np.int64(mine.list_code[listed - 1]) == bins
    key = random_bits(node.key, PURPOSE_CUT, draw)
    for j in range(listed):
        if random_bits(key, PURPOSE_CUT, np.int64(mine.list_code[j])) & 1 != 0:
            packed += mine.list_sums[j]
            on_left += mine.list_rows[j]
            mine.list_code[kept] = mine.list_code[j]
            kept += 1
    score = try_sums(
        packed & ((np.int64(1) << node.bits) - 1), packed >> node.bits, total, on_left, column, node, rules
    )
    if kept > 0 and kept < listed and score > mine.best[0].score:
        keep_set(score, column, kept, bins, words, missing, mine)


@inline
def try_drawn_cut(draw, column, bins, low, high, missing, at, node, values):
    """A cut drawn uniformly in the range of a node's values, and where missing values go."""
    if low == high:
        return bins - 1, np.int64(0)
    bits = random_bits(node.key, PURPOSE_CUT, draw)
    number = number_between(bits, low, high, at, values)
    return middle_cut(low, high, number, values.values, at), bits & 1 if missing else np.int64(DECIDE_LATER)


@inline
def code_range(bins, count, node_codes):
    """The lowest and highest code of a node's rows, and whether one is that of missing values."""
    low = bins
    high = np.int64(-1)
    missing = False
    for k in range(count):
        code = np.int64(node_codes[k])
        missing = missing or code == bins
        if code < bins:
            low = min(low, code)
            high = max(high, code)
    return low, high, missing


@inline
def draw_held_of_pairs(draw, column, bins, low, high, node, data, values, rules, rows, mine):
    """Try one cut of a column whose codes are in the records, none of them missing."""
    at = values.starts[column]
    cut, default_left = try_drawn_cut(draw, column, bins, low, high, False, at, node, values)
    words = rows.words
    place = node.begin * words * 8 + data.features.group_of[column]
    numbers = payload_of(node.begin, words)
    packed = np.int64(0)
    total = np.int64(0)
    on_left = np.int64(0)
    for _ in range(node.begin, node.end):
        row = packed_sum(np.int64(rows.ints[numbers - TARGET]), np.int64(rows.ints[numbers - WEIGHT]), node)
        go = np.int64(1) if np.int64(rows.bytes[place]) <= cut else np.int64(0)
        total += row
        packed += row & -go
        on_left += go
        place += words * 8
        numbers += words * 2
    mask = (np.int64(1) << node.bits) - 1
    score = try_sums(packed & mask, packed >> node.bits, total >> node.bits, on_left, column, node, rules)
    keep_drawn(score, column, cut, default_left, mine)


@inline
def range_of_entries(bins, first, found, count, default, mine):
    """As `code_range`, of a node of `count` rows in a sparse column."""
    low, high, missing = code_range(bins, found, tail(mine.entry_bins, first))
    if found < count and default == bins:
        missing = True
    elif found < count:
        low = min(low, default)
        high = max(high, default)
    return low, high, missing


@inline
def goes_left_of(code, cut, bins, default_left):
    """Whether a code goes left of a drawn cut."""
    return code <= cut if code < bins else default_left == 1


@inline
def draw_sparse_of_pairs(draw, column, bins, node, data, values, rules, rows, mine):
    """Try one cut of a sparse column. The side of its default bin has the node's sums without the entries of the other side."""
    count = node.end - node.begin
    default = data.features.default[column]
    first, found = entries_of(column, node.begin, node.end, data, rows, mine)
    low, high, missing = range_of_entries(bins, first, found, count, default, mine)
    if high < 0 or (low == high and not missing):
        return 0
    cut, default_left = try_drawn_cut(
        draw, column, bins, low, high, missing, values.starts[column], node, values
    )
    rest_left = goes_left_of(default, cut, bins, default_left)
    total = mine.left_sums[BATCH]
    packed = np.int64(0)
    on_left = np.int64(0)
    for k in range(first, first + found):
        if goes_left_of(np.int64(mine.entry_bins[k]), cut, bins, default_left) != rest_left:
            i = node.begin + mine.entry_places[k]
            packed += packed_sum(target_of(i, rows), weight_of(i, rows), node)
            on_left += 1
    if rest_left:
        packed = total - packed
        on_left = count - on_left
    mask = (np.int64(1) << node.bits) - 1
    score = try_sums(packed & mask, packed >> node.bits, total >> node.bits, on_left, column, node, rules)
    keep_drawn(score, column, cut, default_left, mine)
    return 1


@inline
def draw_cut_of_pairs(draw, column, bins, node, data, row_codes, values, rules, rows, mine):
    """Try one cut of a column, drawn uniformly in the range of the node's values. Returns 1 unless the column is constant."""
    if rules.access == MOVED:
        low = np.int64(mine.low[data.features.group_of[column]])
        high = np.int64(mine.high[data.features.group_of[column]])
        if high < bins:
            draw_held_of_pairs(draw, column, bins, low, high, node, data, values, rules, rows, mine)
            return 1
    if has_sparse(data, rules) and data.features.group_of[column] < 0:
        return draw_sparse_of_pairs(draw, column, bins, node, data, values, rules, rows, mine)
    read_codes(column, node.begin, node.end, data, row_codes, rules, rows, mine)
    low, high, missing = code_range(bins, node.end - node.begin, mine.node_codes)
    if high < 0 or (low == high and not missing):
        return 0
    cut, default_left = try_drawn_cut(
        draw, column, bins, low, high, missing, values.starts[column], node, values
    )
    weight = np.int64(0)
    on_left = np.int64(0)
    left_sum = np.int64(0)
    total = np.int64(0)
    for i in range(node.begin, node.end):
        code = np.int64(mine.node_codes[i - node.begin])
        left = goes_left_of(code, cut, bins, default_left)
        product = weight_of(i, rows) * (target_of(i, rows) >> node.shift)
        total += product
        if left:
            weight += weight_of(i, rows)
            left_sum += product
            on_left += 1
    score = try_sums(weight, left_sum, total, on_left, column, node, rules)
    keep_drawn(score, column, cut, default_left, mine)
    return 1


# --- Drawn cuts of many columns


@inline
def score_drawn_pairs(count, total, node, rules, mine):
    """Scores of the cuts drawn for some columns."""
    mask = (np.int64(1) << node.bits) - 1
    if rules.formula == SQUARES and rules.bounded == 0 and node.min_weight == 0.0 and rules.min_leaf == 1:
        # As `pair_score`. No side is empty: the lowest code is left of a drawn cut, the highest right of it.
        weight = float(node.weight)
        whole = float(total >> node.bits)
        for k in range(count):
            left = float(mine.left_sums[k] & mask)
            d = float(mine.left_sums[k] >> node.bits) * weight - whole * left
            mine.drawn_scores[k] = d * d / (left * (weight - left))
        return
    for k in range(count):
        packed = mine.left_sums[k]
        # Where leaves must have several rows, every row has a weight of one step (see `may_draw_together`).
        mine.drawn_scores[k] = try_sums(
            packed & mask, packed >> node.bits, total >> node.bits, packed & mask, mine.chosen[k], node, rules
        )  # fmt: skip


@inline
def search_drawn_pairs(count, node, data, row_codes, values, target, rules, rows, words, mine):
    """Draw a cut for each of the columns chosen, whose codes are in the records. Returns how many are not constant."""
    separate = draw_numbers(count, node, data, values, mine)
    sum_drawn_pairs(count, node, values, target, rows, mine)
    score_drawn_pairs(count, packed_total(node, rows), node, rules, mine)
    if separate == 0:
        k = best_of(count, mine.drawn_scores, mine.best[0].score)
        if k >= 0:
            keep_best(
                mine.drawn_scores[k],
                mine.chosen[k],
                cut_of_drawn(k, node, values, mine),
                0,
                DECIDE_LATER,
                0,
                mine,
            )
        return count
    good = 0
    for k in range(count):
        column = mine.chosen[k]
        if mine.drawn[k].separate != 0:
            good += draw_one_of_pairs(k, node, data, row_codes, values, rules, rows, words, mine)
        else:
            good += 1
            if mine.drawn_scores[k] > mine.best[0].score:
                cut = cut_of_drawn(k, node, values, mine)
                keep_best(mine.drawn_scores[k], column, cut, 0, DECIDE_LATER, 0, mine)
    return good


@inline
def draw_one_of_pairs(k, node, data, row_codes, values, rules, rows, words, mine):
    """Draw a cut, or a set of categories, for one of the columns chosen. Returns 1 unless the column is constant."""
    column = mine.chosen[k]
    draw = mine.chosen_draw[k]
    bins = values.codes[column]
    if data.features.categorical[column] == 0:
        return draw_cut_of_pairs(draw, column, bins, node, data, row_codes, values, rules, rows, mine)
    if has_sparse(data, rules) and data.features.group_of[column] < 0:
        listed = list_sparse_pairs(column, bins + 1, True, node, data, rows, mine)
    else:
        listed = list_pairs(column, bins + 1, True, node, data, row_codes, rules, rows, mine)
    return search_listed(draw, listed, column, bins, node, data, row_codes, values, rules, rows, words, mine)


# --- Searching the columns chosen for a node


@inline
def has_free_leaves(node, rules):
    """Whether leaves have no limits, and scores are those of squares."""
    free = rules.min_leaf == 1 and node.min_weight == 0.0 and rules.bounded == 0
    return free and rules.formula == SQUARES and rules.access == MOVED and rules.random == 0


@inline
def pair_columns_at_once(size, node, rules):
    """How many columns of a node are searched together."""
    # One column is enough to separate two rows.
    if rules.access != MOVED or size <= 2:
        return np.int64(1)
    if is_small(node, rules):
        return np.int64(CHOSEN)
    if has_free_leaves(node, rules):
        return np.int64(BATCH)
    return columns_at_once(size, node, rules)


@inline
def search_listed(draw, listed, column, bins, node, data, row_codes, values, rules, rows, words, mine):
    """Search the list of a column. Returns 1 unless the column is constant."""
    if listed < 2:
        return 0
    if data.features.categorical[column] != 0:
        if rules.random != 0:
            draw_categories_of_pairs(draw, listed, column, bins, node, rules, words, mine)
        else:
            cut_categories_of_pairs(listed, column, bins, node, data, row_codes, rules, rows, words, mine)
    else:
        cut_pairs(listed, column, bins, node, values, rules, mine)
    return 1


@inline
def cut_range(k, column, bins, node, data, values, rules, mine):
    """Choose the best cut of the k-th of four plain columns from its cells, and clear them. Cells between two codes of the node
    may be empty: the cut behind one has the same score as the cut before it, which is taken.
    """
    cells = mine.cells
    group = data.features.group_of[column]
    low = np.int64(mine.low[group])
    count = np.int64(mine.high[group]) - low
    at = k * mine.width + low
    packed = np.int64(0)
    for j in range(count + 1):
        packed += cells[at + j]
        cells[at + j] = 0
        mine.list_sums[j] = packed
    score_pairs(count, count, 0, 0, node, rules, 0, mine)
    j = best_of(count, mine.scores, mine.best[0].score)
    if j >= 0:
        above = j + 1
        while mine.list_sums[above] == mine.list_sums[j]:
            above += 1
        cut, above = cut_after(low + j, low + above, bins, values.starts[column], values, rules)
        keep_best(mine.scores[j], column, cut, above, DECIDE_LATER, 0, mine)


@inline
def search_pairs(count, node, data, row_codes, values, target, rules, rows, words, mine):
    """Search the columns chosen. Returns how many are not constant."""
    features = data.features
    good = np.int64(0)
    held = rules.access == MOVED
    sparse = has_sparse(data, rules)
    if sparse and mine.best[0].tried == 0:
        mine.left_sums[BATCH] = packed_total(node, rows)
    if rules.random != 0:
        if held and may_draw_together(node, rules):
            return search_drawn_pairs(count, node, data, row_codes, values, target, rules, rows, words, mine)
        for k in range(count):
            good += draw_one_of_pairs(k, node, data, row_codes, values, rules, rows, words, mine)
        return good
    begin = np.int64(0)
    if is_small(node, rules):
        begin = search_small_node(count, node, data, values, rules, rows, mine)
        if begin == count:
            return count
        good = begin
    counted = rules.min_leaf > 1
    together = begin == 0 and count == 4 and held
    free = has_free_leaves(node, rules)
    if together:
        sum_four_columns(node, rows, mine.chosen, features.group_of, mine)
        if counted:
            count_four_columns(node, rows, mine.chosen, features.group_of, mine)
    for k in range(begin, count):
        column = mine.chosen[k]
        bins = values.codes[column]
        if free and is_plain(column, bins, data, mine):
            if not together:
                sum_one_column(node, rows, features.group_of[column], mine)
            cut_range(k if together else 0, column, bins, node, data, values, rules, mine)
            good += 1
            continue
        if together:
            listed = list_one_of_four(k, bins + 1, counted, mine)
        elif sparse and features.group_of[column] < 0:
            listed = list_sparse_pairs(column, bins + 1, counted, node, data, rows, mine)
        else:
            listed = list_pairs(column, bins + 1, counted, node, data, row_codes, rules, rows, mine)
        draw = mine.chosen_draw[k]
        good += search_listed(
            draw, listed, column, bins, node, data, row_codes, values, rules, rows, words, mine
        )
    return good
