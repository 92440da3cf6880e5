"""Expectile loss, for regression: α(y - F)² where y is above F, else (1-α)(y - F)²."""

from spinney.jit import inline
from spinney.objectives.kernels.pointwise import pointwise


@inline
def gradient(score, target, parameters):
    """g = 2a(F - y), h = 2a with a = α below y, 1-α above it."""
    level = parameters[0]
    twice = 2.0 * (level if score < target else 1.0 - level)
    return twice * (score - target), twice


expectile_gradients = pointwise("expectile", gradient)
