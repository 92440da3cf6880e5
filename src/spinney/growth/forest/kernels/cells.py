"""Sums of a node's rows by code of a column, as a list of the codes that occur; and sorting of such lists.

A *cell* has the sum of one code. Where a node has a weight and one sum, cells are packed: the sum of targets times weights above
the bits of the weight, so that a row is added in one instruction; large nodes add four columns in one pass. The codes of a small
node are marked in a bit map as they come, and the map is read in order, which also clears it.
"""

import numpy as np

from spinney.growth.forest.kernels.entries import entries_of
from spinney.growth.forest.kernels.records import (
    BATCH,
    MOVED,
    TARGET,
    WEIGHT,
    payload_of,
    target_of,
    weight_of,
)
from spinney.growth.forest.kernels.rows import read_codes
from spinney.jit import inline
from spinney.jit.intrinsics import filled_cells, lowest_bit

# --- Sorting the few items of a node, and sets of categories


@inline
def sort_few(count, keys):
    """Sort some keys, ascending (Shell sort)."""
    gap = 1
    while gap < count // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, count):
            key = keys[i]
            j = i
            while j >= gap and keys[j - gap] > key:
                keys[j] = keys[j - gap]
                j -= gap
            keys[j] = key
        gap = gap // 3


@inline
def sort_by_key(count, keys, first, second, third):
    """Sort some items by their keys, ascending; the other arrays move with them. Equal keys keep the order of `first`."""
    gap = 1
    while gap < count // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, count):
            key = keys[i]
            a = first[i]
            b = second[i]
            c = third[i]
            j = i
            while j >= gap and (keys[j - gap] > key or (keys[j - gap] == key and first[j - gap] > a)):
                keys[j] = keys[j - gap]
                first[j] = first[j - gap]
                second[j] = second[j - gap]
                third[j] = third[j - gap]
                j -= gap
            keys[j] = key
            first[j] = a
            second[j] = b
            third[j] = c
        gap = gap // 3


@inline
def sort_places(count, keys, places):
    """Sort some places by their keys, ascending; of equal keys the lower place comes first."""
    gap = 1
    while gap < count // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, count):
            key = keys[i]
            place = places[i]
            j = i
            while j >= gap and (keys[j - gap] > key or (keys[j - gap] == key and places[j - gap] > place)):
                keys[j] = keys[j - gap]
                places[j] = places[j - gap]
                j -= gap
            keys[j] = key
            places[j] = place
        gap = gap // 3


@inline
def clear_set(words, members):
    """No category."""
    for k in range(words):
        members[k] = 0


@inline
def put_in(code, members):
    """Add a category to a set."""
    members[code >> 6] |= 1 << (code & 63)


# --- Sums by code of a node that has a weight and one sum


FEW_CODES = 512  # up to which all words of the bit map are read
# Rows from which filled cells are found by scanning all of them: trees of two classes take 1.5 % less time (AMD EPYC, AVX2),
# those of numbers as long as before. With fewer rows, setting a bit for each row takes less time.
SCANNED_ROWS = 24
SORTED_ROWS = 128  # up to which rows are sorted where codes are many
PLACE = 4294967295


@inline
def packed_sum(target, weight, node):
    """A row as a packed sum."""
    return (((target >> node.shift) * weight) << node.bits) + weight


@inline
def packed_total(node, rows):
    """The packed sum of all rows of a node."""
    if node.shift == 0:
        return (node.totals[1] << node.bits) + node.weight
    total = np.int64(0)
    for i in range(node.begin, node.end):
        total += packed_sum(target_of(i, rows), weight_of(i, rows), node)
    return total


@inline
def touch(code, mine):
    """Mark that a code occurs. Where words of the bit map are many, a second map marks those in use."""
    word = code >> 6
    mine.touched[word] |= np.int64(1) << (code & 63)
    if mine.width > FEW_CODES:
        mine.touched_words[word >> 6] |= np.int64(1) << (word & 63)


