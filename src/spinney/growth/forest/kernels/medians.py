"""Searching nodes whose impurity is the absolute error around the median.

The rows of a node are ranked by their targets once. Then the rows of a column are taken in the order of its codes, and those on
one side are kept in a Fenwick tree over the ranks: weights, and sums of targets times weights. It gives the median of the side,
and with it the error, in as many steps as a rank has bits. All sums are whole numbers.
"""

import numpy as np

from spinney.growth.forest.kernels.categories import FEW_CATEGORIES, is_ordering, order_sign
from spinney.growth.forest.kernels.cells import list_codes, sort_by_key, sort_few, touch
from spinney.growth.forest.kernels.pairs import keep_set, try_drawn_cut
from spinney.growth.forest.kernels.records import Medians, differs, row_of, weight_of
from spinney.growth.forest.kernels.rows import read_codes
from spinney.growth.forest.kernels.scores import (
    DECIDE_LATER,
    NEVER,
    best_of,
    cut_after,
    keep_best,
    keep_drawn,
)
from spinney.jit import hole, inline
from spinney.jit.intrinsics import tail
from spinney.jit.math import order_key, value_of_key
from spinney.jit.types import filled
from spinney.sampling.kernels.random import PURPOSE_CUT, random_bits

# --- Ranks of a node's targets, and the weighted median of some records


COMPARED_KEYS = 256  # keys up to which they are sorted by comparing
PLACE_BITS = 31
PLACE = 2147483647  # the bits of a row's place in a key
NO_KEY = 9223372036854775807  # above all keys


@inline
def steps_of(i, o, target, rows):
    """An output of a record, in steps."""
    return np.int64(target.steps[row_of(i, rows) * target.outputs + o])


@inline
def sort_digit(count, shift, source, sorted, places):
    """Sort keys by eight of their bits, keeping the order of equal ones. There are 256 places."""
    for digit in range(256):
        places[digit] = 0
    for i in range(count):
        places[(source[i] >> shift) & 255] += 1
    at = np.int64(0)
    for digit in range(256):
        held = places[digit]
        places[digit] = at
        at += held
    for i in range(count):
        digit = (source[i] >> shift) & 255
        sorted[places[digit]] = source[i]
        places[digit] += 1


@inline
def sort_keys(count, largest, keys, spare, places):
    """Sort keys whose places are ascending already. The largest target among them sets how many digits are sorted."""
    if count <= COMPARED_KEYS:
        sort_few(count, keys)
        return
    shift = np.int64(PLACE_BITS)
    while largest > 0:
        # Two digits at a time, so that the sorted keys are back in `keys`.
        sort_digit(count, shift, keys, spare, places)
        sort_digit(count, shift + 8, spare, keys, places)
        shift += 16
        largest >>= 16


@inline
def rank_targets(node, target, rows, medians):
    """Rank the rows of a node by each output, and list the outputs in the order of the ranks."""
    count = medians.rows
    keys = medians.order
    for i in range(count):
        medians.weights[i] = weight_of(node.begin + i, rows)
    for o in range(target.outputs):
        low = steps_of(node.begin, o, target, rows)
        high = low
        for i in range(node.begin, node.end):
            step = steps_of(i, o, target, rows)
            low = min(low, step)
            high = max(high, step)
        for i in range(count):
            keys[i] = ((steps_of(node.begin + i, o, target, rows) - low) << PLACE_BITS) | i
        # The memory of the Fenwick tree is large enough for the 256 places, where keys are sorted by digits.
        sort_keys(count, high - low, keys, medians.left, medians.tree)
        ranks = tail(medians.ranks, o * count)
        levels = tail(medians.levels, o * count)
        for rank in range(count):
            ranks[keys[rank] & PLACE] = rank
            levels[rank] = (keys[rank] >> PLACE_BITS) + low


@inline
def middle_of(low, high):
    """The whole number halfway between two, rounded down; their sum may be too large."""
    return (low & high) + ((low ^ high) >> 1)


key_at = hole("an output of a record, as a whole number in the order of its values")


@inline
def find_median(begin, end, o, target, rows):
    """Weighted median of a whole number of each record, and the next number above it if exactly half of the weight is below."""
    low = key_at(begin, o, target, rows)
    high = low
    weight = np.int64(0)
    for i in range(begin, end):
        key = key_at(i, o, target, rows)
        low = min(low, key)
        high = max(high, key)
        weight += weight_of(i, rows)
    while low < high:
        middle = middle_of(low, high)
        held = np.int64(0)
        for i in range(begin, end):
            held += weight_of(i, rows) if key_at(i, o, target, rows) <= middle else 0
        if 2 * held >= weight:
            high = middle
        else:
            low = middle + 1
    held = np.int64(0)
    above = np.int64(NO_KEY)
    for i in range(begin, end):
        key = key_at(i, o, target, rows)
        held += weight_of(i, rows) if key <= low else 0
        above = min(above, key) if key > low else above
    return low, above if 2 * held == weight and above != NO_KEY else low


