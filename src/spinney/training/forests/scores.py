"""Scores of predictions, as scikit-learn defines them, without weights."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def accuracy(target: NDArray[Any], predicted: NDArray[Any]) -> float:
    """Share of the rows, (rows, outputs), of which all outputs are right; NaN of no rows.

    Examples
    --------
    >>> accuracy(np.array([[1], [0]]), np.array([[1], [1]]))
    0.5
    """
    return float((target == predicted).all(axis=1).mean()) if len(target) else float("nan")


def r2(target: NDArray[np.float64], predicted: NDArray[np.float64]) -> float:
    """Share of the variance that is explained, the mean over outputs; NaN of fewer than two rows.

    An output that does not vary counts 1 where it is predicted exactly, else 0.

    Examples
    --------
    >>> r2(np.array([[1.0], [2.0], [3.0]]), np.array([[1.0], [2.0], [2.0]]))
    0.5
    """
    if len(target) < 2:
        return float("nan")
    left = np.square(target - predicted).sum(axis=0)
    whole = np.square(target - target.mean(axis=0)).sum(axis=0)
    varies = whole > 0
    shares = np.where(left == 0, 1.0, 0.0)
    shares[varies] = 1.0 - left[varies] / whole[varies]
    return float(shares.mean())
