"""A quantile sketch as bytes.

Little-endian: the head (`HEAD`), for each summary its level, size and error (`LEVEL`), then as float64 the values of the
unfinished block, their weights if not all are 1, and the points and masses of each summary; last a CRC-32 of all before it.
The sizes say how long the whole must be, so nothing larger than the given bytes is ever allocated.
"""

from __future__ import annotations

import struct
import zlib

import numpy as np
from numpy.typing import NDArray

from spinney.binning.sketch_store import Store
from spinney.binning.summary import (
    BUDGET,
    MOST_COUNT,
    MOST_LEVEL,
    MOST_TOTAL,
    SMALLEST_EPS,
    Summary,
    most_points,
)
from spinney.errors import DataTypeError, SketchFormatError

MAGIC = b"spinneyQ"
VERSION = 1
# Magic, version, block, eps, count, missing, smallest and largest value, values of the unfinished block, whether they have
# weights, summaries.
HEAD = struct.Struct("<8sIIdqqddIII")
LEVEL = struct.Struct("<IId")
CHECKSUM = 4
MOST_SUM = 1.5 * MOST_TOTAL  # in whatever order it is taken
ROUNDING = 1e-9  # an error and an allowance are sums in another order


def write(store: Store) -> bytes:
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


def read(data: bytes, block: int) -> Store:
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
