"""One tree, from gradients to leaf values: every thread of a team runs `grow_tree`.

The four verbs are in files of their own: choose the next leaf (queue), partition its rows, build histograms, search splits.
Here they are put together. Thread 0 keeps the queue and the node table; what the others need of its decisions is in `shared`.
Sums are integers, so how rows or columns are shared out among threads never changes the tree.
"""

import numpy as np

from spinney.growth.histogram_kernels import clear, merge_column, subtract, sum_blocks
from spinney.growth.layout import (
    ALL_ROWS, BEGIN, CHILD, CLASS, CURRENT, CUT_BIN, CUT_COLUMN, CUT_DEFAULT, DEPTH, DEPTHWISE, END, EXACT_G,
    EXACT_H, EXACT_SCALE_G, EXACT_SCALE_H, FOUND_BIN, FOUND_COLUMN, FOUND_COUNT, FOUND_DEFAULT, FOUND_G, FOUND_H,
    FOUND_WIDTH, FREE, FROM_PARENT, GAMMA, IN_BAG, LARGE, LEARNING_RATE, LEAVES, LEFT_COUNT, LEFT_G, LEFT_H,
    LEVEL_COLUMNS, MAX_DEPTH, MAX_LEAVES, MAX_STEP, MIN_COUNT, MIN_HESSIAN, NODE_COLUMNS, NODE_WIDTH, NODES, PARTED,
    REG_ALPHA, REG_LAMBDA, SCALE_G, SCALE_H, SEARCH_LARGE, SEARCH_SMALL, SEED, SHARED, SLOT, SLOTS, SMALL, STAT_MAX_G,
    STAT_MAX_H, STAT_SUM_G, STAT_SUM_H, STATS, SUM_G, SUM_H, UNIT, USED_NODES, WAITING,
)
from spinney.growth.packing import BLOCK, EXACT_LIMIT, LARGEST, PLANES, SUM_LIMIT
from spinney.growth.partition_kernels import bring_together, split_alone, split_apart
from spinney.growth.queue_kernels import pop, push
from spinney.sampling.random_kernels import LOW_32, choose, random_bits, unit
from spinney.growth.search_kernels import best_of, node_score, node_weight, prefix_sums, score_cuts
from spinney.jit import f32, f64, i32, i64, inline, kernel, out, u8, u16
from spinney.jit.barrier import meet
from spinney.jit.intrinsics import atomic_add, prefetch

# Rows from which a node's partition is shared among threads; below, thread 0 alone is done sooner than a meeting.
SHARE_PARTITION = 4096
# Rows from which a histogram is shared by rows and not by columns, where a row of bins fits one cache line.
SHARE_ROWS = 4096
# Relative gain below which a split is rounding noise of the two scores that are subtracted.
NOISE = 1e-12

PURPOSE_ROUNDING = 1
PURPOSE_LEVEL = 1000
PURPOSE_NODE = 1000000


@inline
def power_scale(largest, total, count, largest_limit, total_limit):
    """Largest power of two that keeps a single value and the sum of all of them within their limits."""
    if largest <= 0.0:
        return 1.0
    scale = 1.0
    while largest * scale > largest_limit or total * scale + count > total_limit:
        scale *= 0.5
    while largest * scale * 2.0 <= largest_limit and total * scale * 2.0 + count <= total_limit:
        scale *= 2.0
    return scale


@inline
def set_scales(stats, blocks, at, in_bag, scales):
    """Choose the steps of this tree's gradients from the largest one and the sum, both taken in a fixed order."""
    max_g = 0.0
    max_h = 0.0
    sum_g = 0.0
    sum_h = 0.0
    for b in range(blocks):
        s = at + b * STATS
        max_g = max(max_g, stats[s + STAT_MAX_G])
        max_h = max(max_h, stats[s + STAT_MAX_H])
        sum_g += stats[s + STAT_SUM_G]
        sum_h += stats[s + STAT_SUM_H]
    count = float(in_bag)
    scales[SCALE_G] = power_scale(max_g, sum_g, count, float(LARGEST), SUM_LIMIT)
    scales[SCALE_H] = power_scale(max_h, sum_h, count, float(LARGEST), SUM_LIMIT)
    scales[EXACT_SCALE_G] = power_scale(max_g, sum_g, count, EXACT_LIMIT, EXACT_LIMIT)
    scales[EXACT_SCALE_H] = power_scale(max_h, sum_h, count, EXACT_LIMIT, EXACT_LIMIT)
    scales[UNIT] = scales[SCALE_H] / (scales[SCALE_G] * scales[SCALE_G])


