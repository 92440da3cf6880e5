"""The thresholds of exact trees and of drawn cuts, as numbered cuts of their columns.

Exact trees split ranks. Their threshold is halfway between the values of two ranks, found when the tree is finished.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from spinney.data.table import starts_of
from spinney.growth.forest.kernels.records import PLACES
from spinney.growth.forest.table import LARGEST, ForestTable
from spinney.jit.team import parallel_map
from spinney.tree.compact import GrownTree
from spinney.tree.forest import concatenated

MOST_NUMBERS = 2**16 - 1


def thresholds_between(
    table: ForestTable, column: NDArray[np.int32], cut: NDArray[np.int32], above: NDArray[np.int32]
) -> NDArray[np.float64]:
    """Thresholds halfway between the values of two ranks; where `above` is -1 there is none, and every value is below.

    Splits of categories get some number.
    """
    return _between(table, column, cut, above, np.full(len(cut), 0.5))


def drawn_thresholds(
    table: ForestTable, column: NDArray[np.int32], cut: NDArray[np.int32], place: NDArray[np.int32]
) -> NDArray[np.float64]:
    """Thresholds at one of `PLACES` places between the value of a rank and the next one; fewer of them where ranks are many."""
    ranks = table.values.codes
    # Two bytes hold the number of a cut while there are no more of them.
    places = min(max(MOST_NUMBERS // int(ranks.max()), 1), PLACES)
    share = (place * places // PLACES + 0.5) / places
    return _between(table, column, cut, np.where(cut + 1 < ranks[column], cut + 1, -1), share)


def _between(
    table: ForestTable,
    column: NDArray[np.int32],
    cut: NDArray[np.int32],
    above: NDArray[np.int32],
    share: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Thresholds at some share of the way between the values of two ranks."""
    numbers = table.binned.features.categorical[column] == 0
    first = table.cut_start[column]
    low = table.cuts[np.where(numbers, first + cut, 0)] if len(column) else np.zeros(0)
    high = table.cuts[np.where(numbers, first + np.maximum(above, 0), 0)] if len(column) else np.zeros(0)
    # Parts are added, because the difference of huge values would overflow; the upper value itself must stay above the cut.
    found = low * (1.0 - share) + high * share
    found = np.where((found >= high) | (found < low), low, found)
    return np.where(above < 0, LARGEST, found)


def number_gap_thresholds(
    gaps: NDArray[np.float64],
    table: ForestTable,
    column: NDArray[np.int32],
    cut: NDArray[np.int32],
    place: NDArray[np.int32],
) -> NDArray[np.int32]:
    """The numbers of cuts of bins among all gap thresholds: each cut has `PLACES`, and in a narrow gap the first is taken.

    Splits of categories keep their numbers.
    """
    found = cut.copy()
    numbers = table.binned.features.categorical[column] == 0
    at = (table.cut_start[column] + cut)[numbers]
    wide = gaps[at, 0] < gaps[at, 1]
    found[numbers] = cut[numbers] * PLACES + np.where(wide, place[numbers], 0)
    return found


def with_cuts(
    trees: Sequence[GrownTree],
    thresholds: Sequence[NDArray[np.float64]],
    table: ForestTable,
    threads: int = 1,
) -> tuple[list[GrownTree], NDArray[np.int64], NDArray[np.float64]]:
    """Number the thresholds of each column.

    Returns
    -------
    trees : list of GrownTree
        The same trees; `cut` is the place of the threshold among those of its column.
    cut_start, cuts : int64[columns + 1], float64
        Thresholds of each column, ascending.
    """
    column = np.concatenate([np.zeros(0, np.uint16), *(tree.column for tree in trees)])
    value = np.concatenate([np.zeros(0), *thresholds])
    number = table.binned.features.categorical[column] == 0
    column, value = column[number], value[number]
    by_column = np.argsort(column, kind="stable")
    bounds = np.searchsorted(column[by_column], np.arange(table.columns + 1)).tolist()
    place = np.empty(len(column), np.int64)

    def number_cuts(k: int) -> NDArray[np.float64]:
        """Number the cuts of one column."""
        own = by_column[bounds[k] : bounds[k + 1]]
        cuts, place[own] = np.unique(value[own], return_inverse=True)
        return cuts

    cuts = parallel_map(number_cuts, range(table.columns), threads)
    cut_start = starts_of([len(one) for one in cuts])
    ends = np.cumsum([int((table.binned.features.categorical[tree.column] == 0).sum()) for tree in trees])
    found = []
    for tree, end in zip(trees, ends, strict=True):
        own = table.binned.features.categorical[tree.column] == 0
        cut = tree.cut.astype(np.int64)
        cut[own] = place[end - int(own.sum()) : end]
        found.append(replace(tree, cut=cut))
    return found, cut_start, concatenated(cuts, np.float64)
