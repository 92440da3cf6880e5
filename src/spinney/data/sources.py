"""Rows that come in batches and can be read again: `RowSource`, the `Batch` it gives, and `BatchSource` of a user's function.

Errors about a batch name it, and the row that the numbers in messages are counted from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from spinney.data.labels import LABEL_NAMES, RawLabels
from spinney.data.read import read_table
from spinney.data.table import Table, describe_column
from spinney.errors import DataError, DataTypeError, ParameterError, ParameterTypeError, SpinneyError
from spinney.messages import shown
from spinney.params.parameter import is_iterable

SAME_ROWS = "the same rows must come in the same order every time"
KEYS = ("X", *LABEL_NAMES)


@contextmanager
def errors_of(where: str, first: int = 0) -> Iterator[None]:
    """Name a file or a batch in the errors of a `with` block, and the row of it that their rows are counted from.

    Errors of parameters stay as they are: they are not about a batch.

    Examples
    --------
    >>> with errors_of("file 'a.csv'", 500):
    ...     raise DataError("y is NaN in row 3")
    Traceback (most recent call last):
    ...
    spinney.errors.DataError: file 'a.csv' from row 500 on: y is NaN in row 3
    """
    try:
        yield
    except (ParameterError, ParameterTypeError):
        raise
    except SpinneyError as error:
        since = f" from row {first} on" if first else ""
        raise type(error)(f"{where}{since}: {error}") from None


@dataclass(frozen=True, eq=False)
class Batch:
    """Some rows that follow each other.

    Attributes
    ----------
    first : int
        Number of the first row, counted from that of the file or batch.
    table : Table
        The columns; perhaps of no rows.
    labels : RawLabels
        What belongs to the rows.
    """

    first: int
    table: Table
    labels: RawLabels

    @property
    def where(self) -> str:
        """Name of the file or the batch in messages."""
        return self.labels.where

    def with_table(self, table: Table) -> Batch:
        """The same rows with another form of their columns."""
        return replace(self, table=table)

    def infinite(self, row: int, column: int) -> DataError:
        """Make the error for an infinite value of a row of this batch."""
        return DataError(
            f"{self.where}: {describe_column(self.table, column)} holds an infinite value in row {self.first + row}, counted "
            "from 0; only finite numbers and NaN (missing) can be used"
        )


@contextmanager
def errors_within(batch: Batch) -> Iterator[None]:
    """As `errors_of`, for what is computed from a batch; an error about an infinite value names its row too."""
    try:
        with errors_of(batch.where, batch.first):
            yield
    except DataError:
        found = first_infinite(batch.table)
        if found is None:
            raise
        raise batch.infinite(*found) from None


def first_infinite(table: Table) -> tuple[int, int] | None:
    """Row and column of the first infinite value of a table; None where there is none."""
    if table.sparse is not None:
        stored = table.sparse.csr
        places = np.flatnonzero(np.isinf(stored.values))
        if not len(places):
            return None
        place = int(places[0])
        return int(np.searchsorted(stored.starts, place, side="right")) - 1, int(stored.indices[place])
    found: list[tuple[int, int]] = []
    for panel in table.panels:
        if panel.values.dtype.kind != "f":
            continue  # whole numbers, or those of categories
        for first, block in panel.blocks(65_536):
            infinite = np.isinf(block)
            if infinite.any():
                rows, columns = np.nonzero(infinite)
                found.append((first + int(rows[0]), panel.first + int(columns[0])))
                break
    return min(found, default=None)


class RowSource(Protocol):
    """Gives the same batches each time they are read."""

    rows: int | None
    """Number of rows; None: unknown before they are read."""

    title: str
    """Name of the source in messages."""

    def batches(self) -> Iterator[Batch]:
        """Every batch, in order, from the first one on."""


class BatchSource:
    """Batches that a user's function gives.

    Parameters
    ----------
    source : callable, list or tuple
        Called without arguments, it gives a fresh iterator of batches: tables, pairs (X, y), or dicts of X, y,
        weight, base_margin, group and qid. Or a list of batches.
    names : sequence of str, optional
        Column names, for tables that have none.
    rows : int, optional
        Number of rows, where it is known.
    once : bool, default=False
        Whether batches are read only once, so that an iterator is allowed.

    Examples
    --------
    >>> import numpy as np
    >>> source = BatchSource(lambda: iter([(np.eye(2), [0, 1]), (np.eye(2), [2, 3])]))
    >>> [(batch.where, batch.table.rows, batch.labels.y) for batch in source.batches()]
    [('batch 0', 2, [0, 1]), ('batch 1', 2, [2, 3])]
    """

    title = "source"

    def __init__(
        self,
        source: Callable[[], Iterable[Any]] | Iterable[Any],
        names: Any = None,
        rows: int | None = None,
        *,
        once: bool = False,
    ) -> None:
        if rows is not None and (isinstance(rows, bool) or not isinstance(rows, int | np.integer)):
            raise ParameterTypeError(f"rows={shown(rows)} must be a whole number")
        if rows is not None and rows < 1:
            raise ParameterError(f"rows={rows} must be 1 or more")
        self.rows: int | None = None if rows is None else int(rows)
        again = callable(source) or isinstance(source, list | tuple)
        if not again and not (once and is_iterable(source)):
            kind = type(source).__name__
            why = "which can be read only once" if isinstance(source, Iterator) else "which is neither"
            raise DataTypeError(
                "source must be a function that gives a fresh iterator of batches each time it is called, or a list of batches; "
                f"it is a {kind}, {why}: give a function, as in lambda: my_batches()"
            )
        self._source, self._names = source, names

    def batches(self) -> Iterator[Batch]:
        """Every batch, in order, from the first one on."""
        given = self._source() if callable(self._source) else self._source
        if isinstance(given, Mapping | str) or not is_iterable(given):
            raise DataTypeError(
                f"source must give an iterator of batches when it is called; it gave a {type(given).__name__}"
            )
        for number, one in enumerate(given):
            yield self._batch(f"batch {number}", one)

    def _batch(self, where: str, given: object) -> Batch:
        if isinstance(given, Mapping):
            found = dict(given)
            unknown = [key for key in found if key not in KEYS]
            if unknown or "X" not in found:
                wrong = f"the key {unknown[0]!r}" if unknown else "no key 'X'"
                raise DataError(
                    f"{where} is a dict with {wrong}; it must have X, and may have {', '.join(KEYS[1:])}"
                )
        elif isinstance(given, tuple):
            if len(given) != 2:
                raise DataError(
                    f"{where} is a tuple of {len(given)}; it must be (X, y), or a dict of {', '.join(KEYS)}"
                )
            found = dict(zip(KEYS, given, strict=False))
        else:
            found = {"X": given}
        with errors_of(where):
            table = read_table(found["X"], names=self._names, allow_empty=True)
        return Batch(0, table, RawLabels(*(found.get(name) for name in LABEL_NAMES), where=where))
