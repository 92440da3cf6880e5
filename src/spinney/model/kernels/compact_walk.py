"""Prediction by compact forests: rows become codes by the cuts of the forest, walk down the trees, and leaf values are summed.

A step compares two small integers, and never checks for a missing value. Each thread packs one tree into nodes of 64 bits, and
its rows walk down it, eight side by side, while it is in cache. Values are added in the order of the trees.
"""

import numpy as np

from spinney.jit import Member, i32, i64, inline, kernel, out, own
from spinney.jit.intrinsics import bits_of
from spinney.model.kernels.records import (
    BLOCK,
    LANES,
    CodedRows,
    CompactLeafValues,
    CompactScratch,
    CompactTrees,
    CutSearch,
    LeafOutput,
    StoredRows,
    UsedCuts,
    ValueFlags,
    Values,
)
from spinney.model.kernels.walk import scan_missing

# --- Rows as codes.
#
# The code of a number is how many cuts of its column are below it, so it goes left at cut k where its code is at most k. The code
# of a category is its number. If a value of a table is missing, every column has two places: the first is for splits that send
# missing values left, where a missing number has code 0, the second for those that send them right, where it has the top code. So
# no step of a walk has to check for missing numbers. A missing category has the top code at both places.


@inline
def below(x, begin, end, cut):
    """How many of ascending cuts are below a number."""
    first = begin
    left = end - begin
    while left > 0:
        half = (left + 1) >> 1
        first += half if cut[first + half - 1] < x else 0
        left -= half
    return first - begin


@inline
def code_of(x, c, cuts):
    """Code of a value of used column c, -1 if it is missing."""
    if x != x:
        return np.int64(-1)
    if cuts.categorical[c] != 0:
        return np.int64(x)
    return below(x, cuts.start[c], cuts.start[c + 1], cuts.cut)


@inline
def write_code(code, c, at, coded, cuts, codes):
    """Write the code of used column c, -1 for a missing value, to a row that begins at `at`."""
    if coded.copies == 1:
        codes[at + c] = code
    elif code >= 0:
        codes[at + 2 * c] = code
        codes[at + 2 * c + 1] = code
    else:
        codes[at + 2 * c] = coded.top if cuts.categorical[c] != 0 else 0
        codes[at + 2 * c + 1] = coded.top


@inline
def code_block(begin, end, table, values, cuts, coded, codes, mine):
    """Codes of a block of rows, column by column; each step of the search is done for all rows of the block.

    Searching row by row takes several times as long.
    """
    x = mine.values
    first = mine.first
    rows = end - begin
    for c in range(cuts.used):
        start = cuts.start[c]
        column = begin * table.row_step + np.int64(cuts.column[c]) * table.column_step
        for i in range(rows):
            x[i] = float(values[column + i * table.row_step])
            first[i] = start
        left = cuts.start[c + 1] - start
        while left > 0:
            half = (left + 1) >> 1
            for i in range(rows):
                # The sign of the difference, as a mask: a comparison would become a branch, mispredicted every other time.
                first[i] += half & (bits_of(cuts.cut[first[i] + half - 1] - x[i]) >> 63)
            left -= half
        if cuts.categorical[c] != 0:
            for i in range(rows):
                first[i] += np.int64(x[i]) if x[i] == x[i] else 0
        for i in range(rows):
            write_code(
                first[i] - start if x[i] == x[i] else np.int64(-1),
                c,
                (begin + i) * coded.width,
                coded,
                cuts,
                codes,
            )


@kernel
def scan_rows(team: Member, table: Values, value_flags: ValueFlags):
    """Write to the thread's `flags` 1 if a value of its rows is missing, plus 2 if one is infinite."""
    flags = own(value_flags, team.rank).flags
    for begin in range(team.rank * BLOCK, table.rows, team.size * BLOCK):
        end = min(begin + BLOCK, table.rows)
        if table.span32 > 0:
            flags[0] |= scan_missing(begin, end, table, table.values32)
        else:
            flags[0] |= scan_missing(begin, end, table, table.values64)


@inline
def code_blocks(team, table, values, cuts, coded, codes, search):
    """Codes of the thread's blocks."""
    mine = own(search, team.rank)
    for begin in range(team.rank * BLOCK, table.rows, team.size * BLOCK):
        code_block(begin, min(begin + BLOCK, table.rows), table, values, cuts, coded, codes, mine)


@kernel
def code_rows(team: Member, table: Values, cuts: UsedCuts, coded: CodedRows, search: CutSearch):
    """Write the codes of all rows. Categories come as float64."""
    if table.span32 > 0:
        if coded.span8 > 0:
            code_blocks(team, table, table.values32, cuts, coded, coded.codes8, search)
        elif coded.span16 > 0:
            code_blocks(team, table, table.values32, cuts, coded, coded.codes16, search)
        else:
            code_blocks(team, table, table.values32, cuts, coded, coded.codes32, search)
    else:
        if coded.span8 > 0:
            code_blocks(team, table, table.values64, cuts, coded, coded.codes8, search)
        elif coded.span16 > 0:
            code_blocks(team, table, table.values64, cuts, coded, coded.codes16, search)
        else:
            code_blocks(team, table, table.values64, cuts, coded, coded.codes32, search)


