"""Cuts that are drawn for many columns together, whose codes are in the records.

A number is drawn between the values of a node's lowest and highest code. In a node of few rows their values are compared with
it, and the cut is only looked up where it is the best one. In larger nodes the cuts of four columns are looked up at the same
time, and one pass over the records sums the left side of each cut, up to 32 columns at once; no cells are needed. A tree of two
classes takes 17.4 ms instead of 31.4 with a search for every column and four-column passes, one of numbers that tries all columns
47.5 instead of 143 (100 000 × 28, AMD EPYC).

Weights of classes are summed in bytes: in a node of more weight, as many rows at once as are sure to fit (`rows_in_bytes`).
"""

import numpy as np

from spinney.growth.forest.kernels.cells import packed_sum
from spinney.growth.forest.kernels.records import COMPARED_ROWS, TARGET, WEIGHT, payload_of
from spinney.jit import inline
from spinney.jit.intrinsics import classes_below, either, sums_below, tail
from spinney.sampling.kernels.random import PURPOSE_CUT, random_bits, unit

MAX_DRAWN_CLASSES = 8  # most classes whose weights are summed in bytes (see `below_classes`)
MAX_BYTE = 255  # most weight that is summed in a byte
MIN_BYTE_ROWS = 8  # rows that a sum in bytes must have
FIRST_STEP = 128  # of a search among 256 codes


@inline
def number_between(bits, low, high, at, values):
    """A number drawn uniformly between the values of two codes."""
    # Parts are added, because the difference of huge values would overflow.
    share = unit(bits)
    return values.values[at + low] * (1.0 - share) + values.values[at + high] * share


@inline
def may_draw_together(node, rules):
    """Whether rows on the left of cuts need not be counted: because leaves may have any number of rows, or it is their weight."""
    return rules.min_leaf == 1 or node.heaviest == 1


@inline
def draw_numbers(count, node, data, values, mine):
    """Draw a number for each of the columns chosen. Returns how many of them have categories or, in the node, missing values;
    cuts of those are drawn separately.
    """
    features = data.features
    separate = np.int64(0)
    for k in range(count):
        column = mine.chosen[k]
        group = features.group_of[column]
        drawn = mine.drawn[k]
        low = np.int64(mine.low[group])
        high = np.int64(mine.high[group])
        codes = values.codes[column]
        drawn.separate = 1 if features.categorical[column] != 0 or high == codes else 0
        separate += drawn.separate
        high = min(high, codes - 1)
        at = values.starts[column]
        bits = random_bits(node.key, PURPOSE_CUT, mine.chosen_draw[k])
        drawn.number = number_between(bits, low, high, at, values)
        drawn.values_at = at
        drawn.low = low
        drawn.high = high
        drawn.place = group
    return separate


@inline
def is_below(code, low, high, number, column_values):
    """1 where a code goes left of a number drawn between the values of two others: the lower one always, the higher one never."""
    by_value = (1 if column_values[code] <= number else 0) & (1 if code < high else 0)
    return by_value | (1 if code == low else 0)


@inline
def compare_packed(count, node, values, rows, mine):
    """Packed sums on the left of each number drawn, in a node of few rows: the values of its rows are compared with it."""
    words = rows.words
    size = node.end - node.begin
    numbers = payload_of(node.begin, words)
    for i in range(size):
        mine.row_sums[i] = packed_sum(
            np.int64(rows.ints[numbers - TARGET]), np.int64(rows.ints[numbers - WEIGHT]), node
        )
        numbers += words * 2
    for k in range(count):
        drawn = mine.drawn[k]
        low = drawn.low
        high = drawn.high
        number = drawn.number
        column_values = tail(values.values, drawn.values_at)
        held = tail(rows.bytes, node.begin * words * 8 + drawn.place)
        packed = np.int64(0)
        for i in range(size):
            go = is_below(np.int64(held[i * words * 8]), low, high, number, column_values)
            packed += either(go, mine.row_sums[i], np.int64(0))
        mine.left_sums[k] = packed


@inline
def compare_classes(count, classes, node, values, rows, mine):
    """As `compare_packed`, of the weights of classes."""
    words = rows.words
    for k in range(count):
        left = tail(mine.left_classes, k * classes)
        for c in range(classes):
            left[c] = 0
        drawn = mine.drawn[k]
        low = drawn.low
        high = drawn.high
        number = drawn.number
        column_values = tail(values.values, drawn.values_at)
        place = node.begin * words * 8 + drawn.place
        numbers = payload_of(node.begin, words)
        for _ in range(node.begin, node.end):
            go = is_below(np.int64(rows.bytes[place]), low, high, number, column_values)
            left[rows.ints[numbers - TARGET]] += either(
                go, np.int64(rows.ints[numbers - WEIGHT]), np.int64(0)
            )
            place += words * 8
            numbers += words * 2


@inline
def step_up(first, step, last, number, column_values):
    """A code, or the code a step higher, if that is not above `last` and its value is not above the number."""
    above = first + step
    # With a branch for each step a tree of numbers takes 20 ms more.
    goes = (1 if column_values[above] <= number else 0) & (1 if above <= last else 0)
    return either(goes, above, first)


