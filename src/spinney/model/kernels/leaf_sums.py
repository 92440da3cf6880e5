"""Sums of the values of leaves."""

import numpy as np

from spinney.jit import i32, i64, inline, kernel, out
from spinney.model.kernels.compact_records import Found, LeafValues


@inline
def weight_of(leaf, leaves):
    """Weight of a leaf of the forest."""
    if leaves.weight_span8 > 0:
        return float(leaves.weight8[leaf])
    if leaves.weight_span16 > 0:
        return float(leaves.weight16[leaf])
    if leaves.weight_span32 > 0:
        return float(leaves.weight32[leaf])
    return leaves.weight64[leaf]


@inline
def add_values(begin, end, first, found, leaves, value, sums):
    """Add the values of a tree whose leaves begin at `first`; `found` has the leaf of each row, from `begin` on."""
    values = leaves.values
    for i in range(begin, end):
        leaf = first + np.int64(found[i - begin])
        if leaves.shares != 0:
            weight = weight_of(leaf, leaves)
            for k in range(values):
                sums[i * values + k] += float(value[leaf * values + k]) / weight
        else:
            for k in range(values):
                sums[i * values + k] += float(value[leaf * values + k])


@inline
def add_leaves(begin, end, first, found, leaves, sums):
    """The same, in whichever type the values are kept."""
    if leaves.value_span8 > 0:
        add_values(begin, end, first, found, leaves, leaves.value8, sums)
    elif leaves.value_span16 > 0:
        add_values(begin, end, first, found, leaves, leaves.value16, sums)
    elif leaves.value_span32 > 0:
        add_values(begin, end, first, found, leaves, leaves.value32, sums)
    else:
        add_values(begin, end, first, found, leaves, leaves.value64, sums)


@kernel
def add_numbered(rows: i64, trees: i64, leaf_start: i64["trees + 1"], leaves: LeafValues, wanted: Found, found: out(i32["1"])):
    """Add the values of the leaves that were numbered to the sums of few rows, tree after tree."""
    for i in range(rows):
        for t in range(wanted.first, wanted.last):
            found[0] = wanted.numbers[i * wanted.many + t - wanted.begin]
            add_leaves(i, i + 1, leaf_start[t], found, leaves, wanted.sums)
