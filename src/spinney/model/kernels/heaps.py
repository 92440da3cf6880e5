"""Prediction by trees of few levels that are all laid out as full binary heaps.

Nodes 2n and 2n + 1 stand below node n, so a step needs no link: it compares two whole numbers and adds one bit. A value's number
has the order of the values (`order_key`). Where a branch is shorter than the others, its leaf goes on to the left, where nothing
is larger than the key, down to the last level.

Rows become *lines* of such numbers, as many as fit into the nearest cache; then each tree takes all of them, eight side by
side. The lines of eight rows are woven: the eight numbers of a column stand together, so that one address serves eight walks and
all that changes stays in registers. Where a value of the rows is missing, every column has two places: the first is for
splits that send missing values left, where a missing value has the least number, the second for those that send them right.
"""

import numpy as np

from spinney.jit import Member, f64, i32, i64, inline, kernel, out, own, record
from spinney.jit.intrinsics import tail
from spinney.jit.math import order_key
from spinney.model.kernels.records import LANES, Seen, Values

LEAST = -9223372036854775807
LARGEST = 9223372036854775807


@record
class Heaps:
    """All trees of a forest, each with the same number of levels."""

    trees: i64
    levels: i64
    size: i64  # 2**levels
    asked: i64
    column: i32["asked"]  # columns that some split asks for
    key: i64["trees * size"]
    place: i32["trees * size"]  # where the numbers of the asked column begin, where no value is missing
    twin: i32["trees * size"]  # and where one is
    value: f64["trees * size"]  # at the last level


@record(per_thread=True)
class Lines:
    """A thread's own memory for a batch of rows."""

    rows: i64  # a multiple of LANES
    line: out(i64["rows * 2 * heaps.asked"])
    sums: out(f64["rows"])


@inline
def write_lines(begin, end, table, values, heaps, copies, line):
    """Write the lines of rows begin..end-1. Returns 1 if a value is missing, plus 2 if one is infinite."""
    width = copies * heaps.asked
    missing = 0
    infinite = 0
    for c in range(heaps.asked):
        first = np.int64(heaps.column[c]) * table.column_step
        for i in range(begin, end):
            x = float(values[i * table.row_step + first])
            missing |= 1 if x != x else 0
            infinite |= 1 if abs(x) == np.inf else 0
            number = order_key(x)
            row = i - begin
            at = ((row // LANES) * width + copies * c) * LANES + row % LANES
            if copies == 1:
                line[at] = number
            else:
                line[at] = number if x == x else np.int64(LEAST)
                line[at + LANES] = number if x == x else np.int64(LARGEST)
    return missing + 2 * infinite


@inline
def step(node, lane, key, place, line):
    """The node below, of one of eight rows."""
    return 2 * node + (1 if line[place[node] + lane] > key[node] else 0)


@inline
def add_heaps(rows, heaps, places, width, line, sums):
    """Add all trees to the sums of a batch, whose rows are as many as eights."""
    size = heaps.size
    for t in range(heaps.trees):
        key = tail(heaps.key, t * size)
        place = tail(places, t * size)
        value = tail(heaps.value, t * size)
        for i in range(0, rows, LANES):
            lines = tail(line, i * width)
            n0 = n1 = n2 = n3 = n4 = n5 = n6 = n7 = np.int64(1)
            for _ in range(heaps.levels):
                n0 = step(n0, 0, key, place, lines)
                n1 = step(n1, 1, key, place, lines)
                n2 = step(n2, 2, key, place, lines)
                n3 = step(n3, 3, key, place, lines)
                n4 = step(n4, 4, key, place, lines)
                n5 = step(n5, 5, key, place, lines)
                n6 = step(n6, 6, key, place, lines)
                n7 = step(n7, 7, key, place, lines)
            sums[i] += value[n0 - size]
            sums[i + 1] += value[n1 - size]
            sums[i + 2] += value[n2 - size]
            sums[i + 3] += value[n3 - size]
            sums[i + 4] += value[n4 - size]
            sums[i + 5] += value[n5 - size]
            sums[i + 6] += value[n6 - size]
            sums[i + 7] += value[n7 - size]


@inline
def take_batch(begin, end, table, values, heaps, line, sums):
    """Sums of the rows of a batch; what pads the last eight is walked too, and means nothing."""
    rows = (end - begin + LANES - 1) // LANES * LANES
    for i in range(rows):
        sums[i] = 0.0
    met = write_lines(begin, end, table, values, heaps, 1, line)
    if met == 0:
        add_heaps(rows, heaps, heaps.place, heaps.asked, line, sums)
    elif met == 1:
        write_lines(begin, end, table, values, heaps, 2, line)
        add_heaps(rows, heaps, heaps.twin, 2 * heaps.asked, line, sums)
    return met


@kernel
def sum_heaps(
    team: Member, table: Values, heaps: Heaps, lines: Lines, sums: out(f64["table.rows"]), seen: Seen
):
    """Write the sum over all trees for every row. Where a value is infinite, the thread's `met` becomes 1."""
    batch = lines.rows
    mine = own(lines, team.rank)
    met = own(seen, team.rank).met
    for begin in range(team.rank * batch, table.rows, team.size * batch):
        end = min(begin + batch, table.rows)
        if table.span32 > 0:
            found = take_batch(begin, end, table, table.values32, heaps, mine.line, mine.sums)
        else:
            found = take_batch(begin, end, table, table.values64, heaps, mine.line, mine.sums)
        met[0] |= found >> 1
        for i in range(begin, end):
            sums[i] = mine.sums[i - begin]
