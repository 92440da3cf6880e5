"""Drawing the columns of a tree."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from spinney.sampling.kernels import draw_some


def draw_columns(columns: int, wanted: int, seed: int) -> NDArray[np.int64]:
    """Draw exactly `wanted` of the columns, ascending.

    Examples
    --------
    >>> len(draw_columns(10, 4, seed=1))
    4
    """
    numbers = np.arange(columns, dtype=np.int64)
    draw_some(columns, wanted, seed, numbers)
    return numbers[:wanted]
