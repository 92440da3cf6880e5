"""A page: codes by column, packed, as bytes; compressed by PyArrow where it is installed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.binning.encode import ColumnCodes
from spinney.binning.matrix import SPARSE, ColumnLayout, code_type, lines_record, row_stride
from spinney.data.table import starts_of
from spinney.disk.kernels.bits import (
    BYTE,
    LargestCodes,
    PackedLines,
    find_largest_codes,
    pack_lines,
    unpack_lines,
)
from spinney.errors import DatasetFormatError, ParameterError
from spinney.jit import allocate
from spinney.jit.records import of_thread
from spinney.jit.team import Team
from spinney.messages import shown

PLAIN = ""
CODECS = ("lz4", "zstd")
CHOICES = ("auto", "none", *CODECS)
PAYS = 0.8  # share of its bytes that a page must shrink to: reading fewer costs unpacking them
TRIES = 3  # pages that must not have shrunk before nothing is tried any more


class Compressor:
    """Compresses pages as long as that pays.

    Parameters
    ----------
    choice : {"auto", "none", "lz4", "zstd"}
        "auto" is lz4 where PyArrow is installed and pages shrink by it.
    """

    def __init__(self, choice: str) -> None:
        if not isinstance(choice, str) or choice not in CHOICES:
            raise ParameterError(
                f"compression={shown(choice)} must be one of {', '.join(map(repr, CHOICES))}"
            )
        if choice in CODECS and find_spec("pyarrow") is None:
            raise ParameterError(f"compression={choice!r} needs PyArrow: pip install 'spinney[files]'")
        self._auto = choice == "auto"
        codec = "lz4" if self._auto and find_spec("pyarrow") is not None else choice
        self._codec = codec if codec in CODECS else PLAIN
        self._left = TRIES

    def pack(self, data: NDArray[np.uint8]) -> tuple[str, Any]:
        """Name of the codec, and the bytes to be written."""
        if self._codec == PLAIN or not len(data):
            return PLAIN, data
        import pyarrow

        packed = pyarrow.compress(data, codec=self._codec)
        if packed.size <= PAYS * len(data) or (not self._auto and packed.size < len(data)):
            return self._codec, packed
        self._left -= self._auto
        if self._left == 0:
            self._codec = PLAIN
        return PLAIN, data


def unpack(codec: str, data: NDArray[np.uint8], size: int) -> NDArray[np.uint8]:
    """The bytes of a page, `size` of them, that was compressed."""
    if codec == PLAIN:
        return data
    if find_spec("pyarrow") is None:
        raise DatasetFormatError(f"it is compressed by {codec}: reading it needs PyArrow")
    import pyarrow

    try:
        found = np.frombuffer(pyarrow.decompress(data, decompressed_size=size, codec=codec), np.uint8)
    except (pyarrow.ArrowException, OSError) as error:
        raise DatasetFormatError(f"it cannot be decompressed: {error}") from error
    if len(found) != size:
        raise DatasetFormatError(f"it has {len(found)} bytes after decompression, not {size}")
    return found


COUNT, ROW, CODE = np.dtype("<u4"), np.dtype("<i4"), np.dtype("<u2")


@dataclass(frozen=True, eq=False)
class PageLayout:
    """How the pages of a data set are written.

    First the codes of each group, packed; then, where columns are sparse, how many entries each column has, and rows and codes of
    all entries.
    """

    features: ColumnLayout
    from_sparse: bool

    @cached_property
    def widths(self) -> NDArray[np.int64]:
        """Bits of a code of each group."""
        return np.array(
            [max(int(codes - 1).bit_length(), 1) for codes in self.features.group_codes], np.int64
        )

    @cached_property
    def dtype(self) -> np.dtype[Any]:
        """Type of the codes in memory."""
        return code_type(int(self.features.group_codes.max(initial=0)))

    @cached_property
    def in_bytes(self) -> bool:
        """Whether every code is written as a byte, so that a page can be used as it is written."""
        return self.dtype == np.uint8 and bool((self.widths == BYTE).all())

    @cached_property
    def listed(self) -> NDArray[np.int64]:
        """The sparse columns."""
        return np.flatnonzero(self.features.group == SPARSE)

    @property
    def stride(self) -> int:
        """Codes from one row to the next, in memory."""
        return row_stride(len(self.widths), self.dtype)

    def packed_starts(self, rows: int) -> NDArray[np.int64]:
        """Where the packed codes of each group of a page begin, and where they end."""
        return starts_of((rows * self.widths + 7) >> 3)

    def size(self, rows: int, entries: int) -> int:
        """Bytes of a page."""
        listed = len(self.listed)
        sparse = listed * COUNT.itemsize + entries * (ROW.itemsize + CODE.itemsize)
        return int(self.packed_starts(rows)[-1]) + sparse

    def memory(self, rows: int, entries: int) -> int:
        """Bytes of a page in memory, by columns and by rows."""
        groups = rows * (len(self.widths) + self.stride) * self.dtype.itemsize
        sparse = 8 * (rows + 1 + self.features.columns + 1) + entries * (4 + 4 + 2)
        return groups + (sparse if len(self.listed) else 8 * (self.features.columns + 1))

    def pack(self, codes: ColumnCodes, team: Team) -> NDArray[np.uint8]:
        """The bytes of a page."""
        rows, entries = codes.groups.shape[1], len(codes.codes)
        data = np.empty(self.size(rows, entries), np.uint8)
        to = self._packed(rows, data)
        team.run(pack_lines.bind(lines_record(codes.groups), to))
        counts = np.diff(codes.starts)[self.listed].astype(COUNT)
        parts = (counts, codes.rows.astype(ROW, copy=False), codes.codes.astype(CODE, copy=False))
        data[to.bytes :] = np.concatenate([np.ascontiguousarray(part).view(np.uint8) for part in parts])
        return data

    def unpack(
        self,
        data: NDArray[np.uint8],
        rows: int,
        entries: int,
        into: NDArray[Any] | None,
        team: Team,
        *,
        sound: bool = False,
    ) -> ColumnCodes:
        """Codes of a page of `size` bytes. A code that cannot be is an error; those of a page that is `sound` can be.

        Those of groups go into flat memory, which may be larger. Without it they stay where they are, which must be `in_bytes`.
        """
        count = len(self.widths)
        from_ = self._packed(rows, data)
        largest = allocate(LargestCodes, threads=team.size, packed=from_)
        groups = (from_.packed if into is None else into[: count * rows]).reshape(count, rows)
        if into is None and not sound:
            team.run(find_largest_codes.bind(from_, rows, largest))
        elif into is not None:
            team.run(unpack_lines.bind(from_, lines_record(groups), largest))
        by_thread = [of_thread(largest, rank).codes for rank in range(team.size)]
        if (np.max(by_thread, axis=0) >= self.features.group_codes).any():
            raise DatasetFormatError("it holds a code that no bin has")
        starts, entry_rows, codes = self._entries(data[from_.bytes :], rows, entries)
        return ColumnCodes(groups, starts, entry_rows, codes, self.from_sparse)

    def _packed(self, rows: int, data: NDArray[np.uint8]) -> PackedLines:
        starts = self.packed_starts(rows)
        end = int(starts[-1])
        return PackedLines(len(self.widths), end, self.widths, starts, data[:end])

    def _entries(
        self, data: NDArray[np.uint8], rows: int, entries: int
    ) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.uint16]]:
        """Entries of the sparse columns, after each was looked at."""
        features, listed = self.features, self.listed
        first = len(listed) * COUNT.itemsize
        second = first + entries * ROW.itemsize
        counts = np.zeros(features.columns, np.int64)
        counts[listed] = np.frombuffer(data[:first], COUNT)
        starts = starts_of(counts)
        entry_rows = np.frombuffer(data[first:second], ROW).astype(np.int32)
        codes = np.frombuffer(data[second:], CODE).astype(np.uint16)
        if int(starts[-1]) != entries:
            raise DatasetFormatError("its columns do not have as many entries as it holds")
        if entries:
            most = np.repeat(features.codes, counts)
            rises = np.diff(entry_rows) > 0
            rises[starts[1:-1][(starts[1:-1] > 0) & (starts[1:-1] < entries)] - 1] = True
            in_range = entry_rows.min() >= 0 and entry_rows.max() < rows and codes.min() >= 1
            if not (in_range and (codes <= most).all() and rises.all()):
                raise DatasetFormatError("an entry of a sparse column is out of range or out of order")
        return starts, entry_rows, codes
