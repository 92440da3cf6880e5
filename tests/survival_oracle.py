"""The obvious, slow versions of losses and metrics of times that are not all known."""

import mpmath
import numpy as np


def cox_pairs(scores, time, event, weight):
    """Gradient and hessian of each row of Cox's partial likelihood, a risk set for every event."""
    found = np.zeros((len(time), 2))
    hazards = weight * np.exp(scores - scores.max())
    for k in np.flatnonzero(event * weight):
        share = np.where(time >= time[k], hazards, 0.0)
        share /= share.sum()
        found[:, 0] += weight[k] * share
        found[:, 1] += weight[k] * share * (1 - share)
        found[k, 0] -= weight[k]
    return found


def cox_nloglik(scores, time, event, weight):
    """Mean over events of the log of the hazards at risk less the score."""
    total = 0.0
    for k in np.flatnonzero(event * weight):
        at_risk = time >= time[k]
        total += weight[k] * (np.log(np.sum(weight[at_risk] * np.exp(scores[at_risk]))) - scores[k])
    return total / weight[event > 0].sum()


def concordance(late, lower, upper, weight):
    """Share of pairs whose order is known in which `late` is larger for the later row; ties count half."""
    won = total = 0.0
    for i in range(len(late)):
        for j in range(len(late)):
            exact = lower[i] == upper[i]
            at_once = upper[i] == lower[j] and exact and lower[j] < upper[j]
            if upper[i] < lower[j] or at_once:
                pair = weight[i] * weight[j]
                won += pair * (0.5 * (late[i] == late[j]) + (late[i] < late[j]))
                total += pair
    return won / total if total else float("nan")


def _cdf(distribution, z):
    if distribution == "normal":
        return mpmath.ncdf(z)
    return 1 / (1 + mpmath.exp(-z))


def _pdf(distribution, z):
    if distribution == "normal":
        return mpmath.npdf(z)
    if distribution == "logistic":
        return mpmath.exp(-z) / (1 + mpmath.exp(-z)) ** 2
    return mpmath.exp(z - mpmath.exp(z))


def aft_loss(score, lower, upper, distribution, scale):
    """-log of the density of a known time, or of the probability of an interval, at high precision."""
    score, scale = mpmath.mpf(score), mpmath.mpf(scale)

    def z(time):
        return (mpmath.log(mpmath.mpf(time)) - score) / scale

    if lower == upper:
        return -mpmath.log(_pdf(distribution, z(lower)) / (scale * mpmath.mpf(lower)))
    # High precision keeps the digits of a difference near 1, but not those of a tail of e**-1e6: extreme takes that itself.
    if distribution == "extreme":
        ends = [mpmath.mpf(1) if lower == 0 else mpmath.exp(-mpmath.exp(z(lower)))]
        ends.append(mpmath.mpf(0) if upper == np.inf else mpmath.exp(-mpmath.exp(z(upper))))
        return -mpmath.log(ends[0] - ends[1])
    below = mpmath.mpf(0) if lower == 0 else _cdf(distribution, z(lower))
    above = mpmath.mpf(1) if upper == np.inf else _cdf(distribution, z(upper))
    return -mpmath.log(above - below)


def aft_pair(score, lower, upper, distribution, scale):
    """Gradient and hessian by differences of the loss, within the limits of the objective."""
    with mpmath.workdps(400):
        step = mpmath.mpf(10) ** -60
        near = [
            aft_loss(mpmath.mpf(score) + move, lower, upper, distribution, scale) for move in (-step, 0, step)
        ]
        g, h = (near[2] - near[0]) / (2 * step), (near[2] - 2 * near[1] + near[0]) / step**2
        return float(min(max(g, -15), 15)), float(min(max(h, 1e-16), 15))
