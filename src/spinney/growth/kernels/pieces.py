"""Rows whose codes come block by block: entries by block and node, and in the end rows by leaf.

The entries of a block's rows stand together, in the order of the table, and each has its row's position in the block. Every
thread owns a *piece* of each block's entries for the whole tree. Its rows of a node are a range of the piece, counted from the
beginning of the piece, so that a piece can be partitioned like the rows of one thread. A node so has a range for each block and
thread.
"""

import numpy as np

from spinney.data.kernels.records import LeafRows
from spinney.growth.kernels.leaves import sum_leaf
from spinney.growth.kernels.packing import SMALL_BAG
from spinney.growth.kernels.quantize import put_entry, quantized, write_partial_sums
from spinney.growth.kernels.records import Control, NodeRanges, NodeRows, Subset
from spinney.jit import i32, i64, inline, out, own, record, u16
from spinney.jit.intrinsics import atomic_add, tail


@record
class BlockBag:
    """The rows that a tree sees, by their numbers in the data set."""

    rows: i64
    first: i64  # number of the first row, for what is drawn by row
    control: out(Control["1"])
    chosen: i32["rows"]
    subset: Subset


@record(per_thread=True)
class ListedRows:
    """The place in the list of each leaf where a thread writes its next row."""

    places: out(i64["table.max_nodes"])


@record
class BlockRows:
    """The rows of a tree by block and node."""

    rows: i64
    threads: i64
    blocks: i64
    longest: i64  # rows of the longest block
    sparse: i64  # 1: some columns are sparse
    ranges: NodeRanges  # of each piece: thread after thread of a block
    listed: ListedRows
    current: i64["1"]  # number of the current block
    firsts: i64["blocks + 1"]  # row of the table that each block begins with
    begins: i64["blocks + 1"]  # and its first entry
    entries: out(i64["rows"])
    cells: out(i64[f"{SMALL_BAG}"])
    spare: out(i64["longest"])
    sparse_codes: out(u16["longest * sparse"])
    by_leaf: LeafRows


@inline
def piece_of(block, rank, rows):
    """First entry of a thread's piece of a block, and the first one behind it."""
    begin = rows.begins[block]
    count = rows.begins[block + 1] - begin
    return begin + count * rank // rows.threads, begin + count * (rank + 1) // rows.threads


@inline
def range_of(block, rank, node, rows):
    """The range of a node in a thread's piece of a block."""
    return own(rows.ranges, block * rows.threads + rank).of_node[node]


@inline
def rows_of_piece(block, rank, rows):
    """A piece as rows of one thread."""
    begin, end = piece_of(block, rank, rows)
    return NodeRows(
        end - begin,
        own(rows.ranges, block * rows.threads + rank),
        tail(rows.entries, begin),
        rows.cells,
        tail(rows.spare, begin - rows.begins[block]),
        rows.sparse_codes,
        rows.by_leaf,
    )


@inline
def take_pieces(team, bag, pairs, rows, table, partial_sums):
    """Make the entries of this thread's pieces, its ranges of the root, and sum them. The bag's rows ascend."""
    control = bag.control[0]
    all_rows = control.all_rows != 0
    subset = bag.subset
    scales = table.scales[0]
    packing = table.packing[0]
    small_bag = packing.small_bag != 0
    stochastic = scales.stochastic != 0.0
    sum_g = 0
    sum_h = 0
    for block in range(rows.blocks):
        begin, end = piece_of(block, team.rank, rows)
        first = rows.firsts[block]
        for i in range(begin, end):
            number = np.int64(i) if all_rows else np.int64(bag.chosen[i])
            row = np.int64(subset.rows[number]) if subset.some != 0 else number
            g, h = quantized(bag.first + number, pairs, number, control.seed, small_bag, stochastic, scales)
            put_entry(np.int64(i), row - first, g, h, small_bag, packing, rows)
            sum_g += g
            sum_h += h
        root = range_of(block, team.rank, 0, rows)
        root.begin = 0
        root.end = end - begin
    write_partial_sums(sum_g, sum_h, team.rank, partial_sums)


@inline
def place_leaves(rank, rows, table):
    """Find where this thread lists its rows of each leaf: behind those of the threads before it.

    Rows are counted from the ranges, because counts in the node table are over all ranks.
    """
    by_leaf = rows.by_leaf
    places = own(rows.listed, rank).places
    before = np.int64(0)
    for number in range(table.state[0].used):
        node = table.order[number]
        count = np.int64(0)
        to = before
        for block in range(rows.blocks if table.nodes[node].child == 0 else 0):
            for t in range(rows.threads):
                other = range_of(block, t, node, rows)
                count += other.end - other.begin
                to += other.end - other.begin if t < rank else np.int64(0)
        places[number] = to
        if rank == 0:
            by_leaf.begin[number] = before
            by_leaf.end[number] = before + count
        before += count


@inline
def sum_leaves(rank, rows, subset, pairs, table):
    """List this thread's rows by leaf, and add them to the exact sums of their leaves, block by block."""
    place_leaves(rank, rows, table)
    listed = own(rows.listed, rank).places
    for block in range(rows.blocks):
        piece = rows_of_piece(block, rank, rows)
        for number in range(table.state[0].used):
            node = table.order[number]
            held = piece.ranges.of_node[node]
            if table.nodes[node].child == 0 and held.begin < held.end:
                members = tail(rows.by_leaf.members, listed[number])
                g, h = sum_leaf(
                    piece.entries,
                    held.begin,
                    held.end,
                    rows.firsts[block],
                    subset,
                    False,
                    pairs,
                    table.scales[0],
                    members,
                )
                listed[number] += held.end - held.begin
                atomic_add(table.exact_g, node, g)
                atomic_add(table.exact_h, node, h)
