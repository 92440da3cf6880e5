"""Scores of rows of which some columns are shuffled.

A row can only end in another leaf of a tree where a shuffled column is on its path. So every row walks down every tree once, and
it is noted where it first meets each group of columns. For each group and repeat these rows alone walk again, from there on,
eight at once; of the others the value is known. Values are added in the order of the trees, so a score is that of a whole
prediction of the shuffled table, to the last bit.
"""

import numpy as np

from spinney.jit import Member, i64, inline, kernel, own
from spinney.jit.intrinsics import tail
from spinney.judging.kernels.records import BLOCK, Asked, Desk, Groups, Shuffled, SomeTrees
from spinney.model.kernels.records import LANES, Values
from spinney.model.kernels.walk import COLUMN, INFINITE, step


@inline
def write_lines(begin, rows, table, values, asked, desk):
    """Lines of a block of rows."""
    for i in range(rows):
        row = (begin + i) * table.row_step
        at = i * asked.columns
        for c in range(asked.columns):
            desk.lines[at + c] = float(values[row + asked.column[c] * table.column_step])


@inline
def note_paths(rows, trees, asked, groups, desk):
    """What every tree says of every row, and where the row first meets each group."""
    for p in range(groups.pairs):
        desk.many[p] = 0
    for k in range(groups.groups):
        desk.met[k] = 0
    walks = np.int64(0)
    packed = trees.packed
    width = trees.width
    for t in range(trees.trees):
        first = 2 * trees.starts[t]
        for i in range(rows):
            walks += 1
            node = np.int64(0)
            while packed[first + node + 1] != INFINITE:
                k = np.int64(asked.group[packed[first + node] & COLUMN])
                if k >= 0:
                    if desk.met[k] != walks:
                        desk.met[k] = walks
                        p = np.int64(groups.pair[t * groups.groups + k])
                        desk.listed[p * BLOCK + desk.many[p]] = (node << 8) | i
                        desk.many[p] += 1
                node = step(node, first, packed, desk.lines, i * asked.columns, None, 1, trees.sets)
            leaf = (first + node) >> 1
            for w in range(width):
                desk.said[(t * width + w) * BLOCK + i] = trees.value[leaf * width + w]


@inline
def say(mover, node, trees, moved):
    """Note what a row's leaf says; the node is packed there."""
    row = mover & 255
    for w in range(trees.width):
        moved[w * BLOCK + row] = trees.value[(node >> 1) * trees.width + w]


@inline
def walk_listed(first, at, count, trees, desk, missing, sets):
    """Walk the listed rows to their leaves in the tree packed at `first`. `missing` and `sets` are as in `step`."""
    listed = desk.listed
    lines = desk.lines
    columns = desk.columns
    packed = trees.packed
    filled = (count + LANES - 1) // LANES * LANES
    for j in range(at + count, at + filled):
        listed[j] = listed[at + count - 1]
    for j in range(at, at + filled, LANES):
        m0 = listed[j]
        m1 = listed[j + 1]
        m2 = listed[j + 2]
        m3 = listed[j + 3]
        m4 = listed[j + 4]
        m5 = listed[j + 5]
        m6 = listed[j + 6]
        m7 = listed[j + 7]
        r0 = (m0 & 255) * columns
        r1 = (m1 & 255) * columns
        r2 = (m2 & 255) * columns
        r3 = (m3 & 255) * columns
        r4 = (m4 & 255) * columns
        r5 = (m5 & 255) * columns
        r6 = (m6 & 255) * columns
        r7 = (m7 & 255) * columns
        n0 = m0 >> 8
        n1 = m1 >> 8
        n2 = m2 >> 8
        n3 = m3 >> 8
        n4 = m4 >> 8
        n5 = m5 >> 8
        n6 = m6 >> 8
        n7 = m7 >> 8
        while True:
            before = n0 + n1 + n2 + n3 + n4 + n5 + n6 + n7
            n0 = step(n0, first, packed, lines, r0, None, missing, sets)
            n1 = step(n1, first, packed, lines, r1, None, missing, sets)
            n2 = step(n2, first, packed, lines, r2, None, missing, sets)
            n3 = step(n3, first, packed, lines, r3, None, missing, sets)
            n4 = step(n4, first, packed, lines, r4, None, missing, sets)
            n5 = step(n5, first, packed, lines, r5, None, missing, sets)
            n6 = step(n6, first, packed, lines, r6, None, missing, sets)
            n7 = step(n7, first, packed, lines, r7, None, missing, sets)
            # Children come after their parents, so the sum stands still only when all eight have arrived.
            if n0 + n1 + n2 + n3 + n4 + n5 + n6 + n7 == before:
                break
        say(m0, first + n0, trees, desk.moved)
        say(m1, first + n1, trees, desk.moved)
        say(m2, first + n2, trees, desk.moved)
        say(m3, first + n3, trees, desk.moved)
        say(m4, first + n4, trees, desk.moved)
        say(m5, first + n5, trees, desk.moved)
        say(m6, first + n6, trees, desk.moved)
        say(m7, first + n7, trees, desk.moved)


