"""Where the categories go that no row of a node has: left or right by chance, as likely as a row of the node goes there.

So a row of such a category is expected to get the mean of the node. Any rule that goes by the order of the categories would
send it where targets are large, or where they are small.
"""

import numpy as np

from spinney.growth.forest.kernels.access import weight_of
from spinney.growth.forest.kernels.codes import read_codes
from spinney.growth.forest.kernels.ordering import clear_set, put_in
from spinney.jit.inline import inline
from spinney.sampling.kernels.purposes import PURPOSE_ABSENT
from spinney.sampling.kernels.random import random_bits, unit

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
    """64 bits, each of which is 1 with a chance of so many 64ths: from the last digit on, a 1 joins bits, a 0 meets them."""
    bits = np.int64(0)
    for digit in range(DIGITS):
        fresh = random_bits(key, PURPOSE_ABSENT, 2 + word * DIGITS + digit)
        bits = bits | fresh if (chance >> digit) & 1 != 0 else bits & fresh
    return bits


@inline
def place_absent(best, begin, middle, end, key, data, others, values, rules, rows, words, mine):
    """Put categories that a node does not have into the set of its split, or not, and missing values if it has none."""
    chance = chance_of_left(begin, middle, end, key, rows)
    if best.default_left < 0:
        best.default_left = random_bits(key, PURPOSE_ABSENT, 0) & 63 < chance
    column = best.column
    categories = values.codes[column]
    clear_set(words, mine.present)
    read_codes(column, begin, end, data, others, rules, rows, mine)
    for k in range(end - begin):
        if np.int64(mine.line[k]) < categories:
            put_in(np.int64(mine.line[k]), mine.present)
    for word in range((categories + 63) >> 6):
        known = min(categories - word * 64, np.int64(64))
        inside = np.int64(-1) if known == 64 else (np.int64(1) << known) - 1
        mine.best_set[word] |= bits_by_chance(chance, word, key) & ~mine.present[word] & inside
