"""Searching a column where a node's impurity is the absolute error around its median.

The rows of a node are ranked by their targets once. Then the rows of a column are taken in the order of its codes, and those on
one side are kept in a Fenwick tree over the ranks: weights, and sums of targets times weights. It tells the side's median, and
with it the error, in as many steps as a rank has bits. All sums are whole numbers.
"""

import numpy as np

from spinney.growth.forest.kernels.access import differs, weight_of
from spinney.growth.forest.kernels.cells import list_codes, touch
from spinney.growth.forest.kernels.codes import read_codes
from spinney.growth.forest.kernels.halves import FEW_CATEGORIES, direction, orders
from spinney.growth.forest.kernels.ordering import sort_by_key
from spinney.growth.forest.kernels.pairs import DECIDE_LATER, cut_after, keep_best, keep_drawn, keep_set, try_drawn_cut
from spinney.growth.forest.kernels.ranking import rank_targets
from spinney.growth.forest.kernels.records import Medians
from spinney.growth.forest.kernels.scores import NEVER, best_of
from spinney.jit.inline import inline
from spinney.jit.intrinsics import tail
from spinney.sampling.kernels.purposes import PURPOSE_CUT
from spinney.sampling.kernels.random import random_bits


@inline
def medians_of(node, target, mine):
    """A thread's memory for the medians of a node, laid out in its keys."""
    rows = node.end - node.begin
    by_output = rows * target.outputs
    at = 2 * by_output
    keys = mine.keys
    return Medians(
        rows, keys, tail(keys, by_output), tail(keys, at), tail(keys, at + rows), tail(keys, at + 2 * rows),
        tail(keys, at + 3 * rows), tail(keys, at + 4 * rows),
    )  # fmt: skip


@inline
def clear(medians):
    """Empty the Fenwick tree."""
    for k in range(2 * medians.rows + 2):
        medians.tree[k] = 0


@inline
def add_rank(rank, weight, product, medians):
    """Add a row to the Fenwick tree."""
    tree = medians.tree
    k = rank + 1
    while k <= medians.rows:
        tree[2 * k] += weight
        tree[2 * k + 1] += product
        k += k & -k


@inline
def median_rank(weight, beyond, medians):
    """The rank at which the weights reach half of all, or with `beyond` more than half; weight and sum of all ranks below it."""
    tree = medians.tree
    rank = np.int64(0)
    below = np.int64(0)
    below_sum = np.int64(0)
    step = np.int64(1)
    while 2 * step <= medians.rows:
        step *= 2
    while step > 0:
        ahead = rank + step
        if ahead <= medians.rows:
            held = 2 * (below + tree[2 * ahead])
            if held < weight or (beyond and held == weight):
                rank = ahead
                below += tree[2 * ahead]
                below_sum += tree[2 * ahead + 1]
        step >>= 1
    return rank, below, below_sum


@inline
def error_of(weight, total, levels, medians):
    """Sum of the absolute errors around the median of all rows in the Fenwick tree."""
    rank, below, below_sum = median_rank(weight, False, medians)
    return total - 2 * below_sum + levels[rank] * (2 * below - weight)


@inline
def twice_median(weight, levels, medians):
    """The median times two: where just half of the weight is below, the middle of two targets."""
    low, _, _ = median_rank(weight, False, medians)
    high, _, _ = median_rank(weight, True, medians)
    return levels[low] + levels[high]


@inline
def take_in(j, ranks, levels, medians, mine):
    """Add the rows of an entry of the list to the Fenwick tree. Returns their weight and sum."""
    weight = np.int64(0)
    total = np.int64(0)
    begin = mine.list_sums[j]
    for k in range(begin, begin + mine.list_rows[j]):
        i = medians.order[k]
        rank = ranks[i]
        w = medians.weights[i]
        product = w * levels[rank]
        add_rank(rank, w, product, medians)
        weight += w
        total += product
    return weight, total


