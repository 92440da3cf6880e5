"""Batches of rows that are read several times (`BatchReader`): every later reading is compared with the first one.

The first reading counts rows, categories and entries, and collects labels and the very rows that cuts of a table in memory would
be found from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from spinney.binning.binned import MOST_ROWS
from spinney.binning.cuts import Cuts, CutThinning, count_entries, find_cuts, sample_rows
from spinney.binning.ingest import IngestArgs
from spinney.binning.sample import Sample
from spinney.data import CategoryCounts, Schema, Table, encode, match_columns
from spinney.data.label_collector import LabelCollector
from spinney.data.schema import MOST_COLUMNS, named_categorical
from spinney.data.sources import SAME_ROWS, Batch, RowSource, errors_of
from spinney.disk.consistency import RereadCheck
from spinney.errors import DataError, DataTypeError
from spinney.jit.team import Team

Advance = Callable[[int], None]


class BatchReader:
    """Rows that were read once, and can be read again as they are to be encoded.

    Attributes
    ----------
    rows : int
        How many there are.
    labels : LabelCollector
        Their labels.
    from_sparse : bool
        Whether their tables are sparse.
    """

    from_sparse: bool

    def __init__(self, source: RowSource, args: IngestArgs, advance: Advance) -> None:
        self._source, self._args = source, args
        if source.rows is not None and source.rows > MOST_ROWS:
            raise self._too_many()
        self.labels = LabelCollector()
        self._columns: tuple[int, tuple[str, ...] | None] | None = None
        self._counts: CategoryCounts | None = None
        self._entries: NDArray[np.int64] | None = None
        self._sample = Sample(source.rows)
        self._first_reading = RereadCheck(absent=args.params.absent_value)
        self.rows = self._look(advance)

    def _look(self, advance: Advance) -> int:
        """Read all rows: count them, their categories and, where they may be needed, their entries."""
        args = self._args
        first = 0
        for batch in self._batches():
            table = batch.table
            with errors_of(batch.where, batch.first):
                if self._columns is None:
                    self._counts = self._begin(table)
                self._check_columns(table)
                if not table.rows:
                    continue
                self._first_reading.add(table)
                weight = self.labels.add(batch.labels, table.rows)
                if self._counts is not None:
                    self._counts.add(table, weight)
                if args.cuts is None:
                    self._sample.add(table, first)
                if args.may_thin(table.columns):
                    found = count_entries(table)
                    self._entries = found if self._entries is None else self._entries + found
            first += table.rows
            advance(table.rows)
            if self._source.rows is not None and first > self._source.rows:
                raise self._other_rows(f"more than {self._source.rows}")
            if first > MOST_ROWS:
                raise self._too_many()
        if not first:
            raise DataError(f"{self._source.title} gave no rows; give at least one")
        if self._source.rows not in (None, first):
            raise self._other_rows(str(first))
        return first

    def _other_rows(self, found: str) -> DataError:
        return DataError(f"{self._source.title} should give {self._source.rows} rows, but gave {found}")

    def _too_many(self) -> DataError:
        return DataError(
            f"there are more than {MOST_ROWS} rows in {self._source.title}; a Dataset can hold no more"
        )

    def _begin(self, table: Table) -> CategoryCounts | None:
        """Take note of the columns of the first batch; gives what counts categories, where some are to be found."""
        known = self._args.known
        if table.columns > MOST_COLUMNS:
            raise DataError(f"X has {table.columns} columns; a Dataset can hold {MOST_COLUMNS}")
        named = named_categorical(self._args.categorical, table, known)
        self._columns = table.columns, table.names
        self.from_sparse = table.sparse is not None
        among = self._args.counted_columns
        return None if among == () else CategoryCounts(table.names, table.columns, named, among)

    def schema(self) -> Schema:
        """Columns, and the categories that were counted."""
        assert self._columns is not None
        columns, names = self._columns
        return self._args.schema_of(names, columns, self._counts)

    def _batches(self) -> Iterator[Batch]:
        """Batches with the columns in the order of those that are known."""
        known = self._args.known
        for batch in self._source.batches():
            if known is None:
                yield batch
                continue
            with errors_of(batch.where, batch.first):
                table = match_columns(batch.table, known.names, known.columns, model="the reference")
            yield batch.with_table(table)

    def _check_columns(self, table: Table) -> None:
        """Refuse a batch with other columns than the first."""
        assert self._columns is not None
        columns, names = self._columns
        if table.columns != columns:
            raise DataError(f"it has {table.columns} columns, but rows before it have {columns}")
        if table.names != names:
            fields = [] if names is None else list(names)
            other = next((name for name in table.names or () if name not in fields), None)
            found = (
                "in another order, or without names"
                if other is None
                else f"of other names, such as {other!r}"
            )
            raise DataError(f"it has columns {found}; every batch must have the columns of the first")
        if table.rows and (table.sparse is not None) != self.from_sparse:
            kinds = ("dense", "sparse") if self.from_sparse else ("sparse", "dense")
            raise DataError(f"it is {kinds[0]}, but rows before it are {kinds[1]}; give one kind")

    def encoded(self, schema: Schema, advance: Advance) -> Iterator[tuple[Batch, Table]]:
        """Read the rows again: every batch, and its table with categories as numbers. They must be the same as before."""
        first, reading = 0, RereadCheck(self._first_reading, self._args.params.absent_value)
        for batch in self._batches():
            table = batch.table
            with errors_of(batch.where, batch.first):
                self._check_columns(table)
                if not table.rows:
                    continue
                if first + table.rows > self.rows:
                    raise self._changed(f"more than {self.rows}")
                self.labels.check(batch.labels, first, table.rows)
                reading.add(table)
                ready = self._encoded(table, schema)
            yield batch, ready
            first += table.rows
            advance(table.rows)
        if first != self.rows:
            raise self._changed(str(first))

    def _encoded(self, table: Table, schema: Schema) -> Table:
        """A table with categories as numbers; what it holds must be of the same kind as before."""
        try:
            return encode(table, schema.categories, self._args.unseen)
        except DataTypeError as error:
            if self._args.known is not None:
                raise
            raise DataTypeError(
                f"{error}. It was of another kind when these rows were read before; {SAME_ROWS}"
            ) from None

    def _changed(self, found: str) -> DataError:
        once = "" if found != "0" else ": it can be read only once, but must give a fresh iterator each time"
        return DataError(
            f"{self._source.title} gave {self.rows} rows the first time and {found} rows when it was read again{once}; "
            f"{SAME_ROWS}"
        )

    def cuts(self, schema: Schema, team: Team, advance: Advance) -> Cuts:
        """Where columns are cut: as those of the whole table would be. Rows are read again where the sample was not known."""
        params, categories = self._args.params, schema.category_counts
        if not self._sample.complete:
            self._sample = Sample(self.rows)
            first = 0
            for _, table in self.encoded(schema, advance):
                self._sample.add(table, first)
                first += table.rows
            sample = self._sample.table(None, self._args.unseen)
        else:
            sample = self._sample.table(schema.categories, self._args.unseen)
        weight = self.labels.weight()
        if weight is not None:
            weight = weight[sample_rows(self.rows)]
        return find_cuts(
            sample, weight, params.max_bin, team, params.absent_value, categories,
            thinning=CutThinning(self.rows, self._counted, thin=True),
        )  # fmt: skip

    def _counted(self) -> NDArray[np.int64]:
        """Values of each column that are neither 0 nor missing; of a column of categories it does not matter."""
        assert self._entries is not None, "used only where bins are many"
        return self._entries
