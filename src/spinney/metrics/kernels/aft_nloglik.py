"""Negative log-likelihood of accelerated failure time; the score is the logarithm of the predicted time."""

from spinney.jit import inline
from spinney.jit.math import exp, expm1, log
from spinney.jit.normal import LOG_ROOT, log_interval
from spinney.metrics.kernels.frames import of_intervals
from spinney.metrics.kernels.special import log1p_exp

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
        return -0.5 * z * z - LOG_ROOT
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


@inline
def loss(score, lower, upper, parameters):
    """-log of the density of a time that is known, or of the probability of an interval."""
    distribution = parameters[0]
    scale = parameters[1]
    a = (log(lower) - score) / scale
    if lower == upper:
        return log(scale) + log(lower) - log_density(distribution, a)
    if lower == 0.0 and upper == float("inf"):
        return 0.0
    return -log_mass(distribution, a, (log(upper) - score) / scale)


aft_nloglik_losses = of_intervals("aft_nloglik", loss)
