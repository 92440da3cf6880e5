"""Logistic loss, for two classes: -y log p - (1-y) log(1-p) with p = 1/(1+e^-F)."""

from spinney.jit import inline
from spinney.jit.math import sigmoid
from spinney.objectives.kernels.pointwise import pointwise


@inline
def gradient(score, target, parameters):
    """g = p - y, h = p(1-p)."""
    p = sigmoid(score)
    return p - target, p * (1.0 - p)


log_loss_gradients = pointwise("log_loss", gradient)
