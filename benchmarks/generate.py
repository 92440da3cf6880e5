"""Generated tables: fixed seed, nonlinear signal with interactions, few-valued columns, missing values.

Rows are made in blocks that have their own random streams, so a table of 5 000 000 rows needs no second copy
of itself, and a smaller table is the beginning of a larger one.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]

BLOCK = 65_536
TRAIN, TEST = 0, 1
MISSING = 0.02
HALFWAY = -0.32  # the score of `make_continuous` that parts its rows in two halves


def make_binary(rows: int, columns: int, *, part: int = TRAIN, seed: int = 7) -> tuple[Floats, Floats]:
    """Return a table and a target of zeros and ones; `part` chooses the training or the held-out rows."""
    table = np.empty((rows, columns), dtype=np.float32)
    target = np.empty(rows, dtype=np.float32)
    for start, block, rng in _blocks(table, part, seed):
        score = _signal(block, seed)
        chance = rng.random(BLOCK, dtype=np.float32)[: len(block)]
        target[start : start + len(block)] = chance < 1.0 / (1.0 + np.exp(-score))
        _remove_values(block, rng)
    return table, target


def make_classes(
    rows: int, columns: int, classes: int, *, part: int = TRAIN, seed: int = 7
) -> tuple[Floats, Floats]:
    """Return a table and a target of class numbers, each class with its own signal."""
    table = np.empty((rows, columns), dtype=np.float32)
    target = np.empty(rows, dtype=np.float32)
    for start, block, rng in _blocks(table, part, seed):
        scores = np.stack([_signal(block, seed + 1 + k) for k in range(classes)], axis=1)
        noise = rng.gumbel(size=(BLOCK, classes)).astype(np.float32)[: len(block)]
        target[start : start + len(block)] = np.argmax(scores + noise, axis=1)
        _remove_values(block, rng)
    return table, target


def make_numbers(rows: int, columns: int, *, part: int = TRAIN, seed: int = 7) -> tuple[Floats, Floats]:
    """Return a table and a target of numbers, with noise of heavy tails: Student's, which has hardly a variance."""
    table = np.empty((rows, columns), dtype=np.float32)
    target = np.empty(rows, dtype=np.float32)
    for start, block, rng in _blocks(table, part, seed):
        noise = rng.standard_t(2.1, BLOCK)[: len(block)]
        target[start : start + len(block)] = _signal(block, seed) + 0.5 * noise
        _remove_values(block, rng)
    return table, target


def make_counts(rows: int, columns: int, *, part: int = TRAIN, seed: int = 7) -> tuple[Floats, Floats]:
    """Return a table and a target of counts, whose logarithms have means that follow the signal."""
    table = np.empty((rows, columns), dtype=np.float32)
    target = np.empty(rows, dtype=np.float32)
    for start, block, rng in _blocks(table, part, seed):
        mean = np.exp(np.float32(0.4) * _signal(block, seed))
        # A row's draw must not depend on how many rows there are: the count that a uniform number stands for.
        chance = rng.random(BLOCK)[: len(block)]
        target[start : start + len(block)] = _poisson_counts(mean.astype(np.float64), chance)
        _remove_values(block, rng)
    return table, target


def make_relevance(rows: int, columns: int, *, part: int = TRAIN, seed: int = 7) -> tuple[Floats, Floats]:
    """Return a table and relevances from 0 to 4, as often as in web search: most rows have 0 or 1, one in a hundred has 4."""
    table = np.empty((rows, columns), dtype=np.float32)
    quality = np.empty(rows, dtype=np.float32)
    for start, block, rng in _blocks(table, part, seed):
        noise = rng.standard_normal(BLOCK, dtype=np.float32)[: len(block)]
        quality[start : start + len(block)] = _signal(block, seed) + noise
        _remove_values(block, rng)
    steps = np.quantile(quality, (0.52, 0.84, 0.97, 0.99))
    return table, np.searchsorted(steps, quality).astype(np.float32)


def make_sparse(
    rows: int, columns: int, entries: int, *, part: int = TRAIN, seed: int = 7
) -> tuple[Any, Floats]:
    """Return a CSR matrix and a target of zeros and ones.

    A row has so many entries, or a few less; as with words of a text, low columns have far more of them than high ones.
    """
    from scipy import sparse

    rng = np.random.default_rng([seed, part])
    place = np.sort((columns * rng.random((rows, entries)) ** 3).astype(np.int32), axis=1)
    first = np.ones(place.shape, np.bool_)
    first[:, 1:] = place[:, 1:] != place[:, :-1]
    values = rng.standard_normal(place.shape, dtype=np.float32)
    starts = np.concatenate([np.zeros(1, np.int32), np.cumsum(first.sum(axis=1), dtype=np.int32)])
    table = sparse.csr_matrix((values[first], place[first], starts), shape=(rows, columns))
    slope, bend = np.random.default_rng([seed, 98]).standard_normal((2, columns), dtype=np.float32)
    score = table @ slope + abs(table) @ bend + rng.standard_normal(rows, dtype=np.float32)
    return table, (score > 0).astype(np.float32)


