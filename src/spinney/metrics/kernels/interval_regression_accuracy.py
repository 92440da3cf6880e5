"""Share of predicted times that lie in their interval."""

from spinney.jit import inline
from spinney.metrics.kernels.frames import of_intervals


@inline
def loss(prediction, lower, upper, parameters):
    """1 within the ends, else 0."""
    return 1.0 if lower <= prediction <= upper else 0.0


interval_regression_accuracy_losses = of_intervals("interval_regression_accuracy", loss)
