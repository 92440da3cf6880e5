"""Prediction by trees of few levels that are laid out as full binary heaps, and scores of isolation forests.

Nodes 2n and 2n + 1 are below node n, so a step needs no link: it compares two whole numbers and adds one bit. The number of a
value has the order of the values (`order_key`). If a branch is shorter than the others, its leaf is continued to the left, where
no number is larger than the key, down to the last level.

The values of rows become such numbers, of as many rows as fit the nearest cache; then each tree takes all of them, eight rows at
a time. The numbers of eight rows are interleaved: the eight numbers of a column stand together, so that one address serves eight
walks and all that changes stays in registers. If a value of the rows is missing, every column has two places: the first is for
splits that send missing values left, where a missing value has the least number, the second for those that send them right.

This is a fifth to a half faster than the general walk (`walk`), which takes over for categories, sparse tables and deep trees,
with the same bits.

Words: a *heap* is such a tree, laid out level by level; a *line* is the numbers of eight rows that are interleaved.
"""

import numpy as np

from spinney.jit import Member, f64, i32, i64, inline, kernel, out, own, record
from spinney.jit.intrinsics import tail
from spinney.jit.math import exp, order_key
from spinney.model.kernels.records import LANES, ValueFlags, Values

LEAST = -9223372036854775807
LARGEST = 9223372036854775807


@record
class Heaps:
    """All trees of a forest, each with the same number of levels."""

    trees: i64
    levels: i64
    size: i64  # 2**levels
    used: i64
    column: i32["used"]  # used columns, which some split uses
    key: i64["trees * size"]
    place: i32["trees * size"]  # place of the column's numbers, if no value is missing
    twin: i32["trees * size"]  # the same, if one is missing
    value: f64["trees * size"]  # at the last level


@record(per_thread=True)
class HeapBatch:
    """A thread's memory for a batch of rows."""

    rows: i64  # a multiple of LANES
    numbers: out(i64["rows * 2 * heaps.used"])
    sums: out(f64["rows"])


@inline
def write_numbers(begin, end, table, values, heaps, copies, numbers):
    """Write the numbers of rows begin..end-1. Returns 1 if a value is missing, plus 2 if one is infinite."""
    width = copies * heaps.used
    missing = 0
    infinite = 0
    for c in range(heaps.used):
        first = np.int64(heaps.column[c]) * table.column_step
        for i in range(begin, end):
            x = float(values[i * table.row_step + first])
            missing |= 1 if x != x else 0
            infinite |= 1 if abs(x) == np.inf else 0
            number = order_key(x)
            row = i - begin
            at = ((row // LANES) * width + copies * c) * LANES + row % LANES
            if copies == 1:
                numbers[at] = number
            else:
                numbers[at] = number if x == x else np.int64(LEAST)
                numbers[at + LANES] = number if x == x else np.int64(LARGEST)
    return missing + 2 * infinite


@inline
def step(node, lane, key, place, numbers):
    """The node below, of one of eight rows."""
    return 2 * node + (1 if numbers[place[node] + lane] > key[node] else 0)


@inline
def add_heaps(rows, heaps, places, width, numbers, sums):
    """Add all trees to the sums of a batch, whose number of rows is a multiple of eight."""
    size = heaps.size
    for t in range(heaps.trees):
        key = tail(heaps.key, t * size)
        place = tail(places, t * size)
        value = tail(heaps.value, t * size)
        for i in range(0, rows, LANES):
            eight = tail(numbers, i * width)
            n0 = n1 = n2 = n3 = n4 = n5 = n6 = n7 = np.int64(1)
            for _ in range(heaps.levels):
                n0 = step(n0, 0, key, place, eight)
                n1 = step(n1, 1, key, place, eight)
                n2 = step(n2, 2, key, place, eight)
                n3 = step(n3, 3, key, place, eight)
                n4 = step(n4, 4, key, place, eight)
                n5 = step(n5, 5, key, place, eight)
                n6 = step(n6, 6, key, place, eight)
                n7 = step(n7, 7, key, place, eight)
            sums[i] += value[n0 - size]
            sums[i + 1] += value[n1 - size]
            sums[i + 2] += value[n2 - size]
            sums[i + 3] += value[n3 - size]
            sums[i + 4] += value[n4 - size]
            sums[i + 5] += value[n5 - size]
            sums[i + 6] += value[n6 - size]
            sums[i + 7] += value[n7 - size]


@inline
def take_batch(begin, end, table, values, heaps, numbers, sums):
    """Sums of the rows of a batch; rows that pad the last eight are walked too, and their sums are not used."""
    rows = (end - begin + LANES - 1) // LANES * LANES
    for i in range(rows):
        sums[i] = 0.0
    flags = write_numbers(begin, end, table, values, heaps, 1, numbers)
    if flags == 0:
        add_heaps(rows, heaps, heaps.place, heaps.used, numbers, sums)
    elif flags == 1:
        write_numbers(begin, end, table, values, heaps, 2, numbers)
        add_heaps(rows, heaps, heaps.twin, 2 * heaps.used, numbers, sums)
    return flags


@kernel
def sum_heaps(
    team: Member,
    table: Values,
    heaps: Heaps,
    scratch: HeapBatch,
    sums: out(f64["table.rows"]),
    value_flags: ValueFlags,
):
    """Write the sum over all trees for every row. If a value is infinite, the thread's `flags` become 1."""
    batch = scratch.rows
    mine = own(scratch, team.rank)
    flags = own(value_flags, team.rank).flags
    for begin in range(team.rank * batch, table.rows, team.size * batch):
        end = min(begin + batch, table.rows)
        if table.span32 > 0:
            flags_of_batch = take_batch(begin, end, table, table.values32, heaps, mine.numbers, mine.sums)
        else:
            flags_of_batch = take_batch(begin, end, table, table.values64, heaps, mine.numbers, mine.sums)
        flags[0] |= flags_of_batch >> 1
        for i in range(begin, end):
            sums[i] = mine.sums[i - begin]


# --- Scores of an isolation forest, and the share of each column in the length of a row's paths


@record
class Parents:
    """Nodes of a forest from their leaves up, counted over all trees."""

    trees: i64
    nodes: i64
    columns: i64
    starts: i64["trees + 1"]
    parent: i32["nodes"]  # -1: a root
    feature: i32["nodes"]
    saved: f64["nodes"]  # length saved by the split above the node


@kernel
def score_paths(rows: i64, factor: f64, lengths: out(f64["rows"])):
    """Turn lengths of paths into scores, in place: -exp(-factor * length)."""
    for i in range(rows):
        lengths[i] = -exp(-factor * lengths[i])


@kernel
def explain_leaves(
    team: Member,
    rows: i64,
    forest: Parents,
    leaves: i32["rows * forest.trees"],
    shares: out(f64["rows * forest.columns"]),
):
    """Sum by column the lengths that the splits above each row's leaves saved: the mean over all trees."""
    trees = forest.trees
    for i in range(rows * team.rank // team.size, rows * (team.rank + 1) // team.size):
        at = i * forest.columns
        for t in range(trees):
            node = forest.starts[t] + np.int64(leaves[i * trees + t])
            above = np.int64(forest.parent[node])
            while above >= 0:
                shares[at + forest.feature[above]] += forest.saved[node]
                node = above
                above = np.int64(forest.parent[node])
        for c in range(forest.columns):
            shares[at + c] /= float(trees)
