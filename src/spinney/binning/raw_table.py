"""The table behind binned data, for what needs values and not bins: tree_method exact and approx, and `init_model`.

`SourceTable` is the table that a user gave, read again when it is needed; `RowsOfTable` has some rows of it. `NoTable` is for
data of which only codes are kept, `HiddenTable` for data with columns that the table does not have. What is made of a table
(`views.py`) is made at first use and kept until the table is released.

`Checksum` shows whether the values of a table are those that were read before: that of the values that were binned is compared
whenever the table is read again, and a table that was changed is an error.
"""

from __future__ import annotations

import hashlib
import math
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NoReturn, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from spinney.binning.encode import plan_and_encode
from spinney.binning.kernels.mixing import StoredLines, mix_block, mix_lines
from spinney.binning.matrix import block_of
from spinney.binning.views import FineBins, SortedTable, fine_bins, sort_columns, take_sorted
from spinney.data import Panel, Schema, Table, encode, match_columns, read_table
from spinney.data.sparse import SparseValues
from spinney.data.table import CONVERTED_ROWS, kernel_blocks
from spinney.errors import DataError
from spinney.jit.team import Team, parallel_map
from spinney.params import DataParams


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


CHANGED = "make the Dataset again, or give it a copy of X to begin with"
NEED_TABLE = "tree_method exact and approx, and init_model"

View = TypeVar("View")


@dataclass(frozen=True, eq=False)
class TableFacts:
    """What is known of a table that was binned.

    Attributes
    ----------
    rows : int
        Number of rows.
    schema : Schema
        The columns.
    params : DataParams
        The parameters of the data.
    weight : float64[rows], optional
        Weights of the rows, which fine bins are cut by.
    unseen : {"missing", "error", "rarest"}
        What an unknown category means.
    matched : bool
        Whether columns and categories are those of other data.
    checksum : int
        Of its values.
    """

    rows: int
    schema: Schema
    params: DataParams
    weight: NDArray[np.float64] | None
    unseen: str
    matched: bool
    checksum: int


class RawTable(Protocol):
    """The values of the rows of binned data, as long as their table is in memory."""

    @property
    def available(self) -> bool:
        """Whether `table` can give it."""

    def table(self, what: str = "dataset") -> Table:
        """The table, with its columns in order and categories as numbers; read once.

        `what` names the data set in the error for a table that is gone.
        """

    def sorted_columns(self, threads: int) -> SortedTable:
        """Every column's values, sorted once; they do not depend on the threads."""

    def fine_bins(self, team: Team) -> FineBins:
        """The whole table in very many fine bins, cut once; these rows are those that the data have selected."""

    def fine_bins_like(self, other: FineBins, team: Team, what: str) -> FineBins:
        """The whole table in the fine bins of the training data, for a validation set named `what`; binned once."""

    def release(self) -> None:
        """Drop the table and what was made of it beside the bins, unless it is to be kept."""

    def take(self, rows: NDArray[np.int32]) -> RawTable:
        """Some rows of the whole table, ascending."""


class NoTable:
    """No table: only codes are kept.

    Parameters
    ----------
    place : str
        Where the codes are, for messages.
    """

    available = False

    def __init__(self, place: str) -> None:
        self._place = place

    def table(self, what: str = "dataset") -> Table:
        """An error: there is none."""
        self._refuse()

    def sorted_columns(self, threads: int) -> SortedTable:
        """An error: there is no table."""
        self._refuse()

    def fine_bins(self, team: Team) -> FineBins:
        """An error: there is no table."""
        self._refuse()

    def fine_bins_like(self, other: FineBins, team: Team, what: str) -> FineBins:
        """An error: there is no table."""
        self._refuse()

    def release(self) -> None:
        """There is nothing to drop."""

    def take(self, rows: NDArray[np.int32]) -> NoTable:
        """The same: there are no rows to take."""
        return self

    def _refuse(self) -> NoReturn:
        raise DataError(
            f"{NEED_TABLE} of other cuts, need the table, but this data set is {self._place}: it trains with tree_method='hist'. "
            "For anything else make a Dataset of rows that fit into memory"
        )