@inline
def score_output(o, listed, sign, node, medians, mine):
    """Add to the score of each cut of the list how much it decreases the error of an output."""
    ranks = tail(medians.ranks, o * medians.rows)
    levels = tail(medians.levels, o * medians.rows)
    clear(medians)
    weight = np.int64(0)
    total = np.int64(0)
    for j in range(listed):
        more, product = take_in(j, ranks, levels, medians, mine)
        weight += more
        total += product
        medians.left[j] = error_of(weight, total, levels, medians)
        if sign != 0:
            medians.middles[j] = twice_median(weight, levels, medians)
    whole = medians.left[listed - 1]
    clear(medians)
    weight = np.int64(0)
    total = np.int64(0)
    for k in range(1, listed):
        j = listed - 1 - k
        more, product = take_in(j + 1, ranks, levels, medians, mine)
        weight += more
        total += product
        mine.scores[j] += float(whole - medians.left[j] - error_of(weight, total, levels, medians))
        if sign != 0:
            a = 0.5 * float(medians.middles[j])
            b = 0.5 * float(twice_median(weight, levels, medians))
            inside = a >= node.lower and b >= node.lower and a <= node.upper and b <= node.upper
            if not inside or (a - b) * float(sign) > 0.0:
                mine.scores[j] = NEVER


@inline
def start_scores(listed, node, rules, medians, mine):
    """0 for all cuts of a list that leave enough rows and weight on both sides, NEVER for the others."""
    count = node.end - node.begin
    on_left = np.int64(0)
    weight = np.int64(0)
    for j in range(listed):
        for k in range(mine.list_sums[j], mine.list_sums[j] + mine.list_rows[j]):
            weight += medians.weights[medians.order[k]]
        on_left += mine.list_rows[j]
        few = on_left < rules.min_leaf or count - on_left < rules.min_leaf
        light = float(weight) < node.min_weight or float(node.weight - weight) < node.min_weight
        mine.scores[j] = NEVER if few or light else 0.0


@inline
def score_list(listed, sign, node, target, rules, medians, mine):
    """Scores of all cuts of a list: how much they decrease the error, the sum over outputs."""
    start_scores(listed, node, rules, medians, mine)
    for o in range(target.outputs):
        score_output(o, listed, sign, node, medians, mine)


@inline
def list_rows(column, codes, node, data, others, rules, rows, medians, mine):
    """List the codes of a column with their rows: where they begin in the order by code, and how many. Returns how many codes."""
    count = node.end - node.begin
    read_codes(column, node.begin, node.end, data, others, rules, rows, mine)
    for i in range(count):
        code = np.int64(mine.line[i])
        mine.cell_rows[code] += 1
        touch(code, mine)
    listed = list_codes(codes, mine)
    begin = np.int64(0)
    for j in range(listed):
        code = mine.list_code[j]
        mine.list_rows[j] = mine.cell_rows[code]
        mine.list_sums[j] = begin
        # From here on the place of the next row.
        mine.cell_rows[code] = begin
        begin += mine.list_rows[j]
    for i in range(count):
        code = np.int64(mine.line[i])
        medians.order[mine.cell_rows[code]] = i
        mine.cell_rows[code] += 1
    for j in range(listed):
        mine.cell_rows[mine.list_code[j]] = 0
    return listed


@inline
def put_last_first(listed, mine):
    """Move the last entry of a list, the missing values, to its front."""
    code = mine.list_code[listed - 1]
    begin = mine.list_sums[listed - 1]
    count = mine.list_rows[listed - 1]
    for k in range(listed - 1):
        j = listed - 1 - k
        mine.list_code[j] = mine.list_code[j - 1]
        mine.list_sums[j] = mine.list_sums[j - 1]
        mine.list_rows[j] = mine.list_rows[j - 1]
    mine.list_code[0] = code
    mine.list_sums[0] = begin
    mine.list_rows[0] = count


