"""`Bag`: the rows that a tree sees."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(eq=False)
class Bag:
    """The rows that a tree sees.

    Attributes
    ----------
    rows : int32
        Room for every row of the data set; those of the bag stand first, ascending.
    count : int or None
        How many they are. None: the bag is every row, and `rows` is not read.

    Examples
    --------
    >>> Bag.of_all(1000).count is None
    True
    """

    rows: NDArray[np.int32]
    count: int | None = None

    @classmethod
    def of_all(cls, rows: int) -> Bag:
        """All rows, until others are drawn."""
        return cls(np.empty(rows, np.int32))
