"""Drawn cuts of four columns in one pass over a node's records.

A row is one word of sums: packed, or with a byte for each class. What goes left is added under a mask, without a branch.
"""

import numpy as np

from spinney.growth.forest.kernels.access import payload_of
from spinney.growth.forest.kernels.cells import packed_sum
from spinney.growth.forest.kernels.pairs import try_drawn_cut
from spinney.growth.forest.kernels.records import TARGET, WEIGHT
from spinney.jit.inline import inline


@inline
def draw_four_cuts(node, data, values, mine):
    """Draw a cut for each of four columns. False: one of them is categorical, or has missing values in the node."""
    features = data.features
    for k in range(4):
        column = mine.chosen[k]
        bins = values.codes[column]
        high = np.int64(mine.high[features.group_of[column]])
        if features.categorical[column] != 0 or high == bins:
            return False
        low = np.int64(mine.low[features.group_of[column]])
        mine.cuts[k], _ = try_drawn_cut(
            mine.chosen_draw[k], column, bins, low, high, False, values.starts[column], node, values
        )  # fmt: skip
    return True


@inline
def add_four_left(begin, end, node, groups, by_class, rows, mine):
    """Sum what goes left of four cuts, and all rows last, of some of a node's records."""
    words = rows.words
    held = rows.bytes
    ints = rows.ints
    a = groups[mine.chosen[0]]
    b = groups[mine.chosen[1]]
    c = groups[mine.chosen[2]]
    d = groups[mine.chosen[3]]
    cut_a = mine.cuts[0]
    cut_b = mine.cuts[1]
    cut_c = mine.cuts[2]
    cut_d = mine.cuts[3]
    left_a = left_b = left_c = left_d = total = np.int64(0)
    place = begin * words * 8
    numbers = payload_of(begin, words)
    for _ in range(begin, end):
        target = np.int64(ints[numbers - TARGET])
        weight = np.int64(ints[numbers - WEIGHT])
        row = weight << (target << 3) if by_class else packed_sum(target, weight, node)
        total += row
        left_a += row if np.int64(held[place + a]) <= cut_a else np.int64(0)
        left_b += row if np.int64(held[place + b]) <= cut_b else np.int64(0)
        left_c += row if np.int64(held[place + c]) <= cut_c else np.int64(0)
        left_d += row if np.int64(held[place + d]) <= cut_d else np.int64(0)
        place += words * 8
        numbers += words * 2
    mine.left_sums[0] = left_a
    mine.left_sums[1] = left_b
    mine.left_sums[2] = left_c
    mine.left_sums[3] = left_d
    mine.left_sums[4] = total
