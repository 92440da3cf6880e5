"""Asymmetric squared error of an expectile."""

from spinney.jit import inline
from spinney.metrics.kernels.frames import pointwise


@inline
def loss(prediction, target, parameters):
    """alpha (y - f)² where y is larger, else (1 - alpha) (y - f)²."""
    alpha = parameters[0]
    error = target - prediction
    return (alpha if error >= 0.0 else 1.0 - alpha) * error * error


expectile_losses = pointwise("expectile", loss)
