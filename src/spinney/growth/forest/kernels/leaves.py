"""The leaf of every row of a binned table in a grown tree, found by codes."""

import numpy as np

from spinney.binning.kernels.records import Binned
from spinney.growth.forest.kernels.entries import first_entry, sparse_bin
from spinney.jit import Member, i32, i64, inline, kernel, out, record, u8


@record
class GrownSplits:
    """The splits of one tree. The bits of a set of categories begin at `set_at`, which is -1 for a column of numbers."""

    splits: i64
    words: i64
    column: i32["splits"]
    cut: i32["splits"]
    default_left: u8["splits"]
    children: i32["2 * splits"]
    set_at: i64["splits"]
    set_bits: i64["words"]


@inline
def code_of(row, column, data):
    """Bin of a row in a column."""
    group = data.features.group_of[column]
    if group >= 0:
        place = row * data.codes.stride + group
        return (
            np.int64(data.codes.by_row16[place])
            if data.codes.wide != 0
            else np.int64(data.codes.by_row8[place])
        )
    default = data.features.default[column]
    last = data.sparse.starts[column + 1]
    entry = first_entry(row, data.sparse.starts[column], last, data.sparse.column_rows)
    if entry < last and np.int64(data.sparse.column_rows[entry]) == row:
        return sparse_bin(data.sparse.column_codes[entry], default)
    return default


@inline
def side_of(row, split, data, tree):
    """0 where a row goes left at a split, else 1."""
    column = np.int64(tree.column[split])
    code = code_of(row, column, data)
    if code == data.features.bins[column]:
        return np.int64(1) - np.int64(tree.default_left[split])
    at = tree.set_at[split]
    if at < 0:
        return np.int64(0) if code <= np.int64(tree.cut[split]) else np.int64(1)
    return np.int64(1) - ((tree.set_bits[at + (code >> 6)] >> (code & 63)) & 1)


@kernel
def find_leaves(team: Member, data: Binned, tree: GrownSplits, leaf: out(i32["data.codes.rows"])):
    """The leaf of each row, counted from left to right."""
    rows = data.codes.rows
    for row in range(rows * team.rank // team.size, rows * (team.rank + 1) // team.size):
        place = np.int64(0) if tree.splits > 0 else np.int64(-1)
        while place >= 0:
            place = np.int64(tree.children[2 * place + side_of(row, place, data, tree)])
        leaf[row] = ~place
