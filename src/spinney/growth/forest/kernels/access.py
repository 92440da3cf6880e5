"""What a record knows: its row, weight and target, and its codes, which it holds itself or which are looked up."""

import numpy as np

from spinney.growth.forest.kernels.records import BYTES, MOVED, RANKS, ROW, TARGET, WEIGHT
from spinney.jit.inline import inline


@inline
def payload_of(i, words):
    """Where the three numbers at the end of a record stand."""
    return (i + 1) * words * 2


@inline
def row_of(i, rows):
    """Number of a record's row in the table."""
    return np.int64(rows.ints[payload_of(i, rows.words) - ROW])


@inline
def weight_of(i, rows):
    """Weight of a record, in steps."""
    return np.int64(rows.ints[payload_of(i, rows.words) - WEIGHT])


@inline
def target_of(i, rows):
    """Target of a record: class or steps of its first output."""
    return np.int64(rows.ints[payload_of(i, rows.words) - TARGET])


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
def first_record(row, low, high, rows):
    """The first of a node's records, which stand in the order of the table, whose row is not below `row`."""
    while low < high:
        middle = (low + high) >> 1
        if row_of(middle, rows) < row:
            low = middle + 1
        else:
            high = middle
    return low


@inline
def read_sparse(column, begin, end, data, rows, line):
    """Bins of a node's rows in a sparse column: the default one, but for rows that have an entry.

    Rows and entries both ascend. Whichever are fewer look for their place among the others.
    """
    listed = data.sparse.column_rows
    codes = data.sparse.column_codes
    default = data.features.default[column]
    entry = data.sparse.starts[column]
    last = data.sparse.starts[column + 1]
    count = end - begin
    for k in range(count):
        line[k] = default
    if count <= last - entry:
        for k in range(count):
            row = row_of(begin + k, rows)
            entry = first_entry(row, entry, last, listed)
            if entry < last and np.int64(listed[entry]) == row:
                code = np.int64(codes[entry]) - 1
                line[k] = code if code < default else code + 1
        return
    place = begin
    while entry < last and place < end:
        row = np.int64(listed[entry])
        place = first_record(row, place, end, rows)
        if place < end and row_of(place, rows) == row:
            code = np.int64(codes[entry]) - 1
            line[place - begin] = code if code < default else code + 1
        entry += 1


@inline
def read_codes(column, begin, end, data, others, rules, rows, line):
    """Codes of some records in a column, one after another."""
    group = data.features.group_of[column]
    if rules.access == RANKS:
        for k in range(end - begin):
            line[k] = others.ranks[row_of(begin + k, rows) * others.columns + column]
    elif rules.access == MOVED:
        for k in range(end - begin):
            line[k] = rows.bytes[(begin + k) * rows.words * 8 + group]
    elif group < 0:
        read_sparse(column, begin, end, data, rows, line)
    elif rules.access == BYTES:
        for k in range(end - begin):
            line[k] = data.codes.by_row8[row_of(begin + k, rows) * data.codes.stride + group]
    else:
        for k in range(end - begin):
            line[k] = data.codes.by_row16[row_of(begin + k, rows) * data.codes.stride + group]
