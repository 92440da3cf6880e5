"""Leaves of rows of which one column is shuffled."""

import numpy as np

from spinney.jit import Member, inline, kernel, own
from spinney.model.kernels.records import Values
from spinney.training.forests.kernels.records import OnPath, PlainTree, Shuffles


@inline
def below(split, x, tree):
    """The split below a split on the side of a value, or ~number of a leaf."""
    if x != x:
        left = tree.default_left[split] != 0
    elif tree.set_at[split] >= 0:
        number = np.int64(x)
        left = (tree.set_bits[tree.set_at[split] + (number >> 6)] >> (number & 63)) & 1 != 0
    else:
        left = x <= tree.threshold[split]
    return np.int64(tree.children[2 * split + (0 if left else 1)])


@inline
def walk_path(i, tree, table, values, shuffles, on_path):
    """Leaf of a row, and how many of the shuffled columns are on its path; these are listed."""
    line = shuffles.row[i] * table.row_step
    split = np.int64(0)
    found = 0
    while split >= 0:
        column = np.int64(tree.column[split])
        k = shuffles.place[column]
        if k >= 0:
            if on_path.visited[k] != i + 1:
                on_path.visited[k] = i + 1
                on_path.listed[found] = k
                found += 1
        split = below(split, float(values[line + column * table.column_step]), tree)
    return ~split, found


@inline
def walk_shuffled(i, k, tree, table, values, shuffles):
    """Leaf of a row that has the value of another row in one column."""
    line = shuffles.row[i] * table.row_step
    other = shuffles.row[shuffles.orders[k * shuffles.rows + i]] * table.row_step
    split = np.int64(0)
    while split >= 0:
        column = np.int64(tree.column[split])
        from_line = other if column == shuffles.column[k] else line
        split = below(split, float(values[from_line + column * table.column_step]), tree)
    return ~split


@inline
def walk_all(team, tree, table, values, shuffles, on_path):
    """Leaves of the thread's rows: a row can only get another leaf if a column of its path is shuffled."""
    mine = own(on_path, team.rank)
    rows = shuffles.rows
    for i in range(rows * team.rank // team.size, rows * (team.rank + 1) // team.size):
        leaf, found = walk_path(i, tree, table, values, shuffles, mine)
        shuffles.before[i] = leaf
        for k in range(shuffles.columns):
            shuffles.leaves[k * rows + i] = leaf
        for j in range(found):
            k = np.int64(mine.listed[j])
            shuffles.leaves[k * rows + i] = walk_shuffled(i, k, tree, table, values, shuffles)


@kernel
def shuffled_leaves(team: Member, tree: PlainTree, table: Values, shuffles: Shuffles, on_path: OnPath):
    """Leaf of every row as it is, and with each column shuffled in turn. The tree has a split."""
    if table.span32 > 0:
        walk_all(team, tree, table, table.values32, shuffles, on_path)
    else:
        walk_all(team, tree, table, table.values64, shuffles, on_path)
