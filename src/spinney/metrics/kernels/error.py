"""Wrong class, of two."""

from spinney.jit import inline
from spinney.metrics.kernels.frames import pointwise


@inline
def loss(score, target, parameters):
    """1 where the score speaks for the other class."""
    return 1.0 if (score > 0.0) != (target > 0.5) else 0.0


error_losses = pointwise("error", loss)