class HiddenTable(NoTable):
    """The table behind data with more columns than it has. It can only be dropped.

    Parameters
    ----------
    table : RawTable
        The table without those columns.
    """

    def __init__(self, table: RawTable) -> None:
        super().__init__("one with encoded columns")
        self._table = table

    def release(self) -> None:
        """Drop the table."""
        self._table.release()

    def take(self, rows: NDArray[np.int32]) -> HiddenTable:
        """Some rows of the table, hidden too."""
        return HiddenTable(self._table.take(rows))


class _TableViews(ABC):
    """What is made of a table, kept until `release`."""

    def __init__(self) -> None:
        self._views: dict[str, Any] = {}

    @abstractmethod
    def _read(self, what: str) -> Table:
        """Read the table, unless it is kept."""

    def table(self, what: str = "dataset") -> Table:
        """The table, with its columns in order and categories as numbers; read once."""
        table = self._views["table"] = self._read(what)
        return table

    def _view(self, name: str, make: Callable[[], View]) -> View:
        """What is made of the table: at its first use, and then kept."""
        if name not in self._views:
            self._views[name] = make()
        found: View = self._views[name]
        return found

    def __getstate__(self) -> dict[str, object]:
        """Pickles go without the table and what was made of it."""
        return {**self.__dict__, "_views": {}}


class _GivenTable:
    """The table of a user, held until it is released; then it can be found while somebody else holds it."""

    def __init__(self, X: object) -> None:
        self.find: Callable[[], object] = lambda: X

    def release(self) -> None:
        """Hold the table weakly. A list is held in any case."""
        with suppress(TypeError):
            self.find = weakref.ref(self.find())

    def __reduce__(self) -> tuple[type[_GivenTable], tuple[None]]:
        """Pickles go without the table."""
        return _GivenTable, (None,)


class SourceTable(_TableViews):
    """The table that a user gave.

    Parameters
    ----------
    X : table
        As the user gave it.
    names : sequence of str, optional
        Column names.
    keep : bool
        Whether `release` does nothing.
    facts : TableFacts
        What is known of the table since it was binned.

    Examples
    --------
    >>> import spinney as sp
    >>> X = np.eye(2)
    >>> raw = sp.Dataset(X).binned.raw
    >>> raw.release()
    >>> raw.table().rows
    2
    """

    def __init__(
        self, X: object, names: list[str] | tuple[str, ...] | None, keep: bool, facts: TableFacts
    ) -> None:
        super().__init__()
        self._names, self._keep, self._facts = names, keep, facts
        self._given = _GivenTable(X)

    @property
    def rows(self) -> int:
        """Number of rows."""
        return self._facts.rows

    @property
    def available(self) -> bool:
        """Whether `table` can give it: after a training on bins only as long as somebody keeps X."""
        return "table" in self._views or self._given.find() is not None

    def sorted_columns(self, threads: int) -> SortedTable:
        """Every column's values, sorted once; they do not depend on the threads."""
        absent = self._facts.params.absent_value
        return self._view("sorted", lambda: sort_columns(self.table(), threads, absent))

    def fine_bins(self, team: Team) -> FineBins:
        """The table in very many fine bins, cut once."""

        def make() -> FineBins:
            table, facts = self._read("dataset"), self._facts
            return fine_bins(
                table, facts.weight, facts.schema.category_counts, facts.params.absent_value, team
            )

        return self._view("fine", make)

    def fine_bins_like(self, other: FineBins, team: Team, what: str) -> FineBins:
        """The table in the fine bins of the training data; binned once."""
        own: FineBins | None = self._views.get("fine")
        if own is not None and own.cuts is other.cuts:
            return own
        kept: FineBins | None = self._views.get("like")
        if kept is None or kept.cuts is not other.cuts:
            absent = self._facts.params.absent_value
            _, matrix = plan_and_encode(self._read(what), other.cuts, team, absent=absent)
            kept = self._views["like"] = FineBins(other.cuts, other.zero, matrix)
        return kept

    def release(self) -> None:
        """Hold the table weakly: it can be read again while somebody else holds it. A list is kept in any case."""
        if not self._keep:
            self._given.release()
            self._views.clear()

    def take(self, rows: NDArray[np.int32]) -> RowsOfTable:
        """Some rows, ascending."""
        return RowsOfTable(self, rows)

    def __copy__(self) -> SourceTable:
        """The same table, which both drop together, without what was made of it."""
        made = SourceTable(None, self._names, self._keep, self._facts)
        made._given = self._given
        return made

    def _read(self, what: str) -> Table:
        """Read the table again, unless it is kept as it was read, and see that it is the one that was binned.

        What is kept may be the user's own memory, so it is compared at every use.
        """
        table: Table | None = self._views.get("table")
        if table is None:
            table, facts = self._again(what), self._facts
            if facts.matched:
                table = match_columns(table, facts.schema.names, facts.schema.columns, model="the reference")
            if (table.rows, table.columns) != (facts.rows, facts.schema.columns):
                raise DataError(f"X of {what} has changed its shape since the Dataset was made; {CHANGED}")
            table = encode(table, facts.schema.categories, facts.unseen)
        if checksum_of(table, self._facts.params.absent_value) != self._facts.checksum:
            raise DataError(f"X of {what} has changed its values since the Dataset was made; {CHANGED}")
        return table

    def _again(self, what: str) -> Table:
        X = self._given.find()
        if X is None:
            raise DataError(
                f"{NEED_TABLE}, need the table of {what}, which is gone: keep its X until then, or give keep_table=True to "
                "Dataset"
            )
        return X if isinstance(X, Table) else read_table(X, names=self._names)

    def __getstate__(self) -> dict[str, object]:
        return {**super().__getstate__(), "_keep": False}


