"""Squared error."""

from spinney.jit import inline
from spinney.metrics.kernels.frames import pointwise


@inline
def loss(prediction, target, parameters):
    """(f - y)²."""
    return (prediction - target) * (prediction - target)


mse_losses = pointwise("mse", loss)
