"""Searching the columns chosen for a node that has a weight and one sum."""

import numpy as np

from spinney.growth.forest.kernels.access import columns_at_once
from spinney.growth.forest.kernels.cells import (
    add_four, add_one, count_four, list_four, list_pairs, list_sparse_pairs, packed_total,
)  # fmt: skip
from spinney.growth.forest.kernels.drawn import cut_of_drawn, draw_numbers, may_draw_together, sum_drawn_pairs
from spinney.growth.forest.kernels.entries import has_sparse
from spinney.growth.forest.kernels.few import has_few_rows, is_plain, search_few_rows
from spinney.growth.forest.kernels.pairs import DECIDE_LATER, cut_after, draw_cut_of_pairs, judge_pairs, keep_best, try_sums
from spinney.growth.forest.kernels.records import BATCH, CHOSEN, MOVED, SQUARES
from spinney.growth.forest.kernels.scores import best_of, score_pairs
from spinney.jit.inline import inline


@inline
def score_drawn_pairs(count, total, node, rules, mine):
    """Scores of the cuts drawn for some columns."""
    mask = (np.int64(1) << node.bits) - 1
    if rules.formula == SQUARES and rules.bounded == 0 and node.min_weight == 0.0 and rules.min_leaf == 1:
        # As `pair_score`. Neither side is empty: the lowest code is left of a drawn cut, the highest right of it.
        weight = float(node.weight)
        whole = float(total >> node.bits)
        for k in range(count):
            left = float(mine.left_sums[k] & mask)
            d = float(mine.left_sums[k] >> node.bits) * weight - whole * left
            mine.drawn_scores[k] = d * d / (left * (weight - left))
        return
    for k in range(count):
        packed = mine.left_sums[k]
        # Where leaves must have several rows, every row weighs a step.
        mine.drawn_scores[k] = try_sums(
            packed & mask, packed >> node.bits, total >> node.bits, packed & mask, mine.chosen[k], node, rules
        )  # fmt: skip


@inline
def search_drawn_pairs(count, node, data, others, values, target, rules, rows, words, mine):
    """Draw a cut for each of the columns chosen, whose codes records hold. Returns how many are not constant."""
    odd = draw_numbers(count, node, data, values, mine)
    sum_drawn_pairs(count, node, values, target, rows, mine)
    score_drawn_pairs(count, packed_total(node, rows), node, rules, mine)
    if odd == 0:
        k = best_of(count, mine.drawn_scores, mine.best[0].score)
        if k >= 0:
            keep_best(mine.drawn_scores[k], mine.chosen[k], cut_of_drawn(k, node, values, mine), 0, DECIDE_LATER, 0, mine)
        return count
    good = 0
    for k in range(count):
        column = mine.chosen[k]
        if mine.drawn[k].odd != 0:
            good += draw_one_of_pairs(k, node, data, others, values, rules, rows, words, mine)
        else:
            good += 1
            if mine.drawn_scores[k] > mine.best[0].score:
                cut = cut_of_drawn(k, node, values, mine)
                keep_best(mine.drawn_scores[k], column, cut, 0, DECIDE_LATER, 0, mine)
    return good


@inline
def draw_one_of_pairs(k, node, data, others, values, rules, rows, words, mine):
    """Draw a cut, or a set of categories, for one of the columns chosen. Returns 1 unless the column is constant."""
    column = mine.chosen[k]
    draw = mine.chosen_draw[k]
    bins = values.codes[column]
    if data.features.categorical[column] == 0:
        return draw_cut_of_pairs(draw, column, bins, node, data, others, values, rules, rows, mine)
    if has_sparse(data, rules) and data.features.group_of[column] < 0:
        listed = list_sparse_pairs(column, bins + 1, True, node, data, rows, mine)
    else:
        listed = list_pairs(column, bins + 1, True, node, data, others, rules, rows, mine)
    return judge_pairs(draw, listed, column, bins, node, data, others, values, rules, rows, words, mine)


@inline
def has_free_leaves(node, rules):
    """Whether any cut of a column is allowed, and the best one is that of squares."""
    free = rules.min_leaf == 1 and node.min_weight == 0.0 and rules.bounded == 0
    return free and rules.formula == SQUARES and rules.access == MOVED and rules.random == 0


@inline
def pair_columns_at_once(size, node, rules):
    """How many columns of a node are searched in one go."""
    # One column parts two rows.
    if rules.access != MOVED or size <= 2:
        return np.int64(1)
    if has_few_rows(node, rules):
        return np.int64(CHOSEN)
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
    held = rules.access == MOVED
    sparse = has_sparse(data, rules)
    if sparse and mine.best[0].looked == 0:
        mine.left_sums[BATCH] = packed_total(node, rows)
    if rules.random != 0:
        if held and may_draw_together(node, rules):
            return search_drawn_pairs(count, node, data, others, values, target, rules, rows, words, mine)
        for k in range(count):
            good += draw_one_of_pairs(k, node, data, others, values, rules, rows, words, mine)
        return good
    begin = np.int64(0)
    if has_few_rows(node, rules):
        begin = search_few_rows(count, node, data, values, rules, rows, mine)
        if begin == count:
            return count
        good = begin
    counted = rules.min_leaf > 1
    together = begin == 0 and count == 4 and held
    free = has_free_leaves(node, rules)
    if together:
        add_four(node, rows, mine.chosen, features.group_of, mine)
        if counted:
            count_four(node, rows, mine.chosen, features.group_of, mine)
    for k in range(begin, count):
        column = mine.chosen[k]
        bins = values.codes[column]
        if free and is_plain(column, bins, data, mine):
            if not together:
                add_one(node, rows, features.group_of[column], mine)
            cut_range(k if together else 0, column, bins, node, data, values, rules, mine)
            good += 1
            continue
        if together:
            listed = list_four(k, bins + 1, counted, mine)
        elif sparse and features.group_of[column] < 0:
            listed = list_sparse_pairs(column, bins + 1, counted, node, data, rows, mine)
        else:
            listed = list_pairs(column, bins + 1, counted, node, data, others, rules, rows, mine)
        draw = mine.chosen_draw[k]
        good += judge_pairs(draw, listed, column, bins, node, data, others, values, rules, rows, words, mine)
    return good
