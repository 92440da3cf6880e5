"""The spine of a tree: the way down that most rows take.

One-hot columns make trees like chains: each split takes a few rows away, and most rows pass dozens of splits. A batch of rows is
tested against the splits of the spine all together, in vectors, from the last split to the first; what is left in `exits` is the
first one at which a row leaves the spine. Then the rows are sorted by it.
"""

import numpy as np

from spinney.jit.inline import inline

SPINE = 255  # splits at most
BY_ROW = -1  # the rule of a split that is not packed
# In terms of partitioning a row once, by estimate: testing a row in vectors, and sorting it.
COST_OF_TEST = 0.15
COST_OF_SORTING = 3.0


@inline
def heavy_child(child, counts):
    """The child of two that has more rows."""
    return child if counts[child] >= counts[child + 1] else child + 1


@inline
def find_spine(packed, counts, spine):
    """List the splits of the spine; returns how many, 0 where it does not pay."""
    node = np.int64(0)
    length = 0
    saved = -COST_OF_SORTING
    while length < SPINE:
        link = packed[node].link
        rule = packed[node].rule
        share = float(counts[node]) / float(max(counts[0], 1))
        if link == 0 or rule == BY_ROW or rule >> 32 > 65535 or share < COST_OF_TEST:
            break
        spine[length] = node
        length += 1
        saved += share - COST_OF_TEST
        node = heavy_child(link >> 32, counts)
    return length if saved > 0.0 else 0


@inline
def find_exits(first, count, columns, rows, length, spine, packed, counts, exits):
    """Number of the split at which each row leaves the spine, `length` for none."""
    for i in range(count):
        exits[i] = length
    for back in range(length):
        k = length - 1 - back
        node = spine[k]
        link = packed[node].link
        rule = packed[node].rule
        low = rule & 65535
        codes = np.uint16(rule >> 32)
        number = np.uint16(k)
        # Codes of the rule go right, or left where bit 31 is set.
        heavy_left = heavy_child(link >> 32, counts) == link >> 32
        stay = heavy_left == ((link >> 31) & 1 == 1)
        at = (link & 1073741823) * rows + first
        for i in range(count):
            # All in 16 bits, so that a vector holds as many rows as can be.
            inside = np.uint16((np.int64(columns[at + i]) - low) & 65535) < codes
            before = exits[i]
            exits[i] = before if inside == stay else number


@inline
def sort_exits(count, length, exits, ids, ends):
    """Rows in the order of their exits; `ends` is where those of each end."""
    for k in range(length + 2):
        ends[k] = 0
    for i in range(count):
        ends[exits[i] + 1] += 1
    for k in range(length + 1):
        ends[k + 1] += ends[k]
    for i in range(count):
        to = exits[i]
        ids[ends[to]] = i
        ends[to] += 1
