"""Whether rows that are read again are those that were read before."""

from __future__ import annotations

import hashlib
import math
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.binning.given import block_of
from spinney.data import Panel, Table
from spinney.data.kinds import kind_of
from spinney.data.sources import SAME
from spinney.data.spans import CONVERTED_ROWS, kernel_blocks
from spinney.data.sparse import SparseValues
from spinney.data.table import describe_column
from spinney.errors import DataError, DataTypeError
from spinney.pages.kernels.mixing import StoredLines, mix_block, mix_lines


class Checksum:
    """A sum over the values of rows that come in batches, each mixed with its row and column.

    It depends neither on where batches begin, nor on types, nor on how values lie in memory. Values count as the library reads
    them, as float64: -0.0 is 0.0, and every NaN is the same.

    Parameters
    ----------
    absent : float, default=0.0
        What an entry that a sparse table does not store means: 0 or NaN. An entry that stores it does not count.

    Examples
    --------
    >>> from spinney.data import read_table
    >>> one, two = Checksum(), Checksum()
    >>> one.add(read_table([[1.0, 2.0], [3.0, 4.0]]))
    >>> two.add(read_table([[1.0, 2.0]]))
    >>> two.add(read_table([[3.0, 4.0]]))
    >>> one.value == two.value
    True
    """

    def __init__(self, absent: float = 0.0) -> None:
        self._absent, self._rows = absent, 0
        self._sum = np.zeros(1, np.int64)

    @property
    def value(self) -> int:
        """What rows have come to so far."""
        return int(self._sum[0])

    def add(self, table: Table) -> None:
        """Take the next rows."""
        if table.sparse is not None:
            self._add_stored(table.sparse)
        for panel in table.panels:
            for first, block in kernel_blocks(panel if panel.categories is None else _marked(panel)):
                if len(block):
                    mix_block(self._rows + first, panel.first, block_of(block), self._sum)
        self._rows += table.rows

    def _add_stored(self, stored: SparseValues) -> None:
        for first, entries in stored.by_row(CONVERTED_ROWS):
            values32, values64 = entries.typed
            single = int(entries.values.dtype == np.float32)
            lines = StoredLines(
                entries.rows, len(entries.values), single, entries.starts, entries.indices, values32, values64
            )
            mix_lines(self._rows + first, self._absent, lines, self._sum)


def _marked(panel: Panel) -> Panel:
    """A panel of categories with a number for each, which does not depend on the other categories of a batch."""
    assert panel.categories is not None
    marks = np.array([*map(_mark, panel.categories), math.nan])  # the last is for missing
    values: NDArray[np.float64] = marks[panel.values.astype(np.int64)]
    return replace(panel, values=values, categories=None)


def _mark(category: str | int | float) -> float:
    """A category that is a number is that number, text is a number that only it has, but for a chance of 2^-63."""
    if not isinstance(category, str):
        return float(category)
    bits = int.from_bytes(hashlib.blake2b(category.encode(), digest_size=8).digest(), "little")
    return float(np.uint64(bits & ~(1 << 62)).view(np.float64))  # neither infinite nor NaN


class Reading:
    """One reading of all rows, compared with the first one.

    Parameters
    ----------
    first : Reading, optional
        The first one; without it this is the first, which only takes note.
    absent : float, default=0.0
        What an entry that a sparse table does not store means.
    """

    def __init__(self, first: Reading | None = None, absent: float = 0.0) -> None:
        self._first = first
        self._checksum = Checksum(absent)
        self._rows = 0
        # By the row that a batch ends before: its rows, types of its columns, and the checksum of all rows so far.
        self._ends: dict[int, tuple[int, tuple[str, ...], int]] = {}
        self._types: dict[tuple[str, ...], tuple[str, ...]] = {}

    def add(self, table: Table) -> None:
        """Take a batch. Where another batch ended at the same row before, the rows up to there must be the same."""
        self._checksum.add(table)
        self._rows += table.rows
        types = _types_of(table)
        types = self._types.setdefault(types, types)
        if self._first is None:
            self._ends[self._rows] = table.rows, types, self._checksum.value
            return
        rows, before, checksum = self._first._ends.get(self._rows, (0, (), self._checksum.value))
        if rows == table.rows and types != before:
            column = next(k for k, (one, two) in enumerate(zip(types, before, strict=True)) if one != two)
            raise DataTypeError(
                f"{describe_column(table, column)} holds {types[column]}, but held {before[column]} when these rows were read "
                f"before; {SAME}"
            )
        if checksum != self._checksum.value:
            raise DataError(f"columns hold other values than when these rows were read before; {SAME}")


def _types_of(table: Table) -> tuple[str, ...]:
    """The type of every column, in words for messages."""
    if table.sparse is not None:
        return (_name_of(table.sparse.values),) * table.columns
    found: list[str] = []
    for panel in table.panels:
        if panel.categories is None:
            found += [_name_of(panel.values)] * panel.columns
        else:
            found.append(kind_of(panel.categories, panel.spelt))
    return tuple(found)


def _name_of(values: NDArray[Any]) -> str:
    """The type of values, whatever the order of their bytes."""
    return str(values.dtype.newbyteorder("="))
