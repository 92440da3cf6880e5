"""Machine instructions that Python has no word for: atomics, prefetch, vectors, giving up the processor.

Kernels use these names; the compiler swaps in the definitions of `intrinsics_numba` and `vectors_numba`. The bodies here run
when kernels run as plain Python, on one thread.
"""

from __future__ import annotations

import struct
from typing import Any

from spinney.jit.types import Intrinsic


def _atomic_add(array: Any, index: int, value: int) -> int:
    """Add to an int64 cell and return what it held before, as one step for all threads.

    The cell of a `Counter` is its value.
    """
    before = _atomic_load(array, index)
    _atomic_store(array, index, before + value)
    return before


def _atomic_load(array: Any, index: int) -> int:
    """Read an int64 cell, seeing all that was written before the matching `atomic_add` or `atomic_store`."""
    cell = array[index]
    return int(getattr(cell, "value", cell))


def _atomic_store(array: Any, index: int, value: int) -> None:
    """Write an int64 cell so that a thread that reads it with `atomic_load` sees all written before."""
    if hasattr(array[index], "value"):
        array[index].value = value
    else:
        array[index] = value


def _prefetch(array: Any, index: int) -> None:
    """Fetch the cache line of a cell that will soon be read."""


def _give_way() -> None:
    """Let another thread have the processor."""


def _call_code(code: int, rank: int, size: int, sync: Any, words: int) -> int:
    """Call a kernel by the address of its machine code and of its packed arguments; not 0: it failed. Plain Python has none."""
    return 0


def _tail(array: Any, begin: int) -> Any:
    """An array from one of its items on. In a loop, a place in it costs no addition."""
    return array[begin:]


def _copy_to_one(
    source: Any, at: int, target: Any, to: int, other: Any, also: int, first: int, count: int
) -> None:
    """Copy some int64 to the first of two places where `first` is not 0, else to the other.

    The first may be in the same memory, at or before what is copied.
    """
    for k in range(count):
        if first != 0:
            target[to + k] = source[at + k]
        else:
            other[also + k] = source[at + k]


def _partition_by_code(
    words: Any, first: int, step: int, count: int, place: int, cut: int, also: int, spare: Any
) -> int:
    """Part `count` records of `step` words of int64 by the byte that each has at `place`.

    Those with a byte up to `cut`, or of `also`, move to the front, the others to `spare`, in their order. Returns how many words
    of the records stay.
    """
    left, right = first, 0
    for i in range(count):
        at = first + i * step
        codes = b"".join(int(words[at + k]).to_bytes(8, "little", signed=True) for k in range(step))
        if codes[place] <= cut or codes[place] == also:
            for k in range(step):
                words[left + k] = words[at + k]
            left += step
        else:
            for k in range(step):
                spare[right + k] = words[at + k]
            right += step
    return left - first


def _byte_ranges(words: Any, first: int, step: int, count: int, low: Any, high: Any, at: int) -> None:
    """The least and the largest of each of 32 bytes, over `count` records of them that begin `step` words of int64 apart.

    They are written to `low` and `high`, arrays of bytes, from `at` on.
    """
    rows = [
        b"".join(int(words[first + i * step + k]).to_bytes(8, "little", signed=True) for k in range(4))
        for i in range(count)
    ]
    for target, choose in ((low, min), (high, max)):
        for k, found in enumerate(map(choose, zip(*rows, strict=True))):
            target[at + k] = found


def _records_at(words: Any, first: int, step: int, count: int, chunk: int) -> Any:
    """The 32 codes, the weight and the target of each of some records; the last word of a record has the last two."""
    for i in range(count):
        at = first + i * step
        codes = b"".join(int(words[at + chunk + k]).to_bytes(8, "little", signed=True) for k in range(4))
        numbers = int(words[at + step - 1])
        yield codes, numbers & 0xFFFFFFFF, numbers >> 32


def _classes_below(
    words: Any, first: int, step: int, count: int, chunk: int, cuts: Any, at: int, classes: int, left: Any
) -> None:
    """The weights of each class below 32 cuts, over `count` records of `step` words of int64.

    A record's codes are the 32 bytes from its word `chunk` on. The cuts are bytes, from `at` on; codes up to a cut are below it.
    `left` has 32 bytes for each class. Weights must sum up to 255 or less.
    """
    for k in range(32 * classes):
        left[k] = 0
    for codes, weight, target in _records_at(words, first, step, count, chunk):
        for k in range(32):
            left[32 * target + k] += weight if codes[k] <= cuts[at + k] else 0


