"""Absolute error as a share of the target."""

from spinney.jit import inline
from spinney.metrics.kernels.frames import pointwise

EPSILON = 2.220446049250313e-16  # in place of a target of 0


@inline
def loss(prediction, target, parameters):
    """|f - y| / |y|, where y is not 0."""
    return abs(prediction - target) / max(abs(target), EPSILON)


mape_losses = pointwise("mape", loss)
