"""Bundling columns that are almost never away from their default bins together.

A bundle's *marks* are bits, one a row: some member is not in its default bin there. A column fits a bundle if few of its own rows
are marked.
"""

import numpy as np

from spinney.jit import i32, i64, inline, kernel, out, u8

GLANCE = 32  # rows of a column that are looked at before all of them: most misfits show at once


@inline
def is_marked(marks, at, row):
    """1 if a row is marked."""
    return (marks[at + (row >> 6)] >> (row & 63)) & 1


@inline
def conflicts_with(begin, end, step, rows, marks, at, most):
    """How many of every `step`-th of a column's rows are marked; counting ends beyond `most`."""
    hits = 0
    for k in range(begin, end, step):
        hits += is_marked(marks, at, np.int64(rows[k]))
        if hits > most:
            break
    return hits


@kernel
def bundle_columns(
    columns: i64, stored: i64, all_rows: i64, words: i64, most_open: i64, most_conflicts: i64, most_codes: i64,
    starts: i64["columns + 1"], rows: i32["stored"], codes: i64["columns"], order: i64["columns"],
    marks: out(i64["most_open * words"]), filled: out(i64["most_open"]), bundle_codes: out(i64["most_open"]),
    conflicts: out(i64["most_open"]), bundle: out(i64["columns"]),
):
    """Put each column, in the given order, into the first bundle that it fits; -1 where none has room for it."""
    opened = 0
    for o in range(columns):
        column = order[o]
        begin = starts[column]
        end = starts[column + 1]
        count = end - begin
        chosen = np.int64(-1)
        hits = 0
        for b in range(opened):
            budget = most_conflicts - conflicts[b]
            # What is marked already and what the column would mark must find room.
            if bundle_codes[b] + codes[column] > most_codes or filled[b] + count - all_rows > budget:
                continue
            step = max(1, count // GLANCE)
            if conflicts_with(begin, end, step, rows, marks, b * words, budget) > budget:
                continue
            hits = conflicts_with(begin, end, 1, rows, marks, b * words, budget)
            if hits <= budget:
                chosen = np.int64(b)
                break
        if chosen < 0:
            hits = 0
            if opened < most_open:
                chosen = np.int64(opened)
                bundle_codes[chosen] = 1
                opened += 1
        bundle[column] = chosen
        if chosen >= 0:
            conflicts[chosen] += hits
            filled[chosen] += count - hits
            bundle_codes[chosen] += codes[column]
            for k in range(begin, end):
                row = np.int64(rows[k])
                marks[chosen * words + (row >> 6)] |= np.int64(1) << (row & 63)


@kernel
def count_neighbours(
    columns: i64, sampled: i64, stored: i64, first: i64, block: i64, starts: i64["sampled + 1"], members: i32["stored"],
    seen: out(u8["block * columns"]), degree: out(i64["columns"]),
):
    """Degrees, in the graph of conflicts on some sampled rows, of the columns first..first+block-1."""
    for r in range(sampled):
        for k in range(starts[r], starts[r + 1]):
            one = members[k] - first
            if 0 <= one < block:
                for other in range(starts[r], starts[r + 1]):
                    seen[one * columns + members[other]] = 1
    for one in range(block):
        if first + one < columns:
            total = 0
            for other in range(columns):
                total += np.int64(seen[one * columns + other])
            # A column with rows in the sample has met itself.
            degree[first + one] = max(total - 1, 0)
