"""Walking binned rows down a tree: for rows that did not grow it.

Where every split is by a number kept in a group, each thread first packs the tree into two words a node, in terms of stored
codes, and then walks eight rows at once, as prediction does. Sparse and categorical columns are walked one row at a time.

    left child << 32 | 1 where codes of the stretch go left << 31 | group
    length of a stretch of codes << 32 | its first code

Codes outside the stretch go the other way. A leaf's stretch is empty, and it points to itself.
"""

import numpy as np

from spinney.binning.features import NO_DEFAULT
from spinney.growth.category_kernels import has_bit
from spinney.growth.layout import CLASS, NODES
from spinney.jit import f64, i32, i64, inline, kernel, out, u8, u16

LANES = 8
BATCH = 512  # rows, a multiple of LANES
STEPS = 6  # 262 000 rows, 255 leaves 11.5 deep on average and 25 at most, one thread: 2 17 ms, 4 12 ms, 6 9.4 ms, 8 11.6 ms


@inline
def stored_code(row, first, codes, row_starts, row_codes):
    """Which of a sparse column's codes a row has stored, -1 for none; `first` is the column's first place."""
    low = row_starts[row]
    high = row_starts[row + 1]
    while low < high:
        middle = (low + high) >> 1
        if row_codes[middle] < first:
            low = middle + 1
        else:
            high = middle
    if low < row_starts[row + 1] and row_codes[low] < first + codes:
        return np.int64(row_codes[low]) - first
    return np.int64(-1)


@inline
def bin_of_row(row, column, bins, stored, features):
    """Bin of a row in a column."""
    bins8, bins16, wide, stride = bins
    row_starts, row_codes = stored
    group_of, low_of, codes_of, _, default_of, _ = features
    group = group_of[column]
    if group < 0:
        code = stored_code(row, low_of[column], codes_of[column], row_starts, row_codes)
    else:
        at = row * stride + group
        code = (np.int64(bins16[at]) if wide != 0 else np.int64(bins8[at])) - low_of[column]
    default = default_of[column]
    if code < 0 or code >= codes_of[column]:
        return default
    return code + (1 if code >= default else 0)


@inline
def walk_slowly(row, tree, sets, words, bins, stored, features):
    """Leaf of one row, whatever the columns are."""
    feature, cut_bin, left, default_left = tree
    node = np.int64(0)
    while feature[node] >= 0:
        column = feature[node]
        b = bin_of_row(row, column, bins, stored, features)
        goes_left = b <= cut_bin[node]
        if words > 0 and features[5][column] != 0 and b < features[3][column]:
            goes_left = has_bit(sets, node * words, b) != 0
        if b >= features[3][column]:
            goes_left = default_left[node] != 0
        node = np.int64(left[node]) + (0 if goes_left else 1)
    return node


@inline
def pack(nodes, tree, features, packed, at):
    """Pack a tree; returns its depth, or -1 if a split is by a sparse or categorical column, or not by one stretch of codes."""
    feature, cut_bin, left, default_left = tree
    group_of, low_of, codes_of, bins_of, default_of, categorical = features
    deepest = np.int64(0)
    # A node's depth stands in its place until it is packed; children come after their parents.
    packed[at] = 0
    for node in range(nodes):
        depth = packed[at + 2 * node]
        deepest = max(deepest, depth)
        column = feature[node]
        if column < 0:
            packed[at + 2 * node] = np.int64(2 * node) << 32
            packed[at + 2 * node + 1] = 0
            continue
        if group_of[column] < 0 or categorical[column] != 0:
            return np.int64(-1)
        child = np.int64(left[node])
        packed[at + 2 * child] = depth + 1
        packed[at + 2 * child + 2] = depth + 1
        cut = np.int64(cut_bin[node])
        bins = bins_of[column]
        default = default_of[column]
        codes = codes_of[column]
        go_left = cut + 1 - (1 if cut >= default else 0)
        has_missing = codes > bins or (codes == bins and default < bins)
        missing_left = default_left[node] != 0
        # Codes of other columns mean the default bin. A lone column has none.
        rest_left = missing_left if default == bins else default <= cut or default >= NO_DEFAULT
        if rest_left:
            first = go_left
            length = codes - go_left - (1 if has_missing and missing_left else 0)
        elif has_missing and missing_left:
            return np.int64(-1)
        else:
            first = np.int64(0)
            length = go_left
        packed[at + 2 * node] = (2 * child << 32) | ((0 if rest_left else 1) << 31) | group_of[column]
        packed[at + 2 * node + 1] = (length << 32) | (low_of[column] + first)
    return deepest


@inline
def step(node, packed, at, codes, row):
    """The node below."""
    link = packed[at + node]
    rule = packed[at + node + 1]
    code = np.int64(codes[row + (link & 1073741823)]) - (rule & 4294967295)
    right = 2 if np.uint64(code) < np.uint64(rule >> 32) else 0
    return (link >> 32) + (right ^ ((link >> 30) & 2))


