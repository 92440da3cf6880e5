"""Logistic loss."""

from spinney.jit import inline
from spinney.jit.math import exp, log
from spinney.metrics.kernels.frames import pointwise


@inline
def log1p_exp(x):
    """log(1 + e**x) without overflow."""
    e = exp(-abs(x))
    return max(x, 0.0) + log(1.0 + e)


@inline
def loss(score, target):
    """-y log p - (1-y) log(1-p) with p = 1/(1+e^-F)."""
    return target * log1p_exp(-score) + (1.0 - target) * log1p_exp(score)


logloss_losses = pointwise("logloss", loss)