@inline
def cut_medians(listed, column, bins, node, values, target, rules, medians, mine):
    """Choose the best cut of a column of numbers from the list of its codes."""
    sign = rules.signs[column]
    at = values.starts[column]
    missing = np.int64(mine.list_code[listed - 1]) == bins
    for side in range(2 if missing and listed > 2 else 1):
        if side == 1:
            put_last_first(listed, mine)
        score_list(listed, sign, node, target, rules, medians, mine)
        if side == 1:
            # The same cut as that which has the missing values alone on the right.
            mine.scores[0] = NEVER
        j = best_of(listed - 1, mine.scores, mine.best[0].score)
        if j >= 0:
            cut, above = cut_after(np.int64(mine.list_code[j]), np.int64(mine.list_code[j + 1]), bins, at, values, rules)
            keep_best(mine.scores[j], column, cut, above, side if missing else DECIDE_LATER, 0, mine)


@inline
def put_judges_first(j, node, rows, medians, mine):
    """Put those rows of a code that judge before those that order. Returns how many judge."""
    begin = mine.list_sums[j]
    judging = np.int64(0)
    for k in range(begin, begin + mine.list_rows[j]):
        i = medians.order[k]
        if orders(node.begin + i, node, rows) == 0:
            medians.order[k] = medians.order[begin + judging]
            medians.order[begin + judging] = i
            judging += 1
    return judging


@inline
def mean_of_rows(begin, end, instead, medians):
    """Weighted mean of the first output of some rows by code; `instead` where there are none."""
    weight = np.int64(0)
    total = np.int64(0)
    for k in range(begin, end):
        i = medians.order[k]
        weight += medians.weights[i]
        total += medians.weights[i] * medians.levels[medians.ranks[i]]
    return float(total) / float(weight) if weight > 0 else instead


@inline
def find_judges(listed, node, rows, medians, mine):
    """Put the judges of every code first, and note in its cell how many they are. Returns the mean of all rows that order, and
    whether rows of two categories judge.
    """
    judged = 0
    weight = np.int64(0)
    total = np.int64(0)
    for j in range(listed):
        judging = put_judges_first(j, node, rows, medians, mine)
        mine.cell_rows[mine.list_code[j]] = judging
        judged += 1 if judging > 0 else 0
        for k in range(mine.list_sums[j] + judging, mine.list_sums[j] + mine.list_rows[j]):
            i = medians.order[k]
            weight += medians.weights[i]
            total += medians.weights[i] * medians.levels[medians.ranks[i]]
    return float(total) / float(max(weight, np.int64(1))), judged > 1


@inline
def lower_to_judges(listed, node, target, rules, medians, mine):
    """Lower the scores of cuts to those by the rows that did not order the categories."""
    by_all = tail(mine.scores, mine.width + 1)
    judging = np.int64(0)
    for j in range(listed):
        mine.list_rows[j] = mine.cell_rows[mine.list_code[j]]
        for k in range(mine.list_sums[j], mine.list_sums[j] + mine.list_rows[j]):
            judging += medians.weights[medians.order[k]]
    factor = float(node.weight) / float(judging)
    for j in range(listed):
        by_all[j] = mine.scores[j]
        mine.scores[j] = 0.0
    for o in range(target.outputs):
        score_output(o, listed, 0, node, medians, mine)
    for j in range(listed):
        mine.scores[j] = min(mine.scores[j] * factor, by_all[j])


@inline
def cut_categories_of_medians(listed, column, bins, node, target, rules, rows, words, medians, mine):
    """Choose the best set of a column's categories: ordered by the mean of the first output, missing values among them. One half
    of the rows orders many categories, and the other half judges them.
    """
    missing = np.int64(mine.list_code[listed - 1]) == bins
    many = listed > FEW_CATEGORIES
    halves = many
    mean = 0.0
    if many:
        mean, halves = find_judges(listed, node, rows, medians, mine)
    sign = direction(node) if halves else 1.0
    for j in range(listed):
        begin = mine.list_sums[j]
        first = begin + mine.cell_rows[mine.list_code[j]] if halves else begin
        mine.scores[j] = sign * mean_of_rows(first, begin + mine.list_rows[j], mean, medians)
    sort_by_key(listed, mine.scores, mine.list_code, mine.list_sums, mine.list_rows)
    score_list(listed, 0, node, target, rules, medians, mine)
    if halves:
        lower_to_judges(listed, node, target, rules, medians, mine)
    if many:
        for j in range(listed):
            mine.cell_rows[mine.list_code[j]] = 0
    j = best_of(listed - 1, mine.scores, mine.best[0].score)
    if j >= 0:
        keep_set(mine.scores[j], column, j + 1, bins, words, missing, mine)


