"""Scores of rows of which some columns are shuffled.

A row can only end in another leaf of a tree if a shuffled column is on its path. So every row walks down every tree once, and
the first node of its path that splits by each group of columns is stored. For each group and repeat only these rows walk again,
from that node on, eight at a time; the others keep their values. Values are added in the order of the trees, so a score is that
of a whole prediction of the shuffled table, to the last bit.
"""

import numpy as np

from spinney.jit import Member, f64, i32, i64, inline, kernel, out, own, record
from spinney.jit.intrinsics import tail
from spinney.jit.types import filled
from spinney.model.kernels.records import LANES, Values
from spinney.model.kernels.walk import COLUMN, INFINITE, step, walk_eight

BLOCK = 256  # rows


@record
class SomeTrees:
    """Trees side by side, packed as in `model.kernels.walk`. A node has `width` values, for outputs `output` and on."""

    trees: i64
    nodes: i64
    words: i64
    width: i64
    starts: i64["trees + 1"]
    output: i64["trees"]
    packed: i64["2 * nodes"]
    sets: i64["words"]
    value: f64["nodes * width"]


@record
class UsedColumns:
    """Columns that some node splits by. In packed nodes a column is its position among these."""

    columns: i64
    missing: i64  # whether a value may be missing
    column: i64["columns"]
    group: i32["columns"]  # group with which the column is shuffled, or -1


@record
class Groups:
    """Columns that are shuffled together. `pair` numbers the pairs of a tree and a group that it splits by; -1 for others."""

    groups: i64
    members: i64
    trees: i64
    pairs: i64
    start: i64["groups + 1"]
    place: i64["members"]
    pair: i32["trees * groups"]


@record
class Shuffled:
    """Shuffled values of the groups' columns, and scores of all rows with them: by group, repeat, member or output, row."""

    rows: i64
    repeats: i64
    outputs: i64
    members: i64
    groups: i64
    values: f64["members * repeats * rows"]
    scores: out(f64["groups * repeats * outputs * rows"])


@record(per_thread=True)
class ShuffleScratch:
    """A thread's memory for a block of rows.

    For every pair of a tree and a group it lists the rows whose path in the tree splits by the group, and the first such node.
    """

    columns: i64
    values: i64
    width: i64
    pairs: i64
    groups: i64
    row_values: out(f64["columns * BLOCK"])
    unshuffled: out(f64["values * BLOCK"])
    moved: out(f64["width * BLOCK"])
    counts: out(i64["pairs"])
    listed: out(i64["pairs * BLOCK"])
    visited: out(i64["groups"])


@inline
def write_rows(begin, rows, table, values, used, scratch):
    """Write the values of a block of rows in the used columns."""
    for i in range(rows):
        row = (begin + i) * table.row_step
        at = i * used.columns
        for c in range(used.columns):
            scratch.row_values[at + c] = float(values[row + used.column[c] * table.column_step])


@inline
def walk_paths(rows, trees, used, groups, scratch):
    """Store the value of every row in every tree, and the first node of its path that splits by each group."""
    for p in range(groups.pairs):
        scratch.counts[p] = 0
    for k in range(groups.groups):
        scratch.visited[k] = 0
    walks = np.int64(0)
    packed = trees.packed
    width = trees.width
    for t in range(trees.trees):
        first = 2 * trees.starts[t]
        for i in range(rows):
            walks += 1
            node = np.int64(0)
            while packed[first + node + 1] != INFINITE:
                k = np.int64(used.group[packed[first + node] & COLUMN])
                if k >= 0:
                    if scratch.visited[k] != walks:
                        scratch.visited[k] = walks
                        p = np.int64(groups.pair[t * groups.groups + k])
                        scratch.listed[p * BLOCK + scratch.counts[p]] = (node << 8) | i
                        scratch.counts[p] += 1
                node = step(node, first, packed, scratch.row_values, i * used.columns, None, 1, trees.sets)
            leaf = (first + node) >> 1
            for w in range(width):
                scratch.unshuffled[(t * width + w) * BLOCK + i] = trees.value[leaf * width + w]


@inline
def begin_listed(j, task):
    """The first node of a listed row's path that splits by a shuffled column."""
    first, _, scratch = task
    listed_row = scratch.listed[j]
    return listed_row >> 8, first, (listed_row & 255) * scratch.columns


