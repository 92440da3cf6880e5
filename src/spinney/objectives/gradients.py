"""Memory for the gradients of a training."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from spinney.objectives.kernels.records import BLOCK, PAIR, Gradients


def gradients_room(scores: NDArray[np.float64], unit: float = 1.0) -> Gradients:
    """Memory for the gradients of these scores, outputs × rows; `unit` is what penalties are divided by, because weights were.

    Examples
    --------
    >>> gradients_room(np.zeros((3, 20_000))).largest.shape
    (3, 3, 2)
    """
    outputs, rows = scores.shape
    blocks = max(1, -(-rows // BLOCK))
    pairs = np.empty((outputs, rows, 2), np.float32)
    return Gradients(rows, outputs, blocks, unit, scores, pairs, np.empty((outputs, blocks, PAIR)))
