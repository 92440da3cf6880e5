"""Searching small nodes: faster ways for nodes of few rows, and for few classes whose weights fit a word of bytes.

A node of up to 64 rows sorts them by code, by a network of comparisons. In a node of little weight, the weights of all classes
fit one integer, a byte each. Both find the same splits as the general search of `pairs` and `channels`, which use them where they
apply.
"""

import numpy as np

from spinney.growth.forest.kernels.cells import list_codes, touch
from spinney.growth.forest.kernels.drawn import MAX_BYTE
from spinney.growth.forest.kernels.records import (
    CHOSEN,
    MOVED,
    SMALL_NODE_ROWS,
    SQUARES,
    TARGET,
    WEIGHT,
    columns_at_once,
    payload_of,
)
from spinney.growth.forest.kernels.scores import DECIDE_LATER, NEVER, cut_after, keep_best
from spinney.jit import inline
from spinney.jit.intrinsics import first_highest, lowest_bit, sort_bytes, transpose_records

# --- Nodes of few rows that have a weight and one sum.
#
# The rows are sorted by code: a key is the code and the position of the row in the node. Sums up to each row are whole numbers,
# kept as floats that represent them exactly, so scores are those of packed sums.


FLOAT_BITS = 53  # of a whole number that a float64 holds
NO_KEY = 65535  # above all keys


@inline
def is_small(node, rules):
    """Whether a node's rows are sorted: they are few, have their codes, and leaves have no limits except on their rows."""
    small = node.end - node.begin <= SMALL_NODE_ROWS and rules.access == MOVED and rules.random == 0
    free = rules.formula == SQUARES and node.min_weight == 0.0 and rules.bounded == 0
    return small and free and node.bits + rules.target_bits <= FLOAT_BITS


@inline
def is_plain(column, bins, data, mine):
    """Whether a column has numbers, none of them missing in the node, by the ranges of codes in the node."""
    return (
        data.features.categorical[column] == 0 and np.int64(mine.high[data.features.group_of[column]]) < bins
    )


@inline
def read_small_node(node, rows, mine):
    """Read the weight of each row of a node, and its product with the target."""
    words = rows.words
    numbers = payload_of(node.begin, words)
    count = node.end - node.begin
    for k in range(count):
        weight = np.int64(rows.ints[numbers - WEIGHT])
        mine.small_weights[k] = float(weight)
        mine.small_sums[k] = float((np.int64(rows.ints[numbers - TARGET]) >> node.shift) * weight)
        numbers += words * 2
    mine.small_chunks[0] = 0


@inline
def sort_small_node(group, node, rows, mine):
    """Sort a node's rows by code of a column. Codes of 32 columns are transposed when one of them is first needed."""
    count = node.end - node.begin
    chunk = group >> 5
    if (mine.small_chunks[0] >> chunk) & 1 == 0:
        mine.small_chunks[0] |= np.int64(1) << chunk
        for first in range(0, count, 16):
            transpose_records(
                rows.memory, (node.begin + first) * rows.words + chunk * 4, rows.words, min(count - first, np.int64(16)),
                mine.small_codes, chunk * 32 * SMALL_NODE_ROWS + first,
            )  # fmt: skip
    sort_bytes(mine.small_codes, group * SMALL_NODE_ROWS, count, mine.small_keys)


@inline
def mask_equal_codes(scored, mine):
    """Mask the scores of cuts between rows of the same code, and of those behind the last row."""
    keys = mine.small_keys
    for j in range(scored):
        between = ((keys[j] ^ keys[j + 1]) > 255) & (keys[j + 1] != NO_KEY)
        mine.small_scores[j] = mine.small_scores[j] if between else NEVER


@inline
def keep_best_row(scored, column, bins, values, rules, mine):
    """Store the best of the cuts behind rows, if it is the best so far."""
    j = first_highest(mine.small_scores, scored)
    if mine.small_scores[j] > mine.best[0].score:
        low = np.int64(mine.small_keys[j]) >> 8
        high = np.int64(mine.small_keys[j + 1]) >> 8
        cut, above = cut_after(low, high, bins, values.starts[column], values, rules)
        keep_best(mine.small_scores[j], column, cut, above, DECIDE_LATER, 0, mine)


@inline
def score_small_node(count, node, mine):
    """Scores of the cuts behind each row of a node, in the order of their codes. Returns how many there are, with those behind
    the last row: a multiple of eight.
    """
    keys = mine.small_keys
    left = 0.0
    s = 0.0
    for j in range(count):
        k = np.int64(keys[j]) & 255
        left += mine.small_weights[k]
        s += mine.small_sums[k]
        mine.left_weights[j] = left
        mine.left_totals[j] = s
    weight = float(node.weight)
    scored = (count + 7) & -8
    for j in range(scored):
        d = mine.left_totals[j] * weight - s * mine.left_weights[j]
        mine.small_scores[j] = d * d / (mine.left_weights[j] * (weight - mine.left_weights[j]))
    # A separate loop: with the condition in the loop above, a branch would skip the division.
    mask_equal_codes(scored, mine)
    return scored


@inline
def cut_two_rows(column, bins, node, data, values, rules, rows, mine):
    """Score the only cut of a column between two rows."""
    group = data.features.group_of[column]
    low = np.int64(mine.low[group])
    high = np.int64(mine.high[group])
    first = 0 if np.int64(rows.bytes[node.begin * rows.words * 8 + group]) == low else 1
    left = mine.small_weights[first]
    weight = float(node.weight)
    d = mine.small_sums[first] * weight - (mine.small_sums[0] + mine.small_sums[1]) * left
    cut, above = cut_after(low, high, bins, values.starts[column], values, rules)
    keep_best(d * d / (left * (weight - left)), column, cut, above, DECIDE_LATER, 0, mine)


