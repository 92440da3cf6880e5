"""Gamma loss, for amounts above 0: F + y e^-F."""

from spinney.jit import inline
from spinney.jit.math import exp
from spinney.objectives.kernels.bounds import bounded
from spinney.objectives.kernels.pointwise import pointwise


@inline
def gradient(score, target, parameters):
    """g = 1 - y e^-F, h = y e^-F."""
    ratio = bounded(target * bounded(exp(-score)))
    return 1.0 - ratio, ratio


gamma_gradients = pointwise("gamma", gradient)
