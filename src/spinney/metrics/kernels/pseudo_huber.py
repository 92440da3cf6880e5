"""Pseudo-Huber loss."""

import numpy as np

from spinney.jit import inline
from spinney.metrics.kernels.frames import pointwise


@inline
def loss(prediction, target, parameters):
    """delta² (sqrt(1 + (e / delta)²) - 1) of the error e, without cancellation."""
    ratio = (prediction - target) / parameters[0]
    return (prediction - target) * (prediction - target) / (np.sqrt(1.0 + ratio * ratio) + 1.0)


pseudo_huber_losses = pointwise("pseudo_huber", loss)
