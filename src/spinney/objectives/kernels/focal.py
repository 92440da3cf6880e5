"""Focal loss, for two classes: -(1-p)^γ log p of the row's class, with p = 1/(1+e^-F) for the second and 1-p for the first."""

from spinney.jit import inline
from spinney.jit.math import exp, log, sigmoid
from spinney.objectives.kernels.pointwise import pointwise


@inline
def of_class(score, power):
    """Derivatives by the score of the row's class: g = q^γ(γp log p - q), h = q^γ p max(q, γ(q-γp) log p + (2γ+1)q), q = 1-p.

    The curvature turns negative where p is small. q in its place is what (1-p)^γ would leave of it, were it constant.
    """
    p = sigmoid(score)
    q = sigmoid(-score)
    rest = log(1.0 + exp(-abs(score)))
    log_p = -(max(-score, 0.0) + rest)
    log_q = -(max(score, 0.0) + rest)
    weight = exp(power * log_q)
    curvature = power * (q - power * p) * log_p + (2.0 * power + 1.0) * q
    return weight * (power * p * log_p - q), weight * p * max(q, curvature)


@inline
def gradient(score, target, parameters):
    """Those of both classes by the target, which may be a probability; α weighs the second class, 1-α the first."""
    power = parameters[0]
    alpha = parameters[1]
    balanced = alpha == alpha
    second = (alpha if balanced else 1.0) * target
    first = (1.0 - alpha if balanced else 1.0) * (1.0 - target)
    g, h = of_class(score, power)
    g0, h0 = of_class(-score, power)
    return second * g - first * g0, second * h + first * h0


focal_gradients = pointwise("focal", gradient)