@inline
def walk_eight(steps, packed, at, codes, stride, pending, nodes, i):
    """Walk eight waiting rows some steps further."""
    r0 = pending[i] * stride
    r1 = pending[i + 1] * stride
    r2 = pending[i + 2] * stride
    r3 = pending[i + 3] * stride
    r4 = pending[i + 4] * stride
    r5 = pending[i + 5] * stride
    r6 = pending[i + 6] * stride
    r7 = pending[i + 7] * stride
    n0 = nodes[i]
    n1 = nodes[i + 1]
    n2 = nodes[i + 2]
    n3 = nodes[i + 3]
    n4 = nodes[i + 4]
    n5 = nodes[i + 5]
    n6 = nodes[i + 6]
    n7 = nodes[i + 7]
    for _ in range(steps):
        n0 = step(n0, packed, at, codes, r0)
        n1 = step(n1, packed, at, codes, r1)
        n2 = step(n2, packed, at, codes, r2)
        n3 = step(n3, packed, at, codes, r3)
        n4 = step(n4, packed, at, codes, r4)
        n5 = step(n5, packed, at, codes, r5)
        n6 = step(n6, packed, at, codes, r6)
        n7 = step(n7, packed, at, codes, r7)
    nodes[i] = n0
    nodes[i + 1] = n1
    nodes[i + 2] = n2
    nodes[i + 3] = n3
    nodes[i + 4] = n4
    nodes[i + 5] = n5
    nodes[i + 6] = n6
    nodes[i + 7] = n7


@inline
def add_to_batch(begin, end, depth, packed, at, codes, stride, value, scores, scores_at, pending, nodes, to):
    """Add the leaf values of a batch of rows. After every few steps those that have arrived make room for the others."""
    waiting = end - begin
    for i in range(waiting):
        pending[to + i] = begin + i
        nodes[to + i] = 0
    walked = 0
    while waiting > 0:
        # The last eight are filled up with the last row, again and again.
        for i in range(waiting, (waiting + LANES - 1) // LANES * LANES):
            pending[to + i] = pending[to + waiting - 1]
            nodes[to + i] = nodes[to + waiting - 1]
        steps = min(STEPS, depth - walked)
        for i in range(0, waiting, LANES):
            walk_eight(steps, packed, at, codes, stride, pending, nodes, to + i)
        walked += steps
        still = 0
        for i in range(waiting):
            row = pending[to + i]
            node = nodes[to + i]
            arrived = packed[at + node] >> 32 == node
            scores[scores_at + row] += value[node >> 1] if arrived else 0.0
            pending[to + still] = row
            nodes[to + still] = node
            still += 0 if arrived else 1
        waiting = still


@kernel
def add_tree(
    rank: i64, size: i64, sync: out(i64["32"]), rows: i64, columns: i64, outputs: i64, stride: i64, wide: i64,
    sparse: i64, stored: i64, words: i64, max_nodes: i64, threads: i64,
    bins8: u8["rows * stride * (1 - wide)"], bins16: u16["rows * stride * wide"],
    row_starts: i64["(rows + 1) * sparse"], row_codes: i32["stored"], group_of: i64["columns"], low_of: i64["columns"],
    codes_of: i64["columns"], bins_of: i64["columns"], default_of: i64["columns"], categorical: u8["columns"],
    sets: i64["max_nodes * words"], control: i64["8"], feature: i32["max_nodes"], cut_bin: i32["max_nodes"],
    left: i32["max_nodes"], default_left: u8["max_nodes"], value: f64["max_nodes"],
    packed: out(i64["2 * max_nodes * threads"]), pending: out(i64["threads * 512"]), reached: out(i64["threads * 512"]),
    scores: out(f64["rows * outputs"]),
):
    """Add the tree's leaf values to the scores of all rows."""
    scores_at = rows * control[CLASS]
    bins = (bins8, bins16, wide, stride)
    features = (group_of, low_of, codes_of, bins_of, default_of, categorical)
    tree = (feature, cut_bin, left, default_left)
    at = 2 * max_nodes * rank
    depth = pack(control[NODES], tree, features, packed, at)
    row = rows * rank // size
    end = rows * (rank + 1) // size
    while depth >= 0 and row < end:
        stop = min(row + BATCH, end)
        if wide != 0:
            add_to_batch(
                row, stop, depth, packed, at, bins16, stride, value, scores, scores_at, pending, reached, rank * BATCH
            )
        else:
            add_to_batch(
                row, stop, depth, packed, at, bins8, stride, value, scores, scores_at, pending, reached, rank * BATCH
            )
        row = stop
    while row < end:
        node = walk_slowly(row, tree, sets, words, bins, (row_starts, row_codes), features)
        scores[scores_at + row] += value[node]
        row += 1