@inline
def find_cuts(count, values, mine):
    """The last code before `high` whose value is not above the number drawn, of four columns at a time (see `middle_cut`)."""
    for k in range(count, (count + 3) & -4):
        mine.drawn[k].low = 0
        mine.drawn[k].high = 0
        mine.drawn[k].values_at = 0
        mine.drawn[k].number = 0.0
    for k in range(0, count, 4):
        a = mine.drawn[k]
        b = mine.drawn[k + 1]
        c = mine.drawn[k + 2]
        d = mine.drawn[k + 3]
        cut_a = a.low
        cut_b = b.low
        cut_c = c.low
        cut_d = d.low
        last_a = max(a.high - 1, cut_a)
        last_b = max(b.high - 1, cut_b)
        last_c = max(c.high - 1, cut_c)
        last_d = max(d.high - 1, cut_d)
        number_a = a.number
        number_b = b.number
        number_c = c.number
        number_d = d.number
        values_a = tail(values.values, a.values_at)
        values_b = tail(values.values, b.values_at)
        values_c = tail(values.values, c.values_at)
        values_d = tail(values.values, d.values_at)
        step = np.int64(FIRST_STEP)
        while step > 0:
            cut_a = step_up(cut_a, step, last_a, number_a, values_a)
            cut_b = step_up(cut_b, step, last_b, number_b, values_b)
            cut_c = step_up(cut_c, step, last_c, number_c, values_c)
            cut_d = step_up(cut_d, step, last_d, number_d, values_d)
            step >>= 1
        a.cut = cut_a
        b.cut = cut_b
        c.cut = cut_c
        d.cut = cut_d
    for k in range(count):
        mine.drawn_cuts[mine.drawn[k].place] = mine.drawn[k].cut


@inline
def rows_in_bytes(node):
    """Number of rows whose weights of each class are sure to fit a byte; 0 where this is too small."""
    if node.weight <= MAX_BYTE:
        return node.end - node.begin
    return MAX_BYTE // node.heaviest if node.heaviest * MIN_BYTE_ROWS <= MAX_BYTE else np.int64(0)


@inline
def pass_classes(count, at_once, classes, node, rows, mine):
    """As `compare_classes`, of a node of more rows, in one pass over its records for 32 columns; `at_once` rows fit bytes."""
    for k in range(count * classes):
        mine.left_classes[k] = 0
    words = rows.words
    for chunk in range(mine.chunks):
        for begin in range(node.begin, node.end, at_once):
            classes_below(
                rows.memory, begin * words, words, min(at_once, node.end - begin), chunk * 4, mine.drawn_cuts, chunk * 32,
                classes, mine.below_classes,
            )  # fmt: skip
            for k in range(count):
                place = mine.drawn[k].place - chunk * 32
                if place >= 0 and place < 32:
                    for c in range(classes):
                        mine.left_classes[k * classes + c] += np.int64(mine.below_classes[c * 32 + place])


@inline
def pass_packed(count, node, rows, mine):
    """As `pass_classes`, of packed sums."""
    words = rows.words
    for chunk in range(mine.chunks):
        sums_below(
            rows.memory, node.begin * words, words, node.end - node.begin, chunk * 4, mine.drawn_cuts, chunk * 32,
            node.shift, node.bits, mine.below,
        )  # fmt: skip
        for k in range(count):
            place = mine.drawn[k].place - chunk * 32
            if place >= 0 and place < 32:
                mine.left_sums[k] = mine.below[place]


@inline
def sum_drawn_classes(count, classes, node, values, rows, mine):
    """Weights of the classes on the left of each number drawn. False: they are too large."""
    if node.end - node.begin <= COMPARED_ROWS:
        compare_classes(count, classes, node, values, rows, mine)
        return True
    at_once = rows_in_bytes(node)
    if at_once > 0:
        find_cuts(count, values, mine)
        pass_classes(count, at_once, classes, node, rows, mine)
    return at_once > 0


@inline
def sum_drawn_pairs(count, node, values, target, rows, mine):
    """Packed sums on the left of each number drawn."""
    if node.end - node.begin <= COMPARED_ROWS:
        compare_packed(count, node, values, rows, mine)
        return
    find_cuts(count, values, mine)
    at_once = rows_in_bytes(node) if target.classes != 0 else np.int64(0)
    if at_once == 0:
        pass_packed(count, node, rows, mine)
        return
    pass_classes(count, at_once, 2, node, rows, mine)
    for k in range(count):
        second = mine.left_classes[2 * k + 1]
        mine.left_sums[k] = (second << node.bits) + second + mine.left_classes[2 * k]


@inline
def cut_of_drawn(k, node, values, mine):
    """The cut of a column whose number was drawn."""
    drawn = mine.drawn[k]
    if node.end - node.begin > COMPARED_ROWS:
        return drawn.cut
    column_values = tail(values.values, drawn.values_at)
    cut = drawn.low
    step = np.int64(FIRST_STEP)
    while step > 0:
        cut = step_up(cut, step, drawn.high - 1, drawn.number, column_values)
        step >>= 1
    return cut
