"""Negative log-likelihood of a Tweedie distribution, as far as it depends on the prediction."""

from spinney.jit import inline
from spinney.jit.math import log
from spinney.metrics.kernels.frames import pointwise
from spinney.metrics.kernels.special import power


@inline
def loss(prediction, target, parameters):
    """f^(2-p) / (2-p) - y f^(1-p) / (1-p), 1 < p < 2; its limit at p = 1."""
    p = parameters[0]
    near = power(prediction, 1.0 - p)
    first = log(prediction) if p == 1.0 else near / (1.0 - p)
    last = log(prediction) if p == 2.0 else near * prediction / (2.0 - p)
    return last - target * first


tweedie_nloglik_losses = pointwise("tweedie_nloglik", loss)
