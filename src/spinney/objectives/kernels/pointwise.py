"""Losses of one score: the formula of each, and the frame around them: outputs, blocks of rows, weights, largest gradients.

F is the score, y the target, g and h are the first and the second derivative of the loss by the score. A hessian must be 0 or
more, and g and h finite for any score (`bounded` in `common`).

Output k reads column k of the target and of the weights, or the only one, and row k of the table of parameters.
"""

import numpy as np

from spinney.data.kernels.records import GRADIENT_BLOCK, PAIR, Gradients, LabelArrays
from spinney.jit import Member, f64, framed, hole, i64, inline, kernel
from spinney.jit.intrinsics import tail
from spinney.jit.math import exp, log, sigmoid
from spinney.objectives.kernels.common import block_largest, bounded, target_of, weight_of
from spinney.objectives.kernels.leaf_values import line_search

gradient = hole("g and h of one row, from its score, its target and the parameters")


def fill_gradients(
    team: Member,
    labels: LabelArrays,
    count: i64,
    parameters: f64["count * gradients.outputs"],
    gradients: Gradients,
):
    """Gradient and hessian of every row and output, both times the weight.

    The blocks of all outputs for the same rows follow each other, so that a common target is read once.
    """
    outputs, blocks, weighted = gradients.outputs, gradients.blocks, labels.weighted
    for b in range(team.rank, blocks * outputs, team.size):
        output = b % outputs
        begin = b // outputs * GRADIENT_BLOCK
        end = min(begin + GRADIENT_BLOCK, gradients.rows)
        scores = tail(gradients.scores, output * gradients.rows)
        pairs = tail(gradients.pairs, PAIR * output * gradients.rows)
        target = target_of(labels, output)
        weight = weight_of(labels, output)
        values = tail(parameters, output * count)
        for i in range(begin, end):
            w = weight[i] if weighted != 0 else 1.0
            g, h = gradient(scores[i], target[i], values)
            pairs[2 * i] = np.float32(g * w)
            pairs[2 * i + 1] = np.float32(h * w)
        block_largest(pairs, begin, end, gradients.largest, PAIR * (output * blocks + b // outputs))


def loss_without_search(formula):
    """Declare the kernel `<name>_gradients` of a loss, whose name is that of its formula.

    The formula gives g and h of one row from its score, its target and the parameters: those that the objective's declaration
    in `params` names, in its order.
    """
    found = inline(formula)
    framed(f"{formula.__name__}_gradients", fill_gradients, gradient=found)
    return found


def loss(formula):
    """Declare `<name>_gradients`, and `<name>_line_search` for leaf values that are searched along the loss."""
    found = loss_without_search(formula)
    line_search(formula.__name__, found)
    return found


@loss
def squared_error(score, target, parameters):
    """Squared error, for regression: ½(y - F)². g = F - y, h = 1."""
    return score - target, 1.0


@loss
def log_loss(score, target, parameters):
    """Logistic loss, for two classes: -y log p - (1-y) log(1-p) with p = 1/(1+e^-F). g = p - y, h = p(1-p)."""
    p = sigmoid(score)
    return p - target, p * (1.0 - p)


@inline
def focal_of_class(score, power):
    """Derivatives by the score of the row's class: g = q^γ(γp log p - q), h = q^γ p max(q, γ(q-γp) log p + (2γ+1)q), q = 1-p.

    The curvature is negative where p is small. q, which replaces it there, would be its value if (1-p)^γ were constant.
    """
    p = sigmoid(score)
    q = sigmoid(-score)
    rest = log(1.0 + exp(-abs(score)))
    log_p = -(max(-score, 0.0) + rest)
    log_q = -(max(score, 0.0) + rest)
    weight = exp(power * log_q)
    curvature = power * (q - power * p) * log_p + (2.0 * power + 1.0) * q
    return weight * (power * p * log_p - q), weight * p * max(q, curvature)


@loss
def focal(score, target, parameters):
    """Focal loss, for two classes: -(1-p)^γ log p of the row's class, with p = 1/(1+e^-F) for the second and 1-p for the first.

    g and h of both classes, weighted by the target, which may be a probability, and by α for the second class, 1-α for the first.
    """
    power = parameters[0]
    alpha = parameters[1]
    balanced = alpha == alpha
    second = (alpha if balanced else 1.0) * target
    first = (1.0 - alpha if balanced else 1.0) * (1.0 - target)
    g, h = focal_of_class(score, power)
    g0, h0 = focal_of_class(-score, power)
    return second * g - first * g0, second * h + first * h0


@loss_without_search
def absolute_error(score, target, parameters):
    """Absolute error, for regression: |y - F|. g = sign(F - y), h = 1 in place of a curvature of 0."""
    g = 1.0 if score > target else (-1.0 if score < target else 0.0)
    return g, 1.0


@loss_without_search
def quantile(score, target, parameters):
    """Quantile loss, for regression: α(y - F) where y is above F, else (1-α)(F - y).

    g = 1-α above y, -α below it, 0 at it; h = 1 in place of a curvature of 0.
    """
    level = parameters[0]
    g = 1.0 - level if score > target else (-level if score < target else 0.0)
    return g, 1.0


@loss_without_search
def mape(score, target, parameters):
    """Absolute percentage error, for regression: |y - F| / max(1, |y|).

    g = sign(F - y) / max(1, |y|); h = 1 / max(1, |y|), the weight of the row, in place of a curvature of 0.
    """
    weight = 1.0 / max(1.0, abs(target))
    g = 1.0 if score > target else (-1.0 if score < target else 0.0)
    return g * weight, weight


@loss
def expectile(score, target, parameters):
    """Expectile loss, for regression: α(y - F)² where y is above F, else (1-α)(y - F)².

    g = 2a(F - y), h = 2a with a = α below y, 1-α above it.
    """
    level = parameters[0]
    twice = 2.0 * (level if score < target else 1.0 - level)
    return twice * (score - target), twice


@loss
def huber(score, target, parameters):
    """Huber loss, for regression: ½e² up to |e| = δ, then δ(|e| - ½δ), with e = F - y.

    g = e within ±δ, h = 1; beyond δ, too, where the curvature is 0.
    """
    delta = parameters[0]
    return min(max(score - target, -delta), delta), 1.0


@loss
def pseudo_huber(score, target, parameters):
    """Pseudo-Huber loss, for regression: δ²(√(1+(e/δ)²) - 1) with e = F - y.

    g = e/s, h = max(1/s³, ½/s) with s = √(1+(e/δ)²).

    1/s³ is the curvature. Beyond |e| = δ it falls so fast that steps would overshoot; half the slope of the gradient's secant
    replaces it, so that a step ends no farther from y than it began.
    """
    e = score - target
    t = min(abs(e) / parameters[0], 1e100)
    s = np.sqrt(1.0 + t * t)
    return e / s, max(1.0 / (s * s * s), 0.5 / s)


@loss
def fair(score, target, parameters):
    """Fair's loss, for regression: c²(t - log(1+t)) with t = |F - y|/c.

    g = e/(1+t), h = max(1/(1+t)², ½/(1+t)) with e = F - y.

    1/(1+t)² is the curvature. Beyond |e| = c it falls so fast that steps would overshoot; half the slope of the gradient's
    secant replaces it, so that a step ends no farther from y than it began.
    """
    e = score - target
    s = 1.0 + min(abs(e) / parameters[0], 1e100)
    return e / s, max(1.0 / (s * s), 0.5 / s)


NEAREST = 1e-6  # distance of a score from -1, at least


@loss
def squared_log_error(score, target, parameters):
    """Squared log error, for regression: ½r² with r = log(1+F) - log(1+y).

    g = r/(1+F), h = max(1-r, 2r)/(1+F)².

    1-r is the curvature where r <= 1/3. Beyond that it falls and becomes negative; 2r replaces it there,
    so that a step goes half the way to -1 at most.
    """
    u = max(1.0 + score, NEAREST)
    r = log(u) - log(1.0 + target)
    return r / u, max(1.0 - r, 2.0 * r) / (u * u)


@loss
def poisson(score, target, parameters):
    """Poisson loss, for counts: e^F - yF.

    g = e^F - y, h = e^(F+s): the curvature, times e^s against steps that are too long.
    """
    return bounded(exp(score)) - target, bounded(exp(score + parameters[0]))


@loss
def gamma(score, target, parameters):
    """Gamma loss, for amounts above 0: F + y e^-F. g = 1 - y e^-F, h = y e^-F."""
    ratio = bounded(target * bounded(exp(-score)))
    return 1.0 - ratio, ratio


@loss
def tweedie(score, target, parameters):
    """Tweedie loss of power ρ, for amounts many of which are 0: -y e^((1-ρ)F)/(1-ρ) + e^((2-ρ)F)/(2-ρ).

    g = -a + b, h = (ρ-1)a + (2-ρ)b with a = y e^((1-ρ)F), b = e^((2-ρ)F).
    """
    power = parameters[0]
    a = bounded(target * bounded(exp((1.0 - power) * score)))
    b = bounded(exp((2.0 - power) * score))
    return b - a, (power - 1.0) * a + (2.0 - power) * b


# --- Weights as hessians, for first-order boosting: trees are fitted to gradients alone


@kernel
def flatten_hessians(team: Member, labels: LabelArrays, gradients: Gradients):
    """Replace the hessians of every row by its weight."""
    rows, pairs = gradients.rows, gradients.pairs
    for b in range(team.rank, gradients.blocks * gradients.outputs, team.size):
        output = b // gradients.blocks
        first = output * rows
        weight = weight_of(labels, output)
        begin = b % gradients.blocks * GRADIENT_BLOCK
        end = min(begin + GRADIENT_BLOCK, rows)
        for i in range(begin, end):
            w = weight[i] if labels.weighted != 0 else 1.0
            pairs[PAIR * (first + i) + 1] = np.float32(w)
        block_largest(pairs, first + begin, first + end, gradients.largest, PAIR * b)
