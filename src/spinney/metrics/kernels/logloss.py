"""Logistic loss."""

from spinney.jit import inline
from spinney.jit.math import exp, log
from spinney.metrics.kernels.frames import pointwise


@inline
def loss(score, target, parameters):
    """-y log p - (1-y) log(1-p) with p = 1/(1+e^-F)."""
    # What both sides share, written out: of two calls of `log1p_exp` the compiler makes no vectors, and takes 58 ns a row, not 4.
    beyond = log(1.0 + exp(-abs(score)))
    return target * (max(-score, 0.0) + beyond) + (1.0 - target) * (max(score, 0.0) + beyond)


logloss_losses = pointwise("logloss", loss)
