"""Searching a column where a node has a weight and one sum: two classes, or numbers."""

import numpy as np

from spinney.growth.forest.kernels.access import payload_of, target_of, weight_of
from spinney.growth.forest.kernels.cells import packed_sum
from spinney.growth.forest.kernels.codes import read_codes
from spinney.growth.forest.kernels.drawn import number_between
from spinney.growth.forest.kernels.entries import entries_of, has_sparse
from spinney.growth.forest.kernels.halves import FEW_CATEGORIES, direction, orders
from spinney.growth.forest.kernels.ordering import clear_set, put_in, sort_by_key
from spinney.growth.forest.kernels.records import BATCH, MOVED, RANKS, SQUARES, TARGET, WEIGHT
from spinney.growth.forest.kernels.scores import NEVER, best_of, cut_between, in_bounds, middle_cut, pair_score, score_pairs
from spinney.jit.inline import inline
from spinney.jit.intrinsics import tail
from spinney.sampling.kernels.purposes import PURPOSE_CUT
from spinney.sampling.kernels.random import random_bits

DECIDE_LATER = -1  # where missing values go: with the larger side


@inline
def keep_best(score, column, cut, above, default_left, is_set, mine):
    """Note the best split so far."""
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
    the lower one, and the threshold is found when the tree is finished; -1 stands for nothing above.
    """
    if high == bins:
        return bins - 1, np.int64(-1)
    if rules.access == RANKS:
        return low, high
    return cut_between(low, high, values.values, at), high


@inline
def cut_pairs(listed, column, bins, node, values, rules, mine):
    """Choose the best cut of a column of numbers from the list of its cells."""
    sign = rules.signs[column]
    missing = np.int64(mine.list_code[listed - 1]) == bins
    found = listed - 1 if missing else listed
    at = values.starts[column]
    score_pairs(listed - 1, listed - 1, 0, 0, node, rules, sign, mine)
    j = best_of(listed - 1, mine.scores, mine.best[0].score)
    if j >= 0:
        cut, above = cut_after(np.int64(mine.list_code[j]), np.int64(mine.list_code[j + 1]), bins, at, values, rules)
        keep_best(mine.scores[j], column, cut, above, 0 if missing else DECIDE_LATER, 0, mine)
    if missing and found > 1:
        extra = mine.list_sums[listed - 1] - mine.list_sums[found - 1]
        extra_rows = np.int64(0)
        if rules.min_leaf > 1:
            extra_rows = np.int64(mine.list_rows[listed - 1]) - np.int64(mine.list_rows[found - 1])
        score_pairs(found - 1, listed - 1, extra, extra_rows, node, rules, sign, mine)
        j = best_of(found - 1, mine.scores, mine.best[0].score)
        if j >= 0:
            cut, above = cut_after(np.int64(mine.list_code[j]), np.int64(mine.list_code[j + 1]), bins, at, values, rules)
            keep_best(mine.scores[j], column, cut, above, 1, 0, mine)


@inline
def apart(listed, counted, mine):
    """Turn sums up to each code into those of each code alone."""
    for k in range(listed - 1):
        j = listed - 1 - k
        mine.list_sums[j] -= mine.list_sums[j - 1]
        if counted:
            mine.list_rows[j] -= mine.list_rows[j - 1]


@inline
def up_to(listed, counted, mine):
    """Turn sums of each code alone into those up to it."""
    for j in range(1, listed):
        mine.list_sums[j] += mine.list_sums[j - 1]
        if counted:
            mine.list_rows[j] += mine.list_rows[j - 1]


@inline
def keep_set(score, column, count, bins, words, node_has_missing, mine):
    """Note a split whose left side is the first `count` codes of the list."""
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
def sum_ordering_half(column, node, data, others, rules, rows, mine):
    """Sum the rows that order a column's categories, in its cells. Returns their packed sum."""
    read_codes(column, node.begin, node.end, data, others, rules, rows, mine)
    total = np.int64(0)
    for i in range(node.begin, node.end):
        packed = packed_sum(target_of(i, rows), weight_of(i, rows), node) & -orders(i, node, rows)
        mine.cells[mine.line[i - node.begin]] += packed
        total += packed
    return total


@inline
def can_judge(listed, mine):
    """Whether rows of two categories are left to judge, given the sums of each code alone."""
    judging = 0
    for j in range(listed):
        judging += 1 if mine.list_sums[j] != mine.cells[mine.list_code[j]] else 0
    return judging > 1