def _sums_below(
    words: Any,
    first: int,
    step: int,
    count: int,
    chunk: int,
    cuts: Any,
    at: int,
    shift: int,
    bits: int,
    left: Any,
) -> None:
    """The same of packed sums: of targets without their last bits, `shift` of them, times weights, above the bits of the weight.

    `left` has 32 int64.
    """
    for k in range(32):
        left[k] = 0
    for codes, weight, target in _records_at(words, first, step, count, chunk):
        packed = (((target >> shift) * weight) << bits) + weight
        for k in range(32):
            left[k] += packed if codes[k] <= cuts[at + k] else 0


def _filled_cells(cells: Any, at: int) -> int:
    """Which of the 64 integers from a place on are not 0, a bit each, as a signed integer."""
    bits = sum(1 << k for k in range(64) if cells[at + k] != 0)
    return bits - (1 << 64) if bits >> 63 else bits


def _running_sums(source: Any, at: int, target: Any, count: int) -> None:
    """Write the running sums of `count` int32 from a place on to the beginning of another array."""
    total = 0
    for k in range(count):
        total += int(source[at + k])
        target[k] = total


def _transpose_records(words: Any, first: int, step: int, count: int, lines: Any, at: int) -> None:
    """Write the bytes of up to 16 records column by column: 32 bytes each, of records that begin `step` words of int64 apart.

    The lines of bytes begin 64 bytes apart. Sixteen records are read, and as many bytes of each line written, in any case; those
    of records behind the last one mean nothing.
    """
    for i in range(count):
        for k in range(4):
            word = int(words[first + i * step + k]).to_bytes(8, "little", signed=True)
            for b in range(8):
                lines[at + (8 * k + b) * 64 + i] = word[b]


def _sort_bytes(line: Any, at: int, count: int, keys: Any) -> None:
    """Sort up to 64 bytes: a key is a byte, and below it its place among them.

    The keys, uint16, are written with the highest number behind them, up to a multiple of 16 and 16 times more.
    """
    found = sorted(int(line[at + k]) << 8 | k for k in range(count))
    size = 16 if count <= 16 else 32 if count <= 32 else 64
    for k in range(size + 16):
        keys[k] = found[k] if k < count else 65535


def _first_highest(values: Any, count: int) -> int:
    """The place of the first of the highest of some float64, none of which is NaN. There are eight of them, or a multiple."""
    return max(range(count), key=lambda k: (values[k], -k))


def _lowest_bit(bits: int) -> int:
    """The place of the lowest bit that is 1; at least one is."""
    return (int(bits) & -int(bits)).bit_length() - 1


def _either(goes: int, first: int, other: int) -> int:
    """The first of two int64 where `goes` is not 0, else the other: without a branch, where a processor could not guess."""
    return first if goes != 0 else other


def _bits_of(value: float) -> int:
    """The 64 bits of a float64, as a signed integer."""
    return int(struct.unpack("<q", struct.pack("<d", value))[0])


def _from_bits(bits: int) -> float:
    """The float64 with these 64 bits."""
    # Python's integers do not wrap around, as those of a machine do.
    return float(struct.unpack("<d", struct.pack("<Q", int(bits) & 0xFFFFFFFFFFFFFFFF))[0])


atomic_add = Intrinsic(_atomic_add)
atomic_load = Intrinsic(_atomic_load)
atomic_store = Intrinsic(_atomic_store)
prefetch = Intrinsic(_prefetch)
give_way = Intrinsic(_give_way)
call_code = Intrinsic(_call_code)
tail = Intrinsic(_tail)
copy_to_one = Intrinsic(_copy_to_one)
partition_by_code = Intrinsic(_partition_by_code)
byte_ranges = Intrinsic(_byte_ranges)
classes_below = Intrinsic(_classes_below)
sums_below = Intrinsic(_sums_below)
filled_cells = Intrinsic(_filled_cells)
running_sums = Intrinsic(_running_sums)
transpose_records = Intrinsic(_transpose_records)
sort_bytes = Intrinsic(_sort_bytes)
first_highest = Intrinsic(_first_highest)
lowest_bit = Intrinsic(_lowest_bit)
either = Intrinsic(_either)
bits_of = Intrinsic(_bits_of)
from_bits = Intrinsic(_from_bits)
