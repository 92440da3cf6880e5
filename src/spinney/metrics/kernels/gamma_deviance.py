"""Gamma deviance."""

from spinney.jit import inline
from spinney.jit.math import log
from spinney.metrics.kernels.frames import pointwise


@inline
def loss(prediction, target, parameters):
    """2 (log(f / y) + y / f - 1)."""
    return 2.0 * (log(prediction / target) + target / prediction - 1.0)


gamma_deviance_losses = pointwise("gamma_deviance", loss)
