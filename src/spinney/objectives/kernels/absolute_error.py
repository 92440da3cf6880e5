"""Absolute error, for regression: |y - F|."""

from spinney.jit import inline
from spinney.objectives.kernels.pointwise import pointwise


@inline
def gradient(score, target, parameters):
    """g = sign(F - y), h = 1 in place of a curvature of 0."""
    g = 1.0 if score > target else (-1.0 if score < target else 0.0)
    return g, 1.0


absolute_error_gradients = pointwise("absolute_error", gradient, searched=False)
