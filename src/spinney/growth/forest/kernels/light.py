"""Searching a column of a light node: few classes, and a weight below 256.

The weights of all classes fit one word, a byte each, so that a row is added in one instruction and a cell is one number.
"""

import numpy as np

from spinney.growth.forest.kernels.access import columns_at_once, payload_of
from spinney.growth.forest.kernels.cells import list_codes, touch
from spinney.growth.forest.kernels.drawn import MOST_WEIGHT
from spinney.growth.forest.kernels.few import is_plain, keep_best_row, keep_between, sort_rows
from spinney.growth.forest.kernels.pairs import DECIDE_LATER, cut_after, keep_best
from spinney.growth.forest.kernels.records import CHOSEN, FEW_ROWS, MOVED, SQUARES, TARGET, WEIGHT
from spinney.jit.inline import inline
from spinney.jit.intrinsics import lowest_bit

MOST_CLASSES = 7  # bytes below the sign


@inline
def has_few_classes(target, rules):
    """Whether the classes of a tree fit a word, records hold codes, and rows of leaves are not counted."""
    few = target.classes != 0 and target.outputs == 1 and target.channels <= MOST_CLASSES
    return few and rules.min_leaf == 1 and rules.access == MOVED


@inline
def is_light(node, target, rules):
    """Whether the weights of a node's classes fit a word, and its leaves have no limits."""
    few = has_few_classes(target, rules) and rules.formula == SQUARES
    return few and node.min_weight == 0.0 and node.weight <= MOST_WEIGHT


@inline
def class_columns_at_once(size, node, rules):
    """How many columns of a node are searched in one go."""
    if rules.random == 0 and rules.access == MOVED and size > 2 and size <= FEW_ROWS:
        return np.int64(CHOSEN)
    return columns_at_once(size, node, rules)


@inline
def byte_of(word, place):
    """One of a word's bytes, given the place of its first bit."""
    return (word >> place) & 255


@inline
def note_light_rows(node, rows, mine):
    """Note what each row of a light node weighs: in the byte of its class, alone, and times the weight of its class."""
    numbers = payload_of(node.begin, rows.words)
    for k in range(node.end - node.begin):
        weight = np.int64(rows.ints[numbers - WEIGHT])
        target = np.int64(rows.ints[numbers - TARGET])
        mine.few_words[k] = weight << (target << 3)
        mine.few_bytes[k] = target << 3
        mine.few_weights[k] = float(weight)
        mine.few_sums[k] = float(weight * node.totals[1 + target])
        numbers += rows.words * 2
    mine.few_turned[0] = 0


@inline
def cut_few_light_rows(column, bins, node, data, values, rules, rows, mine):
    """Choose the best cut of a plain column that is not constant, in a light node of few rows."""
    sort_rows(data.features.group_of[column], node, rows, mine)
    count = node.end - node.begin
    left = np.int64(0)
    squares = np.int64(0)
    left_weight = 0.0
    products = 0.0
    for j in range(count):
        k = np.int64(mine.few_keys[j]) & 255
        place = mine.few_bytes[k]
        part = mine.few_words[k] >> place
        squares += part * (2 * byte_of(left, place) + part)
        left += mine.few_words[k]
        left_weight += mine.few_weights[k]
        products += mine.few_sums[k]
        mine.left_squares[j] = float(squares)
        mine.left_weights[j] = left_weight
        mine.left_totals[j] = products
    weight = float(node.weight)
    all_squares = float(squares)
    scored = (count + 7) & -8
    for j in range(scored):
        rest = all_squares - 2.0 * mine.left_totals[j] + mine.left_squares[j]
        mine.few_scores[j] = mine.left_squares[j] / mine.left_weights[j] + rest / (weight - mine.left_weights[j])
    keep_between(scored, mine)
    keep_best_row(scored, column, bins, values, rules, mine)


@inline
def search_few_light_rows(count, node, data, values, rules, rows, mine):
    """Look for the best split in the columns chosen, up to the first one that is not plain, or until no column can do better.
    Returns how many were looked at.
    """
    if mine.best[0].looked == 0:
        note_light_rows(node, rows, mine)
    for k in range(count):
        column = mine.chosen[k]
        bins = values.codes[column]
        if not is_plain(column, bins, data, mine):
            return k
        cut_few_light_rows(column, bins, node, data, values, rules, rows, mine)
        if mine.best[0].score >= node.perfect:
            return count
    return count


