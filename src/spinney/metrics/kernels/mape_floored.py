"""Absolute error as a share of the target, of 1 at least."""

from spinney.jit import inline
from spinney.metrics.kernels.frames import pointwise


@inline
def loss(prediction, target, parameters):
    """|f - y| / max(1, |y|)."""
    return abs(prediction - target) / max(abs(target), 1.0)


mape_floored_losses = pointwise("mape_floored", loss)
