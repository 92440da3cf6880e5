"""Squared error; the metric is the root of its mean."""

from spinney.jit import inline
from spinney.metrics.kernels.frames import pointwise


@inline
def loss(score, target):
    """(F - y)²."""
    return (score - target) * (score - target)


rmse_losses = pointwise("rmse", loss)
