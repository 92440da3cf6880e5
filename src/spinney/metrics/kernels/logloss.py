"""Logistic loss."""

from spinney.jit import inline
from spinney.metrics.kernels.frames import pointwise
from spinney.metrics.kernels.special import log1p_exp


@inline
def loss(score, target, parameters):
    """-y log p - (1-y) log(1-p) with p = 1/(1+e^-F)."""
    return target * log1p_exp(-score) + (1.0 - target) * log1p_exp(score)


logloss_losses = pointwise("logloss", loss)
