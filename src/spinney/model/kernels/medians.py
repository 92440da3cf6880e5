"""Weighted medians, over trees, of the values that they predict for each row."""

import numpy as np

from spinney.jit import Member, f64, i32, i64, inline, kernel, out, own, record

TREE = 4294967295  # the low half of a key


@record
class VotingTrees:
    """Trees with a weight each. Every leaf has a value, and the rank of this among the values of all leaves."""

    trees: i64
    leaves: i64
    leaf_start: i64["trees + 1"]
    value: f64["leaves"]
    rank: i32["leaves"]
    weight: f64["trees"]


@record(per_thread=True)
class MedianScratch:
    """A thread's memory to sort the trees by their values for a row."""

    trees: i64
    keys: out(i64["trees * 2"])  # rank << 32 | tree; two copies, between which runs are merged


@inline
def merge_runs(low, middle, high, keys, source, to):
    """Merge two sorted runs of keys, low..middle-1 and middle..high-1, into another copy."""
    left = low
    right = middle
    for k in range(low, high):
        if right >= high or (left < middle and keys[source + left] <= keys[source + right]):
            keys[to + k] = keys[source + left]
            left += 1
        else:
            keys[to + k] = keys[source + right]
            right += 1


@inline
def sorted_copy(count, keys):
    """Sort the first `count` keys; as many places behind them are a buffer. Returns where the sorted keys begin."""
    source = 0
    to = count
    width = 1
    while width < count:
        low = 0
        while low < count:
            merge_runs(low, min(low + width, count), min(low + 2 * width, count), keys, source, to)
            low += 2 * width
        source, to = to, source
        width *= 2
    return source


@kernel
def find_medians(
    team: Member,
    rows: i64,
    stride: i64,
    trees: i64,
    leaf: i32["rows * stride"],
    voting_trees: VotingTrees,
    scratch: MedianScratch,
    found: out(f64["rows"]),
):
    """For each row, the least value at which the first `trees` trees reach half of their weight.

    `leaf` has the leaf of every row in `stride` trees.
    """
    keys = own(scratch, team.rank).keys
    for row in range(rows * team.rank // team.size, rows * (team.rank + 1) // team.size):
        for t in range(trees):
            place = voting_trees.leaf_start[t] + leaf[row * stride + t]
            keys[t] = (np.int64(voting_trees.rank[place]) << 32) | t
        begin = sorted_copy(trees, keys)
        total = 0.0
        for k in range(trees):
            total += voting_trees.weight[keys[begin + k] & TREE]
        up_to = 0.0
        k = 0
        while k < trees - 1:
            up_to += voting_trees.weight[keys[begin + k] & TREE]
            if up_to >= 0.5 * total:
                break
            k += 1
        t = keys[begin + k] & TREE
        found[row] = voting_trees.value[voting_trees.leaf_start[t] + leaf[row * stride + t]]
