"""Searching a column where a node has a weight and several sums: more than two classes, or several outputs.

A cell has the weight of its rows first, then its channels: the weights of classes, or the sums of numbers times weights.
"""

import numpy as np

from spinney.growth.forest.kernels.access import differs, payload_of, row_of, target_of, weight_of
from spinney.growth.forest.kernels.cells import list_codes, touch
from spinney.growth.forest.kernels.codes import read_codes
from spinney.growth.forest.kernels.entries import entries_of, has_sparse
from spinney.growth.forest.kernels.halves import FEW_CATEGORIES, direction, orders
from spinney.growth.forest.kernels.ordering import sort_places
from spinney.growth.forest.kernels.pairs import DECIDE_LATER, cut_after, keep_best, keep_set
from spinney.growth.forest.kernels.records import MOVED, POISSON, SQUARES, TARGET, WEIGHT
from spinney.growth.forest.kernels.scores import NEVER, x_log
from spinney.jit.inline import inline
from spinney.sampling.kernels.purposes import PURPOSE_CUT
from spinney.sampling.kernels.random import random_bits

# Rows of a node from which its codes are found by walking all cells of a column; other numbers were not measured.
WALKED_ROWS = 256


@inline
def add_record(i, sums, at, target, rows):
    """Add a record to a cell."""
    add_with_weight(i, weight_of(i, rows), sums, at, target, rows)


@inline
def add_with_weight(i, weight, sums, at, target, rows):
    """Add a record to a cell as if it had another weight; minus its own takes it out."""
    sums[at] += weight
    if target.outputs == 1:
        sums[at + 1 + target_of(i, rows)] += weight
    else:
        first = row_of(i, rows) * target.outputs
        for o in range(target.outputs):
            step = np.int64(target.steps[first + o])
            if target.classes != 0:
                sums[at + 1 + target.first[o] + step] += weight
            else:
                sums[at + 1 + o] += weight * step


@inline
def totals_of_channels(begin, end, target, rows, totals, at):
    """Weight and sums of some records. Returns 1 where their targets differ, else 0."""
    for k in range(target.channels + 1):
        totals[at + k] = 0
    differ = 0
    for i in range(begin, end):
        add_record(i, totals, at, target, rows)
        differ |= differs(i, begin, target, rows)
    return differ


@inline
def add_entries(column, counted, node, data, target, rows, mine):
    """Add a node's rows to the cells of a sparse column: its default bin has what the entries leave of the node."""
    width = target.channels + 1
    default = data.features.default[column]
    count = node.end - node.begin
    first, found = entries_of(column, node.begin, node.end, data, rows, mine)
    for k in range(width):
        mine.cells[default * width + k] = node.totals[k]
    for k in range(first, first + found):
        i = node.begin + mine.entry_places[k]
        code = np.int64(mine.entry_bins[k])
        add_record(i, mine.cells, code * width, target, rows)
        add_with_weight(i, -weight_of(i, rows), mine.cells, default * width, target, rows)
        touch(code, mine)
        if counted:
            mine.cell_rows[code] += 1
    if found < count:
        touch(default, mine)
        if counted:
            mine.cell_rows[default] = count - found


@inline
def add_classes(column, counted, node, data, width, rows, mine):
    """Add a node's rows to the cells of a column whose codes records hold, without noting which codes occur."""
    words = rows.words
    place = node.begin * words * 8 + data.features.group_of[column]
    numbers = payload_of(node.begin, words)
    for _ in range(node.begin, node.end):
        code = np.int64(rows.bytes[place])
        mine.cells[code * width + 1 + np.int64(rows.ints[numbers - TARGET])] += np.int64(rows.ints[numbers - WEIGHT])
        if counted:
            mine.cell_rows[code] += 1
        place += words * 8
        numbers += words * 2


@inline
def list_walked(column, width, data, mine):
    """List the codes of a column whose cells are not empty, ascending. Returns how many there are."""
    group = data.features.group_of[column]
    listed = 0
    for code in range(np.int64(mine.low[group]), np.int64(mine.high[group]) + 1):
        weight = np.int64(0)
        for k in range(1, width):
            weight += mine.cells[code * width + k]
        mine.list_code[listed] = code
        # Every row has a weight; the next code takes the place of one that does not occur.
        listed += 1 if weight != 0 else 0
    return listed


