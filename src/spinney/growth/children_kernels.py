"""What every thread does for its columns: the histograms of a split node's children, and the search for their splits."""

import numpy as np

from spinney.growth.layout import (
    COUNT, DEPTH, FOUND_BIN, FOUND_COLUMN, FOUND_COUNT, FOUND_DEFAULT, FOUND_G, FOUND_H, FOUND_WIDTH,
    LEVEL_COLUMNS, MAX_STEP, MIN_COUNT, MIN_HESSIAN, NODE_COLUMNS, NODE_WIDTH, REG_ALPHA, REG_LAMBDA,
    SCALE_G, SCALE_H, SLOT, SUM_G, SUM_H,
)  # fmt: skip
from spinney.growth.packing import BLOCK, PLANES
from spinney.growth.histogram_kernels import cells_of, collect_column, subtract, sum_rows
from spinney.growth.search_kernels import best_of, prefix_sums, score_cuts
from spinney.jit.kernel import inline
from spinney.sampling.random_kernels import choose

PURPOSE_LEVEL = 1000
PURPOSE_NODE = 1000000


@inline
def share(count, rank, size):
    """First position of a thread's share of `count` things."""
    return count * rank // size


@inline
def build(rank, size, node, by_rows, stretches, entries, bins, used, count, sums):
    """Sum a node's rows into this thread's cells: all rows of its columns, or (by rows) its rows of all columns."""
    cells, cells_size, shares, _, total = sums
    first = 0 if by_rows != 0 else share(count, rank, size)
    last = count if by_rows != 0 else share(count, rank + 1, size)
    held = 0
    for t in range(rank if by_rows != 0 else 0, rank + 1 if by_rows != 0 else size):
        at = 2 * (node * size + t)
        held = sum_rows(
            entries, stretches[at], stretches[at + 1], held, bins, used, first, last, cells, rank * cells_size, shares,
            rank * PLANES * total, total,
        )


@inline
def search_column(column, start, bins, node, nodes, planes, total, rulebook, scratch, found, gain, at):
    """Best cut of one column in one node; replaces the split number `at` of `found` and `gain` if it is better."""
    limits, rules, scales, _ = rulebook
    line, gains, width, line_at, gains_at = scratch
    row = node * NODE_WIDTH
    g = float(nodes[row + SUM_G])
    h = float(nodes[row + SUM_H])
    c = nodes[row + COUNT]
    reg_lambda = rules[REG_LAMBDA] * scales[SCALE_H]
    reg_alpha = rules[REG_ALPHA] * scales[SCALE_G]
    max_step = rules[MAX_STEP] * scales[SCALE_G] / scales[SCALE_H]
    min_hessian = max(rules[MIN_HESSIAN] * scales[SCALE_H], 1e-30 if reg_lambda == 0.0 else 0.0)
    plane_at = nodes[row + SLOT] * PLANES * total
    prefix_sums(planes, plane_at, total, start, bins, line, line_at, width)
    missing_at = plane_at + start + bins
    missing_g = np.int64(planes[missing_at])
    missing_h = np.int64(planes[missing_at + total])
    missing_c = np.int64(planes[missing_at + 2 * total])
    # Missing values right, then left. Without any, the last bin leaves nothing on the right.
    for direction in range(2 if missing_c > 0 else 1):
        cuts = bins if missing_c > 0 and direction == 0 else bins - 1
        score_cuts(
            cuts, float(direction * missing_g), float(direction * missing_h), float(direction * missing_c), g, h,
            float(c), float(limits[MIN_COUNT]), min_hessian, reg_lambda, reg_alpha, max_step, line, line_at, width,
            gains, gains_at,
        )
        cut = best_of(gains, gains_at, cuts, gain[at])
        if cut >= 0:
            left_c = np.int64(line[line_at + 2 * width + cut]) + direction * missing_c
            gain[at] = gains[gains_at + cut]
            to = at * FOUND_WIDTH
            found[to + FOUND_COLUMN] = column
            found[to + FOUND_BIN] = cut
            found[to + FOUND_DEFAULT] = direction if missing_c > 0 else (1 if 2 * left_c >= c else 0)
            found[to + FOUND_G] = np.int64(line[line_at + cut]) + direction * missing_g
            found[to + FOUND_H] = np.int64(line[line_at + width + cut]) + direction * missing_h
            found[to + FOUND_COUNT] = left_c


@inline
def draw_columns(node, nodes, count, rulebook, drawn, drawn_at, mask, mask_at):
    """Mark the used columns that a node may be split by: drawn per level, then per node, exact in number."""
    limits, _, _, seed = rulebook
    level_count = limits[LEVEL_COLUMNS]
    node_count = limits[NODE_COLUMNS]
    for j in range(count):
        mask[mask_at + j] = 0
        drawn[drawn_at + j] = j
    left = count
    if level_count > 0:
        left = choose(drawn, drawn_at, left, level_count, seed, PURPOSE_LEVEL + nodes[node * NODE_WIDTH + DEPTH])
    if node_count > 0:
        left = choose(drawn, drawn_at, left, node_count, seed, PURPOSE_NODE + node)
    for j in range(left):
        mask[mask_at + drawn[drawn_at + j]] = 1


@inline
def search_children(
    rank, size, small, large, search_small, by_rows, count, bins_of, wide, used, nodes, sums, rulebook, finds
):
    """Collect the histograms of this thread's columns and search them for both children, column by column in cache.

    `small` is the node that was built; its split goes to place `search_small` of this thread's two, -1 for none. `large` gets
    the rest of its parent's histogram, which is in its slot, and the second place; -1 for nobody.
    """
    columns, starts, _ = used
    cells, cells_size, shares, planes, total = sums
    found, gain, drawn, mask, all_columns, scratch = finds
    small_at = nodes[small * NODE_WIDTH + SLOT] * PLANES * total
    large_at = nodes[max(large, 0) * NODE_WIDTH + SLOT] * PLANES * total
    flushed = 1 if nodes[small * NODE_WIDTH + COUNT] > BLOCK else 0
    from_thread = 0 if by_rows != 0 else rank
    to_thread = size if by_rows != 0 else rank + 1
    mask_small = 2 * rank * all_columns
    mask_large = mask_small + all_columns
    drawing = rulebook[0][LEVEL_COLUMNS] > 0 or rulebook[0][NODE_COLUMNS] > 0
    if drawing:
        drawn_at = rank * all_columns
        draw_columns(small, nodes, count, rulebook, drawn, drawn_at, mask, mask_small)
        draw_columns(max(large, 0), nodes, count, rulebook, drawn, drawn_at, mask, mask_large)
    for j in range(share(count, rank, size), share(count, rank + 1, size)):
        start = starts[j]
        end = starts[j + 1]
        column = columns[j]
        collect_column(
            cells, cells_of(j, wide, starts), cells_size, shares, PLANES * total, flushed, from_thread, to_thread,
            planes, small_at, total, start, end,
        )
        if search_small >= 0 and (not drawing or mask[mask_small + j] != 0):
            search_column(
                column, start, bins_of[column], small, nodes, planes, total, rulebook, scratch, found, gain,
                2 * rank + search_small,
            )
        if large >= 0:
            subtract(planes, large_at, small_at, total, start, end)
            if not drawing or mask[mask_large + j] != 0:
                search_column(
                    column, start, bins_of[column], large, nodes, planes, total, rulebook, scratch, found, gain,
                    2 * rank + 1,
                )