@inline
def judge_by_half(listed, ordering, node, rules, mine):
    """Lower the scores of cuts to those by the rows that did not order the categories, whose sums stand in the cells."""
    mask = (np.int64(1) << node.bits) - 1
    judging = mine.list_sums[listed - 1] - ordering
    weight = float(judging & mask)
    total = float(judging >> node.bits)
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
def cut_categories_of_pairs(listed, column, bins, node, data, others, rules, rows, words, mine):
    """Choose the best set of a column's categories: ordered by the mean of their targets, missing values among them. One half
    of the rows orders many categories, and the other half judges them.
    """
    counted = rules.min_leaf > 1
    missing = np.int64(mine.list_code[listed - 1]) == bins
    apart(listed, counted, mine)
    halves = listed > FEW_CATEGORIES
    ordering = np.int64(0)
    if halves:
        ordering = sum_ordering_half(column, node, data, others, rules, rows, mine)
        halves = can_judge(listed, mine)
    mask = (np.int64(1) << node.bits) - 1
    mean = float(ordering >> node.bits) / float(max(ordering & mask, np.int64(1)))
    sign = direction(node) if halves else 1.0
    for j in range(listed):
        packed = mine.cells[mine.list_code[j]] if halves else mine.list_sums[j]
        mine.scores[j] = sign * (float(packed >> node.bits) / float(packed & mask) if packed & mask != 0 else mean)
    sort_by_key(listed, mine.scores, mine.list_code, mine.list_sums, mine.list_rows)
    up_to(listed, counted, mine)
    score_pairs(listed - 1, listed - 1, 0, 0, node, rules, 0, mine)
    if halves:
        judge_by_half(listed, ordering, node, rules, mine)
    if listed > FEW_CATEGORIES:
        for j in range(listed):
            mine.cells[mine.list_code[j]] = 0
    j = best_of(listed - 1, mine.scores, mine.best[0].score)
    if j >= 0:
        keep_set(mine.scores[j], column, j + 1, bins, words, missing, mine)


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
    if rules.signs[column] != 0:
        step = float(np.int64(1) << node.shift)
        if not in_bounds(left, s * step, weight, total * step, rules.signs[column], node.lower, node.upper):
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
    score = try_sums(packed & ((np.int64(1) << node.bits) - 1), packed >> node.bits, total, on_left, column, node, rules)
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
def keep_drawn(score, column, cut, default_left, mine):
    """Note a drawn cut if it is the best so far."""
    if score > mine.best[0].score:
        keep_best(score, column, cut, 0, default_left, 0, mine)


@inline
def code_range(bins, count, line):
    """The lowest and highest code of a node's rows, and whether one is that of missing values."""
    low = bins
    high = np.int64(-1)
    missing = False
    for k in range(count):
        code = np.int64(line[k])
        missing = missing or code == bins
        if code < bins:
            low = min(low, code)
            high = max(high, code)
    return low, high, missing


@inline
def draw_held_of_pairs(draw, column, bins, low, high, node, data, values, rules, rows, mine):
    """Try one cut of a column whose codes records hold, none of them missing."""
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
    """The same as `code_range` of a node of `count` rows in a sparse column."""
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
    """Try one cut of a sparse column. What is on the side of its default bin is what the entries on the other side leave."""
    count = node.end - node.begin
    default = data.features.default[column]
    first, found = entries_of(column, node.begin, node.end, data, rows, mine)
    low, high, missing = range_of_entries(bins, first, found, count, default, mine)
    if high < 0 or (low == high and not missing):
        return 0
    cut, default_left = try_drawn_cut(draw, column, bins, low, high, missing, values.starts[column], node, values)
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
def draw_cut_of_pairs(draw, column, bins, node, data, others, values, rules, rows, mine):
    """Try one cut of a column, drawn uniformly in the range of the node's values. Returns 1 unless the column is constant."""
    if rules.access == MOVED:
        low = np.int64(mine.low[data.features.group_of[column]])
        high = np.int64(mine.high[data.features.group_of[column]])
        if high < bins:
            draw_held_of_pairs(draw, column, bins, low, high, node, data, values, rules, rows, mine)
            return 1
    if has_sparse(data, rules) and data.features.group_of[column] < 0:
        return draw_sparse_of_pairs(draw, column, bins, node, data, values, rules, rows, mine)
    read_codes(column, node.begin, node.end, data, others, rules, rows, mine)
    low, high, missing = code_range(bins, node.end - node.begin, mine.line)
    if high < 0 or (low == high and not missing):
        return 0
    cut, default_left = try_drawn_cut(draw, column, bins, low, high, missing, values.starts[column], node, values)
    weight = np.int64(0)
    on_left = np.int64(0)
    left_sum = np.int64(0)
    total = np.int64(0)
    for i in range(node.begin, node.end):
        code = np.int64(mine.line[i - node.begin])
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


@inline
def judge_pairs(draw, listed, column, bins, node, data, others, values, rules, rows, words, mine):
    """Look for the best split in the list of a column. Returns 1 unless the column is constant."""
    if listed < 2:
        return 0
    if data.features.categorical[column] != 0:
        if rules.random != 0:
            draw_categories_of_pairs(draw, listed, column, bins, node, rules, words, mine)
        else:
            cut_categories_of_pairs(listed, column, bins, node, data, others, rules, rows, words, mine)
    else:
        cut_pairs(listed, column, bins, node, values, rules, mine)
    return 1


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
