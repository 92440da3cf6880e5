"""A table in memory → binned data: schema and categories, cuts, plan, codes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from spinney.binning.binned import MOST_ROWS, BinnedData
from spinney.binning.blocks import MatrixCodes
from spinney.binning.cuts import find_cuts
from spinney.binning.encode import plan_and_encode
from spinney.binning.plan import Bundling
from spinney.binning.raw_table import SourceTable, TableFacts, checksum_of
from spinney.data import (
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
from spinney.params.common import check_truth


class HasColumns(Protocol):
    """A data set whose columns and parameters another one takes."""

    @property
    def schema(self) -> Schema:
        """Columns and categories."""

    @property
    def params(self) -> DataParams:
        """How the table was binned."""


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


# Values from which binning is shared among threads. Time on one thread / on two: 2 000 × 10 .92, 5 000 × 10 1.11,
# 10 000 × 10 1.60, 1 000 × 50 .89, 2 000 × 50 1.42.
SHARE_VALUES = 50_000


@dataclass(frozen=True, eq=False, kw_only=True)
class IngestArgs:
    """How a table is read and binned; see `spinney.Dataset`.

    Attributes
    ----------
    given : mapping
        Parameters of the data by name; None: not given.
    reference : BinnedData, optional
        Data whose columns and cuts are taken.
    schema : Schema, optional
        Columns and categories of a model, which are taken.
    categorical : "auto" or sequence of str, int or bool
        Columns of categories.
    names : sequence of str, optional
        Column names.
    spread : bool
        Whether cuts are chosen by the distance of values too.
    keep_table : bool
        Whether the table is kept for good.
    n_jobs : int, optional
        Threads to bin with.
    """

    given: Mapping[str, object]
    reference: BinnedData | None = None
    schema: Schema | None = None
    categorical: str | Sequence[str | int] | NDArray[np.bool_] = "auto"
    names: list[str] | tuple[str, ...] | None = None
    spread: bool = False
    keep_table: bool = False
    n_jobs: int | None = None


def ingest_table(X: object, raw_labels: RawLabels, args: IngestArgs) -> BinnedData:
    """Read a table and its labels, and bin it."""
    known = known_columns(args.reference, args.schema)
    params = data_params(args.given, args.reference)
    n_jobs = checked_jobs(args.n_jobs)
    spread, keep_table = check_truth("spread", args.spread), check_truth("keep_table", args.keep_table)
    table = X if isinstance(X, Table) else read_table(X, names=args.names)
    if known is not None:
        table = match_columns(table, known.names, known.columns, model="the reference")
    if table.rows > MOST_ROWS:
        raise DataError(f"X has {table.rows} rows; a Dataset can hold {MOST_ROWS}")
    if table.columns > MOST_COLUMNS:
        raise DataError(f"X has {table.columns} columns; a Dataset can hold {MOST_COLUMNS}")
    labels = _owned(read_labels(raw_labels, table.rows))
    named = named_categorical(args.categorical, table, known)
    if args.reference is not None:
        schema = args.reference.schema
    elif known is None and not named and table.has_numbers_only:
        schema = Schema(table.names, table.columns)
    else:
        schema = find_schema(table, named, labels.weight, params.max_bin, known)
    # Where categories were counted in this table, only rows of weight 0 can hold an unknown one.
    unseen = "missing" if known is None else params.unseen
    if schema.categories is not None or table.has_categories:
        table = encode(table, schema.categories, unseen)
    absent, bundling = params.absent_value, None
    values = table.rows * table.columns if table.sparse is None else table.sparse.stored
    with Team(threads_for(n_jobs, most_for(values, SHARE_VALUES))) as team:
        checksum = checksum_of(table, absent, team.size)
        if args.reference is None:
            cuts = find_cuts(
                table,
                labels.weight,
                params.max_bin,
                team,
                absent,
                schema.category_counts,
                spread=spread,
            )
            # Rows that are coded by the cuts of others are not bundled: they were not looked at, and may conflict.
            bundling = Bundling(params.bundle_order, params.max_conflict_rate) if params.bundle else None
        else:
            cuts = args.reference.cuts
        plan, matrix = plan_and_encode(table, cuts, team, bundling, absent)
    facts = TableFacts(table.rows, schema, params, labels.weight, unseen, known is not None, checksum)
    raw = SourceTable(X, args.names, keep_table, facts)
    return BinnedData(schema, params, plan, MatrixCodes(matrix), labels, raw)


def _owned(labels: Labels) -> Labels:
    """Labels in memory of their own: later changes to the caller's arrays do not reach them."""

    def own(values: NDArray[np.float64] | None) -> NDArray[np.float64] | None:
        return None if values is None else values.copy(order="K")

    return Labels(labels.target.copy(order="K"), own(labels.weight), own(labels.margin), labels.queries)