@inline
def number_key(i, o, target, rows):
    """An output of a record, as a whole number in the order of floats."""
    return order_key(target.numbers[row_of(i, rows) * target.outputs + o])


_median_number = filled(find_median, key_at=number_key)
_median_steps = filled(find_median, key_at=steps_of)


@inline
def median_number(begin, end, o, unit, target, rows):
    """Weighted median of an output of some records; where exactly half of the weight is below, the middle of two numbers."""
    low, high = _median_number(begin, end, o, target, rows)
    if low == high:
        return value_of_key(low)
    return 0.5 * value_of_key(low) + 0.5 * value_of_key(high)


@inline
def median_steps(begin, end, target, rows, mine):
    """As `median_number`, of the first output, in steps."""
    low, high = _median_steps(begin, end, 0, target, rows)
    return 0.5 * float(low + high)


@inline
def medians_of(node, target, mine):
    """A thread's memory for the medians of a node, in its array of keys."""
    rows = node.end - node.begin
    by_output = rows * target.outputs
    at = 2 * by_output
    keys = mine.keys
    return Medians(
        rows, keys, tail(keys, by_output), tail(keys, at), tail(keys, at + rows), tail(keys, at + 2 * rows),
        tail(keys, at + 3 * rows), tail(keys, at + 4 * rows),
    )  # fmt: skip


# --- The Fenwick tree over the ranks of a node


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
    """The rank at which the weights reach half of all, or with `beyond` exceed it; weight and sum of all ranks below."""
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
    """Sum of the absolute errors around the median, of all rows in the Fenwick tree."""
    rank, below, below_sum = median_rank(weight, False, medians)
    return total - 2 * below_sum + levels[rank] * (2 * below - weight)


@inline
def twice_median(weight, levels, medians):
    """Twice the median; where exactly half of the weight is below, the median is the middle of two targets."""
    low, _, _ = median_rank(weight, False, medians)
    high, _, _ = median_rank(weight, True, medians)
    return levels[low] + levels[high]


# --- Lists of a column's codes, and the scores of their cuts


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
def score_output(o, listed, direction, node, medians, mine):
    """Add to the score of each cut of the list its decrease of the error of an output."""
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
        if direction != 0:
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
        if direction != 0:
            a = 0.5 * float(medians.middles[j])
            b = 0.5 * float(twice_median(weight, levels, medians))
            inside = a >= node.lower and b >= node.lower and a <= node.upper and b <= node.upper
            if not inside or (a - b) * float(direction) > 0.0:
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
        too_few = on_left < rules.min_leaf or count - on_left < rules.min_leaf
        too_light = float(weight) < node.min_weight or float(node.weight - weight) < node.min_weight
        mine.scores[j] = NEVER if too_few or too_light else 0.0


@inline
def score_list(listed, direction, node, target, rules, medians, mine):
    """Scores of all cuts of a list: the decrease of the error, summed over outputs."""
    start_scores(listed, node, rules, medians, mine)
    for o in range(target.outputs):
        score_output(o, listed, direction, node, medians, mine)


@inline
def list_rows(column, codes, node, data, row_codes, rules, rows, medians, mine):
    """List the codes of a column with their rows: where they begin in the order by code, and how many. Returns their number."""
    count = node.end - node.begin
    read_codes(column, node.begin, node.end, data, row_codes, rules, rows, mine)
    for i in range(count):
        code = np.int64(mine.node_codes[i])
        mine.cell_rows[code] += 1
        touch(code, mine)
    listed = list_codes(codes, mine)
    begin = np.int64(0)
    for j in range(listed):
        code = mine.list_code[j]
        mine.list_rows[j] = mine.cell_rows[code]
        mine.list_sums[j] = begin
        # From here on, the place of the next row.
        mine.cell_rows[code] = begin
        begin += mine.list_rows[j]
    for i in range(count):
        code = np.int64(mine.node_codes[i])
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


# --- The best cut of a column


@inline
def cut_medians(listed, column, bins, node, values, target, rules, medians, mine):
    """Choose the best cut of a column of numbers from the list of its codes."""
    direction = rules.directions[column]
    at = values.starts[column]
    missing = np.int64(mine.list_code[listed - 1]) == bins
    for side in range(2 if missing and listed > 2 else 1):
        if side == 1:
            put_last_first(listed, mine)
        score_list(listed, direction, node, target, rules, medians, mine)
        if side == 1:
            # The same cut as that which has the missing values alone on the right.
            mine.scores[0] = NEVER
        j = best_of(listed - 1, mine.scores, mine.best[0].score)
        if j >= 0:
            cut, above = cut_after(
                np.int64(mine.list_code[j]), np.int64(mine.list_code[j + 1]), bins, at, values, rules
            )
            keep_best(mine.scores[j], column, cut, above, side if missing else DECIDE_LATER, 0, mine)


