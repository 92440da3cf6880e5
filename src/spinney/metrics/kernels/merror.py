"""Wrong class, of many."""

import numpy as np

from spinney.jit import inline
from spinney.metrics.kernels.frames import by_class


@inline
def top_class(scores, row, rows, outputs):
    """The class of the largest score; of equal ones the first."""
    top = scores[row]
    at = 0
    for k in range(1, outputs):
        if scores[k * rows + row] > top:
            top = scores[k * rows + row]
            at = k
    return at


@inline
def loss(scores, row, rows, outputs, target):
    """1 where another class has the largest score."""
    return 0.0 if top_class(scores, row, rows, outputs) == np.int64(target) else 1.0


merror_losses = by_class("merror", loss)
