"""Absolute percentage error, for regression: |y - F| / max(1, |y|)."""

from spinney.jit import inline
from spinney.objectives.kernels.pointwise import pointwise


@inline
def gradient(score, target, parameters):
    """g = sign(F - y) / max(1, |y|), h = 1 in place of a curvature of 0."""
    g = 1.0 if score > target else (-1.0 if score < target else 0.0)
    return g / max(1.0, abs(target)), 1.0


mape_gradients = pointwise("mape", gradient)