@inline
def put_evaluating_first(j, node, rows, medians, mine):
    """Move the evaluating rows of a code before the ordering ones. Returns how many there are."""
    begin = mine.list_sums[j]
    evaluating = np.int64(0)
    for k in range(begin, begin + mine.list_rows[j]):
        i = medians.order[k]
        if is_ordering(node.begin + i, node, rows) == 0:
            medians.order[k] = medians.order[begin + evaluating]
            medians.order[begin + evaluating] = i
            evaluating += 1
    return evaluating


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
def find_evaluating_rows(listed, node, rows, medians, mine):
    """Move the evaluating rows of every code first, and write to its cell how many there are. Returns the mean of all ordering
    rows, and whether the evaluating half has rows of two categories.
    """
    evaluated = 0
    weight = np.int64(0)
    total = np.int64(0)
    for j in range(listed):
        evaluating = put_evaluating_first(j, node, rows, medians, mine)
        mine.cell_rows[mine.list_code[j]] = evaluating
        evaluated += 1 if evaluating > 0 else 0
        for k in range(mine.list_sums[j] + evaluating, mine.list_sums[j] + mine.list_rows[j]):
            i = medians.order[k]
            weight += medians.weights[i]
            total += medians.weights[i] * medians.levels[medians.ranks[i]]
    return float(total) / float(max(weight, np.int64(1))), evaluated > 1


@inline
def limit_by_evaluating(listed, node, target, rules, medians, mine):
    """Limit the scores of cuts to those of the evaluating half."""
    by_all = tail(mine.scores, mine.width + 1)
    evaluating = np.int64(0)
    for j in range(listed):
        mine.list_rows[j] = mine.cell_rows[mine.list_code[j]]
        for k in range(mine.list_sums[j], mine.list_sums[j] + mine.list_rows[j]):
            evaluating += medians.weights[medians.order[k]]
    factor = float(node.weight) / float(evaluating)
    for j in range(listed):
        by_all[j] = mine.scores[j]
        mine.scores[j] = 0.0
    for o in range(target.outputs):
        score_output(o, listed, 0, node, medians, mine)
    for j in range(listed):
        mine.scores[j] = min(mine.scores[j] * factor, by_all[j])


@inline
def cut_categories_of_medians(listed, column, bins, node, target, rules, rows, words, medians, mine):
    """Choose the best set of a column's categories: ordered by the mean of the first output, missing values among them. Where
    categories are many, one half of the rows orders them, and the other half evaluates the sets.
    """
    missing = np.int64(mine.list_code[listed - 1]) == bins
    many = listed > FEW_CATEGORIES
    halves = many
    mean = 0.0
    if many:
        mean, halves = find_evaluating_rows(listed, node, rows, medians, mine)
    sign = order_sign(node) if halves else 1.0
    for j in range(listed):
        begin = mine.list_sums[j]
        first = begin + mine.cell_rows[mine.list_code[j]] if halves else begin
        mine.scores[j] = sign * mean_of_rows(first, begin + mine.list_rows[j], mean, medians)
    sort_by_key(listed, mine.scores, mine.list_code, mine.list_sums, mine.list_rows)
    score_list(listed, 0, node, target, rules, medians, mine)
    if halves:
        limit_by_evaluating(listed, node, target, rules, medians, mine)
    if many:
        for j in range(listed):
            mine.cell_rows[mine.list_code[j]] = 0
    j = best_of(listed - 1, mine.scores, mine.best[0].score)
    if j >= 0:
        keep_set(mine.scores[j], column, j + 1, bins, words, missing, mine)


# --- Drawn cuts


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
    cut, default_left = try_drawn_cut(
        draw, column, bins, low, high, missing, values.starts[column], node, values
    )
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
    score_list(entries, rules.directions[column], node, target, rules, medians, mine)
    keep_drawn(mine.scores[entries - 2], column, cut, default_left, mine)


# --- Searching the columns chosen for a node


@inline
def search_medians(count, node, data, row_codes, values, target, rules, rows, words, mine):
    """Search the columns chosen. Returns how many are not constant."""
    medians = medians_of(node, target, mine)
    if mine.best[0].tried == 0:
        rank_targets(node, target, rows, medians)
    good = 0
    for k in range(count):
        column = mine.chosen[k]
        bins = values.codes[column]
        categorical = data.features.categorical[column] != 0
        listed = list_rows(column, bins + 1, node, data, row_codes, rules, rows, medians, mine)
        if listed < 2:
            continue
        good += 1
        if categorical and rules.random != 0:
            draw_categories_of_medians(
                mine.chosen_draw[k], listed, column, bins, node, target, rules, words, medians, mine
            )
        elif categorical:
            cut_categories_of_medians(listed, column, bins, node, target, rules, rows, words, medians, mine)
        elif rules.random != 0:
            draw_cut_of_medians(
                mine.chosen_draw[k], listed, column, bins, node, values, target, rules, medians, mine
            )
        else:
            cut_medians(listed, column, bins, node, values, target, rules, medians, mine)
    return good


@inline
def decrease_of_medians(score, node, target, rules):
    """A score in units of weight times impurity. Targets are never shifted here."""
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