@inline
def has_one_cut(column, data, mine):
    """Whether the codes of a node in a column are two neighbours."""
    group = data.features.group_of[column]
    return np.int64(mine.high[group]) - np.int64(mine.low[group]) == 1


@inline
def sum_lower_code(at_once, group, low, node, channels, rows, mine):
    """Sum the classes of a node's rows that have the lower one of two codes. The weights of so many rows at once fit a byte."""
    for k in range(channels):
        mine.left[1 + k] = 0
    words = rows.words
    begin = node.begin
    while begin < node.end:
        end = min(begin + at_once, node.end)
        place = begin * words * 8 + group
        numbers = payload_of(begin, words)
        left = np.int64(0)
        for _ in range(begin, end):
            go = np.int64(1) if np.int64(rows.bytes[place]) == low else np.int64(0)
            left += (np.int64(rows.ints[numbers - WEIGHT]) & -go) << (np.int64(rows.ints[numbers - TARGET]) << 3)
            place += words * 8
            numbers += words * 2
        for k in range(channels):
            mine.left[1 + k] += byte_of(left, k << 3)
        begin = end


@inline
def try_one_cut(at_once, column, bins, node, data, values, target, rules, rows, mine):
    """Try the only cut of a column between two neighbouring codes."""
    group = data.features.group_of[column]
    low = np.int64(mine.low[group])
    sum_lower_code(at_once, group, low, node, target.channels, rows, mine)
    left = np.int64(0)
    squares = np.int64(0)
    products = np.int64(0)
    all_squares = np.int64(0)
    for k in range(1, target.channels + 1):
        part = mine.left[k]
        total = node.totals[k]
        left += part
        squares += part * part
        products += part * total
        all_squares += total * total
    score = float(squares) / float(left) + float(all_squares - 2 * products + squares) / float(node.weight - left)
    if score > mine.best[0].score:
        cut, above = cut_after(low, low + 1, bins, values.starts[column], values, rules)
        keep_best(score, column, cut, above, DECIDE_LATER, 0, mine)


@inline
def cut_light_classes(column, bins, node, data, values, target, rules, rows, mine):
    """Choose the best cut of a column of numbers. Returns 1, 0 where the column is constant, -1 where values are missing."""
    words = rows.words
    place = node.begin * words * 8 + data.features.group_of[column]
    numbers = payload_of(node.begin, words)
    cells = mine.cells
    for _ in range(node.begin, node.end):
        code = np.int64(rows.bytes[place])
        cells[code] += np.int64(rows.ints[numbers - WEIGHT]) << (np.int64(rows.ints[numbers - TARGET]) << 3)
        touch(code, mine)
        place += words * 8
        numbers += words * 2
    listed = list_codes(bins + 1, mine)
    if np.int64(mine.list_code[listed - 1]) == bins:
        for j in range(listed):
            cells[mine.list_code[j]] = 0
        return -1
    totals = np.int64(0)
    all_squares = np.int64(0)
    for k in range(target.channels):
        totals |= node.totals[1 + k] << (k << 3)
        all_squares += node.totals[1 + k] * node.totals[1 + k]
    left = np.int64(0)
    left_weight = np.int64(0)
    squares = np.int64(0)
    products = np.int64(0)
    best = mine.best[0].score
    found = -1
    for j in range(listed):
        code = mine.list_code[j]
        cell = cells[code]
        cells[code] = 0
        rest = cell
        while rest != 0:
            first = lowest_bit(rest) & 56
            part = byte_of(rest, first)
            squares += part * (2 * byte_of(left, first) + part)
            products += part * byte_of(totals, first)
            left_weight += part
            rest &= ~(np.int64(255) << first)
        left += cell
        if j < listed - 1:
            right = float(node.weight - left_weight)
            score = float(squares) / float(left_weight) + float(all_squares - 2 * products + squares) / right
            if score > best:
                best = score
                found = j
    if found >= 0:
        low = np.int64(mine.list_code[found])
        high = np.int64(mine.list_code[found + 1])
        cut, above = cut_after(low, high, bins, values.starts[column], values, rules)
        keep_best(best, column, cut, above, DECIDE_LATER, 0, mine)
    return 1 if listed > 1 else 0
