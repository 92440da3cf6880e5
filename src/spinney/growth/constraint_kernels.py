"""Rules about columns: weights that keep to bounds, columns that may meet on a path, columns that are drawn.

Bounds keep a tree monotone. A split by a column with a direction gives its children weights in that direction, and from then on
all of one side stays below the middle of the two weights and all of the other above it. A node's bounds are in its row of the
node table, as bits of float64, in real units and before the learning rate; infinite where there is no bound.

Other functions take and give weights in the units of the sums they are given: those of the search are g · SCALE_G and
h · SCALE_H, so their weights are real ones times SCALE_G / SCALE_H.
"""

import numpy as np

from spinney.growth.layout import (
    BOUNDED, CHILD, CUT_COLUMN, DEPTH, LEFT_G, LEFT_H, LEVEL_COLUMNS, LOWER, MAX_STEP, NODE_COLUMNS, NODE_WIDTH, PARENT,
    REG_ALPHA, REG_LAMBDA, SCALE_G, SCALE_H, SUM_G, SUM_H, UPPER,
)  # fmt: skip
from spinney.growth.search_kernels import INVALID, node_weight
from spinney.jit.intrinsics import bits_of, from_bits
from spinney.jit.kernel import inline
from spinney.sampling.random_kernels import choose, choose_by_weight

PURPOSE_LEVEL = 1000
PURPOSE_NODE = 1000000


@inline
def unbind(node, nodes):
    """Take a node's bounds away."""
    nodes[node * NODE_WIDTH + LOWER] = bits_of(float("-inf"))
    nodes[node * NODE_WIDTH + UPPER] = bits_of(float("inf"))


@inline
def clipped(weight, node, nodes):
    """A real weight within the bounds of its node."""
    row = node * NODE_WIDTH
    return min(max(weight, from_bits(nodes[row + LOWER])), from_bits(nodes[row + UPPER]))


@inline
def search_bounds(node, nodes, scales):
    """Lower and upper bound of a node's weight in units of the search."""
    row = node * NODE_WIDTH
    scale = scales[SCALE_G] / scales[SCALE_H]
    return from_bits(nodes[row + LOWER]) * scale, from_bits(nodes[row + UPPER]) * scale


@inline
def weight_within(g, h, reg_lambda, reg_alpha, max_step, lower, upper):
    """Best weight of a leaf within bounds."""
    return min(max(node_weight(g, h, reg_lambda, reg_alpha, max_step), lower), upper)


@inline
def score_of_weight(g, h, reg_lambda, reg_alpha, weight):
    """Twice the loss that a node saves by a weight; that of the best one is `node_score`, others may be negative."""
    return -(2.0 * (g * weight + reg_alpha * abs(weight)) + (h + reg_lambda) * weight * weight)


@inline
def own_score(node, nodes, rulebook):
    """Score of a node itself, in units of the search."""
    _, rules, scales, _ = rulebook
    row = node * NODE_WIDTH
    lower, upper = search_bounds(node, nodes, scales)
    g = float(nodes[row + SUM_G])
    h = float(nodes[row + SUM_H])
    penalty = rules[REG_LAMBDA] * scales[SCALE_H]
    alpha = rules[REG_ALPHA] * scales[SCALE_G]
    weight = weight_within(g, h, penalty, alpha, rules[MAX_STEP] * scales[SCALE_G] / scales[SCALE_H], lower, upper)
    return score_of_weight(g, h, penalty, alpha, weight)


@inline
def split_gain(left_g, left_h, right_g, right_h, sign, own, reg_lambda, reg_alpha, max_step, lower, upper):
    """What two children within bounds save beyond their parent's own score; INVALID if nothing, or against the direction."""
    left = weight_within(left_g, left_h, reg_lambda, reg_alpha, max_step, lower, upper)
    right = weight_within(right_g, right_h, reg_lambda, reg_alpha, max_step, lower, upper)
    gain = (
        score_of_weight(left_g, left_h, reg_lambda, reg_alpha, left)
        + score_of_weight(right_g, right_h, reg_lambda, reg_alpha, right)
        - own
    )
    return gain if gain > 0.0 and float(sign) * (right - left) >= 0.0 else INVALID


@inline
def score_cuts_bounded(
    cuts, add_g, add_h, add_c, g, h, c, min_count, min_hessian, reg_lambda, reg_alpha, max_step, lower, upper, own,
    sign, line, line_at, width, gains, gains_at,
):
    """As `score_cuts`, but within bounds and for a column of some direction: gains instead of scores, INVALID where none."""
    low = max(lower, -max_step) if max_step > 0.0 else lower
    high = min(upper, max_step) if max_step > 0.0 else upper
    # Free of branches, so that it vectorises; what it computes is `split_gain`.
    for b in range(cuts):
        left_g = float(line[line_at + b]) + add_g
        left_h = float(line[line_at + width + b]) + add_h
        left_c = float(line[line_at + 2 * width + b]) + add_c
        right_g = g - left_g
        fits = (
            (left_c >= min_count) & (c - left_c >= min_count) & (left_h >= min_hessian) & (h - left_h >= min_hessian)
        )
        left_d = left_h + reg_lambda if fits else 1.0
        right_d = h - left_h + reg_lambda if fits else 1.0
        left = min(max(-(max(left_g - reg_alpha, 0.0) + min(left_g + reg_alpha, 0.0)) / left_d, low), high)
        right = min(max(-(max(right_g - reg_alpha, 0.0) + min(right_g + reg_alpha, 0.0)) / right_d, low), high)
        left_loss = 2.0 * (left_g * left + reg_alpha * abs(left)) + left_d * left * left
        right_loss = 2.0 * (right_g * right + reg_alpha * abs(right)) + right_d * right * right
        gain = -left_loss - right_loss - own
        fits = fits & (gain > 0.0) & (float(sign) * (right - left) >= 0.0)
        gains[gains_at + b] = gain if fits else INVALID


