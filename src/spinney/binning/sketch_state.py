"""The state of a quantile sketch: summaries of weighted values, what is given to it, and its bytes.

The bytes are little-endian: the head (`HEAD`), for each summary its level, size and error (`LEVEL`), then as float64 the values
of the unfinished block, their weights if not all are 1, and the points and masses of each summary; last a CRC-32 of all that.
The length of the whole follows from the sizes, so nothing larger than the given bytes is ever allocated.
"""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spinney.binning.kernels.cut import Keys, SortBuffers
from spinney.binning.kernels.sketch import (
    Folded,
    PartFacts,
    Points,
    Stream,
    Summaries,
    condense_blocks,
    fold_summaries,
    survey_values,
    take_values,
)
from spinney.data.arrays import not_a_vector, numeric, plain_array
from spinney.data.frame import frame_vector, is_frame
from spinney.data.table import EMPTY32, EMPTY64
from spinney.errors import DataError, DataTypeError, SketchFormatError
from spinney.jit import allocate
from spinney.jit.team import Team

# Values that are sorted in one go. Ten million float64 on one thread, in millions a second: blocks of 16 384 values 30,
# 32 768 36, 65 536 45, 131 072 46. Larger ones keep more values in memory that are not summed up yet.
BLOCK = 65_536
MOST_LEVEL = (
    47  # a level's summary is of 2**(level - 1) blocks at least, and a sketch holds fewer than 2**62 values
)
MOST_COUNT = 2**62
SMALLEST_EPS = 1e-7
MOST_TOTAL = 2.0**1022  # sums of weights stay finite in whatever order they are taken

# What a summary of each level may be wrong by, as a share of eps times its mass: level l adds 1 / (3 (l + 2)). That the
# shares fall makes low levels small, of which all sketches have some; that they fall no faster keeps high levels small.
# The sum over all levels is .993.
BUDGET = np.concatenate([[0.0], np.cumsum([1.0 / (3 * (level + 2)) for level in range(1, MOST_LEVEL + 1)])])


