"""Searching a node: columns are drawn one after another, until enough of them have been searched.

The search ends early with a split that parts the last two rows of a node, or leaves one class on either side: no column can do
better.
"""

import numpy as np

from spinney.growth.forest.kernels.entries import WALKED, find_live_columns, has_sparse
from spinney.growth.forest.kernels.records import MOVED
from spinney.jit import hole, inline
from spinney.jit.intrinsics import byte_ranges
from spinney.sampling.kernels.random import LOW_32, PURPOSE_SPLIT, random_bits

NOT_FOUND = -1.0e299
LEAST_SCORE = -1.0e298  # below that of any split


@inline
def draw_column(draw, left, node, mine):
    """Draw one of the columns that are left, and move it behind them."""
    bits = (random_bits(node.key, PURPOSE_SPLIT, draw) >> 32) & LOW_32
    place = (bits * left) >> 32
    column = mine.order[place]
    mine.order[place] = mine.order[left - 1]
    mine.order[left - 1] = column
    mine.swaps[draw] = place
    return column


@inline
def put_back(drawn, columns, mine):
    """Undo all draws, so that the next node starts from the same order: ascending."""
    if 2 * drawn > columns:
        for column in range(columns):
            mine.order[column] = column
        return
    for k in range(drawn):
        draw = drawn - 1 - k
        last = columns - draw - 1
        place = mine.swaps[draw]
        column = mine.order[place]
        mine.order[place] = mine.order[last]
        mine.order[last] = column


@inline
def find_ranges(node, rows, mine):
    """Find the range of every column's codes in a node, where records have them."""
    for chunk in range(mine.chunks):
        byte_ranges(
            rows.memory, node.begin * rows.words + chunk * 4, rows.words, node.end - node.begin, mine.low, mine.high, chunk * 32
        )  # fmt: skip


@inline
def is_constant(column, held, listed, data, mine):
    """Whether all rows of a node have the same code in a column, as far as ranges or listed entries show it."""
    if held:
        group = data.features.group_of[column]
        return mine.low[group] == mine.high[group]
    return listed and mine.entry_counts[column] == 0


columns_at_once = hole("how many columns of a node of some rows are searched together")
search_columns = hole(
    "search some columns of a node, and store the best split so far; how many of them were not constant"
)


@inline
def search_node(node, data, row_codes, values, target, rules, rows, words, mine):
    """Find the best split of a node: at least `per_split` columns are searched, and as many more as it takes to find one that is
    not constant. No column can do better once a split separates two rows, or leaves one class on each side.
    """
    columns = rules.columns
    mine.best[0].score = NOT_FOUND
    mine.best[0].column = -1
    mine.best[0].tried = 0
    draw = np.int64(0)
    good = 0
    held = rules.access == MOVED
    if held:
        find_ranges(node, rows, mine)
    live = columns  # columns that are not known to be constant
    if has_sparse(data, rules):
        live = find_live_columns(node, data, row_codes, rules, rows, mine)
    listed = has_sparse(data, rules) and mine.live[0] != WALKED
    size = node.end - node.begin
    together = columns_at_once(size, node, rules)
    perfect = node.perfect if size > 2 else LEAST_SCORE
    while (
        draw < columns and live > 0 and mine.best[0].score < perfect and (draw < rules.per_split or good == 0)
    ):
        count = np.int64(0)
        while draw < columns and count < together and (draw < rules.per_split or (good == 0 and count == 0)):
            column = draw_column(draw, columns - draw, node, mine)
            if not is_constant(column, held, listed, data, mine):
                mine.chosen[count] = column
                mine.chosen_draw[count] = draw
                count += 1
            draw += 1
        if count > 0:
            good += search_columns(count, node, data, row_codes, values, target, rules, rows, words, mine)
            mine.best[0].tried += count
            live -= count
    put_back(draw, columns, mine)
