"""Tweedie loss of power ρ, for amounts many of which are 0: -y e^((1-ρ)F)/(1-ρ) + e^((2-ρ)F)/(2-ρ)."""

from spinney.jit import inline
from spinney.jit.math import exp
from spinney.objectives.kernels.bounds import bounded
from spinney.objectives.kernels.pointwise import pointwise


@inline
def gradient(score, target, parameters):
    """g = -a + b, h = (ρ-1)a + (2-ρ)b with a = y e^((1-ρ)F), b = e^((2-ρ)F)."""
    power = parameters[0]
    a = bounded(target * bounded(exp((1.0 - power) * score)))
    b = bounded(exp((2.0 - power) * score))
    return b - a, (power - 1.0) * a + (2.0 - power) * b


tweedie_gradients = pointwise("tweedie", gradient)