@dataclass(frozen=True, eq=False)
class Summary:
    """Points that stand for values.

    The mass of the points below z differs from that of the values below z by at most `error`, for any z, and so does the
    mass at or below z. `error` is at most eps * BUDGET[level] * total.
    """

    points: NDArray[np.float64]  # strictly ascending
    masses: NDArray[np.float64]
    level: int
    error: float
    total: float = field(init=False)

    def __post_init__(self) -> None:
        # A running sum has one order of additions, on any machine.
        object.__setattr__(self, "total", float(np.cumsum(self.masses)[-1]))

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays."""
        return self.points.nbytes + self.masses.nbytes


def most_points(level: int, eps: float) -> int:
    """Points that a summary of a level may have."""
    return int(3 * (max(level, 1) + 2) / eps) + 2


def most_bytes(eps: float, count: int, block: int = BLOCK) -> int:
    """Bytes that the sketch of `count` values takes at most.

    Examples
    --------
    >>> most_bytes(0.001, 10**6), most_bytes(0.001, 10**9)
    (2056736, 7577056)
    """
    top = (count // block).bit_length()
    points = sum(most_points(level, eps) for level in range(top + 1)) if top else 0
    return 16 * (points + min(block, 2 * count + 64))


def fold(a: Summary, b: Summary, eps: float) -> Summary:
    """One summary of two of the same level; one level higher where it had to be made smaller."""
    level, known = a.level, a.error + b.error
    size = len(a.points) + len(b.points)
    points, masses, folded = np.empty(size), np.empty(size), Folded.zeros(1)
    fold_summaries(
        most_points(level, eps), eps * float(BUDGET[level + 1]), known,
        *(Points(len(one.points), one.points, one.masses) for one in (a, b)),
        np.empty(size, np.int64), np.empty(size), points, masses, folded,
    )  # fmt: skip
    made = int(folded[0].points)
    return Summary(
        points[:made].copy(),
        masses[:made].copy(),
        level + int(folded[0].raised),
        known + float(folded[0].error),
    )


def condense(
    values: NDArray[np.float64],
    weights: NDArray[np.float64] | None,
    block: int,
    eps: float,
    team: Team,
) -> list[Summary]:
    """Summaries of whole blocks of values, in order; each is made by one thread. What is left over is not looked at."""
    blocks = len(values) // block
    sorting = allocate(SortBuffers, threads=team.size, longest=block, weighted=int(weights is not None))
    keys = allocate(Keys, threads=team.size, buffers=sorting)
    made = allocate(Summaries, blocks=blocks, block=block)
    team.run(
        condense_blocks.bind(
            len(values), most_points(0, eps), eps * float(BUDGET[1]), values,
            np.empty(0) if weights is None else weights, sorting, keys, made,
        )
    )  # fmt: skip
    found = []
    for b in range(blocks):
        part = slice(b * block, b * block + int(made.made[b]))
        points, masses = made.points[part].copy(), made.masses[part].copy()
        found.append(Summary(points, masses, int(made.raised[b]), float(made.errors[b])))
    return found


def insert(levels: dict[int, Summary], new: Summary, eps: float) -> None:
    """Put a summary among those of a sketch, at most one of each level, as a carry goes through a binary number."""
    while new.level in levels:
        old = levels.pop(new.level)
        folded = fold(old, new, eps)
        if folded.level == old.level:
            levels[folded.level] = folded
            return
        new = folded
    levels[new.level] = new


PARTS_AT_ONCE = 256  # bounds the scratch memory of an update: 2 million values, 48 to 64 MB


class Store:
    """The values of a sketch, most of them summed up.

    Attributes
    ----------
    eps : float
        What ranks may be wrong by.
    block : int
        Values of a block.
    count, missing : int
        Values that weigh something, and NaN.
    low, high : float
        The smallest and the largest value.
    levels : dict of int to Summary
        At most one of each level.
    """

    def __init__(self, eps: float, block: int) -> None:
        self.eps = eps
        self.block = block
        self.count = 0
        self.missing = 0
        self.low, self.high = float("inf"), float("-inf")
        self.levels: dict[int, Summary] = {}
        # The block that is being filled: memory for some values, of which `_held` are there. No weights: all weigh 1.
        self._held = 0
        self._values = np.empty(0)
        self._weights: NDArray[np.float64] | None = None

    @property
    def values(self) -> NDArray[np.float64]:
        """Values of the block that is being filled, in the order they came."""
        return self._values[: self._held]

    @property
    def weights(self) -> NDArray[np.float64] | None:
        """Their weights; None where all are 1."""
        return None if self._weights is None else self._weights[: self._held]

    @property
    def summaries(self) -> list[Summary]:
        """The summaries, lowest level first."""
        return [self.levels[level] for level in sorted(self.levels)]

    @property
    def total(self) -> float:
        """Weight of all values."""
        weights = self.weights
        held = float(self._held) if weights is None or not self._held else float(np.cumsum(weights)[-1])
        return sum((summary.total for summary in self.summaries), held)

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays."""
        held = self._values.nbytes + (0 if self._weights is None else self._weights.nbytes)
        return held + sum(summary.nbytes for summary in self.summaries)

    def points(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """All points, ascending and distinct, and their masses."""
        summaries, weights = self.summaries, self.weights
        held = np.ones(self._held) if weights is None else weights
        points = np.concatenate([*(summary.points for summary in summaries), self.values])
        masses = np.concatenate([*(summary.masses for summary in summaries), held])
        order = np.argsort(points, kind="stable")
        points = points[order]
        new = np.concatenate([np.ones(min(len(points), 1), np.bool_), points[1:] != points[:-1]])
        # Added one after another, on any machine.
        return points[new], np.bincount(np.cumsum(new) - 1, masses[order]).astype(np.float64, copy=False)

    def fill(self, values: NDArray[np.float64], weights: NDArray[np.float64] | None) -> None:
        """Set the block that is being filled."""
        self._values, self._weights, self._held = values, weights, len(values)

    def check_space(self, count: int, missing: int, total: float) -> None:
        """Refuse more values or weight than a sketch can hold."""
        for old, new in ((self.count, count), (self.missing, missing)):
            if old + new >= MOST_COUNT:
                raise DataError(f"{old} values and {new} more are too many: a sketch holds fewer than 2**62")
        if not self.total + total <= MOST_TOTAL:
            raise DataError("the weights add up to more than 2**1022; divide all weights by a large number")

    def take(self, batch: SketchBatch, team: Team) -> None:
        """Add what counts of a batch, block by block."""
        for first in range(0, len(batch.kept), PARTS_AT_ONCE):
            parts = min(PARTS_AT_ONCE, len(batch.kept) - first)
            end = self._held + int(batch.kept[first : first + parts].sum())
            self._make_space(end, batch.weighted)
            values, weights = self._values[:end], None if self._weights is None else self._weights[:end]
            batch.copy(first, parts, self._held, values, weights, team)
            self._held = end
            if end >= self.block:
                for summary in condense(values, weights, self.block, self.eps, team):
                    insert(self.levels, summary, self.eps)
                rest = end - end % self.block
                self.fill(values[rest:].copy(), None if weights is None else weights[rest:].copy())
        self._count(batch.count, batch.missing, batch.low, batch.high)

    def merge(self, other: Store) -> None:
        """Add what another store holds; it may be this one."""
        summaries, count, missing, low, high = (
            other.summaries,
            other.count,
            other.missing,
            other.low,
            other.high,
        )
        values, weights = other.values.copy(), None if other.weights is None else other.weights.copy()
        if len(values):
            with Team(1) as team:
                self.take(SketchBatch(values, weights, team), team)
        for summary in summaries:
            insert(self.levels, summary, self.eps)
        self._count(count - len(values), missing, low, high)

    def _count(self, count: int, missing: int, low: float, high: float) -> None:
        self.count += count
        self.missing += missing
        # Adding 0 makes -0.0 to 0.0.
        if count:
            self.low, self.high = min(self.low, low + 0.0), max(self.high, high + 0.0)

    def _make_space(self, needed: int, weighted: bool) -> None:
        """Have memory for so many values, and for weights if they come now or came before."""
        held, old = self._held, self._weights
        if len(self._values) < needed:
            # Twice as much as needed, so that values that come one by one are not copied each time.
            values = np.empty(needed if needed >= self.block else min(2 * needed + 64, self.block))
            values[:held] = self._values[:held]
            self._values = values
        if not weighted and (old is None or not held):
            self._weights = None
        elif old is None or len(old) < len(self._values):
            self._weights = np.empty(len(self._values))
            self._weights[:held] = 1.0 if old is None else old[:held]


PART = 8192  # values that one thread reads and copies at once


def read_numbers(values: ArrayLike, what: str) -> NDArray[Any]:
    """Read one dimension of numbers as float32 or float64 that kernels can walk over, NaN for missing ones."""
    array = frame_vector(values, what) if is_frame(values) else plain_array(values, what)
    if array.ndim != 1:
        raise not_a_vector(array.shape, what)
    array = numeric(array, lambda _: what)
    single = array.dtype == np.float32
    with np.errstate(over="ignore", under="ignore"):
        return np.require(array, np.float32 if single else np.float64, ["C_CONTIGUOUS", "ALIGNED"])


class SketchBatch:
    """Values and weights that were looked through: what is wrong with them has been raised.

    Attributes
    ----------
    kept : int64[parts]
        Values of each part that count: not NaN, and of a weight above 0.
    count, missing : int
        Values that count, and NaN.
    total : float
        Weight of the values that count.
    low, high : float
        The smallest and the largest of them.
    """

    def __init__(self, values: NDArray[Any], weights: NDArray[np.float64] | None, team: Team) -> None:
        self.weighted = weights is not None
        single = values.dtype == np.float32
        self._given = Stream(
            total=len(values),
            single=int(single),
            weighted=int(self.weighted),
            part=PART,
            values32=values if single else EMPTY32,
            values64=EMPTY64 if single else values,
            weights=EMPTY64 if weights is None else weights,
        )
        facts = allocate(PartFacts, parts=-(-len(values) // PART))
        team.run(survey_values.bind(self._given, facts))
        if facts.wrong.any():
            raise _refusal(values, weights)
        self.kept = facts.kept
        self.count, self.missing = int(facts.kept.sum()), int(facts.missing.sum())
        with np.errstate(over="ignore"):
            self.total = float(np.cumsum(facts.sums)[-1])
        self.low, self.high = float(facts.lows.min()), float(facts.highs.max())

    def copy(
        self,
        first: int,
        parts: int,
        at: int,
        values: NDArray[np.float64],
        weights: NDArray[np.float64] | None,
        team: Team,
    ) -> None:
        """Copy the values that count, of some parts, to place `at` and on of `values`, and so their weights."""
        kept = self.kept[first : first + parts]
        starts = at + np.cumsum(kept) - kept
        team.run(
            take_values.bind(
                self._given, first, parts, len(values), int(weights is not None), starts, values,
                EMPTY64 if weights is None else weights,
            )
        )  # fmt: skip


def _refusal(values: NDArray[Any], weights: NDArray[np.float64] | None) -> DataError:
    """Make the error for the first value, or else weight, that cannot be used."""
    infinite = np.isinf(values)
    if infinite.any():
        row = int(np.argmax(infinite))
        return DataError(f"values holds {values[row]} in row {row}; a sketch takes finite numbers and NaN")
    assert weights is not None
    row = int(np.argmin((weights >= 0.0) & (weights < np.inf)))
    return DataError(f"weights holds {weights[row]} in row {row}; weights must be finite and zero or more")


MAGIC = b"spinneyQ"
VERSION = 1
# Magic, version, block, eps, count, missing, smallest and largest value, values of the unfinished block, whether they have
# weights, summaries.
HEAD = struct.Struct("<8sIIdqqddIII")
LEVEL = struct.Struct("<IId")
CHECKSUM = 4
MOST_SUM = 1.5 * MOST_TOTAL  # in whatever order it is taken
ROUNDING = 1e-9  # an error and an allowance are sums in another order


def write_store(store: Store) -> bytes:
    """Give the bytes of a sketch."""
    weights = store.weights
    if weights is not None and np.all(weights == 1.0):
        weights = None
    summaries = store.summaries
    head = HEAD.pack(
        MAGIC, VERSION, store.block, store.eps, store.count, store.missing, store.low, store.high,
        len(store.values), int(weights is not None), len(summaries),
    )  # fmt: skip
    table = b"".join(LEVEL.pack(part.level, len(part.points), part.error) for part in summaries)
    arrays = [store.values] if weights is None else [store.values, weights]
    for summary in summaries:
        arrays += [summary.points, summary.masses]
    body = head + table + b"".join(array.astype("<f8").tobytes() for array in arrays)
    return body + zlib.crc32(body).to_bytes(CHECKSUM, "little")


def read_store(data: bytes, block: int) -> Store:
    """Read a sketch whose blocks are of the given size, trusting nothing."""
    if not isinstance(data, bytes | bytearray | memoryview):
        raise DataTypeError(f"data must be bytes, got {type(data).__name__}")
    data = bytes(data)
    _check(data[: len(MAGIC)] == MAGIC, "these are not the bytes of a sketch")
    _check(len(data) >= HEAD.size + CHECKSUM, f"the sketch is cut off: its size is {len(data)} bytes")
    _, version, its_block, eps, count, missing, low, high, held, weighted, levels = HEAD.unpack_from(data)
    _check(version == VERSION, f"the sketch is of version {version}; this spinney reads version {VERSION}")
    _check(
        zlib.crc32(data[:-CHECKSUM]) == int.from_bytes(data[-CHECKSUM:], "little"),
        "the sketch is damaged: its checksum is wrong",
    )
    _check(its_block == block, f"the sketch has blocks of {its_block} values, not of {block}")
    _check(SMALLEST_EPS <= eps <= 0.5, f"the sketch has eps = {eps}")
    _check(
        0 <= min(count, missing) <= max(count, missing) < MOST_COUNT,
        f"the sketch has {count} values and {missing} NaN",
    )
    _check(held < block and held <= count, f"the sketch has {held} values in a block of {block}")
    _check(weighted <= 1 and levels <= MOST_LEVEL + 1, f"the sketch has {levels} summaries")
    table_end = HEAD.size + levels * LEVEL.size
    _check(len(data) >= table_end + CHECKSUM, f"the sketch is cut off: its size is {len(data)} bytes")
    table = [LEVEL.unpack_from(data, HEAD.size + i * LEVEL.size) for i in range(levels)]
    sizes = [held] * (1 + weighted) + [size for _, size, _ in table for _ in range(2)]
    _check(
        len(data) == table_end + 8 * sum(sizes) + CHECKSUM, f"the sketch does not fill its {len(data)} bytes"
    )
    arrays = _arrays(data, table_end, sizes)
    values, weights = arrays[0], arrays[1] if weighted else None
    arrays = arrays[1 + weighted :]
    _check(bool(np.isfinite(values).all()), "the sketch holds a value that is not finite")
    _check(weights is None or _is_mass(weights), "the sketch holds a weight that is not above zero")
    summaries = [
        _summary(level, error, arrays[2 * i], arrays[2 * i + 1], eps)
        for i, (level, _, error) in enumerate(table)
    ]
    store = Store(eps, block)
    store.count, store.missing, store.low, store.high = count, missing, low, high
    store.fill(values, weights)
    store.levels = {summary.level: summary for summary in summaries}
    _check_whole(store, [summary.level for summary in summaries])
    return store


def _arrays(data: bytes, at: int, sizes: list[int]) -> list[NDArray[np.float64]]:
    found = []
    for size in sizes:
        # -0.0 becomes 0.0, as it does on the way in.
        found.append(np.frombuffer(data, "<f8", size, at).astype(np.float64) + 0.0)
        at += 8 * size
    return found


def _summary(
    level: int, error: float, points: NDArray[np.float64], masses: NDArray[np.float64], eps: float
) -> Summary:
    where = f"the summary of level {level}"
    _check(level <= MOST_LEVEL, f"the sketch has a summary of level {level}; {MOST_LEVEL} is the highest")
    # A little more than the bound, which is one of exact arithmetic.
    most = 1.001 * most_points(level, eps) + 8
    _check(0 < len(points) <= most, f"{where} has {len(points)} points; it may have {int(most)}")
    _check(bool(np.isfinite(points).all() and (points[1:] > points[:-1]).all()), f"{where} is not ascending")
    _check(_is_mass(masses), f"{where} has a mass that is not above zero")
    summary = Summary(points, masses, level, error)
    allowed = eps * BUDGET[level] * (1.0 + ROUNDING)
    _check(0.0 <= error / summary.total <= allowed, f"{where} has the error {error}, which is too large")
    return summary


def _check_whole(store: Store, levels: list[int]) -> None:
    """Check what is true of all parts together."""
    _check(levels == sorted(set(levels)), f"the sketch has summaries of levels {levels}; they must ascend")
    least = sum(store.block << max(level - 1, 0) for level in levels)
    held = len(store.values)
    _check(
        store.count - held >= least if levels else store.count == held,
        f"the sketch has {store.count} values, which its summaries cannot be of",
    )
    _check(store.total <= MOST_SUM, "the sketch's weights add up to too much")
    if not store.count:
        _check(store.low == np.inf and store.high == -np.inf, "the sketch is empty but has a range")
        return
    parts = [summary.points for summary in store.summaries] + [store.values] * (held > 0)
    low, high = min(float(part.min()) for part in parts), max(float(part.max()) for part in parts)
    _check(
        -np.inf < store.low <= low and high <= store.high < np.inf,
        "the sketch's range does not hold its values",
    )
    if not any(levels):
        _check(store.low == low and store.high == high, "the sketch's range is not that of its values")


def _is_mass(masses: NDArray[np.float64]) -> bool:
    with np.errstate(over="ignore"):
        return bool((masses > 0.0).all() and np.sum(masses) <= MOST_SUM)


def _check(sound: bool, message: str) -> None:
    if not sound:
        raise SketchFormatError(message)
