"""Walking binned rows down a tree: for rows that did not grow it."""

import numpy as np

from spinney.growth.category_kernels import has_bit
from spinney.growth.layout import CLASS
from spinney.jit import f64, i32, i64, inline, kernel, out, u8, u16


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
    group_of, low_of, codes_of, default_of = features
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


@kernel
def add_tree(
    rank: i64, size: i64, sync: out(i64["32"]), rows: i64, columns: i64, outputs: i64, stride: i64, wide: i64,
    sparse: i64, stored: i64, words: i64, max_nodes: i64,
    bins8: u8["rows * stride * (1 - wide)"], bins16: u16["rows * stride * wide"],
    row_starts: i64["(rows + 1) * sparse"], row_codes: i32["stored"], group_of: i64["columns"], low_of: i64["columns"],
    codes_of: i64["columns"], bins_of: i64["columns"], default_of: i64["columns"], categorical: u8["columns"],
    sets: i64["max_nodes * words"], control: i64["8"], feature: i32["max_nodes"], cut_bin: i32["max_nodes"],
    left: i32["max_nodes"], default_left: u8["max_nodes"], value: f64["max_nodes"], scores: out(f64["rows * outputs"]),
):
    """Add the tree's leaf values to the scores of all rows."""
    scores_at = rows * control[CLASS]
    bins = (bins8, bins16, wide, stride)
    features = (group_of, low_of, codes_of, default_of)
    for i in range(rows * rank // size, rows * (rank + 1) // size):
        node = 0
        while feature[node] >= 0:
            column = feature[node]
            b = bin_of_row(i, column, bins, (row_starts, row_codes), features)
            goes_left = b <= cut_bin[node]
            if words > 0 and categorical[column] != 0 and b < bins_of[column]:
                goes_left = has_bit(sets, node * words, b) != 0
            if b >= bins_of[column]:
                goes_left = default_left[node] != 0
            node = left[node] + (0 if goes_left else 1)
        scores[scores_at + i] += value[node]
