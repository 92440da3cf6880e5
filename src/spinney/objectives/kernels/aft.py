"""Accelerated failure time: -log of the probability of what is known of the time, with log time = F + σ z.

z has the normal, the logistic, or the extreme distribution (that of the logarithm of an exponential variable). Known are the time
itself, or an interval. Formulas are ratios from which what vanishes far out has been divided. Limits are XGBoost's.
"""

import numpy as np

from spinney.data.kernels.records import LabelArrays
from spinney.jit import Member, f64, inline, kernel
from spinney.jit.math import exp, expm1, sigmoid
from spinney.jit.normal import density, interval, is_narrow, mills, upper_tail
from spinney.objectives.kernels.bounds import bounded
from spinney.objectives.kernels.largest import block_largest
from spinney.objectives.kernels.records import BLOCK, PAIR, Gradients

NORMAL = 0.0
LOGISTIC = 1.0
LARGEST_GRADIENT = 15.0
SMALLEST_HESSIAN = 1e-16
LARGEST_HESSIAN = 15.0
FAR = 1e3  # from here on a tail's second derivative is 1 - 1 / z² to 1e-11
FARTHEST = 1e4  # from here on that of an interval is 1 to 1e-8
LARGEST_V = 700.0


@inline
def normal_tail(z):
    """First and second derivative of log(1 - Φ(z)), times -1."""
    ratio = 1.0 / mills(z) if z >= 0.0 else density(z) / upper_tail(z)
    return ratio, ratio * (ratio - z) if z < FAR else 1.0 - 1.0 / (z * z)


@inline
def normal_interval(a, b):
    """First and second derivative of log(Φ(b) - Φ(a)), the second times -1; a + b >= 0."""
    at_a, at_b, mass, _ = interval(a, b)
    first = (at_b - at_a) / mass
    return first, first * first - (a * at_a - b * at_b) / mass if a < FARTHEST else 1.0


@inline
def normal(a, b):
    """g σ and h σ² of a normal z from a to b."""
    if b == float("inf"):
        if a == float("-inf"):
            return 0.0, 0.0
        g, h = normal_tail(a)
        return -g, h
    if a == float("-inf"):
        return normal_tail(-b)
    if is_narrow(a, b):
        return -0.5 * (a + b), 1.0
    if a + b >= 0.0:
        return normal_interval(a, b)
    g, h = normal_interval(-b, -a)
    return -g, h


@inline
def logistic(a, b):
    """g σ and h σ² of a logistic z from a to b."""
    below = sigmoid(a)
    above = sigmoid(-b)
    return above - below, sigmoid(b) * above + below * sigmoid(-a)


@inline
def extreme(a, b):
    """g σ and h σ² of a z from a to b whose exponential has an exponential distribution."""
    w = bounded(exp(a))
    v = w * expm1(b - a) if b - a < 1.0 else exp(b) - w
    if v > LARGEST_V:
        return -w, w
    q = v / expm1(v) if v > 1e-300 else 1.0
    bend = q + v - 1.0 if v > 1e-5 else 0.5 * v
    return q - w, w + q * bend


@inline
def z_of(log_time, score, scale):
    """Where a time stands in the distribution."""
    return (log_time - score) / scale


@inline
def gradient(distribution, scale, score, log_lower, log_upper):
    """Gradient and hessian of a row, within limits."""
    a = z_of(log_lower, score, scale)
    b = z_of(log_upper, score, scale)
    if distribution == NORMAL:
        g, h = normal(a, b)
    elif distribution == LOGISTIC:
        g, h = logistic(a, b)
    else:
        g, h = extreme(a, b)
    g = min(max(g / scale, -LARGEST_GRADIENT), LARGEST_GRADIENT)
    return g, min(max(h / (scale * scale), SMALLEST_HESSIAN), LARGEST_HESSIAN)


@kernel
def aft_gradients(
    team: Member, labels: LabelArrays, logs: f64["2 * labels.rows"], distribution: f64, scale: f64, gradients: Gradients,
):
    """Gradient and hessian of every row, both times the weight. `logs` are logarithms of the ends of the intervals."""
    pairs, rows = gradients.pairs, labels.rows
    for block in range(team.rank, gradients.blocks, team.size):
        begin = block * BLOCK
        end = min(begin + BLOCK, rows)
        for i in range(begin, end):
            w = labels.weight[i] if labels.weighted != 0 else 1.0
            g, h = gradient(distribution, scale, gradients.scores[i], logs[i], logs[rows + i])
            pairs[2 * i] = np.float32(g * w)
            pairs[2 * i + 1] = np.float32(h * w)
        block_largest(pairs, begin, end, gradients.largest, PAIR * block)
