"""Huber's loss."""

from spinney.jit import inline
from spinney.metrics.kernels.frames import pointwise


@inline
def loss(prediction, target, parameters):
    """e²/2 of the error e up to delta, linear beyond."""
    delta = parameters[0]
    error = abs(prediction - target)
    return 0.5 * error * error if error <= delta else delta * (error - 0.5 * delta)


huber_losses = pointwise("huber", loss)
