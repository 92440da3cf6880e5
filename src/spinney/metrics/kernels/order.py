"""Sorting rows by score: digits of 11 bits from the last to the first, each thread its share of the rows.

Rows of the same score stay in their order, so the result does not depend on the threads.
"""

from spinney.jit import Member, f64, i32, i64, inline, kernel, out, record
from spinney.jit.barrier import meet
from spinney.jit.intrinsics import bits_of

BITS = 11
DIGITS = 2048
PASSES = 6
SIGN = -9223372036854775808


@record
class Sorted:
    """Keys and the rows they are of, twice: what a pass reads and what it writes. `start` tells where the result is."""

    rows: i64
    threads: i64
    keys: out(i64["2 * rows"])
    order: out(i32["2 * rows"])
    counts: out(i64["DIGITS * threads"])
    places: out(i64["DIGITS * threads"])
    start: out(i64["1"])


@inline
def key_of(score):
    """Bits that are ordered, without a sign, as scores are; -0 has those of 0."""
    bits = bits_of(score + 0.0)
    return ~bits if bits < 0 else bits ^ SIGN


@inline
def find_places(rank, size, rows, counts, places):
    """Where a thread writes the first row of each digit. Returns whether all rows have the same one."""
    place = 0
    lone = False
    for d in range(DIGITS):
        before = place
        for t in range(size):
            if t == rank:
                places[rank * DIGITS + d] = place
            place += counts[t * DIGITS + d]
        lone = lone | (place - before == rows)
    return lone


@kernel
def sort_scores(team: Member, scores: f64["sorted.rows"], sorted: Sorted):
    """Keys of the scores in ascending order, and their rows."""
    rows, keys, order, places = sorted.rows, sorted.keys, sorted.order, sorted.places
    begin = rows * team.rank // team.size
    end = rows * (team.rank + 1) // team.size
    mine = team.rank * DIGITS
    for i in range(begin, end):
        keys[i] = key_of(scores[i])
        order[i] = i
    source = 0
    for turn in range(PASSES):
        shift = turn * BITS
        for d in range(mine, mine + DIGITS):
            sorted.counts[d] = 0
        for i in range(source + begin, source + end):
            sorted.counts[mine + ((keys[i] >> shift) & (DIGITS - 1))] += 1
        if not meet(team.sync, team.size):
            return
        if not find_places(team.rank, team.size, rows, sorted.counts, places):
            target = rows - source
            for i in range(source + begin, source + end):
                digit = mine + ((keys[i] >> shift) & (DIGITS - 1))
                place = target + places[digit]
                places[digit] += 1
                keys[place] = keys[i]
                order[place] = order[i]
            source = target
        if not meet(team.sync, team.size):
            return
    if team.rank == 0:
        sorted.start[0] = source
