"""Searching a column of a node of few rows that has a weight and one sum.

The rows are sorted by code: a key is the code and the place of the row in the node. Sums up to each row are whole numbers, kept
as floats that hold them without rounding, so that scores are those of packed sums.
"""

import numpy as np

from spinney.growth.forest.kernels.access import payload_of
from spinney.growth.forest.kernels.pairs import DECIDE_LATER, cut_after, keep_best
from spinney.growth.forest.kernels.records import FEW_ROWS, MOVED, SQUARES, TARGET, WEIGHT
from spinney.growth.forest.kernels.scores import NEVER
from spinney.jit.inline import inline
from spinney.jit.intrinsics import first_highest, sort_line, turn_records

EXACT_BITS = 53  # of a whole number that a float64 holds
NO_KEY = 65535  # above all keys


@inline
def has_few_rows(node, rules):
    """Whether a node's rows are sorted: they are few, hold their codes, and leaves have no limits but on their rows."""
    few = node.end - node.begin <= FEW_ROWS and rules.access == MOVED and rules.random == 0
    free = rules.formula == SQUARES and node.min_weight == 0.0 and rules.bounded == 0
    return few and free and node.bits + rules.target_bits <= EXACT_BITS


@inline
def is_plain(column, bins, data, mine):
    """Whether a column has numbers, none of them missing in the node, given the ranges of codes in the node."""
    return data.features.categorical[column] == 0 and np.int64(mine.high[data.features.group_of[column]]) < bins


@inline
def note_rows(node, rows, mine):
    """Note what each row of a node weighs and adds to the sum."""
    words = rows.words
    numbers = payload_of(node.begin, words)
    count = node.end - node.begin
    for k in range(count):
        weight = np.int64(rows.ints[numbers - WEIGHT])
        mine.few_weights[k] = float(weight)
        mine.few_sums[k] = float((np.int64(rows.ints[numbers - TARGET]) >> node.shift) * weight)
        numbers += words * 2
    mine.few_turned[0] = 0


@inline
def sort_rows(group, node, rows, mine):
    """Sort a node's rows by code of a column. Codes of 32 columns are turned into lines when one of them is first asked for."""
    count = node.end - node.begin
    chunk = group >> 5
    if (mine.few_turned[0] >> chunk) & 1 == 0:
        mine.few_turned[0] |= np.int64(1) << chunk
        for first in range(0, count, 16):
            turn_records(
                rows.memory, (node.begin + first) * rows.words + chunk * 4, rows.words, min(count - first, np.int64(16)),
                mine.few_codes, chunk * 32 * FEW_ROWS + first,
            )  # fmt: skip
    sort_line(mine.few_codes, group * FEW_ROWS, count, mine.few_keys)


@inline
def keep_between(scored, mine):
    """Take back the scores of cuts that part rows of the same code, or are behind the last row."""
    keys = mine.few_keys
    for j in range(scored):
        between = ((keys[j] ^ keys[j + 1]) > 255) & (keys[j + 1] != NO_KEY)
        mine.few_scores[j] = mine.few_scores[j] if between else NEVER


@inline
def keep_best_row(scored, column, bins, values, rules, mine):
    """Note the best of the cuts behind rows, if it is the best so far."""
    j = first_highest(mine.few_scores, scored)
    if mine.few_scores[j] > mine.best[0].score:
        low = np.int64(mine.few_keys[j]) >> 8
        high = np.int64(mine.few_keys[j + 1]) >> 8
        cut, above = cut_after(low, high, bins, values.starts[column], values, rules)
        keep_best(mine.few_scores[j], column, cut, above, DECIDE_LATER, 0, mine)


@inline
def score_rows(count, node, mine):
    """Scores of the cuts behind each row of a node, in the order of their codes. Returns how many there are, with those behind
    the last row: a multiple of eight.
    """
    keys = mine.few_keys
    left = 0.0
    s = 0.0
    for j in range(count):
        k = np.int64(keys[j]) & 255
        left += mine.few_weights[k]
        s += mine.few_sums[k]
        mine.left_weights[j] = left
        mine.left_totals[j] = s
    weight = float(node.weight)
    scored = (count + 7) & -8
    for j in range(scored):
        d = mine.left_totals[j] * weight - s * mine.left_weights[j]
        mine.few_scores[j] = d * d / (mine.left_weights[j] * (weight - mine.left_weights[j]))
    # A loop of its own: a branch would lead around the division.
    keep_between(scored, mine)
    return scored


@inline
def cut_two_rows(column, bins, node, data, values, rules, rows, mine):
    """The only cut of a column that parts two rows."""
    group = data.features.group_of[column]
    low = np.int64(mine.low[group])
    high = np.int64(mine.high[group])
    first = 0 if np.int64(rows.bytes[node.begin * rows.words * 8 + group]) == low else 1
    left = mine.few_weights[first]
    weight = float(node.weight)
    d = mine.few_sums[first] * weight - (mine.few_sums[0] + mine.few_sums[1]) * left
    cut, above = cut_after(low, high, bins, values.starts[column], values, rules)
    keep_best(d * d / (left * (weight - left)), column, cut, above, DECIDE_LATER, 0, mine)


@inline
def cut_few_rows(column, bins, node, data, values, rules, rows, mine):
    """Choose the best cut of a column of numbers that is not constant in a node of few rows and has no missing values there."""
    count = node.end - node.begin
    if count == 2:
        cut_two_rows(column, bins, node, data, values, rules, rows, mine)
        return
    sort_rows(data.features.group_of[column], node, rows, mine)
    scored = score_rows(count, node, mine)
    # Limits on the rows of leaves leave out the first and the last ones.
    for k in range(rules.min_leaf - 1):
        mine.few_scores[k] = NEVER
        mine.few_scores[count - 2 - k] = NEVER
    keep_best_row(scored, column, bins, values, rules, mine)


@inline
def search_few_rows(count, node, data, values, rules, rows, mine):
    """Look for the best split in the columns chosen, up to the first one that is not plain, or until no column can do better.
    Returns how many were looked at.
    """
    if mine.best[0].looked == 0:
        note_rows(node, rows, mine)
    for k in range(count):
        column = mine.chosen[k]
        bins = values.codes[column]
        if not is_plain(column, bins, data, mine):
            return k
        cut_few_rows(column, bins, node, data, values, rules, rows, mine)
        if mine.best[0].score >= node.perfect:
            return count
    return count
