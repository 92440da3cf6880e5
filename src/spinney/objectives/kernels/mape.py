"""Absolute percentage error, for regression: |y - F| / max(1, |y|)."""

from spinney.jit import inline
from spinney.objectives.kernels.pointwise import pointwise


@inline
def gradient(score, target, parameters):
    """g = sign(F - y) / max(1, |y|); h = 1 / max(1, |y|), what the row weighs, in place of a curvature of 0."""
    weight = 1.0 / max(1.0, abs(target))
    g = 1.0 if score > target else (-1.0 if score < target else 0.0)
    return g * weight, weight


mape_gradients = pointwise("mape", gradient, searched=False)
