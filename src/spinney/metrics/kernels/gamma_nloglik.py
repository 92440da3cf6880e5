"""Negative log-likelihood of a gamma distribution of shape 1."""

from spinney.jit import inline
from spinney.jit.math import log
from spinney.metrics.kernels.frames import pointwise


@inline
def loss(prediction, target, parameters):
    """y / f + log f."""
    return target / prediction + log(prediction)


gamma_nloglik_losses = pointwise("gamma_nloglik", loss)
