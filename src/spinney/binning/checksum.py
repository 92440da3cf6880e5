"""Whether the values of a table are those that were read before."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from spinney.binning.kernels.mixing import StoredLines, mix_block, mix_lines
from spinney.binning.matrix import block_of
from spinney.data import Panel, Table
from spinney.data.sparse import SparseValues
from spinney.data.table import CONVERTED_ROWS, kernel_blocks
from spinney.jit.team import parallel_map


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

    def add(self, table: Table, threads: int = 1) -> None:
        """Take the next rows; the sum does not depend on the threads."""
        for part in parallel_map(lambda one: one(), self._parts(table), threads):
            self._sum += part
        self._rows += table.rows

    def _parts(self, table: Table) -> Iterator[Callable[[], NDArray[np.int64]]]:
        """What is to be summed, in parts that threads can share."""
        if table.sparse is not None:
            yield partial(_stored_sum, table.sparse, self._rows, self._absent)
        for panel in table.panels:
            numbers = panel if panel.categories is None else _marked(panel)
            for first in range(0, table.rows, CONVERTED_ROWS):
                values = numbers.values[first : first + CONVERTED_ROWS]
                yield partial(_dense_sum, replace(numbers, values=values), self._rows + first)


def _dense_sum(panel: Panel, first_row: int) -> NDArray[np.int64]:
    """The sum over a panel whose first row has a number."""
    total = np.zeros(1, np.int64)
    for first, block in kernel_blocks(panel):
        mix_block(first_row + first, panel.first, block_of(block), total)
    return total


def _stored_sum(stored: SparseValues, first_row: int, absent: float) -> NDArray[np.int64]:
    """The sum over what a sparse table stores, row by row or column by column as it stands."""
    total = np.zeros(1, np.int64)
    by_column = stored.format == "csc"
    for first, entries in stored.stored_blocks(CONVERTED_ROWS):
        single = int(entries.values.dtype == np.float32)
        lines = StoredLines(
            entries.rows, len(entries.values), int(by_column), single, entries.starts, entries.indices, *entries.typed
        )  # fmt: skip
        row, column = (0, first) if by_column else (first, 0)
        mix_lines(first_row + row, column, absent, lines, total)
    return total


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