@inline
def code_stored(team, table, values, cuts, absent, coded, codes):
    """Codes of the thread's rows of stored entries."""
    for begin in range(team.rank * BLOCK, table.rows, team.size * BLOCK):
        for i in range(begin, min(begin + BLOCK, table.rows)):
            at = i * coded.width
            for c in range(cuts.used):
                write_code(np.int64(absent[c]), c, at, coded, cuts, codes)
            for k in range(table.row_starts[i], table.row_starts[i + 1]):
                c = np.int64(table.place[table.indices[k]])
                if c >= 0:
                    write_code(code_of(float(values[k]), c, cuts), c, at, coded, cuts, codes)


@kernel
def code_entries(team: Member, table: StoredRows, cuts: UsedCuts, absent: i32["cuts.used"], coded: CodedRows):
    """Write the codes of all rows of stored entries; `absent` are the codes of absent values, -1 for missing."""
    if table.span32 > 0:
        if coded.span8 > 0:
            code_stored(team, table, table.values32, cuts, absent, coded, coded.codes8)
        elif coded.span16 > 0:
            code_stored(team, table, table.values32, cuts, absent, coded, coded.codes16)
        else:
            code_stored(team, table, table.values32, cuts, absent, coded, coded.codes32)
    else:
        if coded.span8 > 0:
            code_stored(team, table, table.values64, cuts, absent, coded, coded.codes8)
        elif coded.span16 > 0:
            code_stored(team, table, table.values64, cuts, absent, coded, coded.codes16)
        else:
            code_stored(team, table, table.values64, cuts, absent, coded, coded.codes32)


# --- Sums of the values of leaves


@inline
def weight_of(leaf, leaves):
    """Weight of a leaf of the forest."""
    if leaves.weight_span8 > 0:
        return float(leaves.weight8[leaf])
    if leaves.weight_span16 > 0:
        return float(leaves.weight16[leaf])
    if leaves.weight_span32 > 0:
        return float(leaves.weight32[leaf])
    return leaves.weight64[leaf]


@inline
def add_values(begin, end, first, found, leaves, value, sums):
    """Add the values of a tree whose leaves begin at `first`; `found` has the leaf of each row, from `begin` on."""
    values = leaves.values
    for i in range(begin, end):
        leaf = first + np.int64(found[i - begin])
        if leaves.shares != 0:
            weight = weight_of(leaf, leaves)
            for k in range(values):
                sums[i * values + k] += float(value[leaf * values + k]) / weight
        else:
            for k in range(values):
                sums[i * values + k] += float(value[leaf * values + k])


@inline
def add_leaves(begin, end, first, found, leaves, sums):
    """As `add_values`, in the type in which the values are kept."""
    if leaves.value_span8 > 0:
        add_values(begin, end, first, found, leaves, leaves.value8, sums)
    elif leaves.value_span16 > 0:
        add_values(begin, end, first, found, leaves, leaves.value16, sums)
    elif leaves.value_span32 > 0:
        add_values(begin, end, first, found, leaves, leaves.value32, sums)
    else:
        add_values(begin, end, first, found, leaves, leaves.value64, sums)


@kernel
def add_numbered(
    rows: i64,
    trees: i64,
    leaf_start: i64["trees + 1"],
    leaves: CompactLeafValues,
    output: LeafOutput,
    found: out(i32["1"]),
):
    """Add the values of numbered leaves to the sums of few rows, tree after tree."""
    for i in range(rows):
        for t in range(output.first, output.last):
            found[0] = output.numbers[i * output.many + t - output.begin]
            add_leaves(i, i + 1, leaf_start[t], found, leaves, output.sums)


# --- Walks of coded rows down the trees of a compact forest.
#
# A tree is packed into a thread's scratch, then all of the thread's rows walk down it, eight at a time: the tree stays in cache
# while the rows stream by. A packed node is 64 bits: way to the left child << 39 | categorical << 38 | cut << 16 | place of the
# column. The way is the difference of the two nodes' numbers, which are their places in the scratch. A leaf has a way of 0 and a
# cut that no code exceeds, so a walk that has arrived stays. If a tree does not fit, or rows are few, they walk the arrays of the
# forest.


LEAF = 274877841408
CUT = 4194303
# A tree is packed if there is at least a row for so many splits: a step among packed nodes saves as much as packing a node costs.
WORTH = 16


@inline
def used_place(i, trees, copies):
    """Place among the codes of a split's column: of two places, the one for the side of its missing values."""
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
    """1 if a category goes right. A missing one has the top code, and goes to the side of the place."""
    if code == top:
        return place & 1
    word = trees.set_bits[trees.set_start[number] + (code >> 6)]
    return 0 if (word >> (code & 63)) & 1 != 0 else 1


