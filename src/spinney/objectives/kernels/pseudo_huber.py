"""Pseudo-Huber loss, for regression: δ²(√(1+(e/δ)²) - 1) with e = F - y."""

import numpy as np

from spinney.jit import inline
from spinney.objectives.kernels.pointwise import pointwise


@inline
def gradient(score, target, parameters):
    """g = e/s, h = max(1/s³, ½/s) with s = √(1+(e/δ)²).

    1/s³ is the curvature. Beyond |e| = δ it falls so fast that steps would overshoot; half the slope of the gradient's secant
    takes its place, with which a step ends no farther from y than it began.
    """
    e = score - target
    t = min(abs(e) / parameters[0], 1e100)
    s = np.sqrt(1.0 + t * t)
    return e / s, max(1.0 / (s * s * s), 0.5 / s)


pseudo_huber_gradients = pointwise("pseudo_huber", gradient)
