"""Whether rows that are read again are those that were read before."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from spinney.binning.raw_table import Checksum
from spinney.data import Table
from spinney.data.categories import kind_of
from spinney.data.sources import SAME_ROWS
from spinney.data.table import describe_column
from spinney.errors import DataError, DataTypeError


class RereadCheck:
    """One reading of all rows, compared with the first one.

    Parameters
    ----------
    first : RereadCheck, optional
        The first one; without it this is the first, which only takes note.
    absent : float, default=0.0
        What an entry that a sparse table does not store means.
    """

    def __init__(self, first: RereadCheck | None = None, absent: float = 0.0) -> None:
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
                f"before; {SAME_ROWS}"
            )
        if checksum != self._checksum.value:
            raise DataError(f"columns hold other values than when these rows were read before; {SAME_ROWS}")


def _types_of(table: Table) -> tuple[str, ...]:
    """The type of every column, in words for messages."""
    if table.sparse is not None:
        return (_name_of(table.sparse.values),) * table.columns
    found: list[str] = []
    for panel in table.panels:
        if panel.categories is None:
            found += [_name_of(panel.values)] * panel.columns
        else:
            found.append(kind_of(panel.categories, panel.text_kind))
    return tuple(found)


def _name_of(values: NDArray[Any]) -> str:
    """The type of values, whatever the order of their bytes."""
    return str(values.dtype.newbyteorder("="))
