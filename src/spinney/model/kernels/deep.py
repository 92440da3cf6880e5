"""Walks of coded rows down the trees of a compact forest.

A tree is packed into a thread's scratch, then all of the thread's rows walk down it, eight at once: the tree stays in cache while
the rows stream by. A packed node is 64 bits: way to the left child << 39 | categorical << 38 | cut << 16 | place of the column.
The way is the difference of the two nodes' numbers, which are their places in the scratch. A leaf has a way of 0 and a cut that
no code exceeds, so a walk that has arrived stays. Where a tree does not fit, or rows are few, they walk the arrays of the
forest itself.
"""

import numpy as np

from spinney.jit import Member, inline, kernel, own
from spinney.model.kernels.compact_records import BLOCK, Codes, CompactTrees, Cuts, Found, LeafValues, Scratch
from spinney.model.kernels.leaf_sums import add_leaves
from spinney.model.kernels.records import LANES

LEAF = 274877841408
CUT = 4194303
# A tree is packed for a row in so many splits, or more rows: a step among packed nodes saves what packing a node takes.
WORTH = 16


@inline
def asked_place(i, trees, copies):
    """Place among the codes of the column that a split asks for, on the side of its missing values."""
    column = np.int64(trees.column16[i]) if trees.columns16 > 0 else np.int64(trees.column32[i])
    place = np.int64(trees.place[column])
    return place if copies == 1 else 2 * place + 1 - np.int64(trees.default_left[i])


@inline
def cut_of(i, trees):
    """The cut of a split, or the number of its set."""
    return np.int64(trees.cut16[i]) if trees.cuts16 > 0 else np.int64(trees.cut32[i])


@inline
def is_set(place, cuts, copies):
    """Whether the column at a place is categorical."""
    return cuts.categorical[place if copies == 1 else place >> 1] != 0


@inline
def set_side(code, number, place, top, trees):
    """1 where a category goes right. One that is missing has the top code, and its side is that of the place."""
    if code == top:
        return place & 1
    word = trees.set_bits[trees.set_start[number] + (code >> 6)]
    return 0 if (word >> (code & 63)) & 1 != 0 else 1


@inline
def pack_tree(t, trees, cuts, copies, mark, mine):
    """Pack the nodes of tree t; `mark` is None where no column is categorical."""
    nodes = mine.nodes
    leaf_at = mine.leaf_at
    position = mine.position
    first = trees.split_start[t]
    position[0] = 0
    nodes[0] = LEAF
    leaf_at[0] = 0
    for i in range(trees.split_start[t + 1] - first):
        at = np.int64(position[i])
        below = 2 * i + 1
        place = asked_place(first + i, trees, copies)
        link = ((below - at) << 39) | (cut_of(first + i, trees) << 16) | place
        if mark is not None:
            link |= (1 if is_set(place, cuts, copies) else 0) << 38
        nodes[at] = link
        for side in range(2):
            child = np.int64(trees.children[2 * (first + i) + side])
            if child >= 0:
                position[child] = below + side
            else:
                nodes[below + side] = LEAF
                leaf_at[below + side] = ~child


@inline
def step(link, codes, row, top, trees, mark):
    """The way to the node below; `mark` is None where no column is categorical."""
    place = link & 65535
    code = np.int64(codes[row + place])
    right = 1 if code > ((link >> 16) & CUT) else 0
    if mark is not None:
        if (link >> 38) & 1 != 0:
            right = set_side(code, (link >> 16) & CUT, place, top, trees)
    return (link >> 39) + right


@inline
def walk_eight(nodes, codes, row, width, top, trees, mark, leaf_at, found, k):
    """Leaves of eight rows in a packed tree."""
    r0 = row * width
    r1 = r0 + width
    r2 = r1 + width
    r3 = r2 + width
    r4 = r3 + width
    r5 = r4 + width
    r6 = r5 + width
    r7 = r6 + width
    n0 = n1 = n2 = n3 = n4 = n5 = n6 = n7 = np.int64(0)
    while True:
        link = nodes[n0]
        ways = link
        n0 += step(link, codes, r0, top, trees, mark)
        link = nodes[n1]
        ways |= link
        n1 += step(link, codes, r1, top, trees, mark)
        link = nodes[n2]
        ways |= link
        n2 += step(link, codes, r2, top, trees, mark)
        link = nodes[n3]
        ways |= link
        n3 += step(link, codes, r3, top, trees, mark)
        link = nodes[n4]
        ways |= link
        n4 += step(link, codes, r4, top, trees, mark)
        link = nodes[n5]
        ways |= link
        n5 += step(link, codes, r5, top, trees, mark)
        link = nodes[n6]
        ways |= link
        n6 += step(link, codes, r6, top, trees, mark)
        link = nodes[n7]
        ways |= link
        n7 += step(link, codes, r7, top, trees, mark)
        if ways >> 39 == 0:
            break
    found[k] = leaf_at[n0]
    found[k + 1] = leaf_at[n1]
    found[k + 2] = leaf_at[n2]
    found[k + 3] = leaf_at[n3]
    found[k + 4] = leaf_at[n4]
    found[k + 5] = leaf_at[n5]
    found[k + 6] = leaf_at[n6]
    found[k + 7] = leaf_at[n7]


