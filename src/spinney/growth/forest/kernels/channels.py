"""Searching nodes that have a weight and several sums (*channels*): more than two classes, or several outputs.

A cell has the weight of its rows first, then its channels: the weights of classes, or the sums of numbers times weights.
"""

import numpy as np

from spinney.growth.forest.kernels.categories import FEW_CATEGORIES, is_ordering, order_sign
from spinney.growth.forest.kernels.cells import list_codes, sort_places, touch
from spinney.growth.forest.kernels.drawn import (
    MAX_DRAWN_CLASSES,
    cut_of_drawn,
    draw_numbers,
    may_draw_together,
    rows_in_bytes,
    sum_drawn_classes,
)  # fmt: skip
from spinney.growth.forest.kernels.entries import entries_of, has_sparse
from spinney.growth.forest.kernels.pairs import (  # fmt: skip
    code_range,
    goes_left_of,
    keep_set,
    range_of_entries,
    try_drawn_cut,
)
from spinney.growth.forest.kernels.records import (
    MOVED,
    SMALL_NODE_ROWS,
    SQUARES,
    TARGET,
    WEIGHT,
    differs,
    payload_of,
    row_of,
    target_of,
    weight_of,
)
from spinney.growth.forest.kernels.rows import read_codes
from spinney.growth.forest.kernels.scores import (
    DECIDE_LATER,
    NEVER,
    cut_after,
    keep_best,
    keep_drawn,
    score_channels,  # fmt: skip
    side_score,
)
from spinney.growth.forest.kernels.small_nodes import (
    classes_fit_word,
    cut_byte_weights,
    has_byte_weights,
    has_one_cut,
    is_plain,
    search_small_classes,
    try_one_cut,
)  # fmt: skip
from spinney.jit import inline
from spinney.sampling.kernels.random import PURPOSE_CUT, random_bits

# Rows of a node from which its codes are found by a walk over all cells of a column; other numbers were not measured.
WALKED_ROWS = 256


# --- Sums of a node's rows by code of a column


@inline
def add_record(i, sums, at, target, rows):
    """Add a record to a cell."""
    add_with_weight(i, weight_of(i, rows), sums, at, target, rows)


@inline
def add_with_weight(i, weight, sums, at, target, rows):
    """Add a record to a cell with some weight; minus its weight removes it."""
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
    """Add a node's rows to the cells of a sparse column: its default bin has the node's totals without those of the entries."""
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
    """Add a node's rows to the cells of a column whose codes are in the records, without marking which codes occur."""
    words = rows.words
    place = node.begin * words * 8 + data.features.group_of[column]
    numbers = payload_of(node.begin, words)
    for _ in range(node.begin, node.end):
        code = np.int64(rows.bytes[place])
        mine.cells[code * width + 1 + np.int64(rows.ints[numbers - TARGET])] += np.int64(
            rows.ints[numbers - WEIGHT]
        )
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
def list_channels(column, codes, counted, node, data, row_codes, target, rules, rows, mine):
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
            cells[code * width + 1 + np.int64(rows.ints[numbers - TARGET])] += np.int64(
                rows.ints[numbers - WEIGHT]
            )
            touch(code, mine)
            if counted:
                mine.cell_rows[code] += 1
            place += words * 8
            numbers += words * 2
    elif has_sparse(data, rules) and data.features.group_of[column] < 0:
        add_entries(column, counted, node, data, target, rows, mine)
    else:
        read_codes(column, node.begin, node.end, data, row_codes, rules, rows, mine)
        for i in range(node.begin, node.end):
            code = np.int64(mine.node_codes[i - node.begin])
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


# --- The best cut of a column


@inline
def add_cell(j, width, listed_sums, sums):
    """Add a cell of the list to some sums."""
    for k in range(width):
        sums[k] += listed_sums[j * width + k]


@inline
def cut_channels(listed, column, bins, node, values, target, rules, mine):
    """Choose the best cut of a column of numbers from the list of its cells."""
    width = target.channels + 1
    at = values.starts[column]
    missing = np.int64(mine.list_code[listed - 1]) == bins
    found = listed - 1 if missing else listed
    if (
        rules.formula == SQUARES
        and target.classes != 0
        and not missing
        and rules.min_leaf == 1
        and node.min_weight == 0.0
    ):
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
                cut, above = cut_after(
                    np.int64(mine.list_code[j]), np.int64(mine.list_code[j + 1]), bins, at, values, rules
                )
                keep_best(score, column, cut, above, side if missing else DECIDE_LATER, 0, mine)