@inline
def end_listed(j, node, first, task):
    """Store the values of a listed row's leaf."""
    _, trees, scratch = task
    row = scratch.listed[j] & 255
    for w in range(trees.width):
        scratch.moved[w * BLOCK + row] = trees.value[((first + node) >> 1) * trees.width + w]


walk_eight_listed = filled(walk_eight, begin_walk=begin_listed, end_walk=end_listed)


@inline
def walk_listed(first, at, count, trees, scratch, missing, sets):
    """Walk the listed rows to their leaves in the tree packed at `first`. `missing` and `sets` are as in `step`."""
    listed = scratch.listed
    padded = (count + LANES - 1) // LANES * LANES
    for j in range(at + count, at + padded):
        listed[j] = listed[at + count - 1]
    for j in range(at, at + padded, LANES):
        walk_eight_listed(j, (first, trees, scratch), trees.packed, scratch.row_values, None, missing, sets)


@inline
def add(rows, values, scores):
    """Add values to the scores of a block of rows."""
    for i in range(rows):
        scores[i] += values[i]


@inline
def add_trees(k, rows, trees, groups, shuffled, scratch, scores, missing, sets):
    """Add the trees to the scores of a block of rows that have shuffled values of group k."""
    width = trees.width
    for t in range(trees.trees):
        p = np.int64(groups.pair[t * groups.groups + k])
        count = scratch.counts[p] if p >= 0 else np.int64(0)
        unshuffled = tail(scratch.unshuffled, t * width * BLOCK)
        if count > 0:
            for w in range(width):
                for i in range(rows):
                    scratch.moved[w * BLOCK + i] = unshuffled[w * BLOCK + i]
            walk_listed(2 * trees.starts[t], p * BLOCK, count, trees, scratch, missing, sets)
        for w in range(width):
            mine = tail(scores, (trees.output[t] + w) * shuffled.rows)
            if count > 0:
                add(rows, tail(scratch.moved, w * BLOCK), mine)
            else:
                add(rows, tail(unshuffled, w * BLOCK), mine)


@inline
def score_block(begin, rows, above, table, values, trees, used, groups, shuffled, scratch):
    """Scores of a block of rows for every group and repeat; row `begin` of the table is row `above` + `begin` of all."""
    write_rows(begin, rows, table, values, used, scratch)
    walk_paths(rows, trees, used, groups, scratch)
    columns = used.columns
    for k in range(groups.groups):
        for r in range(shuffled.repeats):
            for m in range(groups.start[k], groups.start[k + 1]):
                new = tail(shuffled.values, (m * shuffled.repeats + r) * shuffled.rows + above + begin)
                place = groups.place[m]
                for i in range(rows):
                    scratch.row_values[i * columns + place] = new[i]
            scores = tail(
                shuffled.scores, (k * shuffled.repeats + r) * shuffled.outputs * shuffled.rows + above + begin
            )
            if used.missing == 0 and trees.words == 0:
                add_trees(k, rows, trees, groups, shuffled, scratch, scores, None, None)
            else:
                add_trees(k, rows, trees, groups, shuffled, scratch, scores, 1, trees.sets)
        for m in range(groups.start[k], groups.start[k + 1]):
            place = groups.place[m]
            column = used.column[place] * table.column_step
            for i in range(rows):
                scratch.row_values[i * columns + place] = float(values[(begin + i) * table.row_step + column])


@kernel
def shuffled_scores(
    team: Member,
    first: i64,
    last: i64,
    above: i64,
    table: Values,
    trees: SomeTrees,
    used: UsedColumns,
    groups: Groups,
    shuffled: Shuffled,
    scratch: ShuffleScratch,
):
    """Add trees to the scores of rows first..last-1 of a table that has `above` rows above it, for every group and repeat."""
    mine = own(scratch, team.rank)
    for begin in range(first + team.rank * BLOCK, last, team.size * BLOCK):
        rows = min(BLOCK, last - begin)
        if table.span32 > 0:
            score_block(begin, rows, above, table, table.values32, trees, used, groups, shuffled, mine)
        else:
            score_block(begin, rows, above, table, table.values64, trees, used, groups, shuffled, mine)
