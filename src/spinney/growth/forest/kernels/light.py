"""Searching a column of a light node: few classes, and a weight below 256.

The weights of all classes fit one word, a byte each, so that a row is added in one instruction and a cell is one number.
"""

import numpy as np

from spinney.growth.forest.kernels.access import payload_of
from spinney.growth.forest.kernels.cells import list_codes, touch
from spinney.growth.forest.kernels.pairs import DECIDE_LATER, cut_after, keep_best
from spinney.growth.forest.kernels.records import MOVED, SQUARES, TARGET, WEIGHT
from spinney.jit.inline import inline
from spinney.jit.intrinsics import lowest_bit

MOST_CLASSES = 7  # bytes below the sign
MOST_WEIGHT = 255


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
def byte_of(word, place):
    """One of a word's bytes, given the place of its first bit."""
    return (word >> place) & 255


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
