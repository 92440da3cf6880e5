"""Poisson deviance."""

from spinney.jit import inline
from spinney.jit.math import log
from spinney.metrics.kernels.frames import pointwise


@inline
def loss(prediction, target, parameters):
    """2 (y log(y / f) - y + f)."""
    logs = target * log(target / prediction) if target > 0.0 else 0.0
    return 2.0 * (logs - target + prediction)


poisson_deviance_losses = pointwise("poisson_deviance", loss)
