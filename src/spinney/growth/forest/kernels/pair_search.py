"""Searching the columns chosen for a node that has a weight and one sum."""

import numpy as np

from spinney.growth.forest.kernels.cells import (
    add_four, add_one, count_four, list_four, list_pairs, list_sparse_pairs, packed_total,
)  # fmt: skip
from spinney.growth.forest.kernels.entries import has_sparse
from spinney.growth.forest.kernels.few import has_few_rows, is_plain, search_few_rows
from spinney.growth.forest.kernels.fours import add_four_left, draw_four_cuts
from spinney.growth.forest.kernels.pairs import (
    DECIDE_LATER, cut_after, draw_cut_of_pairs, judge_pairs, keep_best, keep_drawn, try_sums,
)  # fmt: skip
from spinney.growth.forest.kernels.records import BATCH, CHOSEN, MOVED, SQUARES
from spinney.growth.forest.kernels.scores import best_of, score_pairs
from spinney.growth.forest.kernels.search import columns_at_once
from spinney.jit.inline import inline


@inline
def judge_four_of_pairs(node, data, rules, rows, mine):
    """Judge the cuts drawn for four columns."""
    add_four_left(node.begin, node.end, node, data.features.group_of, False, rows, mine)
    mask = (np.int64(1) << node.bits) - 1
    total = mine.left_sums[4] >> node.bits
    for k in range(4):
        column = mine.chosen[k]
        packed = mine.left_sums[k]
        score = try_sums(packed & mask, packed >> node.bits, total, 1, column, node, rules)
        keep_drawn(score, column, mine.cuts[k], np.int64(DECIDE_LATER), mine)


@inline
def has_free_leaves(node, rules):
    """Whether any cut of a column is allowed, and the best one is that of squares."""
    free = rules.min_leaf == 1 and node.min_weight == 0.0 and rules.bounded == 0
    return free and rules.formula == SQUARES and rules.access == MOVED and rules.random == 0


@inline
def pair_columns_at_once(size, node, rules):
    """How many columns of a node are searched in one go."""
    if rules.access != MOVED:
        return np.int64(1)
    if has_few_rows(node, rules):
        # One column parts two rows.
        return np.int64(CHOSEN) if size > 2 else np.int64(1)
    if has_free_leaves(node, rules):
        return np.int64(BATCH)
    return columns_at_once(size, node, rules)


@inline
def cut_range(k, column, bins, node, data, values, rules, mine):
    """Choose the best cut of the k-th of four plain columns from its cells, and clear them. Cells between two codes of the node
    may be empty: the cut behind one is as good as that before it, which is taken.
    """
    cells = mine.cells
    group = data.features.group_of[column]
    low = np.int64(mine.low[group])
    count = np.int64(mine.high[group]) - low
    at = k * mine.width + low
    packed = np.int64(0)
    for j in range(count + 1):
        packed += cells[at + j]
        cells[at + j] = 0
        mine.list_sums[j] = packed
    score_pairs(count, count, 0, 0, node, rules, 0, mine)
    j = best_of(count, mine.scores, mine.best[0].score)
    if j >= 0:
        above = j + 1
        while mine.list_sums[above] == mine.list_sums[j]:
            above += 1
        cut, above = cut_after(low + j, low + above, bins, values.starts[column], values, rules)
        keep_best(mine.scores[j], column, cut, above, DECIDE_LATER, 0, mine)


@inline
def search_pairs(count, node, data, others, values, target, rules, rows, words, mine):
    """Look for the best split in the columns chosen. Returns how many are not constant."""
    features = data.features
    good = np.int64(0)
    drawn = rules.random != 0
    sparse = has_sparse(data, rules)
    if sparse and mine.best[0].looked == 0:
        mine.left_sums[BATCH] = packed_total(node, rows)
    begin = np.int64(0)
    if has_few_rows(node, rules):
        begin = search_few_rows(count, node, data, values, rules, rows, mine)
        if begin == count:
            return count
        good = begin
    counted = rules.min_leaf > 1 or drawn
    together = not drawn and begin == 0 and count == 4 and rules.access == MOVED
    free = has_free_leaves(node, rules)
    if together:
        add_four(node, rows, mine.chosen, features.group_of, mine)
        if counted:
            count_four(node, rows, mine.chosen, features.group_of, mine)
    if drawn and count == 4 and rules.min_leaf == 1 and rules.access == MOVED:
        if draw_four_cuts(node, data, values, mine):
            judge_four_of_pairs(node, data, rules, rows, mine)
            return 4
    for k in range(begin, count):
        column = mine.chosen[k]
        bins = values.codes[column]
        if drawn and features.categorical[column] == 0:
            good += draw_cut_of_pairs(mine.chosen_draw[k], column, bins, node, data, others, values, rules, rows, mine)
        elif free and is_plain(column, bins, data, mine):
            if not together:
                add_one(node, rows, features.group_of[column], mine)
            cut_range(k if together else 0, column, bins, node, data, values, rules, mine)
            good += 1
        else:
            if together:
                listed = list_four(k, bins + 1, counted, mine)
            elif sparse and features.group_of[column] < 0:
                listed = list_sparse_pairs(column, bins + 1, counted, node, data, rows, mine)
            else:
                listed = list_pairs(column, bins + 1, counted, node, data, others, rules, rows, mine)
            draw = mine.chosen_draw[k]
            good += judge_pairs(draw, listed, column, bins, node, data, others, values, rules, rows, words, mine)
    return good
