"""Drawing the rows of a tree: those of the largest keys are marked, and the marked ones are written to the bag.

`draw_uniform` uses random keys; `kernels/gradient.py` draws by other keys with the same functions.
"""

import numpy as np

from spinney.jit import Member, i64, inline, kernel, own
from spinney.jit.barrier import meet
from spinney.sampling.kernels.random import PURPOSE_ROWS, random_bits
from spinney.sampling.kernels.records import Drawing

# --- Uniform draws


@kernel
def draw_uniform(team: Member, drawing: Drawing, wanted: i64, seed: i64):
    """Draw `wanted` of the rows, every set equally likely: those of the largest random keys, of equal ones the first.

    A row's key depends on the seed and its number alone, and counts of keys are whole numbers. So blocks of rows can be drawn
    apart once their counts are added up.
    """
    begin, end = clear_marks(team, drawing)
    random_keys(begin, end, drawing, seed, PURPOSE_ROWS)
    if mark_largest(team, drawing, RANDOM_SHIFT, wanted, DRAWN):
        fill_bag(team, drawing)


# --- Marks, random keys and the bag


KEPT = 1
DRAWN = 2
# Random keys have 31 bits.
LARGEST_RANDOM = 2147483647
RANDOM_SHIFT = 19


@inline
def clear_marks(team, drawing):
    """Clear the marks of this thread's share of the rows; returns where it begins and ends."""
    begin = share_of(drawing.count, team.rank, team.size)
    end = share_of(drawing.count, team.rank + 1, team.size)
    clear(drawing.chosen, begin, end - begin)
    return begin, end


@inline
def random_keys(begin, end, drawing, seed, purpose):
    """Random keys for rows that are not marked, -1 for the others."""
    for i in range(begin, end):
        bits = random_bits(seed, purpose, drawing.first + np.int64(drawing.eligible[i]))
        drawing.keys[i] = (bits >> 33) & LARGEST_RANDOM if drawing.chosen[i] == 0 else -1


@inline
def count_marked(begin, end, chosen):
    """How many rows are marked."""
    marked = 0
    for i in range(begin, end):
        marked += 1 if chosen[i] != 0 else 0
    return marked


@inline
def fill_bag(team, drawing):
    """Write the marked rows to the bag, ascending; `drawn[0]` becomes their number. False: give up."""
    begin = share_of(drawing.count, team.rank, team.size)
    marked = count_marked(begin, share_of(drawing.count, team.rank + 1, team.size), drawing.chosen)
    own(drawing.scratch, team.rank).counts[MARKED] = marked
    if not meet(team, team.size):
        return False
    to = 0
    for t in range(team.rank):
        to += np.int64(own(drawing.scratch, t).counts[MARKED])
    stop = to + marked
    i = begin
    while to < stop:
        # Written without a branch, which is faster; the next marked row overwrites one that is not.
        drawing.bag[to] = drawing.eligible[i]
        to += 1 if drawing.chosen[i] != 0 else 0
        i += 1
    if team.rank == team.size - 1:
        drawing.drawn[0] = to
    return True


# --- Marking the rows of the largest keys, without sorting.
#
# A histogram of the keys' leading digits shows in which bucket the last row wanted is. Rows of higher buckets are in, rows of
# lower ones are out, and only the rows of this bucket, few as a rule, are compared by their next digits. Of equal keys the first
# rows count. So the rows do not depend on the number of threads.


LEADING = 4096  # buckets of the first 12 bits of a key
DIGIT = 1024  # and of the next 10
BLOCK = 32  # rows that are tested together for one in the bucket

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
    # Two rows at a time, each in a histogram of its own: neighbours often have the same digit, and additions would wait.
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
                # Written without a branch, which is faster; the next listed row overwrites one that is not.
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
    10 <= shift <= 20. The bag is scratch memory. A thread writes only to its own share, so another set of keys can follow
    without a barrier.
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
