"""Metrics of survival times: partial likelihood, pairs of rows in the right order, losses of intervals."""

import numpy as np

from spinney.data.kernels.risk_sets import RISK_BLOCK, RiskSets, at_risk, sum_risk_sets
from spinney.jit import Member, f64, i32, i64, inline, kernel, out, record
from spinney.jit.math import LOG_SQRT_2PI, exp, expm1, log, log_interval
from spinney.metrics.kernels.pointwise import log1p_exp, metric_of_interval

PAIRS = 3


@kernel
def partial_likelihood(team: Member, sets: RiskSets, scores: f64["sets.rows"], sums: out(f64["sets.blocks"])):
    """Weighted sum over the events of each block of log S - F."""
    if not sum_risk_sets(team, sets, scores):
        return
    for b in range(team.rank, sets.blocks, team.size):
        total = 0.0
        for i in range(b * RISK_BLOCK, min((b + 1) * RISK_BLOCK, sets.rows)):
            if sets.event[i] > 0.0:
                total += sets.event[i] * (log(at_risk(sets, i) / sets.hazards[i]) + log(sets.weight[i]))
        sums[b] = total


@record
class Sweep:
    """Rows in the order in which pairs are compared; see `Spans`. Ranks of predictions count from 1, equal ones have one rank.

    `tree` is a Fenwick tree: sums of weights over ranges of ranks. `same` is the weight of each rank.
    """

    rows: i64
    bounded: i64
    lower: f64["rows"]
    upper: f64["rows"]
    later: i32["rows"]
    earlier: i32["bounded"]
    ranks: out(i32["rows"])
    tree: out(f64["rows + 1"])
    same: out(f64["rows + 1"])


@inline
def rank_rows(sweep, falling, keys, order):
    """Ranks of rows by prediction, the highest first if `falling`."""
    rank = 0
    for k in range(sweep.rows):
        at = sweep.rows - 1 - k if falling != 0 else k
        before = at + 1 if falling != 0 else at - 1
        if k == 0 or keys[at] != keys[before]:
            rank += 1
        sweep.ranks[order[at]] = rank
        sweep.tree[k + 1] = 0.0
        sweep.same[k + 1] = 0.0


@inline
def add_weight(sweep, rank, w):
    """Add a weight at a rank."""
    sweep.same[rank] += w
    while rank <= sweep.rows:
        sweep.tree[rank] += w
        rank += rank & -rank


@inline
def sum_below(sweep, rank):
    """Sum of the weights of lower ranks."""
    rank -= 1
    total = 0.0
    while rank > 0:
        total += sweep.tree[rank]
        rank -= rank & -rank
    return total


@inline
def is_later(sweep, row, other):
    """Whether a row certainly comes later than another; at one time, whether it may be later and the other is exact."""
    low = sweep.lower[row]
    high = sweep.upper[other]
    return low > high or (low == high and sweep.lower[other] == high and sweep.upper[row] > low)


@kernel
def count_pairs(
    sweep: Sweep,
    falling: i64,
    weighted: i64,
    weight: f64["sweep.rows * weighted"],
    keys: i64["sweep.rows"],
    order: i32["sweep.rows"],
    pairs: out(f64["PAIRS"]),
):
    """Weights of pairs whose order is known: where the earlier row has the higher rank, where both have one rank, all."""
    rank_rows(sweep, falling, keys, order)
    right = 0.0
    tied = 0.0
    known = 0.0
    inside = 0.0
    at = 0
    for k in range(sweep.bounded):
        row = np.int64(sweep.earlier[k])
        while at < sweep.rows and is_later(sweep, np.int64(sweep.later[at]), row):
            other = np.int64(sweep.later[at])
            w = weight[other] if weighted != 0 else 1.0
            add_weight(sweep, np.int64(sweep.ranks[other]), w)
            inside += w
            at += 1
        w = weight[row] if weighted != 0 else 1.0
        rank = np.int64(sweep.ranks[row])
        right += w * sum_below(sweep, rank)
        tied += w * sweep.same[rank]
        known += w * inside
    pairs[0] = right
    pairs[1] = tied
    pairs[2] = known


# --- Times that are known exactly, or to lie in an interval


NORMAL = 0.0
LOGISTIC = 1.0
LARGEST = 1e290


@inline
def hazard(z):
    """e**z, within bounds so that sums stay finite."""
    return min(exp(z), LARGEST)


@inline
def log_density(distribution, z):
    """log of the density at z."""
    if distribution == NORMAL:
        return -0.5 * z * z - LOG_SQRT_2PI
    if distribution == LOGISTIC:
        return -z - 2.0 * log1p_exp(-z)
    return z - hazard(z)


@inline
def log_mass(distribution, a, b):
    """log of the probability between a and b."""
    if distribution == NORMAL:
        return log_interval(a, b)
    if distribution == LOGISTIC:
        return log(-expm1(a - b)) - log1p_exp(-b) - log1p_exp(a)
    w = hazard(a)
    v = w * expm1(b - a) if b - a < 1.0 else exp(b) - w
    return (log(-expm1(-v)) if v > 1e-300 else b + log(-expm1(a - b))) - w


@metric_of_interval
def aft_nloglik(score, lower, upper, parameters):
    """Negative log-likelihood of accelerated failure time; the score is the logarithm of the predicted time.

    -log of the density of a time that is known, or of the probability of an interval.
    """
    distribution = parameters[0]
    scale = parameters[1]
    a = (log(lower) - score) / scale
    if lower == upper:
        return log(scale) + log(lower) - log_density(distribution, a)
    if lower == 0.0 and upper == float("inf"):
        return 0.0
    return -log_mass(distribution, a, (log(upper) - score) / scale)


@metric_of_interval
def interval_regression_accuracy(prediction, lower, upper, parameters):
    """Share of predicted times that lie in their interval: 1 within the ends, else 0."""
    return 1.0 if lower <= prediction <= upper else 0.0
