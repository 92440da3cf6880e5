"""The entries that a node's rows have in sparse columns.

There are two ways to find them. Those of all columns are *listed* from the rows of the node: one pass over each row's entries
shows which columns are not constant, and sorts the entries by column; all other columns are passed over when they are drawn.
Where few columns are searched, or the node is large, it is faster to *walk* down each of these columns and to check which of its
rows are in the node. The draws are the same either way.

A column's default bin has what its entries leave of the node's sums.
"""

import numpy as np

from spinney.growth.forest.kernels.records import RANKS, row_of
from spinney.jit import inline

WALKED = -1  # instead of the number of live columns: entries are not listed
# Cost of listing an entry, and of searching an entry for a row, relative to walking over one.
LISTED_COST = 2
SEARCHED_COST = 4


@inline
def has_sparse(data, rules):
    """Whether codes of some columns are entries. Ranks are kept for every row."""
    return data.sparse.present != 0 and rules.access != RANKS


@inline
def most_to_list(count, data, rules, mine):
    """Entries up to which a node of so many rows has them listed."""
    in_column = data.sparse.entries // rules.columns + 1
    return min(mine.entry_capacity, rules.per_split * min(SEARCHED_COST * count, in_column) // LISTED_COST)


@inline
def count_entries(node, most, data, rows):
    """How many entries a node's rows have, or a number above `most`."""
    starts = data.sparse.row_starts
    total = np.int64(0)
    for i in range(node.begin, node.end):
        row = row_of(i, rows)
        total += starts[row + 1] - starts[row]
        if total > most:
            return total
    return total


@inline
def count_by_column(node, data, row_codes, rows, mine):
    """Count a node's entries by column and list the columns that have one. Returns how many these are."""
    starts = data.sparse.row_starts
    live = np.int64(0)
    for i in range(node.begin, node.end):
        row = row_of(i, rows)
        for k in range(starts[row], starts[row + 1]):
            column = row_codes.entry_columns[k]
            mine.live_columns[live] = column
            live += 1 if mine.entry_counts[column] == 0 else 0
            mine.entry_counts[column] += 1
    return live


@inline
def sort_by_column(node, live, data, row_codes, rows, mine):
    """Write a node's entries column after column, each with the place of its row in the node."""
    starts = data.sparse.row_starts
    at = np.int64(0)
    for k in range(live):
        column = mine.live_columns[k]
        mine.entry_ends[column] = at
        at += mine.entry_counts[column]
    for i in range(node.begin, node.end):
        row = row_of(i, rows)
        for k in range(starts[row], starts[row + 1]):
            column = row_codes.entry_columns[k]
            place = np.int64(mine.entry_ends[column])
            mine.entry_places[place] = i - node.begin
            mine.entry_bins[place] = row_codes.entry_bins[k]
            mine.entry_ends[column] = place + 1


@inline
def find_live_columns(node, data, row_codes, rules, rows, mine):
    """Prepare the entries of a node. Returns how many columns may differ among its rows: all, if entries are not listed."""
    for k in range(mine.live[0]):
        mine.entry_counts[mine.live_columns[k]] = 0
    most = most_to_list(node.end - node.begin, data, rules, mine)
    if count_entries(node, most, data, rows) > most:
        mine.live[0] = WALKED
        for i in range(node.begin, node.end):
            mine.place_of[row_of(i, rows)] = i
        return rules.columns
    live = count_by_column(node, data, row_codes, rows, mine)
    sort_by_column(node, live, data, row_codes, rows, mine)
    mine.live[0] = live
    return data.codes.groups + live


@inline
def first_entry(row, low, high, listed):
    """The first of some ascending rows that is not below `row`."""
    while low < high:
        middle = (low + high) >> 1
        if listed[middle] < row:
            low = middle + 1
        else:
            high = middle
    return low


@inline
def sparse_bin(code, default):
    """The bin of an entry's code: codes count from 1 and skip the default bin."""
    number = np.int64(code) - 1
    return number if number < default else number + 1


@inline
def walk_entries(column, begin, end, data, rows, mine):
    """Find the entries of a node's rows in a column. Returns how many there are.

    Rows and entries both ascend. If rows are fewer by far they are searched among the entries.
    """
    listed = data.sparse.column_rows
    codes = data.sparse.column_codes
    default = data.features.default[column]
    entry = data.sparse.starts[column]
    last = data.sparse.starts[column + 1]
    count = np.int64(0)
    if SEARCHED_COST * (end - begin) < last - entry:
        for i in range(begin, end):
            row = row_of(i, rows)
            entry = first_entry(row, entry, last, listed)
            if entry < last and np.int64(listed[entry]) == row:
                mine.entry_places[count] = i - begin
                mine.entry_bins[count] = sparse_bin(codes[entry], default)
                count += 1
        return count
    for k in range(entry, last):
        row = np.int64(listed[k])
        # A row that is not in the node may have any place; the record there is that of another row.
        place = np.int64(mine.place_of[row])
        if place >= begin and place < end and row_of(place, rows) == row:
            mine.entry_places[count] = place - begin
            mine.entry_bins[count] = sparse_bin(codes[k], default)
            count += 1
    return count


@inline
def entries_of(column, begin, end, data, rows, mine):
    """The entries of a node's rows in a sparse column: where they begin, and how many there are."""
    if mine.live[0] != WALKED:
        count = np.int64(mine.entry_counts[column])
        return np.int64(mine.entry_ends[column]) - count, count
    return np.int64(0), walk_entries(column, begin, end, data, rows, mine)
