"""Rows by leaf: what every thread does for its own rows when a tree is finished. A node's number is its place in `order`."""

import numpy as np

from spinney.jit.inline import inline
from spinney.jit.intrinsics import atomic_add, prefetch

AHEAD = 16


@inline
def leaf_sums(team, rows, pairs, table):
    """Add this thread's rows to the exact sums of their leaves: 64-bit fixed point, in any order."""
    scales = table.scales[0]
    scale_g = scales.exact_g
    scale_h = scales.exact_h
    entries = rows.entries
    for number in range(table.state[0].used):
        node = table.order[number]
        if table.nodes[node].child == 0:
            own = rows.ranges[node * team.size + team.rank]
            begin = own.begin
            end = own.end
            g = 0
            h = 0
            for i in range(begin, end):
                prefetch(pairs, 2 * (entries[min(i + AHEAD, end - 1)] >> 32))
                at = 2 * (entries[i] >> 32)
                g += np.int64(float(pairs[at]) * scale_g)
                h += np.int64(float(pairs[at + 1]) * scale_h)
            if begin < end:
                atomic_add(table.exact_g, node, g)
                atomic_add(table.exact_h, node, h)


@inline
def add_scores(team, rows, table, value, scores):
    """Add each leaf's value to the scores of this thread's rows."""
    entries = rows.entries
    for number in range(table.state[0].used):
        node = table.order[number]
        if table.nodes[node].child == 0:
            own = rows.ranges[node * team.size + team.rank]
            end = own.end
            for i in range(own.begin, end):
                prefetch(scores, entries[min(i + AHEAD, end - 1)] >> 32)
                scores[entries[i] >> 32] += value[number]
