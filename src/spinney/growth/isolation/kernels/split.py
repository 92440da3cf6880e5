"""What is drawn at a node: a column, where it is cut, and where missing values go.

All of it depends on the node's rows and its key alone, which knows the tree and the path from the root.
"""

import numpy as np

from spinney.jit.inline import inline
from spinney.sampling.kernels.few import fine_unit
from spinney.sampling.kernels.purposes import PURPOSE_CUT, PURPOSE_SET, PURPOSE_SIDE, PURPOSE_SPLIT
from spinney.sampling.kernels.random import LOW_32, random_bits

# Columns that are drawn before all are looked at: mostly the first one will do.
TRIES = 8
SET_TRIES = 64
CATEGORY_BITS = 20  # of a category's number


@inline
def look(candidate, begin, end, tree, samples, mine):
    """The least and the largest value that a node's rows have of a candidate; they cross where all are missing.

    Values of a dense table are read on the way.
    """
    at = samples.starts[tree] + candidate
    low = float("inf")
    high = float("-inf")
    if samples.dense != 0:
        first = tree * samples.rows * samples.columns + np.int64(samples.column[at])
        for i in range(begin, end):
            x = samples.values[first + np.int64(mine.order[i]) * samples.columns]
            mine.values[i] = x
            low = x if x < low else low
            high = x if x > high else high
        return low, high
    stored = np.int64(0)
    for e in range(samples.entry_starts[at], samples.entry_starts[at + 1]):
        i = np.int64(mine.place[samples.entry_row[e]])
        if i >= begin and i < end:
            stored += 1
            x = samples.entry_value[e]
            low = x if x < low else low
            high = x if x > high else high
    if stored < end - begin:
        low = samples.absent if samples.absent < low else low
        high = samples.absent if samples.absent > high else high
    return low, high


@inline
def read(candidate, begin, end, tree, samples, mine):
    """Read a candidate's values of a node's rows, where `look` did not."""
    if samples.dense == 0:
        at = samples.starts[tree] + candidate
        for i in range(begin, end):
            mine.values[i] = samples.absent
        for e in range(samples.entry_starts[at], samples.entry_starts[at + 1]):
            i = np.int64(mine.place[samples.entry_row[e]])
            if i >= begin and i < end:
                mine.values[i] = samples.entry_value[e]


@inline
def drawn_place(key, draw, many):
    """One of so many places."""
    return (((random_bits(key, PURPOSE_SPLIT, draw) >> 32) & LOW_32) * many) >> 32


@inline
def find_column(node, tree, samples, mine):
    """Draw one of the columns that can part a node's rows, and read it. Returns the candidate, or -1, and its range.

    Every one of them has the same chance. Where most cannot, those that can are listed, for the nodes below as well.
    """
    for draw in range(min(np.int64(TRIES), node.many)):
        candidate = np.int64(mine.list[node.first + drawn_place(node.key, draw, node.many)])
        low, high = look(candidate, node.begin, node.end, tree, samples, mine)
        if low < high:
            read(candidate, node.begin, node.end, tree, samples, mine)
            return candidate, low, high
    behind = node.first + node.many
    found = np.int64(0)
    for k in range(node.many):
        candidate = np.int64(mine.list[node.first + k])
        low, high = look(candidate, node.begin, node.end, tree, samples, mine)
        if low < high:
            mine.list[behind + found] = candidate
            found += 1
    node.first = behind
    node.many = found
    if found == 0:
        return np.int64(-1), 0.0, 0.0
    candidate = np.int64(mine.list[behind + drawn_place(node.key, np.int64(TRIES), found)])
    low, high = look(candidate, node.begin, node.end, tree, samples, mine)
    read(candidate, node.begin, node.end, tree, samples, mine)
    return candidate, low, high


@inline
def drawn_cut(key, low, high):
    """A threshold, uniform from low to high: low goes left of it, and high right."""
    unit = fine_unit(random_bits(key, PURPOSE_CUT, 0))
    width = high - low
    # The width of a very wide range is no float64; its half is one.
    cut = low + unit * width if width < float("inf") else 2.0 * (0.5 * low + unit * (0.5 * high - 0.5 * low))
    return cut if cut >= low and cut < high else low


@inline
def in_set(x, words):
    """Whether a category belongs to a set."""
    number = np.int64(x)
    return (words[number >> 6] >> (number & 63)) & 1 != 0


@inline
def draw_set(node, words, mine):
    """Draw which of a node's categories go left: some, but not all. Every such set has the same chance."""
    for k in range(words):
        mine.seen[k] = 0
    for i in range(node.begin, node.end):
        if mine.values[i] == mine.values[i]:
            number = np.int64(mine.values[i])
            mine.seen[number >> 6] |= np.int64(1) << (number & 63)
    for attempt in range(SET_TRIES):
        left = np.int64(0)
        right = np.int64(0)
        for k in range(words):
            chosen = np.int64(0)
            if mine.seen[k] != 0:
                chosen = random_bits(node.key, PURPOSE_SET, (attempt << CATEGORY_BITS) + k) & mine.seen[k]
            mine.set[k] = chosen
            left |= chosen
            right |= mine.seen[k] ^ chosen
        if left != 0 and right != 0:
            return
    # Hardly ever: the first category alone.
    alone = np.int64(0)
    for k in range(words):
        mine.set[k] = mine.seen[k] & -mine.seen[k] if alone == 0 else 0
        alone |= mine.seen[k]


@inline
def place_strangers(to_left, categories, words, mine):
    """Send the categories that no row of the node has to one side."""
    if to_left:
        for k in range(words):
            left = min(categories - 64 * k, np.int64(64))
            known = (np.int64(1) << left) - 1 if left < 64 else np.int64(-1)
            mine.set[k] |= known & ~mine.seen[k]


@inline
def missing_goes_left(key, left, right):
    """Draw the side of missing values, with chances in proportion to the rows that have a value on each side."""
    return fine_unit(random_bits(key, PURPOSE_SIDE, 0)) * float(left + right) < float(left)
