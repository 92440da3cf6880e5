"""Quantile loss, for regression: α(y - F) where y is above F, else (1-α)(F - y)."""

from spinney.jit import inline
from spinney.objectives.kernels.pointwise import pointwise


@inline
def gradient(score, target, parameters):
    """g = 1-α above y, -α below it, 0 at it; h = 1 in place of a curvature of 0."""
    level = parameters[0]
    g = 1.0 - level if score > target else (-level if score < target else 0.0)
    return g, 1.0


quantile_gradients = pointwise("quantile", gradient, searched=False)
