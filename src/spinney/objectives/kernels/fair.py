"""Fair's loss, for regression: c²(t - log(1+t)) with t = |F - y|/c."""

from spinney.jit import inline
from spinney.objectives.kernels.pointwise import pointwise


@inline
def gradient(score, target, parameters):
    """g = e/(1+t), h = max(1/(1+t)², ½/(1+t)) with e = F - y.

    1/(1+t)² is the curvature. Beyond |e| = c it falls so fast that steps would overshoot; half the slope of the gradient's
    secant takes its place, with which a step ends no farther from y than it began.
    """
    e = score - target
    s = 1.0 + min(abs(e) / parameters[0], 1e100)
    return e / s, max(1.0 / (s * s), 0.5 / s)


fair_gradients = pointwise("fair", gradient)