@inline
def list_channels(column, codes, counted, node, data, others, target, rules, rows, mine):
    """List the cells of one column, each up to its code. Returns how many codes occur."""
    width = target.channels + 1
    cells = mine.cells
    alone = target.outputs == 1
    walked = rules.access == MOVED and alone and node.end - node.begin >= WALKED_ROWS
    if walked:
        add_classes(column, counted, node, data, width, rows, mine)
    elif rules.access == MOVED and alone:
        words = rows.words
        place = node.begin * words * 8 + data.features.group_of[column]
        numbers = payload_of(node.begin, words)
        for _ in range(node.begin, node.end):
            code = np.int64(rows.bytes[place])
            cells[code * width + 1 + np.int64(rows.ints[numbers - TARGET])] += np.int64(rows.ints[numbers - WEIGHT])
            touch(code, mine)
            if counted:
                mine.cell_rows[code] += 1
            place += words * 8
            numbers += words * 2
    elif has_sparse(data, rules) and data.features.group_of[column] < 0:
        add_entries(column, counted, node, data, target, rows, mine)
    else:
        read_codes(column, node.begin, node.end, data, others, rules, rows, mine)
        for i in range(node.begin, node.end):
            code = np.int64(mine.line[i - node.begin])
            add_record(i, cells, code * width, target, rows)
            touch(code, mine)
            if counted:
                mine.cell_rows[code] += 1
    listed = list_walked(column, width, data, mine) if walked else list_codes(codes, mine)
    for j in range(listed):
        code = np.int64(mine.list_code[j])
        weight = cells[code * width]
        cells[code * width] = 0
        if alone:
            weight = np.int64(0)
        for k in range(1, width):
            part = cells[code * width + k]
            cells[code * width + k] = 0
            mine.list_sums[j * width + k] = part
            if alone:
                weight += part
        mine.list_sums[j * width] = weight
        mine.list_rows[j] = 0
        if counted:
            mine.list_rows[j] = mine.cell_rows[code]
            mine.cell_rows[code] = 0
    return listed


@inline
def side_score(sums, totals, rest, target, formula):
    """What one side adds to the score: sums as they are, or with `rest` what they leave of the totals."""
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
    """What a score says in units of weight times impurity: how much it is above that of the unsplit node."""
    return score - side_score(node.totals, node.totals, False, target, rules.formula)


@inline
def add_cell(j, width, listed_sums, sums):
    """Add a cell of the list to some sums."""
    for k in range(width):
        sums[k] += listed_sums[j * width + k]


@inline
def cut_squares(listed, column, bins, at, node, values, target, rules, mine):
    """The same for classes, squares and no limits on leaves: sums of squares are kept up to date, in whole numbers."""
    width = target.channels + 1
    totals = node.totals
    all_squares = np.int64(0)
    for k in range(1, width):
        mine.left[k] = 0
        all_squares += totals[k] * totals[k]
    squares = np.int64(0)
    products = np.int64(0)  # of the left side and the whole node
    left = np.int64(0)
    weight = node.weight
    best = mine.best[0].score
    place = -1
    for j in range(listed - 1):
        for k in range(1, width):
            part = mine.list_sums[j * width + k]
            squares += part * (2 * mine.left[k] + part)
            products += part * totals[k]
            mine.left[k] += part
        left += mine.list_sums[j * width]
        score = float(squares) / float(left) + float(all_squares - 2 * products + squares) / float(weight - left)
        if score > best:
            best = score
            place = j
    if place >= 0:
        cut, above = cut_after(
            np.int64(mine.list_code[place]), np.int64(mine.list_code[place + 1]), bins, at, values, rules
        )  # fmt: skip
        keep_best(best, column, cut, above, DECIDE_LATER, 0, mine)


@inline
def cut_channels(listed, column, bins, node, values, target, rules, mine):
    """Choose the best cut of a column of numbers from the list of its cells."""
    width = target.channels + 1
    at = values.starts[column]
    missing = np.int64(mine.list_code[listed - 1]) == bins
    found = listed - 1 if missing else listed
    if rules.formula == SQUARES and target.classes != 0 and not missing and rules.min_leaf == 1 and node.min_weight == 0.0:
        cut_squares(listed, column, bins, at, node, values, target, rules, mine)
        return
    for side in range(2 if missing and found > 1 else 1):
        for k in range(width):
            mine.left[k] = 0
        on_left = np.int64(0)
        if side == 1:
            add_cell(listed - 1, width, mine.list_sums, mine.left)
            on_left += mine.list_rows[listed - 1]
        for j in range(listed - 1 if side == 0 else found - 1):
            add_cell(j, width, mine.list_sums, mine.left)
            on_left += mine.list_rows[j]
            score = score_channels(on_left, mine.left, node, target, rules)
            if score > mine.best[0].score:
                cut, above = cut_after(np.int64(mine.list_code[j]), np.int64(mine.list_code[j + 1]), bins, at, values, rules)
                keep_best(score, column, cut, above, side if missing else DECIDE_LATER, 0, mine)


@inline
def largest_channel(node, target):
    """The channel of which a node has most."""
    found = 1
    for k in range(2, target.channels + 1):
        if node.totals[k] > node.totals[found]:
            found = k
    return found


