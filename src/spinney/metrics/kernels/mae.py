"""Absolute error."""

from spinney.jit import inline
from spinney.metrics.kernels.frames import pointwise


@inline
def loss(score, target):
    """|F - y|."""
    return abs(score - target)


mae_losses = pointwise("mae", loss)
