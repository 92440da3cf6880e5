"""Sorting rows by score: by the leading bits, digit after digit from the last to the first, each thread its share of the rows.

That leaves few rows out of order as a rule, which are put right one by one; where they are many, all bits are sorted by. Rows
of the same score stay in their order, so the result does not depend on the threads.
"""

from spinney.jit import Member, f64, i32, i64, inline, kernel, out, own, record
from spinney.jit.barrier import meet
from spinney.jit.math import order_key

BITS = 11
DIGITS = 2048
PASSES = 6  # for all bits
LEADING = 3  # the first pass for the leading bits
LEADING_SHIFT = 33
STEPS = 2  # a row, on the average, that putting rows right one by one may take


@record
class Sorted:
    """Keys and the rows they are of, twice: what a pass reads and what it writes. `start` tells where the result is."""

    rows: i64
    keys: out(i64["2 * rows"])
    order: out(i32["2 * rows"])
    start: out(i64["1"])


@record(per_thread=True)
class Digits:
    """A thread's own memory: how many of its rows have each digit, and where it writes the next one of them."""

    counts: out(i64["DIGITS"])
    places: out(i64["DIGITS"])


@inline
def find_places(rank, size, rows, digits):
    """Where a thread writes the first row of each digit. Returns whether all rows have the same one."""
    places = own(digits, rank).places
    place = 0
    lone = False
    for d in range(DIGITS):
        before = place
        for t in range(size):
            if t == rank:
                places[d] = place
            place += own(digits, t).counts[d]
        lone = lone | (place - before == rows)
    return lone


@inline
def one_pass(team, sorted, digits, source, turn):
    """Sort by one digit. Returns where the result is, -1 to give up."""
    rows, keys, order = sorted.rows, sorted.keys, sorted.order
    mine = own(digits, team.rank)
    begin = source + rows * team.rank // team.size
    end = source + rows * (team.rank + 1) // team.size
    shift = turn * BITS
    # The sign is the only bit of which 1 comes before 0, and it is repeated to the digit's end.
    flip = DIGITS // 2 if turn == PASSES - 1 else 0
    for d in range(DIGITS):
        mine.counts[d] = 0
    for i in range(begin, end):
        mine.counts[((keys[i] >> shift) & (DIGITS - 1)) ^ flip] += 1
    if not meet(team, team.size):
        return -1
    if not find_places(team.rank, team.size, rows, digits):
        target = rows - source
        for i in range(begin, end):
            digit = ((keys[i] >> shift) & (DIGITS - 1)) ^ flip
            place = target + mine.places[digit]
            mine.places[digit] += 1
            keys[place] = keys[i]
            order[place] = order[i]
        source = target
    if not meet(team, team.size):
        return -1
    return source


@inline
def end_of_run(keys, place, end):
    """The first place from this one on whose leading bits differ from those before it."""
    while place < end and (keys[place] >> LEADING_SHIFT) == (keys[place - 1] >> LEADING_SHIFT):
        place += 1
    return place


@inline
def put_right(keys, order, begin, end):
    """Move rows that are out of order, each to its place. Returns whether that took too long and was broken off."""
    steps = STEPS * (end - begin)
    for i in range(begin + 1, end):
        key = keys[i]
        if keys[i - 1] > key:
            row = order[i]
            to = i
            while to > begin and keys[to - 1] > key:
                keys[to] = keys[to - 1]
                order[to] = order[to - 1]
                to -= 1
            keys[to] = key
            order[to] = row
            steps -= i - to
            if steps < 0:
                return True
    return False


@inline
def finish(team, sorted, digits, source):
    """Put rows right that only the other bits set apart. Returns 0 when all are, 1 when more is to be done, -1 to give up.

    A thread has the rows that share their leading bits with its first ones only if they begin in its share.
    """
    rows, keys = sorted.rows, sorted.keys
    begin = source + rows * team.rank // team.size
    end = source + rows * (team.rank + 1) // team.size
    first = begin if begin == source else end_of_run(keys, begin, end)
    last = end_of_run(keys, end, source + rows) if first < end else end
    if not meet(team, team.size):
        return -1
    broken = put_right(keys, sorted.order, first, last) if first < end else False
    own(digits, team.rank).counts[0] = 1 if broken else 0
    if not meet(team, team.size):
        return -1
    left = 0
    for t in range(team.size):
        left = max(left, own(digits, t).counts[0])
    if not meet(team, team.size):
        return -1
    return left


@kernel
def sort_scores(team: Member, scores: f64["sorted.rows"], sorted: Sorted, digits: Digits):
    """Keys of the scores in ascending order, and their rows."""
    rows = sorted.rows
    for i in range(rows * team.rank // team.size, rows * (team.rank + 1) // team.size):
        sorted.keys[i] = order_key(scores[i])
        sorted.order[i] = i
    source = 0
    for turn in range(LEADING, PASSES):
        source = one_pass(team, sorted, digits, source, turn)
        if source < 0:
            return
    left = finish(team, sorted, digits, source)
    if left < 0:
        return
    if left > 0:
        for turn in range(PASSES):
            source = one_pass(team, sorted, digits, source, turn)
            if source < 0:
                return
    if team.rank == 0:
        sorted.start[0] = source
