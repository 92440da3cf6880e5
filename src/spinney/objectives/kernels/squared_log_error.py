"""Squared log error, for regression: ½r² with r = log(1+F) - log(1+y)."""

from spinney.jit import inline
from spinney.jit.math import log
from spinney.objectives.kernels.pointwise import pointwise

NEAREST = 1e-6  # to -1, that a score comes


@inline
def gradient(score, target, parameters):
    """g = r/(1+F), h = max(1-r, 2r)/(1+F)².

    1-r is the curvature where r <= 1/3. Where the score is too large by more, the curvature falls and turns negative; 2r
    takes its place, so that a step goes half the way to -1 at most.
    """
    u = max(1.0 + score, NEAREST)
    r = log(u) - log(1.0 + target)
    return r / u, max(1.0 - r, 2.0 * r) / (u * u)


squared_log_error_gradients = pointwise("squared_log_error", gradient)