@inline
def cut_squares(listed, column, bins, at, node, values, target, rules, mine):
    """As `cut_channels`, for classes, squares and no limits on leaves: sums of squares are updated, in whole numbers."""
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
        score = float(squares) / float(left) + float(all_squares - 2 * products + squares) / float(
            weight - left
        )
        if score > best:
            best = score
            place = j
    if place >= 0:
        cut, above = cut_after(
            np.int64(mine.list_code[place]), np.int64(mine.list_code[place + 1]), bins, at, values, rules
        )  # fmt: skip
        keep_best(best, column, cut, above, DECIDE_LATER, 0, mine)


@inline
def largest_channel(node, target):
    """The channel of the largest total of a node."""
    found = 1
    for k in range(2, target.channels + 1):
        if node.totals[k] > node.totals[found]:
            found = k
    return found


@inline
def sum_halves(column, node, data, row_codes, target, rules, rows, mine):
    """Sum the rows that order a column's categories in its cells, and all others in `half_totals`."""
    width = target.channels + 1
    read_codes(column, node.begin, node.end, data, row_codes, rules, rows, mine)
    for k in range(width):
        mine.half_totals[k] = 0
    for i in range(node.begin, node.end):
        if is_ordering(i, node, rows) != 0:
            add_record(i, mine.cells, np.int64(mine.node_codes[i - node.begin]) * width, target, rows)
        else:
            add_record(i, mine.half_totals, 0, target, rows)


@inline
def can_evaluate_channels(listed, width, mine):
    """Whether the evaluating half has rows of two categories."""
    evaluating = 0
    for j in range(listed):
        evaluating += 1 if mine.list_sums[j * width] != mine.cells[np.int64(mine.list_code[j]) * width] else 0
    return evaluating > 1


@inline
def score_by_half(node, target, rules, mine):
    """Score of a cut by the evaluating half."""
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
    sign = order_sign(node) if halves else 1.0
    for j in range(listed):
        at = np.int64(mine.list_code[j]) * width if halves else j * width
        sums = mine.cells if halves else mine.list_sums
        mine.scores[j] = sign * (float(sums[at + key]) / float(sums[at]) if sums[at] != 0 else mean)
        mine.keys[j] = j
    sort_places(listed, mine.scores, mine.keys)


@inline
def cut_categories_of_channels(listed, column, bins, node, data, row_codes, target, rules, rows, words, mine):
    """Choose the best set of a column's categories, in their order. Where categories are many, one half of the rows orders them,
    and the other half evaluates the sets.
    """
    width = target.channels + 1
    missing = np.int64(mine.list_code[listed - 1]) == bins
    halves = listed > FEW_CATEGORIES
    if halves:
        sum_halves(column, node, data, row_codes, target, rules, rows, mine)
        halves = can_evaluate_channels(listed, width, mine)
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


# --- Drawn cuts


@inline
def add_left_classes(group, cut, node, target, rows, left):
    """Sum the classes of a node's rows whose codes, in the records, are at most `cut`. Returns how many rows these are."""
    words = rows.words
    place = node.begin * words * 8 + group
    numbers = payload_of(node.begin, words)
    on_left = np.int64(0)
    for _ in range(node.begin, node.end):
        go = np.int64(1) if np.int64(rows.bytes[place]) <= cut else np.int64(0)
        weight = np.int64(rows.ints[numbers - WEIGHT]) & -go
        left[0] += weight
        left[1 + np.int64(rows.ints[numbers - TARGET])] += weight
        on_left += go
        place += words * 8
        numbers += words * 2
    return on_left


@inline
def draw_sparse_of_channels(draw, column, bins, node, data, values, target, rules, rows, mine):
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
    on_left = count if rest_left else np.int64(0)
    for k in range(target.channels + 1):
        mine.left[k] = node.totals[k] if rest_left else np.int64(0)
    for k in range(first, first + found):
        if goes_left_of(np.int64(mine.entry_bins[k]), cut, bins, default_left) != rest_left:
            i = node.begin + mine.entry_places[k]
            weight = weight_of(i, rows)
            add_with_weight(i, -weight if rest_left else weight, mine.left, 0, target, rows)
            on_left += -1 if rest_left else 1
    score = score_channels(on_left, mine.left, node, target, rules)
    keep_drawn(score, column, cut, default_left, mine)
    return 1