@inline
def list_codes(codes, mine):
    """List the marked codes, ascending, and clear the map. Returns how many there are."""
    listed = 0
    narrow = mine.width <= FEW_CODES
    for top in range(1 if narrow else (codes >> 12) + 1):
        words_left = (np.int64(1) << ((codes + 63) >> 6)) - 1
        if not narrow:
            words_left = mine.touched_words[top]
            mine.touched_words[top] = 0
        while words_left != 0:
            bit = lowest_bit(words_left)
            word = top * 64 + bit
            words_left ^= np.int64(1) << bit
            codes_left = mine.touched[word]
            mine.touched[word] = 0
            while codes_left != 0:
                bit = lowest_bit(codes_left)
                mine.list_code[listed] = word * 64 + bit
                codes_left ^= np.int64(1) << bit
                listed += 1
    return listed


@inline
def list_filled(codes, mine):
    """List the codes whose cells of packed sums are not 0, ascending. Returns how many there are."""
    listed = 0
    for first in range(0, codes, 64):
        codes_left = filled_cells(mine.cells, first)
        if codes - first < 64:
            codes_left &= (np.int64(1) << (codes - first)) - 1
        while codes_left != 0:
            bit = lowest_bit(codes_left)
            mine.list_code[listed] = first + bit
            codes_left ^= np.int64(1) << bit
            listed += 1
    return listed


@inline
def sum_four_columns(node, rows, chosen, groups, mine):
    """Add the packed sums of a node's rows by code of four columns, whose codes records have."""
    words = rows.words
    held = rows.bytes
    ints = rows.ints
    cells = mine.cells
    width = mine.width
    a = groups[chosen[0]]
    b = groups[chosen[1]]
    c = groups[chosen[2]]
    d = groups[chosen[3]]
    place = node.begin * words * 8
    numbers = payload_of(node.begin, words)
    for _ in range(node.begin, node.end):
        packed = packed_sum(np.int64(ints[numbers - TARGET]), np.int64(ints[numbers - WEIGHT]), node)
        cells[held[place + a]] += packed
        cells[width + held[place + b]] += packed
        cells[2 * width + held[place + c]] += packed
        cells[3 * width + held[place + d]] += packed
        place += words * 8
        numbers += words * 2


@inline
def sum_one_column(node, rows, group, mine):
    """As `sum_four_columns`, of one column."""
    words = rows.words
    cells = mine.cells
    place = node.begin * words * 8 + group
    numbers = payload_of(node.begin, words)
    for _ in range(node.begin, node.end):
        cells[rows.bytes[place]] += packed_sum(
            np.int64(rows.ints[numbers - TARGET]), np.int64(rows.ints[numbers - WEIGHT]), node
        )  # fmt: skip
        place += words * 8
        numbers += words * 2


@inline
def count_four_columns(node, rows, chosen, groups, mine):
    """Count the rows of a node by code of four columns."""
    for k in range(4):
        group = groups[chosen[k]]
        for i in range(node.begin, node.end):
            mine.cell_rows[k * mine.width + rows.bytes[i * rows.words * 8 + group]] += 1


@inline
def list_one_of_four(k, codes, counted, mine):
    """List the cells of the k-th of four columns, and clear them. Returns how many there are."""
    cells = mine.cells
    at = k * mine.width
    packed = np.int64(0)
    on_left = 0
    listed = 0
    for code in range(codes):
        cell = cells[at + code]
        cells[at + code] = 0
        packed += cell
        mine.list_code[listed] = code
        mine.list_sums[listed] = packed
        if counted:
            on_left += mine.cell_rows[at + code]
            mine.cell_rows[at + code] = 0
            mine.list_rows[listed] = on_left
        # Every row has a weight, so an empty cell is 0; the next one takes its place.
        listed += 1 if cell != 0 else 0
    return listed


