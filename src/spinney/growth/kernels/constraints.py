"""Weights that keep to bounds.

Bounds keep a tree monotone. A split by a column with a direction gives its children weights in that direction, and from then on
all of one side stays below the middle of the two weights and all of the other above it. A node's bounds are in real units and
before the learning rate; infinite where there is no bound.

Other functions take and give weights in the units of the sums they are given: those of the search are g · scales.g and
h · scales.h, so their weights are real ones times scales.g / scales.h.
"""

from spinney.growth.kernels.gain import INVALID, node_weight
from spinney.jit.inline import inline


@inline
def clipped(weight, node):
    """A real weight within the bounds of its node."""
    return min(max(weight, node.lower), node.upper)


@inline
def search_bounds(node, scales):
    """Lower and upper bound of a node's weight in units of the search."""
    scale = scales.g / scales.h
    return node.lower * scale, node.upper * scale


@inline
def weight_within(g, h, reg_lambda, reg_alpha, max_step, lower, upper):
    """Best weight of a leaf within bounds."""
    return min(max(node_weight(g, h, reg_lambda, reg_alpha, max_step), lower), upper)


@inline
def score_of_weight(g, h, reg_lambda, reg_alpha, weight):
    """Twice the loss that a node saves by a weight; that of the best one is `node_score`, others may be negative."""
    return -(2.0 * (g * weight + reg_alpha * abs(weight)) + (h + reg_lambda) * weight * weight)


@inline
def own_score(node, scales):
    """Score of a node itself, in units of the search."""
    lower, upper = search_bounds(node, scales)
    g = float(node.sum_g)
    h = float(node.sum_h)
    weight = weight_within(g, h, scales.reg_lambda, scales.reg_alpha, scales.max_step, lower, upper)
    return score_of_weight(g, h, scales.reg_lambda, scales.reg_alpha, weight)


@inline
def split_gain(left_g, left_h, node, penalty, scales):
    """What two children within a node's bounds save beyond its own score; INVALID if nothing."""
    lower, upper = search_bounds(node, scales)
    alpha = scales.reg_alpha
    step = scales.max_step
    right_g = float(node.sum_g) - left_g
    right_h = float(node.sum_h) - left_h
    left = weight_within(left_g, left_h, penalty, alpha, step, lower, upper)
    right = weight_within(right_g, right_h, penalty, alpha, step, lower, upper)
    gain = (
        score_of_weight(left_g, left_h, penalty, alpha, left)
        + score_of_weight(right_g, right_h, penalty, alpha, right)
        - own_score(node, scales)
    )
    return gain if gain > 0.0 else INVALID


@inline
def score_cuts_bounded(cuts, add_g, add_h, add_c, node, min_count, min_hessian, scales, sign, line):
    """As `score_cuts`, but within bounds and for a column of some direction: gains instead of scores, INVALID where none."""
    lower, upper = search_bounds(node, scales)
    own = own_score(node, scales)
    reg_lambda = scales.reg_lambda
    reg_alpha = scales.reg_alpha
    max_step = scales.max_step
    g = float(node.sum_g)
    h = float(node.sum_h)
    c = float(node.count)
    low = max(lower, -max_step) if max_step > 0.0 else lower
    high = min(upper, max_step) if max_step > 0.0 else upper
    # Free of branches, so that it vectorises; what it computes is `split_gain`, and whether it is against the direction.
    for b in range(cuts):
        left_g = float(line.g[b]) + add_g
        left_h = float(line.h[b]) + add_h
        left_c = float(line.count[b]) + add_c
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
        line.gains[b] = gain if fits else INVALID


@inline
def children_weights(left_g, left_h, node, scales):
    """Weights of a node's children, of which the left one has these sums, in units of the search."""
    lower, upper = search_bounds(node, scales)
    right_g = float(node.sum_g - left_g)
    right_h = float(node.sum_h - left_h)
    penalty = scales.reg_lambda
    alpha = scales.reg_alpha
    step = scales.max_step
    left = weight_within(float(left_g), float(left_h), penalty, alpha, step, lower, upper)
    return left, weight_within(right_g, right_h, penalty, alpha, step, lower, upper)


@inline
def bound_children(node, left, right, sign, scales):
    """Give the children of a node their bounds; `sign` is the direction of the column that splits it."""
    left.lower = node.lower
    left.upper = node.upper
    right.lower = node.lower
    right.upper = node.upper
    if sign == 0:
        return
    left_weight, right_weight = children_weights(node.left_g, node.left_h, node, scales)
    middle = clipped((0.5 * left_weight + 0.5 * right_weight) / (scales.g / scales.h), node)
    if sign > 0:
        left.upper = middle
        right.lower = middle
    else:
        right.upper = middle
        left.lower = middle