@inline
def draw_categories_of_medians(draw, listed, column, bins, node, target, rules, words, medians, mine):
    """Try one set of categories, each of which goes left or right by chance."""
    missing = np.int64(mine.list_code[listed - 1]) == bins
    key = random_bits(node.key, PURPOSE_CUT, draw)
    kept = 0
    for j in range(listed):
        left = random_bits(key, PURPOSE_CUT, np.int64(mine.list_code[j])) & 1 != 0
        mine.scores[j] = 0.0 if left else 1.0
        kept += 1 if left else 0
    sort_by_key(listed, mine.scores, mine.list_code, mine.list_sums, mine.list_rows)
    if kept > 0 and kept < listed:
        score_list(listed, 0, node, target, rules, medians, mine)
        if mine.scores[kept - 1] > mine.best[0].score:
            keep_set(mine.scores[kept - 1], column, kept, bins, words, missing, mine)


@inline
def set_entry(j, begin, end, mine):
    """Write an entry of a list: rows of the order by code."""
    mine.list_sums[j] = begin
    mine.list_rows[j] = end - begin


@inline
def draw_cut_of_medians(draw, listed, column, bins, node, values, target, rules, medians, mine):
    """Try one cut of a column, drawn uniformly in the range of the node's values."""
    count = node.end - node.begin
    missing = np.int64(mine.list_code[listed - 1]) == bins
    found = listed - 1 if missing else listed
    low = np.int64(mine.list_code[0])
    high = np.int64(mine.list_code[found - 1])
    known = count - mine.list_rows[listed - 1] if missing else count
    cut, default_left = try_drawn_cut(draw, column, bins, low, high, missing, values.starts[column], node, values)
    middle = np.int64(0)
    for j in range(found):
        middle += mine.list_rows[j] if np.int64(mine.list_code[j]) <= cut else 0
    set_entry(0, 0, middle, mine)
    entries = 2
    if default_left == 1:
        set_entry(1, known, count, mine)
        set_entry(2, middle, known, mine)
        entries = 3
    else:
        set_entry(1, middle, count, mine)
    score_list(entries, rules.signs[column], node, target, rules, medians, mine)
    keep_drawn(mine.scores[entries - 2], column, cut, default_left, mine)


@inline
def search_medians(count, node, data, others, values, target, rules, rows, words, mine):
    """Look for the best split in the columns chosen. Returns how many are not constant."""
    medians = medians_of(node, target, mine)
    if mine.best[0].looked == 0:
        rank_targets(node, target, rows, medians)
    good = 0
    for k in range(count):
        column = mine.chosen[k]
        bins = values.codes[column]
        categorical = data.features.categorical[column] != 0
        listed = list_rows(column, bins + 1, node, data, others, rules, rows, medians, mine)
        if listed < 2:
            continue
        good += 1
        if categorical and rules.random != 0:
            draw_categories_of_medians(mine.chosen_draw[k], listed, column, bins, node, target, rules, words, medians, mine)
        elif categorical:
            cut_categories_of_medians(listed, column, bins, node, target, rules, rows, words, medians, mine)
        elif rules.random != 0:
            draw_cut_of_medians(mine.chosen_draw[k], listed, column, bins, node, values, target, rules, medians, mine)
        else:
            cut_medians(listed, column, bins, node, values, target, rules, medians, mine)
    return good


@inline
def decrease_of_medians(score, node, target, rules):
    """What a score says in units of weight times impurity. Targets are never shifted here."""
    return score / float(np.int64(1) << node.shift)


@inline
def totals_of_medians(begin, end, target, rows, totals, at):
    """Weight of some records. Returns 1 where their targets differ, else 0."""
    weight = np.int64(0)
    differ = 0
    for i in range(begin, end):
        weight += weight_of(i, rows)
        differ |= differs(i, begin, target, rows)
    totals[at] = weight
    totals[at + 1] = 0
    return differ