@inline
def sort_pairs(counted, node, rows, mine):
    """List the packed sums of one column of many codes in a small node, by sorting its rows by code."""
    keys = mine.keys
    count = node.end - node.begin
    for k in range(count):
        i = node.begin + k
        keys[k] = (np.int64(mine.node_codes[k]) << 32) | k
        keys[count + k] = packed_sum(target_of(i, rows), weight_of(i, rows), node)
    sort_few(count, keys)
    packed = np.int64(0)
    listed = 0
    for k in range(count):
        packed += keys[count + (keys[k] & PLACE)]
        mine.list_code[listed] = keys[k] >> 32
        mine.list_sums[listed] = packed
        if counted:
            mine.list_rows[listed] = k + 1
        # Rows of the same code are one cell: the next one takes its place.
        listed += 1 if k + 1 == count or (keys[k] >> 32) != (keys[k + 1] >> 32) else 0
    return listed


@inline
def take_cells(listed, counted, mine):
    """Write the sums up to each listed code, and clear the cells."""
    cells = mine.cells
    packed = np.int64(0)
    on_left = 0
    for j in range(listed):
        code = mine.list_code[j]
        packed += cells[code]
        cells[code] = 0
        mine.list_sums[j] = packed
        if counted:
            on_left += mine.cell_rows[code]
            mine.cell_rows[code] = 0
            mine.list_rows[j] = on_left


@inline
def list_pairs(column, codes, counted, node, data, row_codes, rules, rows, mine):
    """List the packed sums of one column. Returns how many codes occur."""
    cells = mine.cells
    if rules.access != MOVED:
        read_codes(column, node.begin, node.end, data, row_codes, rules, rows, mine)
    count = node.end - node.begin
    if mine.width > FEW_CODES and count <= SORTED_ROWS:
        return sort_pairs(counted, node, rows, mine)
    scanned = mine.width <= FEW_CODES and count >= SCANNED_ROWS
    if rules.access == MOVED:
        words = rows.words
        group = data.features.group_of[column]
        place = node.begin * words * 8 + group
        numbers = payload_of(node.begin, words)
        for _ in range(node.begin, node.end):
            packed = packed_sum(
                np.int64(rows.ints[numbers - TARGET]), np.int64(rows.ints[numbers - WEIGHT]), node
            )
            code = np.int64(rows.bytes[place])
            cells[code] += packed
            if not scanned:
                touch(code, mine)
            if counted:
                mine.cell_rows[code] += 1
            place += words * 8
            numbers += words * 2
    else:
        for i in range(node.begin, node.end):
            code = np.int64(mine.node_codes[i - node.begin])
            cells[code] += packed_sum(target_of(i, rows), weight_of(i, rows), node)
            if not scanned:
                touch(code, mine)
            if counted:
                mine.cell_rows[code] += 1
    listed = list_filled(codes, mine) if scanned else list_codes(codes, mine)
    take_cells(listed, counted, mine)
    return listed


@inline
def list_sparse_pairs(column, codes, counted, node, data, rows, mine):
    """As `list_pairs`, of a sparse column: its default bin has the node's packed sum without those of the entries."""
    cells = mine.cells
    default = data.features.default[column]
    count = node.end - node.begin
    first, found = entries_of(column, node.begin, node.end, data, rows, mine)
    if found == 0:
        return 1
    rest = mine.left_sums[BATCH]
    for k in range(first, first + found):
        i = node.begin + mine.entry_places[k]
        code = np.int64(mine.entry_bins[k])
        packed = packed_sum(target_of(i, rows), weight_of(i, rows), node)
        cells[code] += packed
        rest -= packed
        touch(code, mine)
        if counted:
            mine.cell_rows[code] += 1
    if found < count:
        cells[default] = rest
        touch(default, mine)
        if counted:
            mine.cell_rows[default] = count - found
    listed = list_codes(codes, mine)
    take_cells(listed, counted, mine)
    return listed
