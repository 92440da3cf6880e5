"""Squared difference of logarithms."""

from spinney.jit import inline
from spinney.metrics.kernels.frames import pointwise
from spinney.metrics.kernels.special import log1p

LOWEST = -1.0 + 1e-6  # prediction that has a logarithm


@inline
def loss(prediction, target, parameters):
    """(log(1 + f) - log(1 + y))²."""
    difference = log1p(max(prediction, LOWEST)) - log1p(target)
    return difference * difference


msle_losses = pointwise("msle", loss)
