"""Tweedie deviance."""

from spinney.jit import inline
from spinney.metrics.kernels.frames import pointwise
from spinney.metrics.kernels.gamma_deviance import loss as gamma
from spinney.metrics.kernels.poisson_deviance import loss as poisson
from spinney.metrics.kernels.special import power


@inline
def loss(prediction, target, parameters):
    """2 (y^(2-p) / ((1-p)(2-p)) - y f^(1-p) / (1-p) + f^(2-p) / (2-p)); Poisson's at p = 1, gamma's at 2."""
    p = parameters[0]
    if p == 1.0:
        return poisson(prediction, target, parameters)
    if p == 2.0:
        return gamma(prediction, target, parameters)
    own = power(target, 2.0 - p) / ((1.0 - p) * (2.0 - p)) if target > 0.0 else 0.0
    near = power(prediction, 1.0 - p)
    return 2.0 * (own - target * near / (1.0 - p) + near * prediction / (2.0 - p))


tweedie_deviance_losses = pointwise("tweedie_deviance", loss)
