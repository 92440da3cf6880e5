"""Prediction from the stored entries of a sparse table.

A row without stored entries takes the same path down a tree every time and ends in the same leaf. A row leaves this path only at
a node whose column it has stored, and only if it goes to the other side there. So its entries are looked up among the nodes of
all paths, and only trees whose path it leaves are walked, from that node on.

A batch of rows is written to `lines`: dense rows of the used columns, those that some node splits by. Between two batches they
have the absent value everywhere. If entries meet very many nodes of the paths, the batch walks all trees from their roots
instead.

`node_at` has the node of each row of a batch in each tree, in the numbers of a walk; between two batches it is the leaf of a row
without entries. `moved_rows` lists the rows that are elsewhere, tree << 32 | row of the batch.
"""

import numpy as np

from spinney.jit import Member, f64, i32, i64, inline, kernel, out, own
from spinney.jit.intrinsics import tail
from spinney.jit.types import filled
from spinney.model.kernels.records import (
    LANES,
    EntryBatch,
    EntryOutput,
    PackedForest,
    Paths,
    StoredRows,
    ValueFlags,
)
from spinney.model.kernels.walk import (
    COLUMN,
    INFINITE,
    predict_eights,
    predict_one,
    step,
    walk_eight,
    walk_one,
)

# All trees are walked if entries meet more than one in so many nodes of the paths. Seconds for 200 000 × 28 and 100 trees of 255
# leaves, walking all trees, and only those whose path is left: with a fifth of the values stored 2.3 and 3.0, with a tenth 3.7
# and 2.3.
DENSE = 6
ROW = 4294967295


@kernel
def find_paths(
    forest: PackedForest,
    absent: f64,
    rest: out(i32["forest.trees"]),
    ends: out(i64["forest.trees + 1"]),
    column: out(i32["forest.nodes"]),
    tree: out(i32["forest.nodes"]),
    node: out(i32["forest.nodes"]),
    next_node: out(i32["forest.nodes"]),
    line: out(f64["1"]),
):
    """Follow a row of absent values down each tree: the nodes of its path, and its leaf.

    Those of tree t are items ends[t] to ends[t + 1] - 1 of `column`, `tree`, `node` and `next_node`.
    """
    packed = forest.packed
    line[0] = absent
    found = 0
    ends[0] = 0
    for t in range(forest.trees):
        first = 2 * forest.starts[t]
        at = np.int64(0)
        while packed[first + at + 1] != INFINITE:
            column_of_node = packed[first + at] & COLUMN
            column[found] = column_of_node
            tree[found] = t
            node[found] = at
            # A step reads item row + column of the values: here item 0 for any column.
            at = step(at, first, packed, line, -column_of_node, None, 1, None)
            next_node[found] = at
            found += 1
        rest[t] = at
        ends[t + 1] = found


@inline
def write_entries(begin, end, table, values, paths, lines):
    """Write the entries of a batch of rows to its lines.

    Returns how many nodes of paths split by one of them, whether one is missing, and whether one is infinite.
    """
    nodes_met = np.int64(0)
    missing = np.int64(0)
    infinite = np.int64(0)
    for i in range(begin, end):
        first = (i - begin) * table.used
        for k in range(table.row_starts[i], table.row_starts[i + 1]):
            x = float(values[k])
            missing |= 1 if x != x else 0
            infinite |= 1 if abs(x) == np.inf else 0
            p = np.int64(table.place[table.indices[k]])
            if p >= 0:
                lines[first + p] = x
                nodes_met += paths.starts[p + 1] - paths.starts[p]
    return nodes_met, missing, infinite


@inline
def clear_entries(begin, end, table, lines):
    """Write absent values to the lines again."""
    for i in range(begin, end):
        first = (i - begin) * table.used
        for k in range(table.row_starts[i], table.row_starts[i + 1]):
            p = np.int64(table.place[table.indices[k]])
            if p >= 0:
                lines[first + p] = table.absent


@inline
def leave_paths(begin, end, trees, table, paths, forest, mine):
    """Find the paths that rows of a batch leave, and the node where each one leaves. Returns how many there are."""
    node_at = mine.node_at
    moved_rows = mine.moved_rows
    count = np.int64(0)
    for i in range(begin, end):
        row = i - begin
        for k in range(table.row_starts[i], table.row_starts[i + 1]):
            p = np.int64(table.place[table.indices[k]])
            if p < 0:
                continue
            for a in range(paths.starts[p], paths.starts[p + 1]):
                t = np.int64(paths.tree[a])
                if t >= trees:
                    break
                child = step(
                    np.int64(paths.node[a]),
                    2 * forest.starts[t],
                    forest.packed,
                    mine.lines,
                    row * table.used,
                    None,
                    1,
                    None,
                )
                if child == paths.next_node[a]:
                    continue
                cell = t * mine.batch + row
                if node_at[cell] == paths.rest[t]:
                    moved_rows[count] = (t << 32) | row
                    count += 1
                    node_at[cell] = child
                elif child < node_at[cell]:
                    # Children come after their parents, so the smaller number belongs to the earlier node of the path.
                    node_at[cell] = child
    return count


