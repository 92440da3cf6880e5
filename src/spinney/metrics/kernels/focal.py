"""Focal loss."""

from spinney.jit import inline
from spinney.jit.math import exp
from spinney.metrics.kernels.frames import pointwise
from spinney.metrics.kernels.special import log1p_exp


@inline
def loss(score, target, parameters):
    """-y α (1-p)^γ log p - (1-y) (1-α) p^γ log(1-p) with p = 1/(1+e^-F); both factors are 1 where α is NaN."""
    gamma, alpha = parameters[0], parameters[1]
    down = log1p_exp(-score)  # -log p
    up = log1p_exp(score)  # -log(1-p)
    weighed = alpha == alpha
    second = (alpha if weighed else 1.0) * target
    first = (1.0 - alpha if weighed else 1.0) * (1.0 - target)
    return second * exp(-gamma * up) * down + first * exp(-gamma * down) * up


focal_losses = pointwise("focal", loss)
