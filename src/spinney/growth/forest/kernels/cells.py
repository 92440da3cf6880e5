"""What the rows of a node sum up to by code of a column, as a list of the codes that occur.

Sums of pairs are packed: the sum of targets times weights above the bits of the weight, so that a row is added in one
instruction. The codes of a small node are noted in a map of bits as they come, and the map is read in order, which also clears
it.
"""

import numpy as np

from spinney.growth.forest.kernels.access import payload_of, target_of, weight_of
from spinney.growth.forest.kernels.codes import read_codes
from spinney.growth.forest.kernels.entries import entries_of
from spinney.growth.forest.kernels.ordering import sort_few
from spinney.growth.forest.kernels.records import BATCH, MOVED, TARGET, WEIGHT
from spinney.jit.inline import inline
from spinney.jit.intrinsics import filled_cells, lowest_bit

FEW_CODES = 512  # up to which all words of bits are looked at
# Rows from which filled cells are found by looking at all of them: trees of two classes take 1.5 % less time (AMD EPYC, AVX2),
# those of numbers as long as before. Noting a bit for each row takes less for fewer rows.
LOOKED_ROWS = 24
SORTED_ROWS = 128  # up to which rows of many codes are sorted
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
    """Note that a code occurs. Many words of bits have a map of their own, so that nobody looks at all of them."""
    word = code >> 6
    mine.touched[word] |= np.int64(1) << (code & 63)
    if mine.width > FEW_CODES:
        mine.touched_words[word >> 6] |= np.int64(1) << (word & 63)


@inline
def list_codes(codes, mine):
    """List the codes that were touched, ascending, and clear the map. Returns how many there are."""
    listed = 0
    few = mine.width <= FEW_CODES
    for top in range(1 if few else (codes >> 12) + 1):
        words_left = (np.int64(1) << ((codes + 63) >> 6)) - 1
        if not few:
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
def add_four(node, rows, chosen, groups, mine):
    """Sum the packed sums of a node's rows by code of four columns, whose codes records hold."""
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
def add_one(node, rows, group, mine):
    """The same of one column."""
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
def count_four(node, rows, chosen, groups, mine):
    """Count the rows of a node by code of four columns."""
    for k in range(4):
        group = groups[chosen[k]]
        for i in range(node.begin, node.end):
            mine.cell_rows[k * mine.width + rows.bytes[i * rows.words * 8 + group]] += 1


@inline
def list_four(k, codes, counted, mine):
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
    """List the packed sums of one column of many codes in a small node, whose rows are sorted by code."""
    keys = mine.keys
    count = node.end - node.begin
    for k in range(count):
        i = node.begin + k
        keys[k] = (np.int64(mine.line[k]) << 32) | k
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
    """Add up the sums of the codes that are listed, up to each of them, and clear their cells."""
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
def list_pairs(column, codes, counted, node, data, others, rules, rows, mine):
    """List the packed sums of one column. Returns how many codes occur."""
    cells = mine.cells
    if rules.access != MOVED:
        read_codes(column, node.begin, node.end, data, others, rules, rows, mine)
    count = node.end - node.begin
    if mine.width > FEW_CODES and count <= SORTED_ROWS:
        return sort_pairs(counted, node, rows, mine)
    looked = mine.width <= FEW_CODES and count >= LOOKED_ROWS
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
            if not looked:
                touch(code, mine)
            if counted:
                mine.cell_rows[code] += 1
            place += words * 8
            numbers += words * 2
    else:
        for i in range(node.begin, node.end):
            code = np.int64(mine.line[i - node.begin])
            cells[code] += packed_sum(target_of(i, rows), weight_of(i, rows), node)
            if not looked:
                touch(code, mine)
            if counted:
                mine.cell_rows[code] += 1
    listed = list_filled(codes, mine) if looked else list_codes(codes, mine)
    take_cells(listed, counted, mine)
    return listed


@inline
def list_sparse_pairs(column, codes, counted, node, data, rows, mine):
    """The same of a sparse column: its default bin has what the entries leave of the node, whose packed sum is known."""
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