@inline
def add(rows, values, scores):
    """Add values to the scores of a block of rows."""
    for i in range(rows):
        scores[i] += values[i]


@inline
def add_trees(k, rows, trees, groups, shuffled, desk, scores, missing, sets):
    """Add the trees to the scores of a block of rows, whose lines have the values of group k in another order."""
    width = trees.width
    for t in range(trees.trees):
        p = np.int64(groups.pair[t * groups.groups + k])
        count = desk.many[p] if p >= 0 else np.int64(0)
        said = tail(desk.said, t * width * BLOCK)
        if count > 0:
            for w in range(width):
                for i in range(rows):
                    desk.moved[w * BLOCK + i] = said[w * BLOCK + i]
            walk_listed(2 * trees.starts[t], p * BLOCK, count, trees, desk, missing, sets)
        for w in range(width):
            mine = tail(scores, (trees.output[t] + w) * shuffled.rows)
            if count > 0:
                add(rows, tail(desk.moved, w * BLOCK), mine)
            else:
                add(rows, tail(said, w * BLOCK), mine)


@inline
def score_block(begin, rows, above, table, values, trees, asked, groups, shuffled, desk):
    """Scores of a block of rows for every group and repeat; row `begin` of the table is row `above` + `begin` of all."""
    write_lines(begin, rows, table, values, asked, desk)
    note_paths(rows, trees, asked, groups, desk)
    columns = asked.columns
    for k in range(groups.groups):
        for r in range(shuffled.repeats):
            for m in range(groups.start[k], groups.start[k + 1]):
                new = tail(shuffled.values, (m * shuffled.repeats + r) * shuffled.rows + above + begin)
                place = groups.place[m]
                for i in range(rows):
                    desk.lines[i * columns + place] = new[i]
            scores = tail(shuffled.scores, (k * shuffled.repeats + r) * shuffled.outputs * shuffled.rows + above + begin)
            if asked.missing == 0 and trees.words == 0:
                add_trees(k, rows, trees, groups, shuffled, desk, scores, None, None)
            else:
                add_trees(k, rows, trees, groups, shuffled, desk, scores, 1, trees.sets)
        for m in range(groups.start[k], groups.start[k + 1]):
            place = groups.place[m]
            column = asked.column[place] * table.column_step
            for i in range(rows):
                desk.lines[i * columns + place] = float(values[(begin + i) * table.row_step + column])


@kernel
def shuffled_scores(
    team: Member, first: i64, last: i64, above: i64, table: Values, trees: SomeTrees, asked: Asked, groups: Groups,
    shuffled: Shuffled, desk: Desk,
):
    """Add trees to the scores of rows first..last-1 of a table that has `above` rows above it, for every group and repeat."""
    mine = own(desk, team.rank)
    for begin in range(first + team.rank * BLOCK, last, team.size * BLOCK):
        rows = min(BLOCK, last - begin)
        if table.span32 > 0:
            score_block(begin, rows, above, table, table.values32, trees, asked, groups, shuffled, mine)
        else:
            score_block(begin, rows, above, table, table.values64, trees, asked, groups, shuffled, mine)