@inline
def cut_small_node(column, bins, node, data, values, rules, rows, mine):
    """Choose the best cut of a column of numbers that is not constant in a node of few rows and has no missing values there."""
    count = node.end - node.begin
    if count == 2:
        cut_two_rows(column, bins, node, data, values, rules, rows, mine)
        return
    sort_small_node(data.features.group_of[column], node, rows, mine)
    scored = score_small_node(count, node, mine)
    # Limits on the rows of leaves rule out the first and the last cuts.
    for k in range(rules.min_leaf - 1):
        mine.small_scores[k] = NEVER
        mine.small_scores[count - 2 - k] = NEVER
    keep_best_row(scored, column, bins, values, rules, mine)


@inline
def search_small_node(count, node, data, values, rules, rows, mine):
    """Search the columns chosen, up to the first one that is not plain, or until no column can do better. Returns how many were
    searched.
    """
    if mine.best[0].tried == 0:
        read_small_node(node, rows, mine)
    for k in range(count):
        column = mine.chosen[k]
        bins = values.codes[column]
        if not is_plain(column, bins, data, mine):
            return k
        cut_small_node(column, bins, node, data, values, rules, rows, mine)
        if mine.best[0].score >= node.perfect:
            return count
    return count


# --- Nodes of few classes and a weight below 256.
#
# The weights of all classes fit one word, a byte each, so a row is added in one instruction and a cell is one number.


MAX_WORD_CLASSES = 7  # bytes of a word below the sign


@inline
def classes_fit_word(target, rules):
    """Whether the classes of a tree fit a word, records have codes, and rows of leaves are not counted."""
    fits = target.classes != 0 and target.outputs == 1 and target.channels <= MAX_WORD_CLASSES
    return fits and rules.min_leaf == 1 and rules.access == MOVED


@inline
def has_byte_weights(node, target, rules):
    """Whether the weights of a node's classes fit a word, and its leaves have no limits."""
    fits = classes_fit_word(target, rules) and rules.formula == SQUARES
    return fits and node.min_weight == 0.0 and node.weight <= MAX_BYTE


@inline
def class_columns_at_once(size, node, rules):
    """How many columns of a node are searched together."""
    if rules.random == 0 and rules.access == MOVED and size > 2 and size <= SMALL_NODE_ROWS:
        return np.int64(CHOSEN)
    return columns_at_once(size, node, rules)


@inline
def byte_of(word, place):
    """One of a word's bytes, given the place of its first bit."""
    return (word >> place) & 255


@inline
def read_small_classes(node, rows, mine):
    """Read the weight of each row of a small node: in the byte of its class, alone, and times the node's weight of its class."""
    numbers = payload_of(node.begin, rows.words)
    for k in range(node.end - node.begin):
        weight = np.int64(rows.ints[numbers - WEIGHT])
        target = np.int64(rows.ints[numbers - TARGET])
        mine.small_words[k] = weight << (target << 3)
        mine.small_shifts[k] = target << 3
        mine.small_weights[k] = float(weight)
        mine.small_sums[k] = float(weight * node.totals[1 + target])
        numbers += rows.words * 2
    mine.small_chunks[0] = 0


@inline
def cut_small_classes(column, bins, node, data, values, rules, rows, mine):
    """Choose the best cut of a plain column that is not constant, in a small node of classes."""
    sort_small_node(data.features.group_of[column], node, rows, mine)
    count = node.end - node.begin
    left = np.int64(0)
    squares = np.int64(0)
    left_weight = 0.0
    products = 0.0
    for j in range(count):
        k = np.int64(mine.small_keys[j]) & 255
        place = mine.small_shifts[k]
        part = mine.small_words[k] >> place
        squares += part * (2 * byte_of(left, place) + part)
        left += mine.small_words[k]
        left_weight += mine.small_weights[k]
        products += mine.small_sums[k]
        mine.left_squares[j] = float(squares)
        mine.left_weights[j] = left_weight
        mine.left_totals[j] = products
    weight = float(node.weight)
    all_squares = float(squares)
    scored = (count + 7) & -8
    for j in range(scored):
        rest = all_squares - 2.0 * mine.left_totals[j] + mine.left_squares[j]
        mine.small_scores[j] = mine.left_squares[j] / mine.left_weights[j] + rest / (
            weight - mine.left_weights[j]
        )
    mask_equal_codes(scored, mine)
    keep_best_row(scored, column, bins, values, rules, mine)


@inline
def search_small_classes(count, node, data, values, rules, rows, mine):
    """Search the columns chosen, up to the first one that is not plain, or until no column can do better. Returns how many were
    searched.
    """
    if mine.best[0].tried == 0:
        read_small_classes(node, rows, mine)
    for k in range(count):
        column = mine.chosen[k]
        bins = values.codes[column]
        if not is_plain(column, bins, data, mine):
            return k
        cut_small_classes(column, bins, node, data, values, rules, rows, mine)
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
    """Sum the classes of a node's rows with the lower one of two codes. The weights of `at_once` rows fit a byte."""
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
            left += (np.int64(rows.ints[numbers - WEIGHT]) & -go) << (
                np.int64(rows.ints[numbers - TARGET]) << 3
            )
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
    score = float(squares) / float(left) + float(all_squares - 2 * products + squares) / float(
        node.weight - left
    )
    if score > mine.best[0].score:
        cut, above = cut_after(low, low + 1, bins, values.starts[column], values, rules)
        keep_best(score, column, cut, above, DECIDE_LATER, 0, mine)


@inline
def cut_byte_weights(column, bins, node, data, values, target, rules, rows, mine):
    """Choose the best cut of a column of numbers, with byte weights. Returns 1, 0 if it is constant, -1 if values are missing."""
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
