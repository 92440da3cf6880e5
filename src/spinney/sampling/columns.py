"""Drawing the columns of a tree."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from spinney.sampling.kernels.columns import draw_heavy, draw_some


def draw_columns(
    columns: int, wanted: int, seed: int, weights: NDArray[np.float64] | None = None
) -> NDArray[np.int64]:
    """Draw exactly `wanted` of the columns, ascending; of columns with weights, no more than have one above 0.

    Examples
    --------
    >>> len(draw_columns(10, 4, seed=1))
    4
    >>> draw_columns(3, 2, seed=1, weights=np.array([1.0, 0.0, 2.0])).tolist()
    [0, 2]
    """
    numbers = np.arange(columns, dtype=np.int64)
    if weights is not None:
        draw_heavy(columns, wanted, seed, weights, np.empty(columns), numbers)
        return numbers[: min(wanted, np.count_nonzero(weights))]
    draw_some(columns, wanted, seed, numbers)
    return numbers[:wanted]
