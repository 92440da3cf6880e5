"""Fair's loss."""

from spinney.jit import inline
from spinney.metrics.kernels.frames import pointwise
from spinney.metrics.kernels.special import log1p


@inline
def loss(prediction, target, parameters):
    """c² (|e| / c - log(1 + |e| / c)) of the error e."""
    c = parameters[0]
    ratio = abs(prediction - target) / c
    return c * c * (ratio - log1p(ratio))


fair_losses = pointwise("fair", loss)
