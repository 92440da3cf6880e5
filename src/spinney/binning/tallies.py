"""Sums by fold and category, and what the rows of a fold are told from them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spinney.binning.dataset import Dataset
from spinney.binning.matrix import BinnedMatrix
from spinney.data import Labels
from spinney.data.statistics import Source
from spinney.jit.team import Team
from spinney.joining import Joining
from spinney.sampling.hashing import random_words
from spinney.sampling.kernels.purposes import PURPOSE_TOLD

FOLDS = 5
MOST_SMOOTH = 1e15  # rows of the mean of all: with so many, nothing else counts
WHOLE = 2.0**52  # sums of whole numbers up to this are exact in float64, in any order

Floats = NDArray[np.float64]
Numbers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Amounts:
    """What is summed: the weight of each row, and each of its targets times the weight.

    Attributes
    ----------
    things : int64[rows]
        The number of each row in the whole table; rows of one number belong together, those of a query for one.
    whole : float64[1 + targets, rows]
        Whole numbers, so that sums over all ranks are exact.
    steps : float64[1 + targets]
        What one of them is worth.
    smooth : float
        How many rows of the mean of all a category's own rows are mixed with.
    """

    things: Numbers
    whole: Floats
    steps: Floats
    smooth: float

    @classmethod
    def of(cls, labels: Labels, targets: Floats, smooth: float, things: Numbers, joining: Joining) -> Amounts:
        """Those of the rows of a rank."""
        weight, smooth = light_weights(labels, smooth, joining)
        whole = np.empty((1 + len(targets), labels.rows))
        whole[0] = weight
        np.multiply(targets, weight, out=whole[1:])
        steps = made_whole(whole, joining)
        return cls(things, whole, steps, smooth)

    def told(self, tally: Floats, heard: bool = True) -> Floats:
        """What rows are told by a tally: means, then the weight of rows; by those without each fold, then by all.

        `heard` says whether rows without a category count for what unseen categories are told, which is what they are told too.
        """
        every = tally.sum(axis=1, keepdims=True)
        sums = np.concatenate([every - tally, every], axis=1) * self.steps[:, None, None]
        total = every.sum(axis=(1, 2)) * self.steps
        of_all = (total[1:] / total[0])[:, None, None]
        if not heard:
            sums[:, :, -1] = 0.0
        some = sums[0] > 0.0
        rows = np.where(some, sums[0] + self.smooth, 1.0)
        means = np.where(some, (sums[1:] + self.smooth * of_all) / rows, of_all)
        sums[0, :FOLDS] *= FOLDS / (FOLDS - 1)
        return np.concatenate([means, sums[:1]])


def tally_of(fold: Numbers, number: Numbers, size: int, whole: Floats) -> Floats:
    """Sums of amounts by fold and number: amounts × FOLDS × size + 1."""
    key = fold * (size + 1) + number
    sums = [np.bincount(key, amount, FOLDS * (size + 1)) for amount in whole]
    return np.array(sums, np.float64).reshape(len(whole), FOLDS, size + 1)


def tallies_of(
    dataset: Dataset,
    sources: Sequence[Source],
    fold: Numbers,
    whole: Floats,
    least: int,
    team: Team | None,
    joining: Joining,
) -> list[tuple[Floats, bool]]:
    """The tally of each source, over the rows of all ranks, and whether rows without a category are heard.

    They are from `least` rows on: fewer would decide what many are told. Of pairs only such few rows have no category, and are
    not heard: what was not seen is mostly two categories that did not meet.
    """
    ends = np.cumsum([len(whole) * FOLDS * (source.size + 1) for source in sources])
    sums = np.zeros(int(ends[-1]))
    found = [
        own.reshape(len(whole), FOLDS, source.size + 1)
        for own, source in zip(np.split(sums, ends[:-1]), sources, strict=True)
    ]
    behind = np.zeros(len(sources), np.int64)  # rows of each source behind its last category
    for begin, end, numbers in category_numbers(dataset, columns_of(sources), team):
        for place, source in enumerate(sources):
            number = source.number(numbers)
            found[place] += tally_of(fold[begin:end], number, source.size, whole[:, begin:end])
            behind[place] += np.count_nonzero((number == source.size) & (whole[0, begin:end] > 0.0))
    joined = np.concatenate([sums.astype(np.int64), behind])
    joining.sum(joined)
    sums[:] = joined[: len(sums)]
    heard = [
        bool(rows >= least) and source.seen is None
        for source, rows in zip(sources, joined[len(sums) :], strict=True)
    ]
    return list(zip(found, heard, strict=True))


def columns_of(sources: Sequence[Source]) -> list[int]:
    """The columns of some sources."""
    return sorted({column for source in sources for column in source.columns})


def category_numbers(
    dataset: Dataset, columns: list[int], team: Team | None = None
) -> Iterator[tuple[int, int, Mapping[int, Numbers]]]:
    """Numbers of the categories of some columns, behind the last for missing ones: their bins.

    They come some rows at a time: the first of these, the one behind them, and the numbers by column.
    """
    for begin, end, matrix, rows in matrices_of(dataset, team):
        yield begin, end, codes_of(matrix, columns, rows)


def matrices_of(
    dataset: Dataset, team: Team | None = None
) -> Iterator[tuple[int, int, BinnedMatrix, NDArray[np.int32] | None]]:
    """The codes of a data set, some rows at a time: the first of these, the one behind them, and a matrix with their codes.

    If they are some rows of the matrix, also which.
    """
    blocks, index = dataset.whole.blocks, dataset.index
    if blocks is None:
        yield 0, dataset.rows, dataset.whole.matrix, index
        return
    firsts = blocks.begins if index is None else np.searchsorted(index, blocks.begins)
    for block, matrix in blocks.scan(team):
        begin, end = int(firsts[block]), int(firsts[block + 1])
        own = None if index is None else index[begin:end] - np.int32(blocks.begins[block])
        if begin < end:
            yield begin, end, matrix, own


def codes_of(
    matrix: BinnedMatrix, columns: list[int], rows: NDArray[np.int32] | None = None
) -> dict[int, Numbers]:
    """Codes of some columns that stand alone, by column, of all rows or some."""
    lines = {column: matrix.by_column[matrix.features.group[column]] for column in columns}
    return {column: (line if rows is None else line[rows]).astype(np.int64) for column, line in lines.items()}


def row_numbers(labels: Labels, joining: Joining, first: int) -> Numbers:
    """The number of each row, or that of its query, in the whole table."""
    if labels.queries is None:
        return np.arange(first, first + labels.rows)
    counts = np.zeros(joining.size, np.int64)
    counts[joining.rank] = labels.queries.max(initial=-1) + 1
    joining.sum(counts)
    found: Numbers = labels.queries + counts[: joining.rank].sum()
    return found


def folds_of(things: Numbers, seed: int) -> Numbers:
    """The fold of each row; the same for rows that belong together.

    Examples
    --------
    >>> folds_of(np.array([3, 8, 3]), seed=0)[[0, 2]].tolist() == [int(folds_of(np.array([3]), seed=0)[0])] * 2
    True
    """
    words = random_words(seed, PURPOSE_TOLD, things)
    found: Numbers = ((words >> np.uint64(32)) * np.uint64(FOLDS) >> np.uint64(32)).astype(np.int64)
    return found


def sample_of(things: Numbers, most: int, joining: Joining) -> NDArray[np.bool_]:
    """Which rows are in a sample of about so many of all ranks: all, if there are no more."""
    rows = np.array([len(things)])
    joining.sum(rows)
    if rows[0] <= most:
        return np.ones(len(things), np.bool_)
    words = random_words(0, PURPOSE_TOLD, things) & np.uint64(2**32 - 1)
    return words < np.uint64(most / rows[0] * 2**32)


def light_weights(labels: Labels, smooth: float, joining: Joining) -> tuple[Floats, float]:
    """Weights over a power of two, so that no product overflows, and rows to mix with over the same."""
    if labels.weight is None:
        return np.ones(labels.rows), min(smooth, MOST_SMOOTH)
    largest = np.array([labels.weight.max(initial=0.0)])
    joining.largest(largest)
    unit = float(np.ldexp(1.0, int(np.frexp(largest[0])[1]) - 1))
    with np.errstate(over="ignore", under="ignore"):
        return labels.weight / unit, min(smooth / unit, MOST_SMOOTH)


def made_whole(values: Floats, joining: Joining) -> Floats:
    """Make lines of numbers whole ones, each times a power of two, so that sums over all ranks are exact; gives their steps."""
    largest = np.array([max(line.max(initial=0.0), -line.min(initial=0.0)) for line in values])
    rows = np.array([values.shape[1]])
    joining.largest(largest)
    joining.sum(rows)
    powers = np.zeros(len(values), np.int64)
    some = largest > 0.0
    exact = np.floor(np.log2(WHOLE) - np.log2(largest[some]) - np.log2(float(rows[0]))) - 1
    powers[some] = np.clip(exact, -1000, 1000)
    for line, power in zip(values, powers, strict=True):
        np.rint(np.ldexp(line, power, out=line), out=line)
    return np.ldexp(1.0, -powers)