@inline
def walk_stored(t, row, trees, cuts, room, codes):
    """Leaf of one row in tree t, among the arrays of the forest."""
    first = trees.split_start[t]
    if trees.split_start[t + 1] == first:
        return np.int64(0)
    copies = room.copies
    at = row * room.width
    i = np.int64(0)
    while i >= 0:
        place = asked_place(first + i, trees, copies)
        code = np.int64(codes[at + place])
        cut = cut_of(first + i, trees)
        right = 1 if code > cut else 0
        if trees.sets > 0:
            if is_set(place, cuts, copies):
                right = set_side(code, cut, place, room.top, trees)
        i = np.int64(trees.children[2 * (first + i) + right])
    return ~i


@inline
def keep(t, begin, end, found, leaves, wanted, trees):
    """Use the leaves of a block of rows in tree t."""
    if wanted.summed > 0:
        add_leaves(begin, end, trees.leaf_start[t], found, leaves, wanted.sums)
    if wanted.numbered > 0:
        for i in range(begin, end):
            wanted.numbers[i * wanted.many + t - wanted.begin] = found[i - begin]


@inline
def walk_forest(begin, end, trees, cuts, room, codes, mine, leaves, wanted, mark):
    """Bring rows begin..end-1 to their leaves, tree after tree; `begin` is a multiple of eight.

    `mark` is None where no column is categorical.
    """
    found = mine.found
    for t in range(wanted.first, wanted.last):
        splits = trees.split_start[t + 1] - trees.split_start[t]
        packed = (end - begin) * WORTH >= splits and splits <= mine.most
        if packed:
            pack_tree(t, trees, cuts, room.copies, mark, mine)
        for first in range(begin, end, BLOCK):
            last = min(first + BLOCK, end)
            if packed:
                for i in range(first, last, LANES):
                    walk_eight(mine.nodes, codes, i, room.width, room.top, trees, mark, mine.leaf_at, found, i - first)
            else:
                for i in range(first, last):
                    found[i - first] = walk_stored(t, i, trees, cuts, room, codes)
            keep(t, first, last, found, leaves, wanted, trees)


@kernel
def walk_trees(
    team: Member, trees: CompactTrees, cuts: Cuts, room: Codes, scratch: Scratch, leaves: LeafValues, wanted: Found
):
    """Add the values of some trees to the sums of all rows, tree after tree, or number their leaves, or both."""
    rank = team.rank
    eights = (room.rows + LANES - 1) // LANES
    begin = eights * rank // team.size * LANES
    end = min(eights * (rank + 1) // team.size * LANES, room.rows)
    mine = own(scratch, rank)
    if trees.sets == 0:
        if room.span8 > 0:
            walk_forest(begin, end, trees, cuts, room, room.codes8, mine, leaves, wanted, None)
        elif room.span16 > 0:
            walk_forest(begin, end, trees, cuts, room, room.codes16, mine, leaves, wanted, None)
        else:
            walk_forest(begin, end, trees, cuts, room, room.codes32, mine, leaves, wanted, None)
    else:
        if room.span8 > 0:
            walk_forest(begin, end, trees, cuts, room, room.codes8, mine, leaves, wanted, 1)
        elif room.span16 > 0:
            walk_forest(begin, end, trees, cuts, room, room.codes16, mine, leaves, wanted, 1)
        else:
            walk_forest(begin, end, trees, cuts, room, room.codes32, mine, leaves, wanted, 1)


@inline
def number_rows(t, trees, cuts, room, codes, wanted):
    """Leaf of every row in tree t."""
    for i in range(room.rows):
        wanted.numbers[i * wanted.many + t - wanted.begin] = walk_stored(t, i, trees, cuts, room, codes)


@kernel
def number_leaves(team: Member, trees: CompactTrees, cuts: Cuts, room: Codes, leaves: LeafValues, wanted: Found):
    """Number the leaves of few rows; threads share the trees out."""
    for t in range(wanted.first + team.rank, wanted.last, team.size):
        if room.span8 > 0:
            number_rows(t, trees, cuts, room, room.codes8, wanted)
        elif room.span16 > 0:
            number_rows(t, trees, cuts, room, room.codes16, wanted)
        else:
            number_rows(t, trees, cuts, room, room.codes32, wanted)
