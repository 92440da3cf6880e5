"""Rows by leaf of a finished tree: exact sums for the leaf values, and the update of scores.

A node's number is its place in `order` of the node table.
"""

import numpy as np

from spinney.data.kernels.records import Gradients, LeafRows
from spinney.growth.kernels.records import TreeArrays
from spinney.jit import Member, inline, kernel, own
from spinney.jit.intrinsics import atomic_add, prefetch, tail

PREFETCH_ROWS = 16


@inline
def number_of(place, subset, gathered):
    """Number of an entry's row in the data set, or its position in a gathered bag."""
    return np.int64(subset.number[place]) if subset.some != 0 and not gathered else place


@inline
def sum_leaf(entries, begin, end, first, subset, gathered, pairs, scales, members):
    """List the rows of entries[begin:end] and return their sums: 64-bit fixed point, in any order.

    `first` is the row of the table from which entries count.
    """
    scale_g = scales.exact_g
    scale_h = scales.exact_h
    g = 0
    h = 0
    for i in range(begin, end):
        ahead = first + (entries[min(i + PREFETCH_ROWS, end - 1)] >> 32)
        prefetch(pairs, 2 * number_of(ahead, subset, gathered))
        place = number_of(first + (entries[i] >> 32), subset, gathered)
        g += np.int64(float(pairs[2 * place]) * scale_g)
        h += np.int64(float(pairs[2 * place + 1]) * scale_h)
        members[i - begin] = place
    return g, h


@inline
def leaf_sums(team, rows, bag, gathered, pairs, table):
    """List this thread's rows by leaf, and add them to the exact sums of their leaves."""
    entries = rows.entries
    by_leaf = rows.by_leaf
    subset = bag.subset
    before = np.int64(0)
    for number in range(table.state[0].used):
        node = table.order[number]
        leaf = table.nodes[node].child == 0
        if team.rank == 0:
            by_leaf.begin[number] = before
            by_leaf.end[number] = before + table.nodes[node].count if leaf else before
        if leaf:
            to = before
            for t in range(team.rank):
                other = own(rows.ranges, t).of_node[node]
                to += other.end - other.begin
            before += table.nodes[node].count
            mine = own(rows.ranges, team.rank).of_node[node]
            begin = mine.begin
            end = mine.end
            listed = tail(by_leaf.members, to)
            g, h = sum_leaf(entries, begin, end, 0, subset, gathered, pairs, table.scales[0], listed)
            if gathered:
                for i in range(to, to + end - begin):
                    by_leaf.members[i] = bag.chosen[by_leaf.members[i]]
            if begin < end:
                atomic_add(table.exact_g, node, g)
                atomic_add(table.exact_h, node, h)


@kernel
def add_leaves(team: Member, by_leaf: LeafRows, tree: TreeArrays, gradients: Gradients):
    """Add each leaf's value to the scores of its rows."""
    scores = tail(gradients.scores, gradients.rows * by_leaf.grown[0].output)
    members = by_leaf.members
    for number in range(by_leaf.grown[0].nodes):
        # A part of every leaf: mostly the rows that the thread owned while the tree grew, which are in its cache.
        begin = by_leaf.begin[number]
        count = by_leaf.end[number] - begin
        end = begin + count * (team.rank + 1) // team.size
        value = tree.value[number]
        for i in range(begin + count * team.rank // team.size, end):
            prefetch(scores, members[min(i + PREFETCH_ROWS, end - 1)])
            scores[members[i]] += value
