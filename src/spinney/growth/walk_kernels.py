"""Walking binned rows down a tree: for rows that did not grow it."""

from spinney.growth.layout import CLASS
from spinney.jit import f64, i32, i64, kernel, out, u8, u16


@kernel
def add_tree(
    rank: i64, size: i64, sync: out(i64["32"]), rows: i64, columns: i64, outputs: i64, stride: i64, wide: i64,
    max_nodes: i64, bins8: u8["rows * stride * (1 - wide)"], bins16: u16["rows * stride * wide"], bins_of: i64["columns"],
    control: i64["8"], feature: i32["max_nodes"], cut_bin: i32["max_nodes"], left: i32["max_nodes"],
    default_left: u8["max_nodes"], value: f64["max_nodes"], scores: out(f64["rows * outputs"]),
):
    """Add the tree's leaf values to the scores of all rows."""
    scores_at = rows * control[CLASS]
    for i in range(rows * rank // size, rows * (rank + 1) // size):
        node = 0
        while feature[node] >= 0:
            column = feature[node]
            b = int(bins16[i * stride + column]) if wide != 0 else int(bins8[i * stride + column])
            goes_left = b <= cut_bin[node]
            if b >= bins_of[column]:
                goes_left = default_left[node] != 0
            node = left[node] + (0 if goes_left else 1)
        scores[scores_at + i] += value[node]