@inline
def children_weights(left_g, left_h, node, nodes, rulebook):
    """Weights of a node's children, of which the left one has these sums, in units of the search."""
    _, rules, scales, _ = rulebook
    row = node * NODE_WIDTH
    lower, upper = search_bounds(node, nodes, scales)
    penalty = rules[REG_LAMBDA] * scales[SCALE_H]
    alpha = rules[REG_ALPHA] * scales[SCALE_G]
    step = rules[MAX_STEP] * scales[SCALE_G] / scales[SCALE_H]
    right_g = float(nodes[row + SUM_G] - left_g)
    right_h = float(nodes[row + SUM_H] - left_h)
    left = weight_within(float(left_g), float(left_h), penalty, alpha, step, lower, upper)
    return left, weight_within(right_g, right_h, penalty, alpha, step, lower, upper)


@inline
def bound_children(node, signs, nodes, rulebook):
    """Give the children of a node that was opened their bounds."""
    limits, _, scales, _ = rulebook
    row = node * NODE_WIDTH
    left = nodes[row + CHILD] * NODE_WIDTH
    right = left + NODE_WIDTH
    for child in range(left, right + 1, NODE_WIDTH):
        nodes[child + LOWER] = nodes[row + LOWER]
        nodes[child + UPPER] = nodes[row + UPPER]
    sign = signs[nodes[row + CUT_COLUMN]] if limits[BOUNDED] != 0 else 0
    if sign == 0:
        return
    left_weight, right_weight = children_weights(nodes[row + LEFT_G], nodes[row + LEFT_H], node, nodes, rulebook)
    middle = bits_of(clipped((0.5 * left_weight + 0.5 * right_weight) / (scales[SCALE_G] / scales[SCALE_H]), node, nodes))
    nodes[(left if sign > 0 else right) + UPPER] = middle
    nodes[(right if sign > 0 else left) + LOWER] = middle


@inline
def is_among(number, numbers, begin, end):
    """Whether a number is among some that are ascending."""
    low = begin
    high = end
    while low < high:
        middle = (low + high) >> 1
        if numbers[middle] < number:
            low = middle + 1
        else:
            high = middle
    return low < end and numbers[low] == number


@inline
def permit_all(columns, permitted):
    """Any column may split the root."""
    for j in range(columns):
        permitted[j] = 1


@inline
def permit_columns(node, nodes, columns, groups, permitted):
    """Mark the columns that may split the children of a node: those of its path, and of each group that holds all of these."""
    starts, members, count = groups
    for j in range(columns):
        permitted[j] = 0
    for group in range(count):
        holds = True
        above = node
        while holds and above >= 0:
            holds = is_among(nodes[above * NODE_WIDTH + CUT_COLUMN], members, starts[group], starts[group + 1])
            above = nodes[above * NODE_WIDTH + PARENT]
        if holds:
            for k in range(starts[group], starts[group + 1]):
                permitted[members[k]] = 1
    above = node
    while above >= 0:
        permitted[nodes[above * NODE_WIDTH + CUT_COLUMN]] = 1
        above = nodes[above * NODE_WIDTH + PARENT]


@inline
def mark_columns(node, nodes, chosen, rulebook, drawn, drawn_at, mask, mask_at, columns):
    """Mark the columns of the tree that may split a node: drawn per level, then per node, exact in number; then permitted."""
    used_columns, left, _, column_rules = chosen
    _, _, group_count, permitted, weights, weighted, keys = column_rules
    limits, _, _, seed = rulebook
    for j in range(columns):
        mask[mask_at + j] = 0
    for j in range(left):
        drawn[drawn_at + j] = used_columns[j]
    for stage in range(2):
        wanted = limits[LEVEL_COLUMNS] if stage == 0 else limits[NODE_COLUMNS]
        purpose = PURPOSE_LEVEL + nodes[node * NODE_WIDTH + DEPTH] if stage == 0 else PURPOSE_NODE + node
        if wanted > 0 and weighted != 0:
            left = choose_by_weight(drawn, drawn_at, left, wanted, seed, purpose, weights, keys, drawn_at)
        elif wanted > 0:
            left = choose(drawn, drawn_at, left, wanted, seed, purpose)
    for j in range(left):
        column = drawn[drawn_at + j]
        mask[mask_at + column] = 1 if group_count == 0 or permitted[column] != 0 else 0


@inline
def any_column(chosen, limits, columns):
    """Whether every column may split every node, in either direction."""
    drawn = limits[LEVEL_COLUMNS] != 0 or limits[NODE_COLUMNS] != 0 or chosen[1] < columns
    return not drawn and chosen[3][2] == 0 and limits[BOUNDED] == 0


@inline
def columns_of_children(rank, small, large, nodes, chosen, rulebook, drawn, mask, columns):
    """Marks of the columns that two nodes may be split by, and where those of each begin; a `large` of -1 is nobody."""
    limits = rulebook[0]
    _, _, allowed, column_rules = chosen
    small_at = 2 * rank * columns
    if limits[LEVEL_COLUMNS] == 0 and limits[NODE_COLUMNS] == 0 and column_rules[2] == 0:
        return allowed, np.int64(0), np.int64(0)
    for turn in range(2 if large >= 0 else 1):
        mark_columns(
            small if turn == 0 else large, nodes, chosen, rulebook, drawn, rank * columns, mask,
            small_at + turn * columns, columns,
        )
    return mask, small_at, small_at + columns
