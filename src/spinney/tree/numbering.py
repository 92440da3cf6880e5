"""Numbers of the cuts and sets that the splits of a forest name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from spinney.data.lists import starts_of
from spinney.tree.arrays import WHOLE, packed

if TYPE_CHECKING:
    from spinney.tree.compact import GrownTree


def numbered_sets(
    trees: Sequence[GrownTree], categorical: NDArray[np.bool_]
) -> tuple[list[NDArray[Any]], list[NDArray[np.int64]]]:
    """What each split compares with, and the words of all sets, which are numbered in the order of all splits."""
    if not categorical.any():
        return [tree.cut for tree in trees], []
    cut: list[NDArray[Any]] = []
    words: list[NDArray[np.int64]] = []
    for tree in trees:
        numbers, sets = tree.cut.astype(np.int64), np.flatnonzero(categorical[tree.column])
        chosen = [tree.sets[k] for k in numbers[sets]]
        numbers[sets] = len(words) + np.arange(len(sets))
        cut.append(numbers)
        words += chosen
    return cut, words


def used_cuts(
    columns: Sequence[NDArray[Any]],
    cut: Sequence[NDArray[Any]],
    cut_start: NDArray[np.int64],
    cuts: NDArray[np.float64],
) -> tuple[list[NDArray[Any]], NDArray[np.int64], NDArray[np.float64]]:
    """The cuts that some split makes, and their numbers by split; splits of sets keep the numbers of these."""
    compares = np.diff(cut_start) > 0
    every = bool(compares.all())
    used = np.zeros(len(cuts), np.bool_)
    for column, number in zip(columns, cut, strict=True):
        numeric = slice(None) if every else compares[column]
        used[cut_start[column[numeric]] + number[numeric]] = True
    if used.all():
        return list(cut), cut_start.astype(np.int64), cuts.astype(np.float64)
    before = starts_of(used.astype(np.int64))
    start = before[cut_start]
    new = packed([before[:-1] - np.repeat(start[:-1], np.diff(cut_start))], WHOLE[1:])
    numbers = []
    for column, number in zip(columns, cut, strict=True):
        numeric = slice(None) if every else compares[column]
        renumbered = new[cut_start[column[numeric]] + number[numeric]]
        if not every:
            renumbered, found = number.astype(np.int64), renumbered
            renumbered[numeric] = found
        numbers.append(renumbered)
    return numbers, start, cuts[used]