class RowsOfTable(_TableViews):
    """Some rows of a table. Fine bins are those of the whole table.

    Parameters
    ----------
    whole : SourceTable
        The table.
    rows : int32 array
        Its rows, ascending.
    """

    def __init__(self, whole: SourceTable, rows: NDArray[np.int32]) -> None:
        super().__init__()
        self._whole, self._rows = whole, rows

    @property
    def available(self) -> bool:
        """Whether `table` can give it."""
        return "table" in self._views or self._whole.available

    def sorted_columns(self, threads: int) -> SortedTable:
        """Every column's values, sorted once for the whole, and picked out."""
        return self._view("sorted", lambda: take_sorted(self._whole.sorted_columns(threads), self._rows))

    def fine_bins(self, team: Team) -> FineBins:
        """The whole table in fine bins."""
        return self._whole.fine_bins(team)

    def fine_bins_like(self, other: FineBins, team: Team, what: str) -> FineBins:
        """The whole table in the fine bins of the training data."""
        return self._whole.fine_bins_like(other, team, what)

    def release(self) -> None:
        """Drop the whole's table, unless it is to be kept, and what was made for these rows."""
        self._whole.release()
        self._views.clear()

    def take(self, rows: NDArray[np.int32]) -> RowsOfTable:
        """Some rows of the whole table."""
        return RowsOfTable(self._whole, rows)

    def __copy__(self) -> RowsOfTable:
        """The same rows, without what was made of them."""
        return RowsOfTable(self._whole, self._rows)

    def _read(self, what: str) -> Table:
        kept: Table | None = self._views.get("table")  # a copy
        if kept is not None:
            return kept
        chosen = np.zeros(self._whole.rows, np.bool_)
        chosen[self._rows] = True
        return self._whole.table(what).take(chosen)


def checksum_of(table: Table, absent: float, threads: int = 1) -> int:
    """A checksum of what is read of a table: numbers, and numbers of categories."""
    checksum = Checksum(absent)
    checksum.add(table, threads)
    return checksum.value