@inline
def make_entries(entries, begin, end, bag, all_rows, pairs, pairs_at, scale_g, scale_h, seed, stochastic):
    """Quantize the gradients of the rows in the bag.

    With many rows, rounding is stochastic, so that small gradients are not all lost; with few, it is to nearest, because
    there is nothing to average over.
    """
    for i in range(begin, end):
        row = np.int64(i) if all_rows != 0 else np.int64(bag[i])
        up_g = 0.5
        up_h = 0.5
        if stochastic != 0:
            bits = random_bits(seed, PURPOSE_ROUNDING, row)
            up_g = unit(bits)
            up_h = unit(bits << 32)
        at = pairs_at + 2 * row
        # 65536 makes the sum positive, so that cutting off the fraction rounds down.
        g = np.int64(float(pairs[at]) * scale_g + up_g + 65536.0) - 65536
        h = np.int64(float(pairs[at + 1]) * scale_h + up_h)
        g = min(max(g, -LARGEST), LARGEST)
        h = min(h, LARGEST)
        entries[i] = (row << 32) | ((g & 65535) << 16) | h


@inline
def share(count, rank, size):
    """First position of a thread's share of `count` things."""
    return count * rank // size


@inline
def build(rank, size, node, slot, by_rows, nodes, entries, bins, used, count, cells, shares, planes, total):
    """Histogram of a node into a slot: this thread's columns, or (by rows) this thread's rows into its own share."""
    begin = nodes[node * NODE_WIDTH + BEGIN]
    end = nodes[node * NODE_WIDTH + END]
    cells_at = rank * total
    if by_rows != 0:
        low = begin + share(end - begin, rank, size)
        high = begin + share(end - begin, rank + 1, size)
        sum_blocks(
            entries, low, high, bins, used, 0, count, cells, cells_at, shares, rank * PLANES * total, total
        )
    else:
        first = share(count, rank, size)
        last = share(count, rank + 1, size)
        starts = used[1]
        plane_at = slot * PLANES * total
        clear(planes, plane_at, total, starts[first], starts[last])
        sum_blocks(entries, begin, end, bins, used, first, last, cells, cells_at, planes, plane_at, total)


