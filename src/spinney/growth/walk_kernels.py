"""Walking binned rows down a tree: for rows that did not grow it.

Where every split is by a number kept in a group, each thread first packs the tree into two words a node, in terms of stored
codes, and then walks eight rows at once, as prediction does. Sparse and categorical columns are walked one row at a time.

    left child << 32 | missing goes right << 31 | default goes right << 30 | group
    missing code << 48 | how many codes go left << 32 | number of codes << 16 | first code

Codes of a column count from its first one; those of other columns mean that it is in its default bin. A leaf points to itself,
and every code of it goes left.
"""

import numpy as np

from spinney.growth.category_kernels import has_bit
from spinney.growth.layout import CLASS, NODES
from spinney.jit import f64, i32, i64, inline, kernel, out, u8, u16

LANES = 8
MOST_CODE = 65535


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
    """Pack a tree; returns its depth, or -1 if a split is by a sparse or categorical column."""
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
            packed[at + 2 * node + 1] = (MOST_CODE << 32) | (MOST_CODE << 16)
            continue
        if group_of[column] < 0 or categorical[column] != 0:
            return np.int64(-1)
        child = np.int64(left[node])
        packed[at + 2 * child] = depth + 1
        packed[at + 2 * child + 2] = depth + 1
        cut = np.int64(cut_bin[node])
        bins = bins_of[column]
        default = default_of[column]
        codes = min(codes_of[column], np.int64(MOST_CODE))
        missing_right = 1 - np.int64(default_left[node])
        # A lone column has no default; what it has beyond MOST_CODE codes is its missing one.
        default_right = missing_right if default >= bins else np.int64(default > cut)
        go_left = cut + 1 - (1 if cut >= default else 0)
        missing = codes_of[column] - 1
        if default == bins or codes_of[column] < bins:
            # Missing values have no code of their own.
            missing = np.int64(MOST_CODE)
            missing_right = default_right
        packed[at + 2 * node] = (2 * child << 32) | (missing_right << 31) | (default_right << 30) | group_of[column]
        packed[at + 2 * node + 1] = (missing << 48) | (go_left << 32) | (codes << 16) | low_of[column]
    return deepest


@inline
def step(node, packed, at, codes, row):
    """The node below."""
    link = packed[at + node]
    rule = packed[at + node + 1]
    code = np.int64(codes[row + (link & 1073741823)]) - (rule & MOST_CODE)
    right = 2 if code >= ((rule >> 32) & MOST_CODE) else 0
    right = ((link >> 30) & 2) if code == ((rule >> 48) & MOST_CODE) else right
    outside = (code < 0) | (code >= ((rule >> 16) & MOST_CODE))
    right = ((link >> 29) & 2) if outside else right
    return (link >> 32) + right


@inline
def walk_eight(depth, packed, at, codes, row, stride):
    """Leaves of eight consecutive rows, doubled."""
    r0 = row * stride
    r1 = r0 + stride
    r2 = r1 + stride
    r3 = r2 + stride
    r4 = r3 + stride
    r5 = r4 + stride
    r6 = r5 + stride
    r7 = r6 + stride
    n0 = n1 = n2 = n3 = n4 = n5 = n6 = n7 = np.int64(0)
    for _ in range(depth):
        before = n0 + n1 + n2 + n3 + n4 + n5 + n6 + n7
        n0 = step(n0, packed, at, codes, r0)
        n1 = step(n1, packed, at, codes, r1)
        n2 = step(n2, packed, at, codes, r2)
        n3 = step(n3, packed, at, codes, r3)
        n4 = step(n4, packed, at, codes, r4)
        n5 = step(n5, packed, at, codes, r5)
        n6 = step(n6, packed, at, codes, r6)
        n7 = step(n7, packed, at, codes, r7)
        # Children come after their parents, so the sum stands still only when all eight have arrived.
        if n0 + n1 + n2 + n3 + n4 + n5 + n6 + n7 == before:
            break
    return n0, n1, n2, n3, n4, n5, n6, n7


@inline
def add_to_eights(begin, end, depth, packed, at, codes, stride, value, scores, scores_at):
    """Add the leaf values of as many rows as eights; returns the first row left over."""
    stop = begin + (end - begin) // LANES * LANES
    for i in range(begin, stop, LANES):
        n0, n1, n2, n3, n4, n5, n6, n7 = walk_eight(depth, packed, at, codes, i, stride)
        to = scores_at + i
        scores[to] += value[n0 >> 1]
        scores[to + 1] += value[n1 >> 1]
        scores[to + 2] += value[n2 >> 1]
        scores[to + 3] += value[n3 >> 1]
        scores[to + 4] += value[n4 >> 1]
        scores[to + 5] += value[n5 >> 1]
        scores[to + 6] += value[n6 >> 1]
        scores[to + 7] += value[n7 >> 1]
    return stop


@kernel
def add_tree(
    rank: i64, size: i64, sync: out(i64["32"]), rows: i64, columns: i64, outputs: i64, stride: i64, wide: i64,
    sparse: i64, stored: i64, words: i64, max_nodes: i64, threads: i64,
    bins8: u8["rows * stride * (1 - wide)"], bins16: u16["rows * stride * wide"],
    row_starts: i64["(rows + 1) * sparse"], row_codes: i32["stored"], group_of: i64["columns"], low_of: i64["columns"],
    codes_of: i64["columns"], bins_of: i64["columns"], default_of: i64["columns"], categorical: u8["columns"],
    sets: i64["max_nodes * words"], control: i64["8"], feature: i32["max_nodes"], cut_bin: i32["max_nodes"],
    left: i32["max_nodes"], default_left: u8["max_nodes"], value: f64["max_nodes"],
    packed: out(i64["2 * max_nodes * threads"]), scores: out(f64["rows * outputs"]),
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
    if depth >= 0 and wide != 0:
        row = add_to_eights(row, end, depth, packed, at, bins16, stride, value, scores, scores_at)
    elif depth >= 0:
        row = add_to_eights(row, end, depth, packed, at, bins8, stride, value, scores, scores_at)
    while row < end:
        node = walk_slowly(row, tree, sets, words, bins, (row_starts, row_codes), features)
        scores[scores_at + row] += value[node]
        row += 1
