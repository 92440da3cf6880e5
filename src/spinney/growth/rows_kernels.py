"""What every thread does for its own rows: partition them, sum them by leaf, move their scores."""

import numpy as np

from spinney.growth.layout import (
    CHILD, COUNT, CUT_COLUMN, EXACT_G, EXACT_H, EXACT_SCALE_G, EXACT_SCALE_H, LEFT_COUNT, NODE_WIDTH,
)  # fmt: skip
from spinney.growth.partition_kernels import find_stored, split_rows, split_stored
from spinney.jit.intrinsics import atomic_add, prefetch, tail
from spinney.jit.kernel import inline


# A sparse column with fewer entries than a node's rows over this is partitioned by its entries.
FEW = 4


@inline
def partition(node, first, last, size, stretches, entries, spare, by_column, sides, nodes):
    """Partition the rows of threads first..last-1 in a node that has been opened."""
    columns8, columns16, wide, height, group_of, by_entry, line = by_column
    stored_starts, stored_rows, stored_codes = by_entry
    row = node * NODE_WIDTH
    column = nodes[row + CUT_COLUMN]
    child = nodes[row + CHILD]
    group = group_of[column]
    left_is_larger = 2 * nodes[row + LEFT_COUNT] >= nodes[row + COUNT]
    for t in range(first, last):
        stretch = 2 * (node * size + t)
        begin = stretches[stretch]
        end = stretches[stretch + 1]
        stored = stored_starts[column + 1] - stored_starts[column]
        if group < 0 and stored * FEW < end - begin:
            middle = begin + split_stored(
                entries, spare, begin, end, stored_rows, stored_codes, stored_starts[column], stored_starts[column + 1], sides
            )
        else:
            if group < 0:
                find_stored(
                    entries, begin, end, stored_rows, stored_codes, stored_starts[column], stored_starts[column + 1], line
                )
            if group >= 0 and wide == 0:
                codes = tail(columns8, group * height)
                middle = begin + split_rows(entries, spare, begin, end, codes, sides, left_is_larger)
            else:
                wide_codes = line if group < 0 else tail(columns16, group * height)
                middle = begin + split_rows(entries, spare, begin, end, wide_codes, sides, left_is_larger)
        to = 2 * (child * size + t)
        stretches[to] = begin
        stretches[to + 1] = middle
        to = 2 * ((child + 1) * size + t)
        stretches[to] = middle
        stretches[to + 1] = end


@inline
def leaf_sums(rank, size, stretches, entries, pairs, pairs_at, nodes, used_nodes, scales):
    """Add this thread's rows to the exact sums of their leaves: 64-bit fixed point, in any order."""
    scale_g = scales[EXACT_SCALE_G]
    scale_h = scales[EXACT_SCALE_H]
    for node in range(used_nodes):
        row = node * NODE_WIDTH
        if nodes[row + CHILD] == 0:
            begin = stretches[2 * (node * size + rank)]
            end = stretches[2 * (node * size + rank) + 1]
            g = 0
            h = 0
            for i in range(begin, end):
                prefetch(pairs, pairs_at + 2 * (entries[min(i + 16, end - 1)] >> 32))
                at = pairs_at + 2 * (entries[i] >> 32)
                g += np.int64(float(pairs[at]) * scale_g)
                h += np.int64(float(pairs[at + 1]) * scale_h)
            if begin < end:
                atomic_add(nodes, row + EXACT_G, g)
                atomic_add(nodes, row + EXACT_H, h)


@inline
def add_scores(rank, size, stretches, entries, scores, scores_at, nodes, used_nodes, value):
    """Add each leaf's value to the scores of this thread's rows."""
    for node in range(used_nodes):
        if nodes[node * NODE_WIDTH + CHILD] == 0:
            end = stretches[2 * (node * size + rank) + 1]
            for i in range(stretches[2 * (node * size + rank)], end):
                prefetch(scores, scores_at + (entries[min(i + 16, end - 1)] >> 32))
                scores[scores_at + (entries[i] >> 32)] += value[node]
