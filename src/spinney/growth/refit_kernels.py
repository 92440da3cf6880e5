"""Leaf values from all rows, for a tree that a sample of them has grown."""

import numpy as np

from spinney.growth.layout import (
    CHILD, CLASS, COUNT, EXACT_G, EXACT_H, EXACT_SCALE_G, EXACT_SCALE_H, NODE_WIDTH, STATS, USED_NODES,
)  # fmt: skip
from spinney.growth.node_kernels import write_tree
from spinney.growth.quantize_kernels import set_scales
from spinney.jit import f32, f64, i32, i64, inline, kernel, out, u8
from spinney.jit.barrier import meet

SUMS = 3  # gradients, hessians and rows of a leaf


@inline
def sum_leaves(begin, end, counted, leaves, pairs, pairs_at, nodes, scales, sums, at):
    """Sum rows counted[begin:end] by leaf: 64-bit fixed point, in any order."""
    for i in range(at, at + SUMS * nodes):
        sums[i] = 0
    for i in range(begin, end):
        row = np.int64(counted[i])
        to = at + SUMS * np.int64(leaves[row])
        sums[to] += np.int64(float(pairs[pairs_at + 2 * row]) * scales[EXACT_SCALE_G])
        sums[to + 1] += np.int64(float(pairs[pairs_at + 2 * row + 1]) * scales[EXACT_SCALE_H])
        sums[to + 2] += 1


@inline
def put_sums(size, used_nodes, max_nodes, sums, nodes):
    """Put the sums of all threads into the node table; rows are added up towards the root (thread 0)."""
    for back in range(used_nodes):
        node = used_nodes - 1 - back
        row = node * NODE_WIDTH
        child = nodes[row + CHILD]
        if child != 0:
            nodes[row + COUNT] = nodes[child * NODE_WIDTH + COUNT] + nodes[(child + 1) * NODE_WIDTH + COUNT]
            continue
        nodes[row + EXACT_G] = 0
        nodes[row + EXACT_H] = 0
        nodes[row + COUNT] = 0
        for t in range(size):
            at = SUMS * (t * max_nodes + node)
            nodes[row + EXACT_G] += sums[at]
            nodes[row + EXACT_H] += sums[at + 1]
            nodes[row + COUNT] += sums[at + 2]


@kernel
def refit_leaves(
    rank: i64, size: i64, sync: out(i64["32"]), rows: i64, outputs: i64, blocks: i64, count: i64, threads: i64, max_nodes: i64,
    counted: i32["count"], pairs: f32["2 * rows * outputs"], stats: f64["4 * blocks * outputs"], leaves: i32["rows"],
    control: i64["8"], limits: i64["13"], rules: f64["8"], scales: out(f64["8"]), sums: out(i64["threads * 3 * max_nodes"]),
    nodes: out(i64["21 * max_nodes"]), gains: f64["max_nodes"], shared: out(i64["16"]), scores: out(f64["rows * outputs"]),
    feature: out(i32["max_nodes"]), cut_bin: out(i32["max_nodes"]), left: out(i32["max_nodes"]),
    default_left: out(u8["max_nodes"]), value: out(f64["max_nodes"]), gain: out(f64["max_nodes"]),
    cover: out(f64["max_nodes"]), counts: out(i64["max_nodes"]),
):
    """Compute value, cover and count of every node from the rows that count, then add the values to the scores of all rows."""
    output = control[CLASS]
    used_nodes = shared[USED_NODES]
    if rank == 0:
        set_scales(stats, blocks, STATS * blocks * output, count, scales)
    if not meet(sync, size):
        return
    sum_leaves(
        count * rank // size, count * (rank + 1) // size, counted, leaves, pairs, 2 * rows * output, used_nodes, scales, sums,
        SUMS * rank * max_nodes,
    )
    if not meet(sync, size):
        return
    if rank == 0:
        put_sums(size, used_nodes, max_nodes, sums, nodes)
        write_tree(
            (nodes, gains, nodes, nodes, shared, nodes), (limits, rules, scales, 0),
            (feature, cut_bin, left, default_left, value, gain, cover, counts),
        )
    if not meet(sync, size):
        return
    for row in range(rows * rank // size, rows * (rank + 1) // size):
        scores[rows * output + row] += value[leaves[row]]
