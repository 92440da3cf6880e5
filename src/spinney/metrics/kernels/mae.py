"""Absolute error."""

from spinney.jit import inline
from spinney.metrics.kernels.frames import pointwise


@inline
def loss(prediction, target, parameters):
    """|f - y|."""
    return abs(prediction - target)


mae_losses = pointwise("mae", loss)