@inline
def draw_cut_of_channels(draw, column, bins, node, data, row_codes, values, target, rules, rows, mine):
    """Try one cut of a column, drawn uniformly in the range of the node's values. Returns 1 unless the column is constant."""
    held = rules.access == MOVED and target.outputs == 1
    low = np.int64(0)
    high = bins
    missing = False
    if held:
        low = np.int64(mine.low[data.features.group_of[column]])
        high = np.int64(mine.high[data.features.group_of[column]])
    if has_sparse(data, rules) and data.features.group_of[column] < 0:
        return draw_sparse_of_channels(draw, column, bins, node, data, values, target, rules, rows, mine)
    if high == bins:
        read_codes(column, node.begin, node.end, data, row_codes, rules, rows, mine)
        low, high, missing = code_range(bins, node.end - node.begin, mine.node_codes)
        held = False
    if high < 0 or (low == high and not missing):
        return 0
    cut, default_left = try_drawn_cut(
        draw, column, bins, low, high, missing, values.starts[column], node, values
    )
    for k in range(target.channels + 1):
        mine.left[k] = 0
    on_left = np.int64(0)
    if held:
        on_left = add_left_classes(data.features.group_of[column], cut, node, target, rows, mine.left)
    else:
        for i in range(node.begin, node.end):
            code = np.int64(mine.node_codes[i - node.begin])
            if goes_left_of(code, cut, bins, default_left):
                add_record(i, mine.left, 0, target, rows)
                on_left += 1
    score = score_channels(on_left, mine.left, node, target, rules)
    keep_drawn(score, column, cut, default_left, mine)
    return 1


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


@inline
def score_drawn_classes(k, node, values, target, rules, mine):
    """Score the cut drawn for one of some columns."""
    channels = target.channels
    weight = np.int64(0)
    for channel in range(channels):
        part = mine.left_classes[k * channels + channel]
        mine.left[1 + channel] = part
        weight += part
    mine.left[0] = weight
    score = score_channels(weight, mine.left, node, target, rules)
    if score > mine.best[0].score:
        keep_best(score, mine.chosen[k], cut_of_drawn(k, node, values, mine), 0, DECIDE_LATER, 0, mine)


# --- Searching the columns chosen for a node


@inline
def search_channels(count, node, data, row_codes, values, target, rules, rows, words, mine):
    """Search the columns chosen. Returns how many are not constant."""
    good = np.int64(0)
    counted = rules.min_leaf > 1
    byte_weights = has_byte_weights(node, target, rules)
    held = rules.access == MOVED and target.classes != 0 and target.outputs == 1
    drawn = False
    if rules.random != 0 and held and target.channels <= MAX_DRAWN_CLASSES and may_draw_together(node, rules):
        draw_numbers(count, node, data, values, mine)
        drawn = sum_drawn_classes(count, target.channels, node, values, rows, mine)
    begin = np.int64(0)
    if byte_weights and rules.random == 0 and node.end - node.begin <= SMALL_NODE_ROWS:
        begin = search_small_classes(count, node, data, values, rules, rows, mine)
        if begin == count:
            return count
        good = begin
    at_once = rows_in_bytes(node) if classes_fit_word(target, rules) else np.int64(0)
    free = rules.formula == SQUARES and node.min_weight == 0.0 and at_once > 0
    for k in range(begin, count):
        if mine.best[0].score >= node.perfect:
            return good
        column = mine.chosen[k]
        bins = values.codes[column]
        categorical = data.features.categorical[column] != 0
        if drawn and mine.drawn[k].separate == 0:
            score_drawn_classes(k, node, values, target, rules, mine)
            good += 1
            continue
        if rules.random != 0 and not categorical:
            good += draw_cut_of_channels(
                mine.chosen_draw[k], column, bins, node, data, row_codes, values, target, rules, rows, mine
            )
            continue
        if free and is_plain(column, bins, data, mine) and has_one_cut(column, data, mine):
            try_one_cut(at_once, column, bins, node, data, values, target, rules, rows, mine)
            good += 1
            continue
        if byte_weights and not categorical:
            found = cut_byte_weights(column, bins, node, data, values, target, rules, rows, mine)
            if found >= 0:
                good += found
                continue
        listed = list_channels(column, bins + 1, counted, node, data, row_codes, target, rules, rows, mine)
        if listed < 2:
            continue
        good += 1
        if not categorical:
            cut_channels(listed, column, bins, node, values, target, rules, mine)
        elif rules.random != 0:
            draw_categories_of_channels(
                mine.chosen_draw[k], listed, column, bins, node, target, rules, words, mine
            )
        else:
            cut_categories_of_channels(
                listed, column, bins, node, data, row_codes, target, rules, rows, words, mine
            )
    return good
