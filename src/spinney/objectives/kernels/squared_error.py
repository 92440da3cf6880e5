"""Squared error, for regression: ½(y - F)²."""

from spinney.jit import inline
from spinney.objectives.kernels.pointwise import pointwise


@inline
def gradient(score, target, parameters):
    """g = F - y, h = 1."""
    return score - target, 1.0


squared_error_gradients = pointwise("squared_error", gradient)
