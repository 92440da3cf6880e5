"""Rows by query: sorting those of a query by their scores, and the discounted gain of the best order (ideal DCG)."""

import numpy as np

from spinney.data.kernels.records import LabelArrays
from spinney.jit import Member, f64, i32, i64, inline, kernel, out, own, record
from spinney.jit.intrinsics import tail
from spinney.jit.math import log

RUN = 16  # rows that are sorted by counting, each compared with all others; longer lists are merged
LN2 = 0.6931471805599453


@record(per_thread=True)
class SortedList:
    """Memory of a thread to sort one query."""

    keys: out(f64["2 * width"])
    places: out(i32["2 * width"])


@record
class Lists:
    """Rows by query, those of a query in the order of the table, and memory to sort them."""

    rows: i64
    queries: i64
    width: i64  # rows that the longest query may have: whole runs, and some more
    order: i32["rows"]
    begins: i64["queries + 1"]
    sorted: SortedList


@record(per_thread=True)
class LevelCounts:
    """Memory of a thread to count the rows of one query by relevance."""

    rows: out(i64["levels"])


@record
class Gains:
    """The gain of a row by its relevance, and the discount of each place in a list."""

    levels: i64
    depth: i64  # places that count
    gains: f64["levels"]
    discounts: f64["lists.width"]
    counts: LevelCounts


@kernel
def find_discounts(count: i64, discounts: out(f64["count"])):
    """1 / log2(1 + place), with places from 1."""
    for k in range(count):
        discounts[k] = LN2 / log(float(k + 2))


@inline
def sort_runs(total, width, keys, places):
    """Sort each run of the second half into the first. Of equal scores the first comes first."""
    for begin in range(0, total, RUN):
        run = tail(keys, width + begin)
        for i in range(RUN):
            key = run[i]
            rank = 0
            for j in range(RUN):
                rank += 1 if (run[j] > key) | ((run[j] == key) & (j < i)) else 0
            keys[begin + rank] = key
            places[begin + rank] = places[width + begin + i]


@inline
def merge(left, middle, end, to, keys, places):
    """Merge two ranges that follow each other. Of equal scores those of the left one come first."""
    a = left
    b = middle
    # Without a branch: no processor can predict which of the two is taken.
    while a < middle and b < end:
        first = np.int64(1 if keys[a] >= keys[b] else 0)
        taken = b + first * (a - b)
        keys[to] = keys[taken]
        places[to] = places[taken]
        a += first
        b += 1 - first
        to += 1
    while a < middle:
        keys[to] = keys[a]
        places[to] = places[a]
        a += 1
        to += 1
    while b < end:
        keys[to] = keys[b]
        places[to] = places[b]
        b += 1
        to += 1


@inline
def sort_list(begin, count, width, scores, order, keys, places):
    """Sort the rows of a query by score, the largest first, then by position. Returns where scores and places begin."""
    total = (count + RUN - 1) // RUN * RUN
    for i in range(count):
        keys[width + i] = scores[order[begin + i]]
        places[width + i] = i
    for i in range(count, total):
        keys[width + i] = float("-inf")
        places[width + i] = i
    sort_runs(total, width, keys, places)
    source = np.int64(0)
    step = np.int64(RUN)
    while step < total:
        target = width - source
        for left in range(0, total, 2 * step):
            middle = min(left + step, total)
            end = min(left + 2 * step, total)
            merge(source + left, source + middle, source + end, target + left, keys, places)
        source = target
        step *= 2
    return source


@inline
def best_gain(begin, end, rank, order, target, gains):
    """The discounted gain of a query in the best order of its rows."""
    counts = own(gains.counts, rank).rows
    for level in range(gains.levels):
        counts[level] = 0
    for i in range(begin, end):
        counts[np.int64(target[order[i]])] += 1
    total = 0.0
    level = gains.levels - 1
    for place in range(min(end - begin, gains.depth)):
        while counts[level] == 0:
            level -= 1
        counts[level] -= 1
        total += gains.gains[level] * gains.discounts[place]
    return total


@kernel
def best_gains(
    team: Member,
    labels: LabelArrays,
    lists: Lists,
    gains: Gains,
    best: out(f64["lists.queries"]),
):
    """The discounted gain of every query in the best order of its rows."""
    for q in range(team.rank, lists.queries, team.size):
        best[q] = best_gain(
            lists.begins[q], lists.begins[q + 1], team.rank, lists.order, labels.target, gains
        )
