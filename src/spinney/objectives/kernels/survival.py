"""Losses of survival times: accelerated failure time, and Cox's partial likelihood.

Cox's loss looks at all rows at risk. Each round, hazards are summed by time from the last to the first
(`data/kernels/risk_sets.py`) and, here, sums over events from the first to the last, both by blocks of places, each by one thread
in order. All terms are above 0, so nothing cancels, and a sum is right to 1e-13 of itself: far below the 24 bits of a gradient.
"""

import numpy as np

from spinney.data.kernels.records import GRADIENT_BLOCK, PAIR, Gradients, LabelArrays
from spinney.data.kernels.risk_sets import RISK_BLOCK, RiskSets, at_risk, sum_risk_sets
from spinney.jit import Member, f64, i32, inline, kernel, out, record
from spinney.jit.barrier import meet
from spinney.jit.math import density, exp, expm1, interval, is_narrow, mills, sigmoid, upper_tail
from spinney.objectives.kernels.common import block_largest, bounded

# --- Accelerated failure time: -log of the probability of a time or of an interval, with log time = F + σ z.
#
# z has the normal, the logistic, or the extreme distribution (that of the logarithm of an exponential variable). Formulas are
# ratios, divided by whatever vanishes in the tails. Limits are those of XGBoost.


NORMAL = 0.0
LOGISTIC = 1.0
LARGEST_GRADIENT = 15.0
SMALLEST_HESSIAN = 1e-16
LARGEST_HESSIAN = 15.0
FAR = 1e3  # from here on a tail's second derivative is 1 - 1 / z² to 1e-11
FARTHEST = 1e4  # from here on the second derivative of an interval is 1 to 1e-8
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
    curvature = q + v - 1.0 if v > 1e-5 else 0.5 * v
    return q - w, w + q * curvature


@inline
def z_of(log_time, score, scale):
    """A time as a value of the distribution."""
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
    team: Member,
    labels: LabelArrays,
    logs: f64["2 * labels.rows"],
    distribution: f64,
    scale: f64,
    gradients: Gradients,
):
    """Gradient and hessian of every row, both times the weight. `logs` are logarithms of the ends of the intervals."""
    pairs, rows = gradients.pairs, labels.rows
    for block in range(team.rank, gradients.blocks, team.size):
        begin = block * GRADIENT_BLOCK
        end = min(begin + GRADIENT_BLOCK, rows)
        for i in range(begin, end):
            w = labels.weight[i] if labels.weighted != 0 else 1.0
            g, h = gradient(distribution, scale, gradients.scores[i], logs[i], logs[rows + i])
            pairs[2 * i] = np.float32(g * w)
            pairs[2 * i + 1] = np.float32(h * w)
        block_largest(pairs, begin, end, gradients.largest, PAIR * block)


# --- Cox's partial likelihood: the sum over events of log S - F, where S sums e^F over all rows at risk at the time of the event.
#
# All events of one time have the whole risk set of that time (Breslow's method for ties).


# Of a row of weight 1. Where the event of every risk set is certain, gradients are rounding errors of 1e-13 or less, and a
# smaller hessian would turn them into steps, round after round.
LEAST_HESSIAN = 1e-10


@record
class CumulatedHazards:
    """By position, sums of w / S and w / S² over events up to it within its block, and over all blocks before each.

    `last` is the last position of the same time.
    """

    last: i32["sets.rows"]
    hazard: out(f64["sets.rows"])
    square: out(f64["sets.rows"])
    hazard_before: out(f64["sets.blocks"])
    square_before: out(f64["sets.blocks"])


@inline
def cumulate(team, sets, sums):
    """Fill the sums over events. False: the team gives up."""
    for b in range(team.rank, sets.blocks, team.size):
        hazard = 0.0
        square = 0.0
        for i in range(b * RISK_BLOCK, min((b + 1) * RISK_BLOCK, sets.rows)):
            w = sets.event[i]
            if w > 0.0:
                part = 1.0 / at_risk(sets, i)
                hazard += w * part
                square += w * part * part
            sums.hazard[i] = hazard
            sums.square[i] = square
        sums.hazard_before[b] = hazard
        sums.square_before[b] = square
    if not meet(team, team.size):
        return False
    if team.rank == 0:
        hazard = 0.0
        square = 0.0
        for b in range(sets.blocks):
            block_hazard = sums.hazard_before[b]
            block_square = sums.square_before[b]
            sums.hazard_before[b] = hazard
            sums.square_before[b] = square
            hazard += block_hazard
            square += block_square
    return meet(team, team.size)


@kernel
def cox_gradients(team: Member, sets: RiskSets, sums: CumulatedHazards, gradients: Gradients):
    """g = x H - w d, h = x H - x² Q: x the weighted hazard, d the event, H and Q the sums of w / S and w / S² up to the time.

    The hessian of a row is `LEAST_HESSIAN` times its weight at least.
    """
    if not sum_risk_sets(team, sets, gradients.scores):
        return
    if not cumulate(team, sets, sums):
        return
    pairs = gradients.pairs
    for b in range(team.rank, sets.blocks, team.size):
        for i in range(b * RISK_BLOCK, min((b + 1) * RISK_BLOCK, sets.rows)):
            last = np.int64(sums.last[i])
            before = last // RISK_BLOCK
            x = sets.hazards[i]
            first = x * (sums.hazard[last] + sums.hazard_before[before])
            second = x * x * (sums.square[last] + sums.square_before[before])
            row = np.int64(sets.order[i])
            pairs[2 * row] = np.float32(first - sets.event[i])
            pairs[2 * row + 1] = np.float32(max(first - second, LEAST_HESSIAN * sets.weight[i]))
    if not meet(team, team.size):
        return
    for b in range(team.rank, gradients.blocks, team.size):
        end = min((b + 1) * GRADIENT_BLOCK, gradients.rows)
        block_largest(pairs, b * GRADIENT_BLOCK, end, gradients.largest, PAIR * b)
