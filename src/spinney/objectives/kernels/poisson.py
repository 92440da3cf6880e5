"""Poisson loss, for counts: e^F - yF."""

from spinney.jit import inline
from spinney.jit.math import exp
from spinney.objectives.kernels.bounds import bounded
from spinney.objectives.kernels.pointwise import pointwise


@inline
def gradient(score, target, parameters):
    """g = e^F - y, h = e^(F+s): the curvature, times e^s against steps that are too long."""
    return bounded(exp(score)) - target, bounded(exp(score + parameters[0]))


poisson_gradients = pointwise("poisson", gradient)
