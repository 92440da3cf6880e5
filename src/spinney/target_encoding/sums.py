"""Sums of targets and weights by fold and category, and the means that rows get from the sums of other folds.

A category's number is its bin, so of the columns only codes are needed. All sums are of whole numbers in float64, so they are
exact: they do not depend on the order of rows, nor on how rows are cut into blocks or shared among ranks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spinney.binning.binned import BinnedData
from spinney.binning.matrix import BinnedMatrix
from spinney.collective import Communicator
from spinney.data import Labels
from spinney.data.target_encoding import EncodedFeature, TargetEncoding
from spinney.jit.team import Team
from spinney.sampling.kernels.random import PURPOSE_ENCODING_FOLDS
from spinney.sampling.orders import random_words

FOLDS = 5
MOST_SMOOTH = 1e15  # rows of the overall mean: with so many, nothing else counts
WHOLE = 2.0**52  # sums of whole numbers up to this are exact in float64, in any order

Floats = NDArray[np.float64]
Numbers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class FoldEncoding:
    """A target encoding, and how the rows that it was fitted on are encoded: each from the folds that it is not in.

    Attributes
    ----------
    encoding : TargetEncoding
        From all rows: for any other rows.
    fold : int64[rows]
        Fold of each row; of the local rows.
    by_fold : list of float64[FOLDS, categories + 1]
        For each encoded column: its values from all folds but one, which are for the rows of that one.
    masses : list of float64[FOLDS, categories + 1]
        For each encoded column: the weight of the rows that get each of these values.
    """

    encoding: TargetEncoding
    fold: Numbers
    by_fold: list[Floats]
    masses: list[Floats]


@dataclass(frozen=True, eq=False)
class WeightedTargets:
    """What is summed: the weight of each row, and each of its targets times the weight.

    Attributes
    ----------
    row_keys : int64[rows]
        Rows of one key are in one fold: by default the number of each row in the whole table, or that of its query.
    values : float64[1 + targets, rows]
        Whole numbers, so that sums over all ranks are exact.
    steps : float64[1 + targets]
        What 1 in `values` stands for.
    smooth : float
        How many rows of the overall mean a category's own rows are mixed with.
    """

    row_keys: Numbers
    values: Floats
    steps: Floats
    smooth: float

    @classmethod
    def of(
        cls, labels: Labels, targets: Floats, smooth: float, row_keys: Numbers, communicator: Communicator
    ) -> WeightedTargets:
        """Those of the rows of a rank."""
        weight, smooth = scaled_weights(labels, smooth, communicator)
        values = np.empty((1 + len(targets), labels.rows))
        values[0] = weight
        np.multiply(targets, weight, out=values[1:])
        steps = scale_to_integers(values, communicator)
        return cls(row_keys, values, steps, smooth)

    def out_of_fold_means(self, sums: Floats, counts_missing: bool = True) -> Floats:
        """Means of each target, then the weight of rows: of the rows outside each fold, then of all.

        Rows without a category get what unseen categories get. `counts_missing`: whether it is made from the rows without a
        category; else it is the overall mean.
        """
        every = sums.sum(axis=1, keepdims=True)
        found = np.concatenate([every - sums, every], axis=1) * self.steps[:, None, None]
        total = every.sum(axis=(1, 2)) * self.steps
        of_all = (total[1:] / total[0])[:, None, None]
        if not counts_missing:
            found[:, :, -1] = 0.0
        some = found[0] > 0.0
        rows = np.where(some, found[0] + self.smooth, 1.0)
        means = np.where(some, (found[1:] + self.smooth * of_all) / rows, of_all)
        found[0, :FOLDS] *= FOLDS / (FOLDS - 1)
        return np.concatenate([means, found[:1]])


def sum_by_fold(fold: Numbers, number: Numbers, size: int, values: Floats) -> Floats:
    """Sums of values by fold and number: values × FOLDS × size + 1."""
    key = fold * (size + 1) + number
    sums = [np.bincount(key, value, FOLDS * (size + 1)) for value in values]
    return np.array(sums, np.float64).reshape(len(values), FOLDS, size + 1)


def fold_sums(
    data: BinnedData,
    features: Sequence[EncodedFeature],
    fold: Numbers,
    values: Floats,
    min_rows: int,
    team: Team | None,
    communicator: Communicator,
) -> list[tuple[Floats, bool]]:
    """Sums of each feature by fold and category, over the rows of all ranks, and whether rows without a category count.

    They count from `min_rows` rows on: fewer would decide the value of many unseen categories. In a pair they never count: only
    a few rows have a pair of categories that was not observed, and an unobserved pair is mostly two categories that did not meet.
    """
    ends = np.cumsum([len(values) * FOLDS * (feature.size + 1) for feature in features])
    sums = np.zeros(int(ends[-1]))
    found = [
        own.reshape(len(values), FOLDS, feature.size + 1)
        for own, feature in zip(np.split(sums, ends[:-1]), features, strict=True)
    ]
    missing = np.zeros(len(features), np.int64)  # rows of each feature without a category
    for begin, end, numbers in category_numbers(data, source_columns(features), team):
        for at, feature in enumerate(features):
            number = feature.number(numbers)
            found[at] += sum_by_fold(fold[begin:end], number, feature.size, values[:, begin:end])
            missing[at] += np.count_nonzero((number == feature.size) & (values[0, begin:end] > 0.0))
    message = np.concatenate([sums.astype(np.int64), missing])
    communicator.allreduce_sum(message)
    sums[:] = message[: len(sums)]
    counts_missing = [
        bool(rows >= min_rows) and feature.observed_pairs is None
        for feature, rows in zip(features, message[len(sums) :], strict=True)
    ]
    return list(zip(found, counts_missing, strict=True))


def source_columns(features: Sequence[EncodedFeature]) -> list[int]:
    """The columns of the table that some features are made from."""
    return sorted({column for feature in features for column in feature.columns})


def category_numbers(
    data: BinnedData, columns: list[int], team: Team | None = None
) -> Iterator[tuple[int, int, Mapping[int, Numbers]]]:
    """Numbers of the categories of some columns, which are their bins; missing ones have the number after the last.

    They come some rows at a time: begin and end of the rows, and the numbers by column.
    """
    for begin, end, matrix, rows in data.scan(team):
        yield begin, end, column_codes(matrix, columns, rows)


def column_codes(
    matrix: BinnedMatrix, columns: list[int], rows: NDArray[np.int32] | None = None
) -> dict[int, Numbers]:
    """Codes of some columns that are not bundled or sparse, by column, of all rows or some."""
    codes = {column: matrix.by_column[matrix.features.group[column]] for column in columns}
    return {column: (own if rows is None else own[rows]).astype(np.int64) for column, own in codes.items()}


def query_or_row_numbers(labels: Labels, communicator: Communicator, first_row: int) -> Numbers:
    """The number of each row, or that of its query, in the whole table."""
    if labels.queries is None:
        return np.arange(first_row, first_row + labels.rows)
    counts = np.zeros(communicator.size, np.int64)
    counts[communicator.rank] = labels.queries.max(initial=-1) + 1
    communicator.allreduce_sum(counts)
    found: Numbers = labels.queries + counts[: communicator.rank].sum()
    return found


def assign_folds(row_keys: Numbers, seed: int) -> Numbers:
    """The fold of each row; the same for rows of the same key.

    Examples
    --------
    >>> assign_folds(np.array([3, 8, 3]), seed=0)[[0, 2]].tolist() == [int(assign_folds(np.array([3]), seed=0)[0])] * 2
    True
    """
    words = random_words(seed, PURPOSE_ENCODING_FOLDS, row_keys)
    found: Numbers = ((words >> np.uint64(32)) * np.uint64(FOLDS) >> np.uint64(32)).astype(np.int64)
    return found


def draw_sample(row_keys: Numbers, most: int, communicator: Communicator) -> NDArray[np.bool_]:
    """Which rows are in a sample of about so many of all ranks: all, if there are no more."""
    rows = np.array([len(row_keys)])
    communicator.allreduce_sum(rows)
    if rows[0] <= most:
        return np.ones(len(row_keys), np.bool_)
    words = random_words(0, PURPOSE_ENCODING_FOLDS, row_keys) & np.uint64(2**32 - 1)
    return words < np.uint64(most / rows[0] * 2**32)


def scaled_weights(labels: Labels, smooth: float, communicator: Communicator) -> tuple[Floats, float]:
    """Weights divided by a power of two, so that no product overflows, and the rows to mix with divided by the same."""
    if labels.weight is None:
        return np.ones(labels.rows), min(smooth, MOST_SMOOTH)
    largest = np.array([labels.weight.max(initial=0.0)])
    communicator.allreduce_max(largest)
    unit = float(np.ldexp(1.0, int(np.frexp(largest[0])[1]) - 1))
    with np.errstate(over="ignore", under="ignore"):
        return labels.weight / unit, min(smooth / unit, MOST_SMOOTH)


def scale_to_integers(values: Floats, communicator: Communicator) -> Floats:
    """Multiply each row of `values` by a power of two and round it, so that sums over all ranks are exact; gives the steps.

    A step is what 1 stands for afterwards.
    """
    largest = np.array([max(row.max(initial=0.0), -row.min(initial=0.0)) for row in values])
    rows = np.array([values.shape[1]])
    communicator.allreduce_max(largest)
    communicator.allreduce_sum(rows)
    powers = np.zeros(len(values), np.int64)
    some = largest > 0.0
    exact = np.floor(np.log2(WHOLE) - np.log2(largest[some]) - np.log2(float(rows[0]))) - 1
    powers[some] = np.clip(exact, -1000, 1000)
    for row, power in zip(values, powers, strict=True):
        np.rint(np.ldexp(row, power, out=row), out=row)
    return np.ldexp(1.0, -powers)
