"""Pairs of columns of categories: which of them say more of the target than either column does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from spinney.binning.dataset import Dataset
from spinney.binning.tallies import (
    FOLDS,
    Amounts,
    Floats,
    Numbers,
    category_numbers,
    columns_of,
    folds_of,
    sample_of,
    tally_of,
)
from spinney.data.statistics import Source
from spinney.jit.team import Team
from spinney.joining import ALONE, Joining

ROWS = 50_000  # by which pairs are chosen: a sample of larger tables
COLUMNS = 12  # of which pairs are tried: those that say most
VALUES = 2**19  # most that a model keeps of a pair
MORE = 1.2  # times as many pairs of categories as either column has must there be, or they are much the same as that column
# What a pair has to gain beyond: so many standard errors, and what its best so many pairs of categories gain, because two rare
# rows that meet by chance look like much. Of a random target the best of all pairs gains less.
LUCK, BEST = 5.0, 3
DIGITS = 9  # of a gain, so that pairs which gain the same are taken in the order of their columns


def pair_sources(
    dataset: Dataset,
    columns: Sequence[Source],
    most: int,
    amounts: Amounts,
    least: int = 1,
    team: Team | None = None,
    joining: Joining = ALONE,
) -> list[Source]:
    """Choose pairs of columns.

    Every row's target is predicted from the rows of its pair of categories in other folds, and from those of its category in
    either column. A pair is chosen if its error is less than that of both columns and of the mean of all, by more than luck
    gives, those that gain most first. The folds do not depend on a seed, so that models of other seeds have the same pairs.

    Parameters
    ----------
    dataset : Dataset
        The rows.
    columns : list of Source
        The columns.
    most : int
        At most so many pairs.
    amounts : Amounts
        Weights and targets of the rows.
    least : int
        Fewer rows in which a column is missing make no pairs of categories with it: unseen categories would be told of them.
    team, joining
        Threads that unpack codes, and ranks that hold other rows.

    Returns
    -------
    list of Source
        All pairs of categories that some row has, of any rank.
    """
    if most == 0 or len(columns) < 2:
        return []
    heavy = amounts.whole[0] > 0.0
    taken = heavy.copy()
    taken[heavy] = sample_of(amounts.things[heavy], ROWS, joining)
    codes, missing = _codes(dataset, columns, taken, heavy, team)
    joining.sum(missing)
    fold = folds_of(amounts.things[taken], seed=0).astype(np.float64)
    sample = joining.gather(np.vstack([*codes.values(), fold, amounts.whole[:, taken]]).T)
    chosen = None
    if sample is not None:
        chosen = _best_pairs(np.concatenate(sample).T, columns, most, amounts)
    pairs = [
        Source((first, second), 0, next(one.size for one in columns if one.columns == (second,)) + 1)
        for first, second in joining.spread(chosen).tolist()
    ]
    few = {source.columns[0] for source, rows in zip(columns, missing, strict=True) if rows < least}
    return (
        _with_seen(dataset, pairs, heavy, VALUES // len(amounts.whole), few, team, joining) if pairs else []
    )


def _codes(
    dataset: Dataset,
    columns: Sequence[Source],
    taken: NDArray[np.bool_],
    heavy: NDArray[np.bool_],
    team: Team | None,
) -> tuple[Mapping[int, Numbers], Numbers]:
    """Numbers of categories of the rows that are taken; and how many rows with a weight each column is missing in."""
    found = {column: np.empty(int(taken.sum()), np.int64) for column in columns_of(columns)}
    missing = np.zeros(len(columns), np.int64)
    firsts = np.concatenate([[0], np.cumsum(taken)])
    for begin, end, numbers in category_numbers(dataset, list(found), team):
        for column, number in numbers.items():
            found[column][firsts[begin] : firsts[end]] = number[taken[begin:end]]
        for place, source in enumerate(columns):
            missing[place] += np.count_nonzero(numbers[source.columns[0]][heavy[begin:end]] == source.size)
    return found, missing


def _best_pairs(sample: Floats, columns: Sequence[Source], most: int, amounts: Amounts) -> Numbers:
    """The pairs that gain most, by the rows of a sample: their columns, pairs × 2."""
    codes, fold = sample[: len(columns)].astype(np.int64), sample[len(columns)].astype(np.int64)
    whole = sample[len(columns) + 1 :]
    if whole[0].sum() == 0.0:
        return np.zeros((0, 2), np.int64)
    scale = _spreads(whole * amounts.steps[:, None])
    rows = float(whole[0].sum() ** 2 / (whole[0] ** 2).sum())

    def error(number: Numbers, size: int) -> tuple[float, float]:
        return _error(tally_of(fold, number, size, whole), amounts, scale, rows)

    alone = [error(code, source.size)[0] for code, source in zip(codes, columns, strict=True)]
    distinct = [len(np.unique(code)) for code in codes]
    gains: list[tuple[float, int, int]] = []
    same: set[int] = set()
    tried = sorted(range(len(columns)), key=lambda at: (round(alone[at], DIGITS), at))[:COLUMNS]
    for i, j in combinations(sorted(tried), 2):
        seen, number = np.unique(codes[i] * (columns[j].size + 1) + codes[j], return_inverse=True)
        if len(seen) == distinct[i] == distinct[j]:
            same.add(j)  # the same categories by other names
        if len(seen) >= MORE * max(distinct[i], distinct[j]):
            own, luck = error(number, len(seen))
            gain = round(min(alone[i], alone[j], 0.0) - own, DIGITS)
            gains += [(-gain, i, j)] if gain > luck else []
    best = [(i, j) for _, i, j in sorted(gains) if i not in same and j not in same][:most]
    return np.array([[columns[i].columns[0], columns[j].columns[0]] for i, j in best], np.int64).reshape(
        -1, 2
    )


def _spreads(amounts: Floats) -> Floats:
    """The sum of squares of each target around its mean, by weight."""
    weight, heavy = amounts[0], amounts[0] > 0
    mean = amounts[1:].sum(axis=1) / weight.sum()
    squares: Floats = ((amounts[1:, heavy] - mean[:, None] * weight[heavy]) ** 2 / weight[heavy]).sum(axis=1)
    return np.maximum(squares, np.finfo(float).tiny)


def _error(tally: Floats, amounts: Amounts, scale: Floats, count: float) -> tuple[float, float]:
    """Squared error of what rows are told, less that of the mean of all: the mean over targets, as a share of their spread.

    And what of it may be luck, of so many rows.
    """
    told = amounts.told(tally)[:-1, :FOLDS]
    rows, *sums = tally * amounts.steps[:, None, None]
    mean = np.array([one.sum() for one in sums]) / rows.sum()
    off = told - mean[:, None, None]
    squares = (rows * off * off).sum(axis=1) / scale[:, None]
    products = (off * (np.array(sums) - mean[:, None, None] * rows)).sum(axis=1) / scale[:, None]
    by_category = (squares - 2.0 * products).mean(axis=0)
    chance = 2.0 * np.sqrt(squares.sum(axis=1) / count)
    luck = LUCK * chance.mean() - np.sort(by_category)[:BEST].sum()
    return float(by_category.sum()), float(luck)


def _with_seen(
    dataset: Dataset,
    pairs: Sequence[Source],
    heavy: NDArray[np.bool_],
    most: int,
    few: set[int],
    team: Team | None,
    joining: Joining,
) -> list[Source]:
    """The pairs with all pairs of categories that rows with a weight have; without those of none or more than `most`.

    Rows in which one of a `few` columns is missing do not count.
    """
    counts = dataset.schema.category_counts
    assert counts is not None
    found = [np.zeros(0, np.int64) for _ in pairs]
    for begin, end, numbers in category_numbers(dataset, columns_of(pairs), team):
        there = {column: numbers[column] < counts[column] for column in few & set(numbers)}
        for at, pair in enumerate(pairs):
            if len(found[at]) <= most:
                chosen = heavy[begin:end].copy()
                for column in few & set(pair.columns):
                    chosen &= there[column]
                found[at] = np.union1d(found[at], pair.key(numbers)[chosen])
    whole = []
    for pair, own in zip(pairs, found, strict=True):
        ranks = joining.gather(own[: most + 1])
        seen = joining.spread(None if ranks is None else np.unique(np.concatenate(ranks))[: most + 1])
        if 0 < len(seen) <= most:
            whole.append(Source(pair.columns, len(seen), pair.width, seen))
    return whole