def make_continuous(rows: int, columns: int, *, part: int = TRAIN, seed: int = 7) -> tuple[Floats, Floats]:
    """Return a table without missing values, most columns all distinct values, and a target of zeros and ones."""
    table, score, rng = _continuous(rows, columns, part, seed)
    return table, (score + rng.logistic(size=rows) > HALFWAY).astype(np.float32)


def make_continuous_numbers(
    rows: int, columns: int, *, part: int = TRAIN, seed: int = 7
) -> tuple[Floats, Floats]:
    """Return the same table with a target of numbers."""
    table, score, rng = _continuous(rows, columns, part, seed)
    return table, (score + 0.7 * rng.standard_normal(rows)).astype(np.float32)


def make_odd(rows: int, columns: int, *, seed: int = 7) -> tuple[Floats, Floats]:
    """Return clouds of several sizes and places, with 3 % of rows that lie anywhere among them, and which these are."""
    rng = np.random.default_rng([seed, 4])
    places = rng.uniform(-6.0, 6.0, (5, columns)).astype(np.float32)
    sizes = rng.uniform(0.3, 2.0, (5, columns)).astype(np.float32)
    cloud = rng.integers(0, 5, rows)
    table = rng.standard_normal((rows, columns), dtype=np.float32)
    for k in range(5):
        table[cloud == k] = places[k] + sizes[k] * table[cloud == k]
    odd = rng.random(rows) < 0.03
    table[odd] = rng.uniform(-8.0, 8.0, (int(odd.sum()), columns))
    return table, odd.astype(np.float32)


def _continuous(rows: int, columns: int, part: int, seed: int) -> tuple[Floats, Floats, np.random.Generator]:
    """Return the table, what its targets follow, and the stream of their noise.

    What grows a tree until its leaves are pure is noise, so a smaller table need not be the beginning of a larger one.
    """
    rng = np.random.default_rng([seed, part, 2])
    x = rng.standard_normal((rows, columns), dtype=np.float32)
    np.abs(x[:, 5], out=x[:, 5])
    np.exp(x[:, 9], out=x[:, 9])
    few = x[:, 20:24]
    np.divide(np.rint(few * np.float32(8.0)), np.float32(8.0), out=few)
    score = x[:, 0] * x[:, 1] + np.sin(2.0 * x[:, 2]) + 0.7 * x[:, 3] + 0.3 * x[:, 7] * x[:, 8]
    score += 0.5 * (x[:, 4] > 0.3) * x[:, 6] - 0.4 * x[:, 5]
    return x, score, rng


def _blocks(table: Floats, part: int, seed: int) -> Iterator[tuple[int, Floats, np.random.Generator]]:
    """Fill the table block by block and hand out each block with its random stream.

    A whole block is drawn even where the table ends sooner: rows must not depend on the table's length.
    """
    for index, start in enumerate(range(0, len(table), BLOCK)):
        rng = np.random.default_rng([seed, part, index])
        full = rng.standard_normal((BLOCK, table.shape[1]), dtype=np.float32)
        block = table[start : start + BLOCK]
        block[:] = full[: len(block)]
        few = block[:, 3::4]
        np.rint(few * np.float32(2.0), out=few)
        yield start, block, np.random.default_rng([seed, part, index, 1])


def _signal(block: Floats, seed: int) -> Floats:
    """Return the log odds of each row: steps, waves and interactions of up to 40 columns."""
    rng = np.random.default_rng([seed, 99])
    columns = block.shape[1]
    chosen = rng.permutation(columns)[: min(columns, 40)]
    score = np.zeros(len(block), dtype=np.float32)
    for place, column in enumerate(chosen):
        x = block[:, column]
        other = block[:, chosen[(place + 1) % len(chosen)]]
        weight = np.float32(rng.uniform(0.3, 1.0) / (1.0 + 0.15 * place))
        kind = place % 4
        if kind == 0:
            score += weight * np.sin(np.float32(2.0) * x)
        elif kind == 1:
            score += weight * np.where(x > rng.normal() * 0.5, np.float32(1.0), np.float32(-1.0))
        elif kind == 2:
            score += weight * np.clip(x * other, -2.0, 2.0)
        else:
            score += weight * np.abs(x - other) - weight
    return score


def _poisson_counts(mean: npt.NDArray[np.float64], chance: npt.NDArray[np.float64]) -> Any:
    """Return the least counts up to which a Poisson distribution holds the chance."""
    counts, term = np.zeros(len(mean)), np.exp(-mean)
    below = term.copy()
    for count in range(1, 200):
        more = chance > below
        if not more.any():
            break
        counts += more
        term = term * mean / count
        below += term
    return counts


def _remove_values(block: Floats, rng: np.random.Generator) -> None:
    """Make 2 % of every fifth column missing."""
    for column in range(4, block.shape[1], 5):
        missing = rng.random(BLOCK, dtype=np.float32)[: len(block)] < MISSING
        block[missing, column] = np.nan
