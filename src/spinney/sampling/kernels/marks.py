"""The marks of rows, random keys for those without one, and the bag of those with one."""

import numpy as np

from spinney.jit import inline, own
from spinney.jit.barrier import meet
from spinney.sampling.kernels.largest import MARKED, clear, share_of
from spinney.sampling.kernels.random import random_bits

KEPT = 1
DRAWN = 2
# Random keys have 31 bits.
LARGEST_RANDOM = 2147483647
RANDOM_SHIFT = 19


@inline
def clear_marks(team, drawing):
    """Take the marks from this thread's share of the rows; returns where it begins and ends."""
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
        # Written in any case, which is faster than asking; the next one that is marked takes its place.
        drawing.bag[to] = drawing.eligible[i]
        to += 1 if drawing.chosen[i] != 0 else 0
        i += 1
    if team.rank == team.size - 1:
        drawing.drawn[0] = to
    return True