@inline
def sum_halves(column, node, data, others, target, rules, rows, mine):
    """Sum the rows that order a column's categories in its cells, and all others in `half_totals`."""
    width = target.channels + 1
    read_codes(column, node.begin, node.end, data, others, rules, rows, mine)
    for k in range(width):
        mine.half_totals[k] = 0
    for i in range(node.begin, node.end):
        if orders(i, node, rows) != 0:
            add_record(i, mine.cells, np.int64(mine.line[i - node.begin]) * width, target, rows)
        else:
            add_record(i, mine.half_totals, 0, target, rows)


@inline
def can_judge_channels(listed, width, mine):
    """Whether rows of two categories are left to judge."""
    judging = 0
    for j in range(listed):
        judging += 1 if mine.list_sums[j * width] != mine.cells[np.int64(mine.list_code[j]) * width] else 0
    return judging > 1


@inline
def score_by_half(node, target, rules, mine):
    """Score of a cut by the rows that did not order the categories."""
    left = mine.half_left
    totals = mine.half_totals
    if left[0] == 0 or left[0] == totals[0]:
        return NEVER
    a = side_score(left, totals, False, target, rules.formula)
    b = side_score(left, totals, True, target, rules.formula)
    if a == NEVER or b == NEVER:
        return NEVER
    decrease = a + b - side_score(totals, totals, False, target, rules.formula)
    whole = side_score(node.totals, node.totals, False, target, rules.formula)
    return whole + decrease * (float(node.weight) / float(totals[0]))


@inline
def order_categories(listed, halves, node, target, mine):
    """List the places of categories in `keys`, by their share of the node's largest class or by the mean of the first output."""
    width = target.channels + 1
    key = largest_channel(node, target) if target.classes != 0 else 1
    weight = float(node.weight - mine.half_totals[0])
    mean = float(node.totals[key] - mine.half_totals[key]) / (weight if weight > 0.0 else 1.0)
    sign = direction(node) if halves else 1.0
    for j in range(listed):
        at = np.int64(mine.list_code[j]) * width if halves else j * width
        sums = mine.cells if halves else mine.list_sums
        mine.scores[j] = sign * (float(sums[at + key]) / float(sums[at]) if sums[at] != 0 else mean)
        mine.keys[j] = j
    sort_places(listed, mine.scores, mine.keys)


@inline
def cut_categories_of_channels(listed, column, bins, node, data, others, target, rules, rows, words, mine):
    """Choose the best set of a column's categories, in their order. One half of the rows orders many categories, and the other
    half judges them.
    """
    width = target.channels + 1
    missing = np.int64(mine.list_code[listed - 1]) == bins
    halves = listed > FEW_CATEGORIES
    if halves:
        sum_halves(column, node, data, others, target, rules, rows, mine)
        halves = can_judge_channels(listed, width, mine)
    order_categories(listed, halves, node, target, mine)
    for k in range(width):
        mine.left[k] = 0
        mine.half_left[k] = 0
    on_left = np.int64(0)
    best = mine.best[0].score
    kept = 0
    for place in range(listed - 1):
        j = mine.keys[place]
        add_cell(j, width, mine.list_sums, mine.left)
        on_left += mine.list_rows[j]
        score = score_channels(on_left, mine.left, node, target, rules)
        if halves:
            at = np.int64(mine.list_code[j]) * width
            for k in range(width):
                mine.half_left[k] += mine.list_sums[j * width + k] - mine.cells[at + k]
            score = min(score, score_by_half(node, target, rules, mine))
        if score > best:
            best = score
            kept = place + 1
    if listed > FEW_CATEGORIES:
        for j in range(listed):
            for k in range(width):
                mine.cells[np.int64(mine.list_code[j]) * width + k] = 0
    if kept > 0:
        # The codes of the left side first, as `keep_set` takes them.
        for place in range(listed):
            mine.keys[place] = np.int64(mine.list_code[mine.keys[place]])
        for place in range(listed):
            mine.list_code[place] = mine.keys[place]
        keep_set(best, column, kept, bins, words, missing, mine)


@inline
def draw_categories_of_channels(draw, listed, column, bins, node, target, rules, words, mine):
    """Try one set of categories, each of which goes left or right by chance."""
    width = target.channels + 1
    missing = np.int64(mine.list_code[listed - 1]) == bins
    for k in range(width):
        mine.left[k] = 0
    on_left = np.int64(0)
    kept = 0
    key = random_bits(node.key, PURPOSE_CUT, draw)
    for j in range(listed):
        code = mine.list_code[j]
        if random_bits(key, PURPOSE_CUT, np.int64(code)) & 1 != 0:
            add_cell(j, width, mine.list_sums, mine.left)
            on_left += mine.list_rows[j]
            mine.list_code[kept] = code
            kept += 1
    score = score_channels(on_left, mine.left, node, target, rules)
    if kept > 0 and kept < listed and score > mine.best[0].score:
        keep_set(score, column, kept, bins, words, missing, mine)
