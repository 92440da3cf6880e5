"""Rows → binned data: `ingest` has the order of the steps, an `Executor` does each of them where the rows are.

`MemoryExecutor` has the whole table; `disk/executor.py` reads rows in batches, `dask/executor.py` has them on workers. A table in
memory is binned once: every value gets its bin, the plan is made of the entries, and the codes of the same bins. Rows in batches
are not there all at once, so they become drafts first (`BatchScan`): counts of the drafts show which columns have a default bin,
the plan is made from the entries of these, and drafts are recoded by it, if there are any.

What an entry that a sparse table does not store means is one number on the whole way, 0 or NaN (`DataParams.absent_value`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from spinney.binning.binned import MOST_ROWS, BinnedData, MatrixCodes
from spinney.binning.cuts import Cuts, find_cuts, may_thin
from spinney.binning.encode import Counts, final_defaults, first_plan, plan_and_encode
from spinney.binning.kernels.records import NO_DEFAULT
from spinney.binning.plan import BinPlan, Bundling
from spinney.binning.raw_table import SourceTable, TableFacts, checksum_of
from spinney.data import (
    CategoryCounts,
    Labels,
    RawLabels,
    Schema,
    Table,
    encode,
    find_schema,
    match_columns,
    read_labels,
    read_table,
)
from spinney.data.schema import MOST_COLUMNS, named_categorical
from spinney.errors import DataError, DataTypeError, ParameterError
from spinney.jit.team import Team, most_for, threads_for
from spinney.params import DataParams, checked_jobs
from spinney.params.common import DATA_PARAMS, check_truth

Categorical = str | Sequence[str | int] | NDArray[np.bool_]


class HasColumns(Protocol):
    """A data set whose columns and parameters another one takes."""

    @property
    def schema(self) -> Schema:
        """Columns and categories."""

    @property
    def params(self) -> DataParams:
        """How the table was binned."""

    @property
    def cuts(self) -> Cuts:
        """Where columns are cut into bins."""


def known_columns(reference: HasColumns | None, schema: Schema | None) -> Schema | None:
    """The columns that are known before the table is read."""
    if schema is None:
        return None if reference is None else reference.schema
    if not isinstance(schema, Schema):
        raise DataTypeError(f"schema must be the schema of a model, got {type(schema).__name__}")
    if reference is not None:
        raise ParameterError("schema is given beside reference, which has columns of its own; leave it out")
    return schema


def data_params(given: Mapping[str, object], reference: HasColumns | None) -> DataParams:
    """The parameters of the data, checked; those of the reference where there is one."""
    explicit = {name: value for name, value in given.items() if value is not None}
    params = DataParams.parse(explicit)
    if reference is None:
        return params
    for name in explicit:
        if getattr(params, name) != getattr(reference.params, name):
            raise ParameterError(
                f"{name} = {explicit[name]!r} differs from the reference's {getattr(reference.params, name)!r}; leave it out"
            )
    return reference.params


@dataclass(frozen=True, eq=False, kw_only=True)
class IngestArgs:
    """How rows are read and binned, wherever they are.

    Attributes
    ----------
    params : DataParams
        The parameters of the data.
    known : Schema, optional
        The columns, where a reference or a model has them.
    cuts : Cuts, optional
        Those of a reference.
    categorical : "auto" or sequence of str, int or bool
        Columns of categories.
    strict : bool
        Whether text that all reads as numbers is refused unless it is named categorical.
    """

    params: DataParams
    known: Schema | None = None
    cuts: Cuts | None = None
    categorical: Categorical = "auto"
    strict: bool = True

    @classmethod
    def of(
        cls, values: tuple[object, ...], reference: HasColumns | None, schema: Schema | None, categorical: Categorical
    ) -> IngestArgs:  # fmt: skip
        """The arguments of a `Dataset`, checked; `values` are the parameters of `DATA_PARAMS`, None: not given."""
        known = known_columns(reference, schema)
        params = data_params(dict(zip(DATA_PARAMS, values, strict=True)), reference)
        cuts = None if reference is None else reference.cuts
        return cls(params=params, known=known, cuts=cuts, categorical=categorical)

    @property
    def unseen(self) -> str:
        """What an unknown category means; where categories are counted in these rows, only rows of weight 0 can hold one."""
        return "missing" if self.known is None else self.params.unseen

    @property
    def counted_columns(self) -> tuple[int, ...] | None:
        """Columns whose categories are to be counted; None: all."""
        if self.known is None:
            return None
        return self.known.empty if self.cuts is None else ()

    def schema_of(self, names: tuple[str, ...] | None, columns: int, counts: CategoryCounts | None) -> Schema:
        """The columns of rows of which `counted_columns` were counted; without counts there are none to be counted."""
        found = None if counts is None else counts.found(self.params.max_bin, strict=self.strict)
        if self.known is None:
            return Schema(names, columns, found)
        return self.known if counts is None else self.known.filled(found)

    @property
    def bundling(self) -> Bundling | None:
        """How columns are bundled. Rows coded by the cuts of others may conflict: they are not."""
        if self.cuts is not None or not self.params.bundle:
            return None
        return Bundling(self.params.bundle_order, self.params.max_conflict_rate)

    def may_thin(self, columns: int) -> bool:
        """Whether cuts of so many columns may be thinned, which takes a count of the values of each."""
        return self.cuts is None and may_thin(columns, self.params.max_bin)


Source = TypeVar("Source", contravariant=True)
Binned = TypeVar("Binned", covariant=True)


class Scan(Protocol[Binned]):
    """All rows of a source, which were looked at once; and the steps that follow, in their order."""

    def schema(self) -> Schema:
        """Columns, and the categories that the rows hold."""

    def cuts(self, schema: Schema) -> Cuts:
        """Where columns are cut, by a sample or a sketch of all rows."""

    def encode(self, schema: Schema, cuts: Cuts, bundling: Bundling | None) -> Binned:
        """Plan the codes, and code every row."""


class Executor(Protocol[Source, Binned]):
    """Where rows are read and binned: in memory, on disk, on the workers of a cluster."""

    def scan(self, source: Source, args: IngestArgs) -> AbstractContextManager[Scan[Binned]]:
        """Look at all rows. What the steps need, such as threads, is there as long as the context."""


def ingest(source: Source, args: IngestArgs, executor: Executor[Source, Binned]) -> Binned:
    """Bin all rows of a source: scan → schema and categories → cuts → plan → encode.

    Whichever executor bins them, rows have the same cuts (but for those of sketches), the same plan and the same codes.

    Parameters
    ----------
    source : object
        The rows and what belongs to them, as the executor takes them.
    args : IngestArgs
        How they are read and binned.
    executor : Executor
        What does the steps.
    """
    with executor.scan(source, args) as scan:
        schema = scan.schema()
        cuts = scan.cuts(schema) if args.cuts is None else args.cuts
        return scan.encode(schema, cuts, args.bundling)


class BatchScan(ABC, Generic[Binned]):
    """Rows that are not in memory as one table. They become drafts, every column by itself, and then codes by the plan.

    A table in memory has no drafts (see `TableScan`): they would code each of its values twice.

    Attributes
    ----------
    rows : int
        How many there are.
    from_sparse : bool
        Whether their tables are sparse.
    absent : float
        What an entry that a sparse table does not store means.
    """

    rows: int
    from_sparse: bool
    absent: float

    def encode(self, schema: Schema, cuts: Cuts, bundling: Bundling | None) -> Binned:
        """Plan the codes, and code every row."""
        first = first_plan(cuts, self.absent, self.from_sparse)
        counts = self.draft(schema, first)
        default = final_defaults(first, counts, self.rows, self.from_sparse, bundling is not None)
        if not self.from_sparse and (default == NO_DEFAULT).all():
            return self.store(schema, Recoding(first, default, first))
        plan = self.plan(first, default, counts, bundling)
        return self.store(schema, Recoding(first, default, plan))

    @abstractmethod
    def draft(self, schema: Schema, first: BinPlan) -> Counts:
        """Code every row by the first plan, and keep these drafts where they are; gives counts of all of them."""

    @abstractmethod
    def plan(
        self, first: BinPlan, default: NDArray[np.int64], counts: Counts, bundling: Bundling | None
    ) -> BinPlan:
        """The plan of all rows, from the entries of the columns that have a default bin."""

    @abstractmethod
    def store(self, schema: Schema, recoding: Recoding) -> Binned:
        """Make the drafts codes by the plan."""


@dataclass(frozen=True, eq=False)
class Recoding:
    """How drafts become codes.

    Attributes
    ----------
    first : BinPlan
        What drafts are coded by.
    default : int64
        The default bin of each column whose entries are listed, NO_DEFAULT for others.
    plan : BinPlan
        The plan of all rows; `first` itself where drafts are the codes.
    """

    first: BinPlan
    default: NDArray[np.int64]
    plan: BinPlan

    @property
    def needed(self) -> bool:
        """Whether drafts are not yet the codes."""
        return self.plan is not self.first


# Values from which binning is shared among threads. Time on one thread / on two: 2 000 × 10 .92, 5 000 × 10 1.11,
# 10 000 × 10 1.60, 1 000 × 50 .89, 2 000 × 50 1.42.
SHARE_VALUES = 50_000


@dataclass(frozen=True, eq=False, kw_only=True)
class MemoryExecutor:
    """Bins a table in memory; its source is the table with its labels.

    Attributes
    ----------
    names : sequence of str, optional
        Column names.
    spread : bool
        Whether cuts are chosen by the distance of values too.
    keep_table : bool
        Whether the table is kept for good.
    n_jobs : int, optional
        Threads to bin with.
    """

    names: list[str] | tuple[str, ...] | None = None
    spread: bool = False
    keep_table: bool = False
    n_jobs: int | None = None

    def __post_init__(self) -> None:
        checked_jobs(self.n_jobs)
        check_truth("spread", self.spread)
        check_truth("keep_table", self.keep_table)

    @contextmanager
    def scan(self, source: tuple[object, RawLabels], args: IngestArgs) -> Iterator[TableScan]:
        """Read the table and its labels."""
        X, raw_labels = source
        known = args.known
        table = X if isinstance(X, Table) else read_table(X, names=self.names)
        if known is not None:
            table = match_columns(table, known.names, known.columns, model="the reference")
        if table.rows > MOST_ROWS:
            raise DataError(f"X has {table.rows} rows; a Dataset can hold {MOST_ROWS}")
        if table.columns > MOST_COLUMNS:
            raise DataError(f"X has {table.columns} columns; a Dataset can hold {MOST_COLUMNS}")
        labels = _owned(read_labels(raw_labels, table.rows))
        values = table.rows * table.columns if table.sparse is None else table.sparse.stored
        with Team(threads_for(checked_jobs(self.n_jobs), most_for(values, SHARE_VALUES))) as team:
            yield TableScan(X, table, labels, args, self, team)


class TableScan:
    """A table in memory that was read."""

    def __init__(
        self, X: object, table: Table, labels: Labels, args: IngestArgs, executor: MemoryExecutor, team: Team
    ) -> None:
        self._given, self._table, self._labels, self._args = X, table, labels, args
        self._executor, self._team = executor, team

    def schema(self) -> Schema:
        """Columns and categories; those of the table become numbers."""
        args, table = self._args, self._table
        named = named_categorical(args.categorical, table, args.known)
        if args.known is not None and args.counted_columns == ():
            schema = args.known
        elif args.known is None and not named and table.has_numbers_only:
            schema = Schema(table.names, table.columns)
        else:
            schema = find_schema(
                table, named, self._labels.weight, args.params.max_bin, args.known, strict=args.strict
            )
        if schema.categories is not None or table.has_categories:
            self._table = encode(table, schema.categories, args.unseen)
        return schema

    def cuts(self, schema: Schema) -> Cuts:
        """Cuts of the whole table."""
        params = self._args.params
        return find_cuts(
            self._table, self._labels.weight, params.max_bin, self._team, params.absent_value, schema.category_counts,
            spread=self._executor.spread,
        )  # fmt: skip

    def encode(self, schema: Schema, cuts: Cuts, bundling: Bundling | None) -> BinnedData:
        """Binned data, in one pass over the table. They keep the table for the learners which need its values."""
        args, table, labels = self._args, self._table, self._labels
        absent = args.params.absent_value
        checksum = checksum_of(table, absent, self._team.size)
        plan, matrix = plan_and_encode(table, cuts, self._team, bundling, absent)
        matched = args.known is not None
        facts = TableFacts(table.rows, schema, args.params, labels.weight, args.unseen, matched, checksum)
        raw = SourceTable(self._given, self._executor.names, self._executor.keep_table, facts)
        return BinnedData(schema, args.params, plan, MatrixCodes(matrix), labels, raw)


def _owned(labels: Labels) -> Labels:
    """Labels in memory of their own: later changes to the caller's arrays do not reach them."""

    def own(values: NDArray[np.float64] | None) -> NDArray[np.float64] | None:
        return None if values is None else values.copy(order="K")

    return Labels(labels.target.copy(order="K"), own(labels.weight), own(labels.margin), labels.queries)
