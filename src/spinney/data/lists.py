"""Lists that stand one after another in one array."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def starts_of(lengths: Sequence[int] | NDArray[np.integer]) -> NDArray[np.int64]:
    """Where lists of some lengths begin, one after another, and where the last one ends.

    Examples
    --------
    >>> starts_of([2, 0, 3]).tolist()
    [0, 2, 2, 5]
    """
    starts = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=starts[1:])
    return starts
