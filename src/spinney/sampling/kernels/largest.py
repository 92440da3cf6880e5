"""Marking the rows of the largest keys, without sorting.

A histogram of the keys' leading digits tells in which bucket the last one wanted is. Rows above it are in, rows below are out,
and only its own rows, few as a rule, are looked at again by their next digits. Of equal keys the first rows count. So the rows
do not depend on the number of threads.
"""

import numpy as np

from spinney.jit import inline, own
from spinney.jit.barrier import meet

LEADING = 4096  # buckets of the first 12 bits of a key
DIGIT = 1024  # and of the next 10
BLOCK = 32  # rows that are looked at together, whether one of them is in the bucket

# Places of `counts`. Each digit has places of its own: some may still be read when the next ones are counted.
OF_LEADING = 1  # the place before it counts the rows that have no key
OF_SECOND = 4104
OF_NEXT = 8208
OF_LAST = 9232
MARKED = 10256  # below PLACES


@inline
def share_of(count, rank, size):
    """First position of a thread's share."""
    return count * rank // size


@inline
def clear(counts, at, places):
    """Set counts to 0."""
    for b in range(at, at + places):
        counts[b] = 0


@inline
def count_leading(begin, end, keys, shift, counts):
    """Count the rows of each leading digit."""
    clear(counts, 0, OF_NEXT)
    # Two rows at a time, each in a histogram of its own: neighbours often have the same digit, and would wait for each other.
    for i in range(begin, end - 1, 2):
        counts[OF_LEADING + (keys[i] >> shift)] += 1
        counts[OF_SECOND + (keys[i + 1] >> shift)] += 1
    if (end - begin) % 2 == 1:
        counts[OF_LEADING + (keys[end - 1] >> shift)] += 1
    for b in range(LEADING):
        counts[OF_LEADING + b] += counts[OF_SECOND + b]


@inline
def bucket_of_last(size, first, buckets, wanted, scratch):
    """The bucket of the last of the `wanted` largest digits, and how many of its rows are wanted."""
    b = buckets
    left = wanted
    total = 0
    while total < left:
        left -= total
        b -= 1
        total = 0
        for t in range(size):
            total += np.int64(own(scratch, t).counts[first + b])
    return b, left


@inline
def mark_above(begin, end, keys, shift, leading, mark, chosen):
    """Mark rows whose digit is above `leading`; returns whether a row has just this one."""
    equal = False
    for i in range(begin, end):
        digit = keys[i] >> shift
        chosen[i] |= np.uint8(mark if digit > leading else 0)
        equal = equal | (digit == leading)
    return equal


@inline
def narrow_rows(begin, end, keys, shift, leading, mark, chosen, near):
    """Mark rows whose digit is above `leading` and list those that have just this one; returns how many."""
    to = begin
    for block in range(begin, end, BLOCK):
        stop = min(block + BLOCK, end)
        if mark_above(block, stop, keys, shift, leading, mark, chosen):
            for i in range(block, stop):
                # Written in any case, which is faster than asking: the next row to be listed takes its place.
                near[to] = i
                to += 1 if (keys[i] >> shift) == leading else 0
    return to - begin


@inline
def narrow_list(begin, found, keys, shift, mask, digit, mark, chosen, near):
    """Mark listed rows whose digit is above `digit` and keep those listed that have just this one; returns how many."""
    to = begin
    for j in range(begin, begin + found):
        i = near[j]
        found_digit = (keys[i] >> shift) & mask
        chosen[i] |= np.uint8(mark if found_digit > digit else 0)
        near[to] = i
        to += 1 if found_digit == digit else 0
    return to - begin


@inline
def mark_largest(team, drawing, shift, wanted, mark):
    """Mark the rows of the `wanted` largest keys, at least one. False: give up.

    A key of -1 means that a row has none; no more are wanted than have one. Keys are below 2**(12 + shift), where
    10 <= shift <= 20. The bag is scratch. A thread writes only what belongs to its share, so that another set of keys can follow
    without a meeting.
    """
    keys = drawing.keys
    chosen = drawing.chosen
    scratch = drawing.scratch
    counts = own(scratch, team.rank).counts
    near = drawing.bag
    begin = share_of(drawing.count, team.rank, team.size)
    end = share_of(drawing.count, team.rank + 1, team.size)
    count_leading(begin, end, keys, shift, counts)
    if not meet(team, team.size):
        return False
    digit, left = bucket_of_last(team.size, OF_LEADING, LEADING, wanted, scratch)
    found = narrow_rows(begin, end, keys, shift, digit, mark, chosen, near)
    for first in (OF_NEXT, OF_LAST):
        mask = (1 << min(shift, 10)) - 1
        shift = max(shift - 10, 0)
        clear(counts, first, DIGIT)
        for j in range(begin, begin + found):
            counts[first + ((keys[near[j]] >> shift) & mask)] += 1
        if not meet(team, team.size):
            return False
        digit, left = bucket_of_last(team.size, first, DIGIT, left, scratch)
        found = narrow_list(begin, found, keys, shift, mask, digit, mark, chosen, near)
    for t in range(team.rank):
        left -= np.int64(own(scratch, t).counts[OF_LAST + digit])
    for j in range(begin, begin + min(max(left, 0), found)):
        chosen[near[j]] = mark
    return True
