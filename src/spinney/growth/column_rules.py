"""What the parameters say about columns, as arrays for kernels."""

from __future__ import annotations

from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.params import Config, placed


class ColumnRules:
    """Directions, groups and weights of the columns of one data set.

    Parameters
    ----------
    config : Config
        Parameters; they know columns by position.
    columns : int
        Number of columns.

    Attributes
    ----------
    signs : int64[columns]
        Direction of each column, 0 for either.
    bounded : bool
        Whether any column has a direction.
    group_starts, group_members : int64 arrays
        Columns of each group of columns that may meet, ascending, one group after another.
    groups : int
        Number of groups; 0 means that all columns may meet.
    weights : float64[columns] or None
        Chances of being drawn, the largest 1; None where all are equal.
    """

    def __init__(self, config: Config, columns: int) -> None:
        config = placed(config, None, columns)
        groups = config.interaction_constraints or ()
        self.signs = np.zeros(columns, np.int64)
        if config.monotone_constraints is not None:
            self.signs[:] = config.monotone_constraints
        self.bounded = bool(self.signs.any())
        self.groups = len(groups)
        self.group_starts = np.array([0, *accumulate(map(len, groups))], np.int64)
        self.group_members = np.array([column for group in groups for column in group], np.int64)
        self.weights = None
        if config.feature_weights is not None:
            found = np.array(config.feature_weights, np.float64)
            self.weights = found / found.max()

    @property
    def sizes(self) -> tuple[int, int, int]:
        """Sizes of the arrays, as kernels take them: groups, columns in them, whether there are weights."""
        return self.groups, len(self.group_members), int(self.weights is not None)

    @property
    def arrays(self) -> tuple[NDArray[Any], ...]:
        """Signs, groups and weights, as kernels take them."""
        weights = np.zeros(0) if self.weights is None else self.weights
        return self.signs, self.group_starts, self.group_members, weights

    def keys(self, threads: int) -> NDArray[np.float64]:
        """Scratch for drawing columns by weight."""
        return np.zeros(0 if self.weights is None else threads * len(self.weights))

    def drawn(self, share: float, columns: int) -> int:
        """How many columns are a share of some, at least one, and no more than have a weight above 0.

        Examples
        --------
        >>> ColumnRules(Config(), 8).drawn(0.5, 8)
        4
        >>> ColumnRules(Config(feature_weights=[0, 0, 0, 1]), 4).drawn(0.5, 4)
        1
        """
        wanted = max(1, round(share * columns))
        if self.weights is None or share == 1.0:
            return wanted
        return min(wanted, int(np.count_nonzero(self.weights)))
