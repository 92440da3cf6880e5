"""Squared error of probabilities."""

from spinney.jit import inline
from spinney.metrics.kernels.frames import by_class


@inline
def loss(probabilities, row, rows, outputs, target):
    """(p - y)² of two classes; of many the sum of (p_k - 1[y = k])²."""
    if outputs == 1:
        return (probabilities[row] - target) * (probabilities[row] - target)
    total = 0.0
    for k in range(outputs):
        error = probabilities[k * rows + row] - (1.0 if target == float(k) else 0.0)
        total += error * error
    return total


brier_losses = by_class("brier", loss)