@inline
def search_column(column, start, bins, node, slot, nodes, planes, total, limits, rules, scales, scratch, found, gain, at):
    """Best cut of one column in one node; replaces the split number `at` of `found` and `gain` if it is better."""
    line, gains, width, line_at, gains_at = scratch
    row = node * NODE_WIDTH
    g = float(nodes[row + SUM_G])
    h = float(nodes[row + SUM_H])
    c = nodes[row + END] - nodes[row + BEGIN]
    reg_lambda = rules[REG_LAMBDA] * scales[SCALE_H]
    reg_alpha = rules[REG_ALPHA] * scales[SCALE_G]
    max_step = rules[MAX_STEP] * scales[SCALE_G] / scales[SCALE_H]
    min_hessian = max(rules[MIN_HESSIAN] * scales[SCALE_H], 1e-30 if reg_lambda == 0.0 else 0.0)
    plane_at = slot * PLANES * total
    prefix_sums(planes, plane_at, total, start, bins, line, line_at, width)
    missing_at = plane_at + start + bins
    missing_g = np.int64(planes[missing_at])
    missing_h = np.int64(planes[missing_at + total])
    missing_c = np.int64(planes[missing_at + 2 * total])
    # Missing values right, then left. Without any, the last bin leaves nothing on the right.
    for direction in range(2 if missing_c > 0 else 1):
        cuts = bins if missing_c > 0 and direction == 0 else bins - 1
        score_cuts(
            cuts, direction * missing_g, direction * missing_h, direction * missing_c, g, h, c, limits[MIN_COUNT],
            min_hessian, reg_lambda, reg_alpha, max_step, line, line_at, width, gains, gains_at,
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
def draw_columns(node, nodes, columns, count, limits, seed, drawn, drawn_at, mask, mask_at):
    """Mark the used columns that a node may be split by: drawn per level, then per node, exact in number."""
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
def worth_searching(node, nodes, limits, rules, scales):
    """Whether a node could be split at all."""
    row = node * NODE_WIDTH
    count = nodes[row + END] - nodes[row + BEGIN]
    if limits[MAX_DEPTH] > 0 and nodes[row + DEPTH] >= limits[MAX_DEPTH]:
        return 0
    if count < 2 * max(limits[MIN_COUNT], 1):
        return 0
    return 1 if float(nodes[row + SUM_H]) >= 2.0 * rules[MIN_HESSIAN] * scales[SCALE_H] else 0


@inline
def make_node(node, begin, end, depth, g, h, nodes, gains):
    """Enter a new leaf into the node table."""
    row = node * NODE_WIDTH
    nodes[row + BEGIN] = begin
    nodes[row + END] = end
    nodes[row + DEPTH] = depth
    nodes[row + SLOT] = -1
    nodes[row + SUM_G] = g
    nodes[row + SUM_H] = h
    nodes[row + CHILD] = 0
    nodes[row + EXACT_G] = 0
    nodes[row + EXACT_H] = 0
    gains[node] = 0.0


@inline
def take_slot(shared, free, otherwise):
    """A free histogram slot, or `otherwise`."""
    if shared[FREE] == 0:
        return otherwise
    shared[FREE] -= 1
    return free[shared[FREE]]


@inline
def give_slot(slot, slots, shared, free):
    """Put a slot back on the free list, unless it is one of the two spare ones."""
    if 0 <= slot < slots:
        free[shared[FREE]] = slot
        shared[FREE] += 1


@inline
def open_node(node, nodes, gains, shared, free, limits, rules, scales):
    """Make the two children of the node to be split and decide whose histograms are built (thread 0)."""
    row = node * NODE_WIDTH
    begin = nodes[row + BEGIN]
    end = nodes[row + END]
    middle = begin + nodes[row + LEFT_COUNT]
    depth = nodes[row + DEPTH] + 1
    left = shared[USED_NODES]
    nodes[row + CHILD] = left
    shared[USED_NODES] += 2
    shared[LEAVES] += 1
    make_node(left, begin, middle, depth, nodes[row + LEFT_G], nodes[row + LEFT_H], nodes, gains)
    make_node(
        left + 1, middle, end, depth, nodes[row + SUM_G] - nodes[row + LEFT_G], nodes[row + SUM_H] - nodes[row + LEFT_H],
        nodes, gains,
    )
    small = left if middle - begin <= end - middle else left + 1
    large = 2 * left + 1 - small
    slot = nodes[row + SLOT]
    full = shared[LEAVES] >= limits[MAX_LEAVES]
    search_small = 0 if full else worth_searching(small, nodes, limits, rules, scales)
    search_large = 0 if full else worth_searching(large, nodes, limits, rules, scales)
    shared[CURRENT] = node
    shared[SMALL] = small
    shared[LARGE] = large
    shared[SEARCH_SMALL] = search_small
    shared[SEARCH_LARGE] = search_large
    shared[FROM_PARENT] = 1 if slot >= 0 and search_large != 0 else 0
    shared[PARTED] = 0
    if search_large != 0:
        nodes[large * NODE_WIDTH + SLOT] = slot if slot >= 0 else take_slot(shared, free, limits[SLOTS] + 1)
    else:
        give_slot(slot, limits[SLOTS], shared, free)
    if search_small != 0 or shared[FROM_PARENT] != 0:
        nodes[small * NODE_WIDTH + SLOT] = take_slot(shared, free, limits[SLOTS])


@inline
def close_child(node, searched, which, size, found, gain, nodes, gains, heap, shared, free, limits, rules, scales):
    """Take the best split of a new leaf from what the threads found and queue the leaf, or give its slot back (thread 0)."""
    row = node * NODE_WIDTH
    best = -1
    if searched != 0:
        for t in range(size):
            at = 2 * t + which
            better = best < 0 or gain[at] > gain[best]
            if best >= 0 and gain[at] == gain[best]:
                better = found[at * FOUND_WIDTH + FOUND_COLUMN] < found[best * FOUND_WIDTH + FOUND_COLUMN]
            if gain[at] >= 0.0 and better:
                best = at
    real = 0.0
    if best >= 0:
        own = node_score(
            float(nodes[row + SUM_G]), float(nodes[row + SUM_H]), rules[REG_LAMBDA] * scales[SCALE_H],
            rules[REG_ALPHA] * scales[SCALE_G], rules[MAX_STEP] * scales[SCALE_G] / scales[SCALE_H],
        )
        if gain[best] - own > NOISE * own:
            real = 0.5 * (gain[best] - own) * scales[UNIT] - rules[GAMMA]
    slot = nodes[row + SLOT]
    if real > 0.0:
        at = best * FOUND_WIDTH
        nodes[row + CUT_COLUMN] = found[at + FOUND_COLUMN]
        nodes[row + CUT_BIN] = found[at + FOUND_BIN]
        nodes[row + CUT_DEFAULT] = found[at + FOUND_DEFAULT]
        nodes[row + LEFT_G] = found[at + FOUND_G]
        nodes[row + LEFT_H] = found[at + FOUND_H]
        nodes[row + LEFT_COUNT] = found[at + FOUND_COUNT]
        gains[node] = real
        push(heap, shared[WAITING], node, nodes, gains, limits[DEPTHWISE])
        shared[WAITING] += 1
        if slot >= limits[SLOTS]:
            nodes[row + SLOT] = -1
    else:
        give_slot(slot, limits[SLOTS], shared, free)
        nodes[row + SLOT] = -1


@inline
def search_children(
    rank, size, by_rows, count, bins_of, used, nodes, shared, shares, planes, total, limits, rules, scales, seed, scratch,
    found, gain, drawn, mask, all_columns,
):
    """Finish the histograms of this thread's columns and search them for both children, column by column in cache."""
    columns, starts, _ = used
    small = shared[SMALL]
    large = shared[LARGE]
    small_at = nodes[small * NODE_WIDTH + SLOT] * PLANES * total
    large_slot = nodes[large * NODE_WIDTH + SLOT]
    first = share(count, rank, size)
    last = share(count, rank + 1, size)
    mask_small = 2 * rank * all_columns
    mask_large = mask_small + all_columns
    drawing = limits[LEVEL_COLUMNS] > 0 or limits[NODE_COLUMNS] > 0
    if drawing:
        drawn_at = rank * all_columns
        draw_columns(small, nodes, columns, count, limits, seed, drawn, drawn_at, mask, mask_small)
        draw_columns(large, nodes, columns, count, limits, seed, drawn, drawn_at, mask, mask_large)
    gain[2 * rank] = -1.0
    gain[2 * rank + 1] = -1.0
    for j in range(first, last):
        start = starts[j]
        end = starts[j + 1]
        column = columns[j]
        if by_rows != 0:
            merge_column(shares, size, PLANES * total, planes, small_at, total, start, end)
        if shared[FROM_PARENT] != 0:
            subtract(planes, large_slot * PLANES * total, small_at, total, start, end)
        if shared[SEARCH_SMALL] != 0 and (not drawing or mask[mask_small + j] != 0):
            search_column(
                column, start, bins_of[column], small, nodes[small * NODE_WIDTH + SLOT], nodes, planes, total, limits,
                rules, scales, scratch, found, gain, 2 * rank,
            )
        if shared[SEARCH_LARGE] != 0 and (not drawing or mask[mask_large + j] != 0):
            search_column(
                column, start, bins_of[column], large, large_slot, nodes, planes, total, limits, rules, scales, scratch,
                found, gain, 2 * rank + 1,
            )


@inline
def partition(rank, size, sync, node, entries, spare, columns8, columns16, wide, rows, bins_of, nodes, parts):
    """Partition a large node's rows by all threads. False: give up."""
    row = node * NODE_WIDTH
    begin = nodes[row + BEGIN]
    end = nodes[row + END]
    column = nodes[row + CUT_COLUMN]
    low = begin + share(end - begin, rank, size)
    high = begin + share(end - begin, rank + 1, size)
    parts[rank * 8] = split_apart(
        entries, spare, low, high, columns8, columns16, wide, column * rows, nodes[row + CUT_BIN], bins_of[column],
        nodes[row + CUT_DEFAULT],
    )
    if not meet(sync, size):
        return False
    left_to = begin
    right_to = begin + nodes[row + LEFT_COUNT]
    for t in range(rank):
        left_to += parts[t * 8]
        right_to += share(end - begin, t + 1, size) - share(end - begin, t, size) - parts[t * 8]
    bring_together(entries, spare, low, high, parts[rank * 8], left_to, right_to)
    return meet(sync, size)


@inline
def leaf_sums(rank, size, in_bag, entries, pairs, pairs_at, nodes, used_nodes, scales):
    """Add this thread's share of rows to the exact sums of their leaves: 64-bit fixed point, in any order."""
    low = share(in_bag, rank, size)
    high = share(in_bag, rank + 1, size)
    scale_g = scales[EXACT_SCALE_G]
    scale_h = scales[EXACT_SCALE_H]
    for node in range(used_nodes):
        row = node * NODE_WIDTH
        if nodes[row + CHILD] == 0:
            begin = max(low, nodes[row + BEGIN])
            end = min(high, nodes[row + END])
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
def write_tree(nodes, gains, used_nodes, rules, scales, tree):
    """Turn the node table into the tree's arrays, children before parents (thread 0)."""
    feature, cut_bin, left, default_left, value, gain, cover, count = tree
    for back in range(used_nodes):
        node = used_nodes - 1 - back
        row = node * NODE_WIDTH
        child = nodes[row + CHILD]
        if child != 0:
            nodes[row + EXACT_G] = nodes[child * NODE_WIDTH + EXACT_G] + nodes[(child + 1) * NODE_WIDTH + EXACT_G]
            nodes[row + EXACT_H] = nodes[child * NODE_WIDTH + EXACT_H] + nodes[(child + 1) * NODE_WIDTH + EXACT_H]
        g = float(nodes[row + EXACT_G]) / scales[EXACT_SCALE_G]
        h = float(nodes[row + EXACT_H]) / scales[EXACT_SCALE_H]
        weight = node_weight(g, h, rules[REG_LAMBDA], rules[REG_ALPHA], rules[MAX_STEP])
        feature[node] = nodes[row + CUT_COLUMN] if child != 0 else -1
        cut_bin[node] = nodes[row + CUT_BIN] if child != 0 else 0
        left[node] = child
        default_left[node] = nodes[row + CUT_DEFAULT] if child != 0 else 0
        value[node] = rules[LEARNING_RATE] * weight
        gain[node] = gains[node] if child != 0 else 0.0
        cover[node] = h
        count[node] = nodes[row + END] - nodes[row + BEGIN]


@inline
def add_scores(rank, size, in_bag, entries, scores, scores_at, nodes, used_nodes, value):
    """Add each leaf's value to the scores of this thread's share of rows."""
    low = share(in_bag, rank, size)
    high = share(in_bag, rank + 1, size)
    for node in range(used_nodes):
        row = node * NODE_WIDTH
        if nodes[row + CHILD] == 0:
            end = min(high, nodes[row + END])
            for i in range(max(low, nodes[row + BEGIN]), end):
                prefetch(scores, scores_at + (entries[min(i + 16, end - 1)] >> 32))
                scores[scores_at + (entries[i] >> 32)] += value[node]


@inline
def start_tree(in_bag, nodes, gains, shared, free, limits, rules, scales, entries, parts, size):
    """Set up the root and the free list (thread 0)."""
    g = 0
    h = 0
    for t in range(size):
        g += parts[t * 8 + 1]
        h += parts[t * 8 + 2]
    make_node(0, 0, in_bag, 0, g, h, nodes, gains)
    for s in range(limits[SLOTS]):
        free[s] = limits[SLOTS] - 1 - s
    shared[FREE] = limits[SLOTS]
    shared[USED_NODES] = 1
    shared[LEAVES] = 1
    shared[WAITING] = 0
    shared[CURRENT] = 0
    # The root is searched as the small child of nobody.
    shared[SMALL] = 0
    shared[LARGE] = 0
    shared[FROM_PARENT] = 0
    shared[SEARCH_SMALL] = worth_searching(0, nodes, limits, rules, scales) if limits[MAX_LEAVES] > 1 else 0
    shared[SEARCH_LARGE] = 0
    nodes[SLOT] = take_slot(shared, free, limits[SLOTS])


@inline
def sum_entries(entries, begin, end, parts, at):
    """Sums of the quantized gradients of this thread's rows."""
    g = 0
    h = 0
    for i in range(begin, end):
        g += (entries[i] << 32) >> 48
        h += entries[i] & 65535
    parts[at + 1] = g
    parts[at + 2] = h


@kernel
def grow_tree(
    rank: i64, size: i64, sync: out(i64["32"]),
    rows: i64, columns: i64, outputs: i64, threads: i64, stride: i64, total: i64, width: i64, wide: i64, count: i64,
    max_nodes: i64, slots: i64, blocks: i64,
    bins8: u8["rows * stride * (1 - wide)"], bins16: u16["rows * stride * wide"],
    columns8: u8["rows * columns * (1 - wide)"], columns16: u16["rows * columns * wide"],
    bins_of: i64["columns"],
    used_columns: i64["columns"], used_starts: i64["columns + 1"],
    bag: i32["rows"], pairs: f32["2 * rows * outputs"], stats: f64["4 * blocks * outputs"],
    control: out(i64["8"]), limits: i64["8"], rules: f64["8"],
    scores: out(f64["rows * outputs"]),
    entries: out(i64["rows"]), spare: out(i64["rows"]),
    cells: out(i64["threads * total"]), shares: out(i32["threads * 3 * total"]), planes: out(i32["(slots + 2) * 3 * total"]),
    lines: out(i32["threads * 3 * width"]), line_gains: out(f64["threads * width"]),
    nodes: out(i64["16 * max_nodes"]), gains: out(f64["max_nodes"]), heap: out(i64["max_nodes"]), free: out(i64["slots"]),
    shared: out(i64["16"]), scales: out(f64["8"]), parts: out(i64["8 * threads"]),
    found: out(i64["16 * threads"]), found_gain: out(f64["2 * threads"]),
    drawn: out(i64["threads * columns"]), mask: out(u8["2 * threads * columns"]),
    feature: out(i32["max_nodes"]), cut_bin: out(i32["max_nodes"]), left: out(i32["max_nodes"]),
    default_left: out(u8["max_nodes"]), value: out(f64["max_nodes"]), gain: out(f64["max_nodes"]),
    cover: out(f64["max_nodes"]), counts: out(i64["max_nodes"]),
):
    """Grow one tree on the bag's rows, write it to `feature` ... `counts`, and add it to the scores of these rows."""
    in_bag = control[IN_BAG]
    seed = control[SEED]
    pairs_at = 2 * rows * control[CLASS]
    bins = (bins8, bins16, wide, stride)
    used = (used_columns, used_starts, 1 if count == columns else 0)
    scratch = (lines, line_gains, width, rank * 3 * width, rank * width)
    if rank == 0:
        set_scales(stats, blocks, STATS * blocks * control[CLASS], in_bag, scales)
    if not meet(sync, size):
        return
    low = share(in_bag, rank, size)
    high = share(in_bag, rank + 1, size)
    make_entries(
        entries, low, high, bag, control[ALL_ROWS], pairs, pairs_at, scales[SCALE_G], scales[SCALE_H], seed,
        1 if in_bag > BLOCK else 0,
    )
    sum_entries(entries, low, high, parts, rank * 8)
    if not meet(sync, size):
        return
    if rank == 0:
        start_tree(in_bag, nodes, gains, shared, free, limits, rules, scales, entries, parts, size)
    while True:
        if not meet(sync, size):
            return
        node = shared[CURRENT]
        if node < 0:
            break
        if shared[PARTED] == 0 and nodes[node * NODE_WIDTH + CHILD] != 0:
            if not partition(
                rank, size, sync, node, entries, spare, columns8, columns16, wide, rows, bins_of, nodes, parts
            ):
                return
        searching = shared[SEARCH_SMALL] != 0 or shared[SEARCH_LARGE] != 0
        if searching:
            small = shared[SMALL]
            large = shared[LARGE]
            small_rows = nodes[small * NODE_WIDTH + END] - nodes[small * NODE_WIDTH + BEGIN]
            both = shared[SEARCH_LARGE] != 0 and shared[FROM_PARENT] == 0
            by_rows = 1 if size > 1 and stride <= 64 and small_rows >= SHARE_ROWS and not both else 0
            if shared[SEARCH_SMALL] != 0 or shared[FROM_PARENT] != 0:
                slot = nodes[small * NODE_WIDTH + SLOT]
                build(rank, size, small, slot, by_rows, nodes, entries, bins, used, count, cells, shares, planes, total)
            if both:
                slot = nodes[large * NODE_WIDTH + SLOT]
                build(rank, size, large, slot, 0, nodes, entries, bins, used, count, cells, shares, planes, total)
            if by_rows != 0:
                if not meet(sync, size):
                    return
            search_children(
                rank, size, by_rows, count, bins_of, used, nodes, shared, shares, planes, total, limits, rules, scales,
                seed, scratch, found, found_gain, drawn, mask, columns,
            )
        if not meet(sync, size):
            return
        if rank == 0:
            if searching:
                close_child(
                    shared[SMALL], shared[SEARCH_SMALL], 0, size, found, found_gain, nodes, gains, heap, shared, free,
                    limits, rules, scales,
                )
                if shared[LARGE] != shared[SMALL]:
                    close_child(
                        shared[LARGE], shared[SEARCH_LARGE], 1, size, found, found_gain, nodes, gains, heap, shared,
                        free, limits, rules, scales,
                    )
            if shared[WAITING] == 0 or shared[LEAVES] >= limits[MAX_LEAVES]:
                shared[CURRENT] = -1
            else:
                node = pop(heap, shared[WAITING], nodes, gains, limits[DEPTHWISE])
                shared[WAITING] -= 1
                open_node(node, nodes, gains, shared, free, limits, rules, scales)
                row = node * NODE_WIDTH
                if size == 1 or nodes[row + END] - nodes[row + BEGIN] < SHARE_PARTITION:
                    column = nodes[row + CUT_COLUMN]
                    split_alone(
                        entries, spare, nodes[row + BEGIN], nodes[row + END], columns8, columns16, wide, column * rows,
                        nodes[row + CUT_BIN], bins_of[column], nodes[row + CUT_DEFAULT],
                    )
                    shared[PARTED] = 1
    used_nodes = shared[USED_NODES]
    leaf_sums(rank, size, in_bag, entries, pairs, pairs_at, nodes, used_nodes, scales)
    if not meet(sync, size):
        return
    if rank == 0:
        control[NODES] = used_nodes
        write_tree(
            nodes, gains, used_nodes, rules, scales,
            (feature, cut_bin, left, default_left, value, gain, cover, counts),
        )
    if control[ALL_ROWS] != 0:
        if not meet(sync, size):
            return
        add_scores(rank, size, in_bag, entries, scores, rows * control[CLASS], nodes, used_nodes, value)