@inline
def begin_moved(k, task):
    """The node where a moved row has left the path."""
    used, starts, mine = task
    moved = mine.moved_rows[k]
    t = moved >> 32
    row = moved & ROW
    return np.int64(mine.node_at[t * mine.batch + row]), 2 * starts[t], row * used


@inline
def end_moved(k, node, first, task):
    """Store the leaf of a moved row."""
    _, _, mine = task
    moved = mine.moved_rows[k]
    mine.node_at[(moved >> 32) * mine.batch + (moved & ROW)] = node


walk_moved_rows = filled(walk_eight, begin_walk=begin_moved, end_walk=end_moved)


@inline
def find_leaves(begin, end, trees, table, paths, forest, mine):
    """Find the leaf of every row of a batch in each tree. Returns how many rows have left a path."""
    count = leave_paths(begin, end, trees, table, paths, forest, mine)
    padded = (count + LANES - 1) // LANES * LANES
    for k in range(count, padded):
        mine.moved_rows[k] = mine.moved_rows[count - 1]
    task = (table.used, forest.starts, mine)
    for k in range(0, padded, LANES):
        walk_moved_rows(k, task, forest.packed, mine.lines, None, 1, None)
    return count


@inline
def reset_batch(count, rest, mine):
    """Set the moved rows of a batch back to the leaves of a row without entries."""
    for k in range(count):
        t = mine.moved_rows[k] >> 32
        mine.node_at[t * mine.batch + (mine.moved_rows[k] & ROW)] = rest[t]


@inline
def score_batch(begin, end, outputs, trees, walk_all, missing, table, paths, forest, mine, scores):
    """Add the trees to the scores of a batch whose entries are written.

    `walk_all`: walk all trees from their roots. `missing`: a value of the lines may be missing.
    """
    used = table.used
    lines = mine.lines
    rows = end - begin
    sums = tail(scores, begin * outputs)
    if walk_all:
        if missing:
            row = predict_eights(0, rows, outputs, trees, forest, lines, used, None, 1, None, sums)
        else:
            row = predict_eights(0, rows, outputs, trees, forest, lines, used, None, None, None, sums)
        while row < rows:
            predict_one(row, outputs, trees, forest, lines, used, 1, None, sums)
            row += 1
        return
    count = find_leaves(begin, end, trees, table, paths, forest, mine)
    output = 0
    for t in range(trees):
        for row in range(rows):
            leaf = forest.starts[t] + (mine.node_at[t * mine.batch + row] >> 1)
            sums[row * outputs + output] += forest.value[leaf]
        output = output + 1 if output + 1 < outputs else 0
    reset_batch(count, paths.rest, mine)


@inline
def number_batch(begin, end, trees, walk_all, table, paths, forest, mine, leaves):
    """Leaves of a batch whose entries are written, in each tree; `walk_all` as in `score_batch`."""
    if walk_all:
        for i in range(begin, end):
            for t in range(trees):
                leaves[i * trees + t] = walk_one(
                    forest.starts[t], forest.packed, mine.lines, (i - begin) * table.used, 1, None
                )
        return
    count = find_leaves(begin, end, trees, table, paths, forest, mine)
    for i in range(begin, end):
        for t in range(trees):
            leaves[i * trees + t] = mine.node_at[t * mine.batch + i - begin] >> 1
    reset_batch(count, paths.rest, mine)


@kernel
def predict_entries(
    team: Member,
    forest: PackedForest,
    table: StoredRows,
    paths: Paths,
    batch: EntryBatch,
    output: EntryOutput,
    value_flags: ValueFlags,
):
    """Add the first trees to row-major scores, or number the leaves of the rows, or both.

    If a value is infinite, the thread's `flags` become 1.
    """
    mine = own(batch, team.rank)
    flags = own(value_flags, team.rank).flags
    trees = batch.trees
    for begin in range(team.rank * batch.batch, table.rows, team.size * batch.batch):
        end = min(begin + batch.batch, table.rows)
        if table.span32 > 0:
            nodes_met, missing, infinite = write_entries(begin, end, table, table.values32, paths, mine.lines)
        else:
            nodes_met, missing, infinite = write_entries(begin, end, table, table.values64, paths, mine.lines)
        flags[0] |= infinite
        walk_all = nodes_met * DENSE > (end - begin) * paths.ends[trees]
        if infinite == 0 and output.scored > 0:
            may_miss = missing != 0 or table.absent != table.absent
            score_batch(
                begin,
                end,
                output.outputs,
                trees,
                walk_all,
                may_miss,
                table,
                paths,
                forest,
                mine,
                output.scores,
            )
        if infinite == 0 and output.numbered > 0:
            number_batch(begin, end, trees, walk_all, table, paths, forest, mine, output.leaves)
        clear_entries(begin, end, table, mine.lines)
