"""Pinball loss of a quantile."""

from spinney.jit import inline
from spinney.metrics.kernels.frames import pointwise


@inline
def loss(prediction, target, parameters):
    """alpha (y - f) where y is larger, else (1 - alpha) (f - y)."""
    alpha = parameters[0]
    return alpha * (target - prediction) if target >= prediction else (1.0 - alpha) * (prediction - target)


pinball_losses = pointwise("pinball", loss)
