"""Prediction from the stored entries of a sparse table.

A row of which nothing is stored takes the same path down a tree every time and comes to rest in the same leaf. A row leaves this
path only where it has stored the column that a node of the path asks for, and goes the other way there. So its entries are
looked up among the nodes of all paths, and only trees whose path it leaves are walked, from that point on.

A batch of rows is written into `lines`, dense rows of the columns that some node asks for, which hold the absent value between
two batches. Where entries meet very many nodes of the paths, the batch walks all trees from their roots instead.

`where` says for each tree and row of a batch at which node it is, as nodes are known while walking; between two batches all are
at rest. `movers` lists those that are not, tree << 32 | row of the batch.
"""

import numpy as np

from spinney.jit import Member, f64, i32, i64, inline, kernel, out, own
from spinney.jit.intrinsics import tail
from spinney.model.kernels.records import LANES, Batch, PackedForest, Paths, Seen, StoredRows, Wanted
from spinney.model.kernels.walk import COLUMN, INFINITE, predict_eights, predict_one, step, walk_one

# All trees are walked where entries meet more than one in so many nodes of the paths. Seconds for 200 000 × 28 and 100 trees of
# 255 leaves, walking all, or those whose paths are left: with a fifth of the values stored 2.3 and 3.0, with a tenth 3.7 and 2.3.
DENSE = 6
ROW = 4294967295


@kernel
def find_paths(
    forest: PackedForest, absent: f64, rest: out(i32["forest.trees"]), ends: out(i64["forest.trees + 1"]),
    column: out(i32["forest.nodes"]), tree: out(i32["forest.nodes"]), node: out(i32["forest.nodes"]),
    onward: out(i32["forest.nodes"]), line: out(f64["1"]),
):
    """Follow a row of absent values down each tree: the nodes of its path, and where it comes to rest.

    Those of tree t are items ends[t] to ends[t + 1] - 1 of `column`, `tree`, `node` and `onward`, the next node.
    """
    packed = forest.packed
    line[0] = absent
    found = 0
    ends[0] = 0
    for t in range(forest.trees):
        first = 2 * forest.starts[t]
        at = np.int64(0)
        while packed[first + at + 1] != INFINITE:
            asked = packed[first + at] & COLUMN
            column[found] = asked
            tree[found] = t
            node[found] = at
            # The step looks at item row + column of the values: item 0, whatever the column.
            at = step(at, first, packed, line, -asked, None, 1, None)
            onward[found] = at
            found += 1
        rest[t] = at
        ends[t + 1] = found


@inline
def write_entries(begin, end, table, values, paths, lines):
    """Write the entries of a batch of rows into its lines.

    Returns how many nodes of paths ask for one of them, whether one is missing, and whether one is infinite.
    """
    met = np.int64(0)
    missing = np.int64(0)
    infinite = np.int64(0)
    for i in range(begin, end):
        line = (i - begin) * table.asked
        for k in range(table.row_starts[i], table.row_starts[i + 1]):
            x = float(values[k])
            missing |= 1 if x != x else 0
            infinite |= 1 if abs(x) == np.inf else 0
            p = np.int64(table.place[table.indices[k]])
            if p >= 0:
                lines[line + p] = x
                met += paths.starts[p + 1] - paths.starts[p]
    return met, missing, infinite


@inline
def clear_entries(begin, end, table, lines):
    """Make the lines those of absent values again."""
    for i in range(begin, end):
        line = (i - begin) * table.asked
        for k in range(table.row_starts[i], table.row_starts[i + 1]):
            p = np.int64(table.place[table.indices[k]])
            if p >= 0:
                lines[line + p] = table.absent


@inline
def leave_paths(begin, end, trees, table, paths, forest, mine):
    """Find the paths that rows of a batch leave, and let them take their first step aside. Returns how many do."""
    where = mine.where
    movers = mine.movers
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
                    np.int64(paths.node[a]), 2 * forest.starts[t], forest.packed, mine.lines, row * table.asked, None, 1, None
                )
                if child == paths.onward[a]:
                    continue
                cell = t * mine.batch + row
                if where[cell] == paths.rest[t]:
                    movers[count] = (t << 32) | row
                    count += 1
                    where[cell] = child
                elif child < where[cell]:
                    # Children come after their parents: the smaller one is beside the earlier node of the path.
                    where[cell] = child
    return count


