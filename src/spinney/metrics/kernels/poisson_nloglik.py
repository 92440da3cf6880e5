"""Negative log-likelihood of a Poisson distribution."""

from spinney.jit import inline
from spinney.jit.math import log
from spinney.metrics.kernels.frames import pointwise
from spinney.metrics.kernels.special import log_gamma


@inline
def loss(prediction, target, parameters):
    """f - y log f + log y!."""
    return prediction - target * log(prediction) + log_gamma(target + 1.0)


poisson_nloglik_losses = pointwise("poisson_nloglik", loss)
