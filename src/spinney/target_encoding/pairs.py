"""Pairs of columns of categories: which of them predict the target better than either column does.

They are chosen from sums by fold and category (`sums`), like those of single columns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from spinney.binning.binned import BinnedData
from spinney.collective import ALONE, Communicator
from spinney.data.target_encoding import EncodedFeature
from spinney.jit.team import Team
from spinney.target_encoding.sums import (
    FOLDS,
    Floats,
    Numbers,
    WeightedTargets,
    assign_folds,
    category_numbers,
    draw_sample,
    source_columns,
    sum_by_fold,
)

ROWS = 50_000  # by which pairs are chosen: a sample of larger tables
COLUMNS = 12  # of which pairs are tried: those that predict best
VALUES = 2**19  # most that a model keeps of a pair
MORE = 1.2  # times as many pairs of categories as either column has must there be, or they are much the same as that column
# What a pair has to gain beyond: so many standard errors, and what its best so many pairs of categories gain, because two rare
# rows that meet by chance look like much. Of a random target the best of all pairs gains less.
NOISE_ERRORS, NOISE_BEST = 5.0, 3
DIGITS = 9  # of a gain, so that pairs which gain the same are taken in the order of their columns


def choose_pairs(
    data: BinnedData,
    columns: Sequence[EncodedFeature],
    most: int,
    targets: WeightedTargets,
    min_rows: int = 1,
    team: Team | None = None,
    communicator: Communicator = ALONE,
) -> list[EncodedFeature]:
    """Choose pairs of columns.

    Every row's target is predicted from the rows of its pair of categories in other folds, and from those of its category in
    either column. A pair is chosen if its error is less than that of both columns and of the overall mean, by more than noise
    would give, those that gain most first. The folds do not depend on a seed, so that models of other seeds have the same pairs.

    Parameters
    ----------
    data : BinnedData
        The rows.
    columns : list of EncodedFeature
        The columns.
    most : int
        At most so many pairs.
    targets : WeightedTargets
        Weights and targets of the rows.
    min_rows : int
        Fewer rows in which a column is missing make no pairs of categories with it: they would decide the value of unseen
        categories.
    team, communicator
        Threads that unpack codes, and ranks that hold other rows.

    Returns
    -------
    list of EncodedFeature
        With all pairs of categories that some row has, of any rank.
    """
    if most == 0 or len(columns) < 2:
        return []
    has_weight = targets.values[0] > 0.0
    taken = has_weight.copy()
    taken[has_weight] = draw_sample(targets.row_keys[has_weight], ROWS, communicator)
    codes, missing = _sample_codes(data, columns, taken, has_weight, team)
    communicator.allreduce_sum(missing)
    fold = assign_folds(targets.row_keys[taken], seed=0).astype(np.float64)
    sample = communicator.gather(np.vstack([*codes.values(), fold, targets.values[:, taken]]).T)
    chosen = None
    if sample is not None:
        chosen = _best_pairs(np.concatenate(sample).T, columns, most, targets)
    pairs = [
        EncodedFeature((first, second), 0, next(one.size for one in columns if one.columns == (second,)) + 1)
        for first, second in communicator.broadcast(chosen).tolist()
    ]
    if not pairs:
        return []
    few = {feature.columns[0] for feature, rows in zip(columns, missing, strict=True) if rows < min_rows}
    return _with_observed_pairs(
        data, pairs, has_weight, VALUES // len(targets.values), few, team, communicator
    )


def _sample_codes(
    data: BinnedData,
    columns: Sequence[EncodedFeature],
    taken: NDArray[np.bool_],
    has_weight: NDArray[np.bool_],
    team: Team | None,
) -> tuple[Mapping[int, Numbers], Numbers]:
    """Numbers of categories of the rows that are taken; and how many rows with a weight each column is missing in."""
    found = {column: np.empty(int(taken.sum()), np.int64) for column in source_columns(columns)}
    missing = np.zeros(len(columns), np.int64)
    firsts = np.concatenate([[0], np.cumsum(taken)])
    for begin, end, numbers in category_numbers(data, list(found), team):
        for column, number in numbers.items():
            found[column][firsts[begin] : firsts[end]] = number[taken[begin:end]]
        for at, feature in enumerate(columns):
            number = numbers[feature.columns[0]]
            missing[at] += np.count_nonzero(number[has_weight[begin:end]] == feature.size)
    return found, missing


def _best_pairs(
    sample: Floats, columns: Sequence[EncodedFeature], most: int, targets: WeightedTargets
) -> Numbers:
    """The pairs that gain most, by the rows of a sample: their columns, pairs × 2."""
    codes, fold = sample[: len(columns)].astype(np.int64), sample[len(columns)].astype(np.int64)
    values = sample[len(columns) + 1 :]
    if values[0].sum() == 0.0:
        return np.zeros((0, 2), np.int64)
    scale = _squared_deviations(values * targets.steps[:, None])
    rows = float(values[0].sum() ** 2 / (values[0] ** 2).sum())

    def error(number: Numbers, size: int) -> tuple[float, float]:
        return _error(sum_by_fold(fold, number, size, values), targets, scale, rows)

    alone = [error(code, feature.size)[0] for code, feature in zip(codes, columns, strict=True)]
    distinct = [len(np.unique(code)) for code in codes]
    gains: list[tuple[float, int, int]] = []
    same: set[int] = set()
    tried = sorted(range(len(columns)), key=lambda at: (round(alone[at], DIGITS), at))[:COLUMNS]
    for i, j in combinations(sorted(tried), 2):
        observed, number = np.unique(codes[i] * (columns[j].size + 1) + codes[j], return_inverse=True)
        if len(observed) == distinct[i] == distinct[j]:
            same.add(j)  # the same categories by other names
        if len(observed) >= MORE * max(distinct[i], distinct[j]):
            own, noise_margin = error(number, len(observed))
            gain = round(min(alone[i], alone[j], 0.0) - own, DIGITS)
            gains += [(-gain, i, j)] if gain > noise_margin else []
    best = [(i, j) for _, i, j in sorted(gains) if i not in same and j not in same][:most]
    return np.array([[columns[i].columns[0], columns[j].columns[0]] for i, j in best], np.int64).reshape(
        -1, 2
    )


def _squared_deviations(values: Floats) -> Floats:
    """The sum of squares of each target around its mean, by weight."""
    weight, has_weight = values[0], values[0] > 0
    mean = values[1:].sum(axis=1) / weight.sum()
    deviations = values[1:, has_weight] - mean[:, None] * weight[has_weight]
    squares: Floats = (deviations**2 / weight[has_weight]).sum(axis=1)
    return np.maximum(squares, np.finfo(float).tiny)


def _error(sums: Floats, targets: WeightedTargets, scale: Floats, count: float) -> tuple[float, float]:
    """Squared error of the out-of-fold means, less that of the overall mean: averaged over targets, as a share of their variance.

    And the margin for noise: how much of it chance may give, with so many rows.
    """
    encoded = targets.out_of_fold_means(sums)[:-1, :FOLDS]
    rows, *own = sums * targets.steps[:, None, None]
    mean = np.array([one.sum() for one in own]) / rows.sum()
    off = encoded - mean[:, None, None]
    squares = (rows * off * off).sum(axis=1) / scale[:, None]
    products = (off * (np.array(own) - mean[:, None, None] * rows)).sum(axis=1) / scale[:, None]
    by_category = (squares - 2.0 * products).mean(axis=0)
    chance = 2.0 * np.sqrt(squares.sum(axis=1) / count)
    noise_margin = NOISE_ERRORS * chance.mean() - np.sort(by_category)[:NOISE_BEST].sum()
    return float(by_category.sum()), float(noise_margin)


def _with_observed_pairs(
    data: BinnedData,
    pairs: Sequence[EncodedFeature],
    has_weight: NDArray[np.bool_],
    most: int,
    few: set[int],
    team: Team | None,
    communicator: Communicator,
) -> list[EncodedFeature]:
    """The pairs with all pairs of categories that rows with a weight have; without those of none or more than `most`.

    Rows in which one of a `few` columns is missing do not count.
    """
    counts = data.schema.category_counts
    assert counts is not None
    found = [np.zeros(0, np.int64) for _ in pairs]
    for begin, end, numbers in category_numbers(data, source_columns(pairs), team):
        present = {column: numbers[column] < counts[column] for column in few & set(numbers)}
        for at, pair in enumerate(pairs):
            if len(found[at]) <= most:
                chosen = has_weight[begin:end].copy()
                for column in few & set(pair.columns):
                    chosen &= present[column]
                found[at] = np.union1d(found[at], pair.key(numbers)[chosen])
    complete = []
    for pair, own in zip(pairs, found, strict=True):
        ranks = communicator.gather(own[: most + 1])
        keys = None if ranks is None else np.unique(np.concatenate(ranks))[: most + 1]
        observed = communicator.broadcast(keys)
        if 0 < len(observed) <= most:
            complete.append(EncodedFeature(pair.columns, len(observed), pair.width, observed))
    return complete
