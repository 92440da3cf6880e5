"""Random bits by counter: a function of (seed, purpose, position), never of the order of draws or of threads.

Here are the bits, draws from short lists, and the number of every purpose.
"""

import numpy as np

from spinney.jit import inline
from spinney.jit.intrinsics import bits_of
from spinney.jit.math import log

GOLDEN = -7046029254386353131
MIX_1 = -4658895280553007687
MIX_2 = -7723592293110705685
LOW_32 = 4294967295


@inline
def mixed(key):
    """Scramble 64 bits (splitmix64's finaliser)."""
    z = np.int64(key)
    z = (z ^ ((z >> 30) & 17179869183)) * MIX_1
    z = (z ^ ((z >> 27) & 137438953471)) * MIX_2
    return z ^ ((z >> 31) & 8589934591)


@inline
def key_of_child(key, right):
    """Key of the random numbers of a node's left (0) or right (1) child."""
    return mixed(2 * key + right + 1)


@inline
def random_bits(seed, purpose, position):
    """64 random bits for a position of a purpose."""
    return mixed(mixed(seed + np.int64(purpose) * GOLDEN) + np.int64(position + 1) * GOLDEN)


@inline
def unit(bits):
    """The high 32 of 64 random bits as a number in [0, 1)."""
    return float((bits >> 32) & LOW_32) * 2.3283064365386963e-10


@inline
def choose(numbers, at, count, wanted, seed, purpose):
    """Keep `wanted` of the `count` numbers at `at`, each set equally likely, in their order; returns how many.

    The numbers behind those that are kept are overwritten.
    """
    kept = 0
    for i in range(count):
        wins = unit(random_bits(seed, purpose, i)) * float(count - i) < float(wanted - kept)
        # Written without a branch, which is faster; the next one that wins overwrites one that does not.
        numbers[at + kept] = numbers[at + i]
        kept += 1 if wins else 0
    return kept


@inline
def choose_by_weight(numbers, at, count, wanted, seed, purpose, weights, keys, keys_at):
    """As `choose`, with chances in proportion to weights; numbers of weight 0 are left out.

    Every number gets a waiting time, exponential with its weight as rate, and the shortest times win (Efraimidis and Spirakis).
    """
    able = 0
    for i in range(count):
        weight = weights[numbers[at + i]]
        # Half a step up, so that no number is 0.
        waiting = -log(unit(random_bits(seed, purpose, i)) + 1.1641532182693481e-10) / (
            weight if weight > 0.0 else 1.0
        )
        keys[keys_at + i] = waiting if weight > 0.0 else float("inf")
        able += 1 if weight > 0.0 else 0
    needed = min(wanted, able)
    # The longest time that wins, by bisection: bits of positive floats have the order of the floats.
    low = np.int64(0)
    high = bits_of(float("inf"))
    while low < high:
        middle = low + ((high - low) >> 1)
        within = 0
        for i in range(count):
            within += 1 if bits_of(keys[keys_at + i]) <= middle else 0
        if within >= needed:
            high = middle
        else:
            low = middle + 1
    shorter = 0
    for i in range(count):
        shorter += 1 if bits_of(keys[keys_at + i]) < low else 0
    equal = needed - shorter
    kept = 0
    for i in range(count):
        key = bits_of(keys[keys_at + i])
        wins = key < low or (key == low and equal > 0 and weights[numbers[at + i]] > 0.0)
        if wins:
            equal -= 1 if key == low else 0
            numbers[at + kept] = numbers[at + i]
            kept += 1
    return kept


# --- Purposes.
#
# Every purpose has a number of its own, so that no two draws share their bits. Models depend on these numbers: one that is in use
# never changes. Each line ends with what the position is. The seed of what is drawn for a node depends on the node's path.


PURPOSE_ROUNDING = 1  # whether quantized gradients are rounded up or down; by row
PURPOSE_ROWS = 2  # a uniform sample of rows; by row
PURPOSE_COLUMNS = 3  # the columns of a tree; by column
PURPOSE_OTHERS = 4  # rows that GOSS draws besides those it keeps; by row
PURPOSE_WEIGHTED = 5  # rows drawn in proportion to their gradients; by row
PURPOSE_CHANCE = 6  # rows drawn each with a chance of its own; by row
PURPOSE_TREE = 7  # the seed of a tree of a forest; by its number
PURPOSE_BAG = 8  # a row of a tree's bag, drawn with replacement; by draw
PURPOSE_SUBSET = 9  # rows of a tree's bag, each at most once; by row
PURPOSE_SPLIT = 10  # the columns that a node of a forest tries; by draw
PURPOSE_CUT = 11  # where an extra tree cuts a column; by draw
PURPOSE_SHUFFLE = 12  # the order of a shuffled column, by its number and that of the tree or repeat; by row
PURPOSE_SMALL_SAMPLE = 13  # the rows of an isolation tree; by draw
PURPOSE_SIDE = 14  # the side of missing values at a split of an isolation tree; 0
PURPOSE_SET = 15  # which categories go left there; by try and category
PURPOSE_WEIGHTED_BAG = 16  # a row of a bag, drawn with replacement by weight; by draw
PURPOSE_PLACE = 17  # where in its gap the threshold of a drawn cut lies; only 0
PURPOSE_TARGETS = 18  # scores that rows of a query should have relative to each other, in one round; by row
PURPOSE_FOLDS = 20  # the order in which rows or groups of rows are assigned to folds or parts; by position
PURPOSE_ENCODING_FOLDS = 21  # the fold of a row for target encoding; by row, query or hash
PURPOSE_HASH = 22  # the word of a bin in the hashes of rows, by position among the bins of all columns; of a target, by its bits
PURPOSE_HALF = 23  # the rows of a node that order categories; the others evaluate; by row
PURPOSE_ABSENT = 24  # sides of categories that a node does not have; by word and digit
PURPOSE_ORDER = 25  # whether an order of categories runs up or down; only 0
PURPOSE_LEVEL = 1000  # plus the depth: the columns of a level; by position among the tree's columns
PURPOSE_NODE = 1000000  # the columns of a node; by position among the level's columns
