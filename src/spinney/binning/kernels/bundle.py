"""Bundling columns that are almost never away from their default bins together.

A bundle's *marks* are bits, one a row, of the rows where some member is not in its default bin. A column fits a bundle if few of
its own rows are marked.
"""

import numpy as np

from spinney.binning.kernels.records import EntryLists
from spinney.jit import i32, i64, inline, kernel, out, record, u8

GLANCE = 32  # rows of a column that are checked before all of them: enough to rule out most bundles


@record
class OpenBundles:
    """Memory for bundles."""

    most: i64
    words: i64  # of the marks of one bundle
    marks: out(i64["most * words"])
    filled: out(i64["most"])  # marked rows
    codes: out(i64["most"])
    conflicts: out(i64["most"])


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
    lists: EntryLists,
    all_rows: i64,
    most_conflicts: i64,
    most_codes: i64,
    codes: i64["lists.columns"],
    order: i64["lists.columns"],
    bundles: OpenBundles,
    bundle: out(i64["lists.columns"]),
):
    """Put each column, in the given order, into the first bundle that it fits; -1 if it fits none."""
    rows = lists.rows
    marks = bundles.marks
    words = bundles.words
    opened = 0
    for o in range(lists.columns):
        column = order[o]
        begin = lists.starts[column]
        end = lists.starts[column + 1]
        count = end - begin
        chosen = np.int64(-1)
        hits = 0
        for b in range(opened):
            budget = most_conflicts - bundles.conflicts[b]
            # The rows marked so far and those of the column must fit the table, but for allowed conflicts.
            if bundles.codes[b] + codes[column] > most_codes or bundles.filled[b] + count - all_rows > budget:
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
            if opened < bundles.most:
                chosen = np.int64(opened)
                bundles.codes[chosen] = 1
                opened += 1
        bundle[column] = chosen
        if chosen >= 0:
            bundles.conflicts[chosen] += hits
            bundles.filled[chosen] += count - hits
            bundles.codes[chosen] += codes[column]
            for k in range(begin, end):
                row = np.int64(rows[k])
                marks[chosen * words + (row >> 6)] |= np.int64(1) << (row & 63)


@kernel
def count_neighbours(
    columns: i64,
    sampled: i64,
    entries: i64,
    first: i64,
    block: i64,
    starts: i64["sampled + 1"],
    members: i32["entries"],
    seen: out(u8["block * columns"]),
    degree: out(i64["columns"]),
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
            # A column with rows in the sample is its own neighbour.
            degree[first + one] = max(total - 1, 0)
