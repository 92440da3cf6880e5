"""The thresholds of exact trees, as cuts of their columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from spinney.growth.forest.table import LARGEST, ForestTable
from spinney.tree.compact import GrownTree


def thresholds_between(
    table: ForestTable, column: NDArray[np.int32], cut: NDArray[np.int32], above: NDArray[np.int32]
) -> NDArray[np.float64]:
    """Thresholds halfway between the values of two ranks; `above` -1 stands for nothing, so that every value is below.

    Splits of categories get some number.
    """
    numbers = table.binned.features.categorical[column] == 0
    first = table.cut_start[column]
    low = table.cuts[np.where(numbers, first + cut, 0)] if len(column) else np.zeros(0)
    high = table.cuts[np.where(numbers, first + np.maximum(above, 0), 0)] if len(column) else np.zeros(0)
    # Halves are added, because a sum of huge values would overflow; the upper value itself must stay above the cut.
    middle = low * 0.5 + high * 0.5
    middle = np.where((middle >= high) | (middle < low), low, middle)
    return np.where(above < 0, LARGEST, middle)


def with_cuts(
    trees: Sequence[GrownTree], thresholds: Sequence[NDArray[np.float64]], table: ForestTable
) -> tuple[list[GrownTree], NDArray[np.int64], NDArray[np.float64]]:
    """Number the thresholds of each column.

    Returns
    -------
    trees : list of GrownTree
        The same trees; `cut` is the place of the threshold among those of its column.
    cut_start, cuts : int64[columns + 1], float64
        Thresholds of each column, ascending.
    """
    column = np.concatenate([np.zeros(0, np.int32), *(tree.column for tree in trees)])
    value = np.concatenate([np.zeros(0), *thresholds])
    number = table.binned.features.categorical[column] == 0
    column, value = column[number], value[number]
    order = np.lexsort((value, column))
    column, value = column[order], value[order]
    new = np.ones(len(order), bool)
    new[1:] = (column[1:] != column[:-1]) | (value[1:] != value[:-1])
    cut_start = np.searchsorted(column[new], np.arange(table.columns + 1)).astype(np.int64)
    place = np.empty(len(order), np.int64)
    place[order] = np.cumsum(new) - 1
    place[order] -= cut_start[column]
    ends = np.cumsum([int((table.binned.features.categorical[tree.column] == 0).sum()) for tree in trees])
    found = []
    for tree, end in zip(trees, ends, strict=True):
        own = table.binned.features.categorical[tree.column] == 0
        cut = tree.cut.copy()
        cut[own] = place[end - int(own.sum()) : end]
        found.append(replace(tree, cut=cut))
    return found, cut_start, value[new]
