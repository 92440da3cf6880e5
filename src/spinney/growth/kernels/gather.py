"""Which rows a thread owns, and a small bag's rows copied side by side before a tree is grown.

Rows far apart cost a cache line each, again and again. Entries of a gathered bag name places in it instead of rows. Nothing
else changes: the sums are the same, and so is the tree.

Rows are copied eight bytes at a time, which takes a third of the time of copying codes one by one.
"""

import numpy as np

from spinney.binning.features import SHORTEST_ROW
from spinney.jit.inline import inline
from spinney.jit.intrinsics import prefetch
from spinney.objectives.kernels.records import BLOCK

# Rows side by side that one thread owns for the whole tree; such pieces are dealt out in turn. At the most they are those whose
# gradients one thread computes, so that these are in its cache; fewer where threads would have few pieces each.
MOST_OWNED = BLOCK
FEWEST_OWNED = 512
PIECES = 16
PREFETCH_ROWS = 16  # with 40 it takes as long
WORDS = SHORTEST_ROW // 8  # rows are as long as that or a multiple of it


@inline
def piece_length(count, size):
    """How many of `count` rows stand in a piece."""
    length = np.int64(MOST_OWNED)
    while length > FEWEST_OWNED and length * PIECES * size > count:
        length >>= 1
    return length


@inline
def owned_rows(count, rank, size):
    """How many of `count` rows a thread owns."""
    length = piece_length(count, size)
    whole = count // length
    rest = count - whole * length
    pieces = (whole - rank + size - 1) // size
    return pieces * length + (rest if whole % size == rank else 0)


@inline
def row_of(i, bag):
    """Row of the table that stands at a place of the bag."""
    number = np.int64(bag.chosen[i])
    return np.int64(bag.subset.rows[number]) if bag.subset.some != 0 else number


@inline
def copy_rows(begin, end, bag, words):
    """Copy the codes of the rows begin..end-1 of the bag by rows, each of which takes `words` words."""
    source = bag.row_words
    copied = bag.gathered.row_words
    for i in range(begin, end):
        prefetch(source, row_of(min(i + PREFETCH_ROWS, end - 1), bag) * words)
        at = row_of(i, bag) * words
        for k in range(i * words, (i + 1) * words, WORDS):
            for part in range(WORDS):
                copied[k + part] = source[at + part]
            at += WORDS


@inline
def turn_rows(begin, end, codes, by_row, items, words):
    """Write copied rows by columns: words of `items` codes. Behind the last row there is room for a word."""
    bits = 64 // items
    for group in range(codes.groups):
        for i in range(begin, end, items):
            at = i * codes.stride + group
            word = np.int64(0)
            for k in range(items):
                word |= np.int64(by_row[at + k * codes.stride]) << (bits * k)
            words[(group * codes.rows + i) // items] = word


@inline
def gather(team, bag, pairs):
    """Copy codes and gradients of the rows of the bag that this thread owns."""
    in_bag = bag.control[0].in_bag
    gathered = bag.gathered
    codes = gathered.codes
    words = codes.stride * (1 + codes.wide) // 8
    length = piece_length(in_bag, team.size)
    for begin in range(team.rank * length, in_bag, team.size * length):
        end = min(begin + length, in_bag)
        copy_rows(begin, end, bag, words)
        if codes.wide != 0:
            turn_rows(begin, end, codes, codes.by_row16, 4, gathered.column_words)
        else:
            turn_rows(begin, end, codes, codes.by_row8, 8, gathered.column_words)
        for i in range(begin, end):
            gathered.pairs[2 * i] = pairs[2 * np.int64(bag.chosen[i])]
            gathered.pairs[2 * i + 1] = pairs[2 * np.int64(bag.chosen[i]) + 1]
