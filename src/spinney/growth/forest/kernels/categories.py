"""Categories of a node: which rows order them and which ones evaluate, and the side of categories that the node does not have.

The order of categories by the targets of a few rows each fits noise: its best set looks far better than it is, and wins against
columns with more signal. So the rows of a node are divided into two halves: one orders the categories of a column, the other
evaluates the sets of this order. By rows that had no part in the order, a set has the score that it will have for new rows. Few
categories have no more sets than a column of numbers has cuts, so all rows order and evaluate them. Categories that the node does
not have get a side by chance.
"""

import numpy as np

from spinney.growth.forest.kernels.cells import clear_set, put_in
from spinney.growth.forest.kernels.records import row_of, weight_of
from spinney.growth.forest.kernels.rows import read_codes
from spinney.jit import inline
from spinney.sampling.kernels.random import PURPOSE_ABSENT, PURPOSE_HALF, PURPOSE_ORDER, random_bits, unit

# Categories of a node up to which all of its rows order and evaluate. With 8 instead, explained variance of a classifier of 400
# categories falls from .128 to .119 (8 000 rows); with 0, that of 12 categories from .417 to .410 (3 000 rows).
FEW_CATEGORIES = 4


@inline
def is_ordering(i, node, rows):
    """1 for a record of the half that orders categories, 0 for one of the half that evaluates."""
    return random_bits(node.key, PURPOSE_HALF, row_of(i, rows)) & 1


@inline
def order_sign(node):
    """1 or -1 by chance: whether the categories of a node are ordered upwards or downwards.

    Categories with the same mean, like those that the ordering half does not have, are in the order of their codes, frequent ones
    first. If all orders were upwards, rare ones would stand beside the larger targets, and their predictions would be too large.
    """
    return 1.0 - 2.0 * float(random_bits(node.key, PURPOSE_ORDER, 0) & 1)


# --- The side of categories that no row of a node has: left or right by chance, as likely as a row of the node goes there.
#
# So the expected prediction of a row of such a category is the mean of the node. A rule by the order of categories would send
# all of them to large targets, or all to small ones.


DIGITS = 6  # of a chance: a multiple of 1/64, rounded up or down by chance


@inline
def chance_of_left(begin, middle, end, key, rows):
    """The left side's share of a node's weight, in parts of 64."""
    left = np.int64(0)
    for i in range(begin, middle):
        left += weight_of(i, rows)
    right = np.int64(0)
    for i in range(middle, end):
        right += weight_of(i, rows)
    share = float(left) / float(left + right)
    return min(np.int64(share * 64.0 + unit(random_bits(key, PURPOSE_ABSENT, 1))), np.int64(63))


@inline
def bits_by_chance(chance, word, key):
    """64 bits, each 1 with a chance of so many 64ths: from the last digit on, 1 is an `or` with random bits, 0 an `and`."""
    bits = np.int64(0)
    for digit in range(DIGITS):
        fresh = random_bits(key, PURPOSE_ABSENT, 2 + word * DIGITS + digit)
        bits = bits | fresh if (chance >> digit) & 1 != 0 else bits & fresh
    return bits


@inline
def place_absent(best, begin, middle, end, key, data, row_codes, values, rules, rows, words, mine):
    """Choose the sides of categories that a node does not have, and of missing values if it has none."""
    chance = chance_of_left(begin, middle, end, key, rows)
    if best.default_left < 0:
        best.default_left = random_bits(key, PURPOSE_ABSENT, 0) & 63 < chance
    column = best.column
    categories = values.codes[column]
    clear_set(words, mine.present)
    read_codes(column, begin, end, data, row_codes, rules, rows, mine)
    for k in range(end - begin):
        if np.int64(mine.node_codes[k]) < categories:
            put_in(np.int64(mine.node_codes[k]), mine.present)
    for word in range((categories + 63) >> 6):
        known = min(categories - word * 64, np.int64(64))
        inside = np.int64(-1) if known == 64 else (np.int64(1) << known) - 1
        mine.best_set[word] |= bits_by_chance(chance, word, key) & ~mine.present[word] & inside