@inline
def pack_tree(t, trees, cuts, copies, mark, mine):
    """Pack the nodes of tree t; `mark` is None if no column is categorical."""
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
        place = used_place(first + i, trees, copies)
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
    """The way to the node below; `mark` is None if no column is categorical."""
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
def walk_stored(t, row, trees, cuts, coded, codes):
    """Leaf of one row in tree t, found in the arrays of the forest."""
    first = trees.split_start[t]
    if trees.split_start[t + 1] == first:
        return np.int64(0)
    copies = coded.copies
    at = row * coded.width
    i = np.int64(0)
    while i >= 0:
        place = used_place(first + i, trees, copies)
        code = np.int64(codes[at + place])
        cut = cut_of(first + i, trees)
        right = 1 if code > cut else 0
        if trees.sets > 0:
            if is_set(place, cuts, copies):
                right = set_side(code, cut, place, coded.top, trees)
        i = np.int64(trees.children[2 * (first + i) + right])
    return ~i


@inline
def use_leaves(t, begin, end, found, leaves, output, trees):
    """Add the values of the leaves of a block of rows in tree t, or write their numbers, or both."""
    if output.summed > 0:
        add_leaves(begin, end, trees.leaf_start[t], found, leaves, output.sums)
    if output.numbered > 0:
        for i in range(begin, end):
            output.numbers[i * output.many + t - output.begin] = found[i - begin]


@inline
def walk_forest(begin, end, trees, cuts, coded, codes, mine, leaves, output, mark):
    """Walk rows begin..end-1 to their leaves, tree after tree; `begin` is a multiple of eight.

    `mark` is None if no column is categorical.
    """
    found = mine.found
    for t in range(output.first, output.last):
        splits = trees.split_start[t + 1] - trees.split_start[t]
        packed = (end - begin) * WORTH >= splits and splits <= mine.most
        if packed:
            pack_tree(t, trees, cuts, coded.copies, mark, mine)
        for first in range(begin, end, BLOCK):
            last = min(first + BLOCK, end)
            if packed:
                for i in range(first, last, LANES):
                    walk_eight(
                        mine.nodes,
                        codes,
                        i,
                        coded.width,
                        coded.top,
                        trees,
                        mark,
                        mine.leaf_at,
                        found,
                        i - first,
                    )
            else:
                for i in range(first, last):
                    found[i - first] = walk_stored(t, i, trees, cuts, coded, codes)
            use_leaves(t, first, last, found, leaves, output, trees)


@kernel
def walk_trees(
    team: Member,
    trees: CompactTrees,
    cuts: UsedCuts,
    coded: CodedRows,
    scratch: CompactScratch,
    leaves: CompactLeafValues,
    output: LeafOutput,
):
    """Add the values of some trees to the sums of all rows, tree after tree, or number their leaves, or both."""
    rank = team.rank
    eights = (coded.rows + LANES - 1) // LANES
    begin = eights * rank // team.size * LANES
    end = min(eights * (rank + 1) // team.size * LANES, coded.rows)
    mine = own(scratch, rank)
    if trees.sets == 0:
        if coded.span8 > 0:
            walk_forest(begin, end, trees, cuts, coded, coded.codes8, mine, leaves, output, None)
        elif coded.span16 > 0:
            walk_forest(begin, end, trees, cuts, coded, coded.codes16, mine, leaves, output, None)
        else:
            walk_forest(begin, end, trees, cuts, coded, coded.codes32, mine, leaves, output, None)
    else:
        if coded.span8 > 0:
            walk_forest(begin, end, trees, cuts, coded, coded.codes8, mine, leaves, output, 1)
        elif coded.span16 > 0:
            walk_forest(begin, end, trees, cuts, coded, coded.codes16, mine, leaves, output, 1)
        else:
            walk_forest(begin, end, trees, cuts, coded, coded.codes32, mine, leaves, output, 1)


@inline
def number_rows(t, trees, cuts, coded, codes, output):
    """Leaf of every row in tree t."""
    for i in range(coded.rows):
        output.numbers[i * output.many + t - output.begin] = walk_stored(t, i, trees, cuts, coded, codes)


@kernel
def number_leaves(
    team: Member,
    trees: CompactTrees,
    cuts: UsedCuts,
    coded: CodedRows,
    leaves: CompactLeafValues,
    output: LeafOutput,
):
    """Number the leaves of few rows; threads share the trees."""
    for t in range(output.first + team.rank, output.last, team.size):
        if coded.span8 > 0:
            number_rows(t, trees, cuts, coded, coded.codes8, output)
        elif coded.span16 > 0:
            number_rows(t, trees, cuts, coded, coded.codes16, output)
        else:
            number_rows(t, trees, cuts, coded, coded.codes32, output)
