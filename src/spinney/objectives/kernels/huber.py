"""Huber loss, for regression: ½e² up to |e| = δ, then δ(|e| - ½δ), with e = F - y."""

from spinney.jit import inline
from spinney.objectives.kernels.pointwise import pointwise


@inline
def gradient(score, target, parameters):
    """g = e within ±δ, h = 1; beyond δ, too, where the curvature is 0."""
    delta = parameters[0]
    return min(max(score - target, -delta), delta), 1.0


huber_gradients = pointwise("huber", gradient)