@inline
def walk_movers(k, asked, forest, mine):
    """Walk eight movers to their leaves."""
    batch = mine.batch
    lines = mine.lines
    where = mine.where
    movers = mine.movers
    starts = forest.starts
    packed = forest.packed
    m0 = movers[k]
    m1 = movers[k + 1]
    m2 = movers[k + 2]
    m3 = movers[k + 3]
    m4 = movers[k + 4]
    m5 = movers[k + 5]
    m6 = movers[k + 6]
    m7 = movers[k + 7]
    f0 = 2 * starts[m0 >> 32]
    f1 = 2 * starts[m1 >> 32]
    f2 = 2 * starts[m2 >> 32]
    f3 = 2 * starts[m3 >> 32]
    f4 = 2 * starts[m4 >> 32]
    f5 = 2 * starts[m5 >> 32]
    f6 = 2 * starts[m6 >> 32]
    f7 = 2 * starts[m7 >> 32]
    r0 = (m0 & ROW) * asked
    r1 = (m1 & ROW) * asked
    r2 = (m2 & ROW) * asked
    r3 = (m3 & ROW) * asked
    r4 = (m4 & ROW) * asked
    r5 = (m5 & ROW) * asked
    r6 = (m6 & ROW) * asked
    r7 = (m7 & ROW) * asked
    n0 = np.int64(where[(m0 >> 32) * batch + (m0 & ROW)])
    n1 = np.int64(where[(m1 >> 32) * batch + (m1 & ROW)])
    n2 = np.int64(where[(m2 >> 32) * batch + (m2 & ROW)])
    n3 = np.int64(where[(m3 >> 32) * batch + (m3 & ROW)])
    n4 = np.int64(where[(m4 >> 32) * batch + (m4 & ROW)])
    n5 = np.int64(where[(m5 >> 32) * batch + (m5 & ROW)])
    n6 = np.int64(where[(m6 >> 32) * batch + (m6 & ROW)])
    n7 = np.int64(where[(m7 >> 32) * batch + (m7 & ROW)])
    while True:
        before = n0 + n1 + n2 + n3 + n4 + n5 + n6 + n7
        n0 = step(n0, f0, packed, lines, r0, None, 1, None)
        n1 = step(n1, f1, packed, lines, r1, None, 1, None)
        n2 = step(n2, f2, packed, lines, r2, None, 1, None)
        n3 = step(n3, f3, packed, lines, r3, None, 1, None)
        n4 = step(n4, f4, packed, lines, r4, None, 1, None)
        n5 = step(n5, f5, packed, lines, r5, None, 1, None)
        n6 = step(n6, f6, packed, lines, r6, None, 1, None)
        n7 = step(n7, f7, packed, lines, r7, None, 1, None)
        if n0 + n1 + n2 + n3 + n4 + n5 + n6 + n7 == before:
            break
    where[(m0 >> 32) * batch + (m0 & ROW)] = n0
    where[(m1 >> 32) * batch + (m1 & ROW)] = n1
    where[(m2 >> 32) * batch + (m2 & ROW)] = n2
    where[(m3 >> 32) * batch + (m3 & ROW)] = n3
    where[(m4 >> 32) * batch + (m4 & ROW)] = n4
    where[(m5 >> 32) * batch + (m5 & ROW)] = n5
    where[(m6 >> 32) * batch + (m6 & ROW)] = n6
    where[(m7 >> 32) * batch + (m7 & ROW)] = n7


@inline
def settle(begin, end, trees, table, paths, forest, mine):
    """Bring every row of a batch to its leaf in each tree. Returns how many movers there were."""
    count = leave_paths(begin, end, trees, table, paths, forest, mine)
    filled = (count + LANES - 1) // LANES * LANES
    for k in range(count, filled):
        mine.movers[k] = mine.movers[count - 1]
    for k in range(0, filled, LANES):
        walk_movers(k, table.asked, forest, mine)
    return count


@inline
def rest_again(count, rest, mine):
    """Let all movers of a batch rest."""
    for k in range(count):
        t = mine.movers[k] >> 32
        mine.where[t * mine.batch + (mine.movers[k] & ROW)] = rest[t]


@inline
def score_batch(begin, end, outputs, trees, many, missing, table, paths, forest, mine, scores):
    """Add the trees to the scores of a batch whose entries are written.

    `many` says that most paths are left, `missing` that a value of the lines may be missing.
    """
    asked = table.asked
    lines = mine.lines
    rows = end - begin
    sums = tail(scores, begin * outputs)
    if many:
        if missing:
            row = predict_eights(0, rows, outputs, trees, forest, lines, asked, None, 1, None, sums)
        else:
            row = predict_eights(0, rows, outputs, trees, forest, lines, asked, None, None, None, sums)
        while row < rows:
            predict_one(row, outputs, trees, forest, lines, asked, 1, None, sums)
            row += 1
        return
    count = settle(begin, end, trees, table, paths, forest, mine)
    output = 0
    for t in range(trees):
        for row in range(rows):
            leaf = forest.starts[t] + (mine.where[t * mine.batch + row] >> 1)
            sums[row * outputs + output] += forest.value[leaf]
        output = output + 1 if output + 1 < outputs else 0
    rest_again(count, paths.rest, mine)


@inline
def number_batch(begin, end, trees, many, table, paths, forest, mine, leaves):
    """Leaves of a batch whose entries are written, in each tree; `many` as in `score_batch`."""
    if many:
        for i in range(begin, end):
            for t in range(trees):
                leaves[i * trees + t] = walk_one(
                    forest.starts[t], forest.packed, mine.lines, (i - begin) * table.asked, 1, None
                )
        return
    count = settle(begin, end, trees, table, paths, forest, mine)
    for i in range(begin, end):
        for t in range(trees):
            leaves[i * trees + t] = mine.where[t * mine.batch + i - begin] >> 1
    rest_again(count, paths.rest, mine)


@kernel
def predict_entries(
    team: Member, forest: PackedForest, table: StoredRows, paths: Paths, batch: Batch, wanted: Wanted, seen: Seen
):
    """Add the first trees to row-major scores, or number the leaves of the rows, or both.

    Where a value is infinite, the thread's `met` becomes 1.
    """
    mine = own(batch, team.rank)
    met = own(seen, team.rank).met
    trees = batch.trees
    for begin in range(team.rank * batch.batch, table.rows, team.size * batch.batch):
        end = min(begin + batch.batch, table.rows)
        if table.span32 > 0:
            asks, missing, infinite = write_entries(begin, end, table, table.values32, paths, mine.lines)
        else:
            asks, missing, infinite = write_entries(begin, end, table, table.values64, paths, mine.lines)
        met[0] |= infinite
        many = asks * DENSE > (end - begin) * paths.ends[trees]
        if infinite == 0 and wanted.scored > 0:
            unknown = missing != 0 or table.absent != table.absent
            score_batch(begin, end, wanted.outputs, trees, many, unknown, table, paths, forest, mine, wanted.scores)
        if infinite == 0 and wanted.numbered > 0:
            number_batch(begin, end, trees, many, table, paths, forest, mine, wanted.leaves)
        clear_entries(begin, end, table, mine.lines)
