"""Fewer bins for columns of few entries, where all bins together would make histograms larger than the table."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from spinney.data import Table

MANY_CUTS = 2**18  # of all columns: up to so many, a histogram takes a few megabytes
# Entries to a bin. While a tree grows, a bin takes 76 bytes on two threads: about as much as eight entries of a sparse matrix.
ENTRIES_OF_BIN = 8
FEW = 0.25  # of the rows: columns with fewer entries are kept sparse, or bundled


class Thinner:
    """Collects the cuts of a table's columns, and takes some away when they become very many.

    A column that is 0 or missing in most rows then keeps about one cut for every `ENTRIES_OF_BIN` entries that are neither, and
    always those next to 0. The same for dense and sparse tables. Nothing is taken away where `thin` is False. `count` tells how
    many such entries each column of the table has; it is asked only where cuts are very many.
    """

    def __init__(self, rows: int, count: Callable[[], NDArray[np.int64]], thin: bool) -> None:
        self._rows, self._count, self._thin = rows, count, thin
        self._parts: list[NDArray[np.float64]] = []
        self._total, self._thinned = 0, 0

    def add(self, parts: list[NDArray[np.float64]]) -> None:
        """Take the cuts of the next columns."""
        self._parts += parts
        self._total += sum(len(part) for part in parts)
        if self._total > MANY_CUTS and self._thin:
            for column in range(self._thinned, len(self._parts)):
                self._parts[column] = thinned(self._parts[column], int(self._most[column]))
            self._thinned = len(self._parts)

    def all(self) -> list[NDArray[np.float64]]:
        """The cuts of all columns."""
        return self._parts

    @cached_property
    def _most(self) -> NDArray[np.int64]:
        """How many cuts a column may keep."""
        entries = self._count()
        few = entries < FEW * self._rows
        return np.where(few, np.maximum(entries // ENTRIES_OF_BIN, 1), self._rows)


def thinned(cuts: NDArray[np.float64], most: int) -> NDArray[np.float64]:
    """Every so many cuts of a column, counted from 0 to either side.

    Examples
    --------
    >>> thinned(np.array([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5]), 3).tolist()
    [-2.5, -0.5, 0.5, 2.5]
    """
    if len(cuts) <= most:
        return cuts
    every = -(-len(cuts) // most)
    below = int(np.searchsorted(cuts, 0.0))
    return np.concatenate([cuts[:below][::-1][::every][::-1], cuts[below:][::every]])


def count_entries(table: Table) -> NDArray[np.int64]:
    """How many values of each column are neither 0 nor missing.

    Examples
    --------
    >>> from spinney.data import read_table
    >>> count_entries(read_table(np.array([[0.0, 1.0, 2.0], [np.nan, 3.0, 0.0]]))).tolist()
    [0, 2, 1]
    """
    if table.sparse is None:
        found = [_entries(panel.values[:, k]).sum() for panel in table.panels for k in range(panel.columns)]
        return np.array(found, np.int64)
    starts, _, data = table.sparse.by_column
    filled = _entries(data)
    return np.array([np.count_nonzero(filled[a:b]) for a, b in pairwise(starts.tolist())], np.int64)


def _entries(values: NDArray[np.generic]) -> NDArray[np.bool_]:
    found: NDArray[np.bool_] = values != 0
    found &= values == values
    return found
