"""Searching the columns chosen for a node that has a weight and one sum."""

import numpy as np

from spinney.growth.forest.kernels.cells import add_four, count_four, list_four, list_pairs, list_sparse_pairs, packed_total
from spinney.growth.forest.kernels.entries import has_sparse
from spinney.growth.forest.kernels.fours import add_four_left, draw_four_cuts
from spinney.growth.forest.kernels.pairs import DECIDE_LATER, draw_cut_of_pairs, judge_pairs, keep_drawn, try_sums
from spinney.growth.forest.kernels.records import BATCH, MOVED
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
def search_pairs(count, node, data, others, values, target, rules, rows, words, mine):
    """Look for the best split in the columns chosen. Returns how many are not constant."""
    features = data.features
    good = 0
    drawn = rules.random != 0
    sparse = has_sparse(data, rules)
    if sparse and mine.best[0].looked == 0:
        mine.left_sums[BATCH] = packed_total(node, rows)
    counted = rules.min_leaf > 1 or drawn
    together = not drawn and count == 4 and rules.access == MOVED
    if together:
        add_four(node, rows, mine.chosen, features.group_of, mine)
        if counted:
            count_four(node, rows, mine.chosen, features.group_of, mine)
    if drawn and count == 4 and rules.min_leaf == 1 and rules.access == MOVED:
        if draw_four_cuts(node, data, values, mine):
            judge_four_of_pairs(node, data, rules, rows, mine)
            return 4
    for k in range(count):
        column = mine.chosen[k]
        bins = values.codes[column]
        if drawn and features.categorical[column] == 0:
            good += draw_cut_of_pairs(mine.chosen_draw[k], column, bins, node, data, others, values, rules, rows, mine)
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
