"""Softmax loss."""

import numpy as np

from spinney.jit import inline
from spinney.jit.math import exp, log
from spinney.metrics.kernels.frames import by_class


@inline
def loss(scores, row, rows, outputs, target):
    """-log p_y with p = softmax(F)."""
    top = scores[row]
    for k in range(1, outputs):
        top = max(top, scores[k * rows + row])
    total = 0.0
    for k in range(outputs):
        total += exp(scores[k * rows + row] - top)
    return log(total) - (scores[np.int64(target) * rows + row] - top)


mlogloss_losses = by_class("mlogloss", loss)
