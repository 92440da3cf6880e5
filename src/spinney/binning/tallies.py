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
        The number of each row in the whole table, or that of its query.
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
    def of(cls, labels: Labels, targets: Floats, smooth: float, joining: Joining, first: int) -> Amounts:
        """Those of the rows of a rank, whose first has this number in the whole table."""
        weight, smooth = light_weights(labels, smooth, joining)
        whole = np.empty((1 + len(targets), labels.rows))
        whole[0] = weight
        np.multiply(targets, weight, out=whole[1:])
        steps = made_whole(whole, joining)
        return cls(row_numbers(labels, joining, first), whole, steps, smooth)

    def told(self, tally: Floats) -> Floats:
        """What rows are told by a tally: means, then the weight of rows; by those without each fold, then by all."""
        every = tally.sum(axis=1, keepdims=True)
        sums = np.concatenate([every - tally, every], axis=1) * self.steps[:, None, None]
        total = every.sum(axis=(1, 2)) * self.steps
        of_all = (total[1:] / total[0])[:, None, None]
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
    team: Team | None,
    joining: Joining,
) -> list[Floats]:
    """The tally of each source, over the rows of all ranks."""
    ends = np.cumsum([len(whole) * FOLDS * (source.size + 1) for source in sources])
    sums = np.zeros(int(ends[-1]))
    found = [
        own.reshape(len(whole), FOLDS, source.size + 1)
        for own, source in zip(np.split(sums, ends[:-1]), sources, strict=True)
    ]
    for begin, end, numbers in category_numbers(dataset, columns_of(sources), team):
        for own, source in zip(found, sources, strict=True):
            own += tally_of(fold[begin:end], source.number(numbers), source.size, whole[:, begin:end])
    joined = sums.astype(np.int64)
    joining.sum(joined)
    sums[:] = joined
    return found


def columns_of(sources: Sequence[Source]) -> list[int]:
    """The columns of some sources."""
    return sorted({column for source in sources for column in source.columns})


def category_numbers(
    dataset: Dataset, columns: list[int], team: Team | None = None
) -> Iterator[tuple[int, int, Mapping[int, Numbers]]]:
    """Numbers of the categories of some columns, behind the last for missing ones: their bins.

    They come some rows at a time: the first of these, the one behind them, and the numbers by column.
    """
    blocks, index = dataset.whole.blocks, dataset.index
    if blocks is None:
        yield 0, dataset.rows, codes_of(dataset.whole.matrix, columns, index)
        return
    firsts = blocks.begins if index is None else np.searchsorted(index, blocks.begins)
    for block, matrix in blocks.scan(team):
        begin, end = int(firsts[block]), int(firsts[block + 1])
        own = None if index is None else index[begin:end] - np.int32(blocks.begins[block])
        if begin < end:
            yield begin, end, codes_of(matrix, columns, own)


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
    """The fold of each row, or of its query.

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
