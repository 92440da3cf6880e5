"""Partitions → tables, read on their workers; the client gets the number of rows and the columns.

Types and shapes of labels, such as y or weights, must agree with those of other partitions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from numbers import Number
from typing import Any

import numpy as np
from distributed import Client, Future
from numpy.typing import NDArray

from spinney.binning.binned import MOST_ROWS
from spinney.dask.inputs import PartitionedInput
from spinney.dask.tasks import as_task, put, register_sizeof, results
from spinney.data import RawLabels, Schema, Table, describe_column, match_columns, read_queries, read_table
from spinney.data.arrays import plain_array
from spinney.data.frame import frame_names, frame_vectors, is_frame, packages_of
from spinney.data.labels import LABEL_NAMES
from spinney.data.queries import read_batch_weight
from spinney.data.schema import MOST_COLUMNS
from spinney.data.sources import errors_of, first_infinite
from spinney.data.sparse import is_sparse
from spinney.data.table import column_title
from spinney.data.target import read_base_margin
from spinney.errors import DataError, DataTypeError

_LARGE = 2.0**53  # whole numbers beyond are not all floating-point numbers


@dataclass(frozen=True)
class LabelInfo:
    """Type and shape of one kind of labels in a partition.

    Attributes
    ----------
    shape : tuple of int
        Shape of a row.
    kind : str
        Kind of the values: "numbers", "text", or another type. NumPy would concatenate numbers and text as text.
    dtype : dtype
        Type of the values.
    large : bool
        Whether they are whole numbers beyond those that floating-point numbers hold exactly.
    names : tuple of str, optional
        Names of the columns, where a frame has several.
    """

    shape: tuple[int, ...]
    kind: str
    dtype: np.dtype[Any]
    large: bool = False
    names: tuple[str, ...] | None = None


def array_of(values: Any, what: str) -> NDArray[Any] | None:
    """Values of any type as an array, a column each where there are several."""
    if values is None:
        return None
    if is_frame(values):
        columns = frame_vectors(values, what)
        return columns[0] if len(columns) == 1 else np.column_stack(columns)
    found = plain_array(values, what) if getattr(values, "dtype", np.dtype("f8")).names is None else values
    if found.ndim == 0:
        raise DataTypeError(f"{what} is a single value, {found.item()!r:.40}; give one for each row")
    return found


def label_info(values: Any, what: str) -> LabelInfo | None:
    """Type and shape of values; None where there are none."""
    found = array_of(values, what)
    if found is None:
        return None
    names = frame_names(values) if is_frame(values) and found.ndim > 1 else None
    large = found.dtype.kind in "iu" and bool((np.abs(found.astype(np.float64)) > _LARGE).any())
    return LabelInfo(found.shape[1:], _kind_of(found), found.dtype, large, names)


def _kind_of(values: NDArray[Any]) -> str:
    """The kind of values, as in `LabelInfo`; "" if all are missing. Text of any dtype is text."""
    kind = values.dtype.kind
    if kind == "O":
        known = (one for one in values.flat if isinstance(one, str | bytes | Number) and one == one)
        first = next(known, None)
        return "" if first is None else "numbers" if isinstance(first, Number) else "text"
    return "numbers" if kind in "biufc" else "text" if kind in "US" else str(values.dtype)


def check_label_info(name: str, infos: Sequence[LabelInfo | None], titles: Sequence[str]) -> None:
    """Raise if some partitions have no such labels, or labels that cannot be concatenated with those of the first. All have rows.

    Examples
    --------
    >>> check_label_info("y", [label_info([1.5], "y"), None], ["partition 0", "partition 1"])
    Traceback (most recent call last):
    ...
    spinney.errors.DataError: partition 1 has no y, but partition 0 has; give it for all partitions or for none
    """
    first = infos[0] if infos else None
    for info, title in zip(infos, titles, strict=True):
        if info is None or first is None:
            if info is not first:
                none, one = (title, titles[0]) if info is None else (titles[0], title)
                raise DataError(
                    f"{none} has no {name}, but {one} has; give it for all partitions or for none"
                )
            continue
        if info.kind and first.kind and info.kind != first.kind:
            raise DataTypeError(
                f"{title}: {name} holds {info.kind}, but {first.kind} in {titles[0]}; give every partition the same dtype"
            )
        if info.shape != first.shape:
            raise DataError(
                f"{title}: {name} has {_columns(info)}, but {_columns(first)} in {titles[0]}; give every partition as many"
            )
        if info.names and first.names and info.names != first.names:
            raise DataError(
                f"{title}: {name} has the columns {', '.join(info.names)}, but {', '.join(first.names)} in {titles[0]}; give "
                "every partition the same"
            )
    _check_large(name, [info for info in infos if info is not None], titles)


def _check_large(name: str, infos: Sequence[LabelInfo], titles: Sequence[str]) -> None:
    """Raise if large whole numbers would be concatenated with others as floating-point numbers."""
    large = next((at for at, info in enumerate(infos) if info.large), None)
    numbers = [info.dtype for info in infos if info.dtype.kind in "biuf"]
    if large is None or np.result_type(*numbers).kind != "f":
        return
    own = infos[large].dtype
    other = next(at for at, info in enumerate(infos) if np.result_type(info.dtype, own).kind == "f")
    raise DataTypeError(
        f"{titles[other]}: {name} is {infos[other].dtype}, but {titles[large]} has {own} beyond 2**53, and together they would "
        "be rounded; give every partition the same dtype"
    )


def _columns(info: LabelInfo) -> str:
    return f"{info.shape[0]} columns" if info.shape else "one dimension"


FEW_PARTITIONS = 64  # so many partitions are never merged, however small
ENOUGH_ROWS = 2**16  # a partition with so many rows is never small

# Called with the target of a partition and its number of rows; raises if the target is invalid.
TargetCheck = Callable[[Any, int], object]


@dataclass(frozen=True, eq=False)
class PartTable:
    """A partition that was read, or several consecutive small ones.

    Attributes
    ----------
    tables : list of Table
        One for each partition.
    titles : list of str
        The name of each in messages.
    types : tuple of str
        The types of the columns in the user's table; see `column_types`.
    labels : tuple of LabelInfo or None
        Types and shapes of y, weight, base_margin, group and qid.
    """

    tables: list[Table]
    titles: list[str]
    types: tuple[str, ...]
    labels: tuple[LabelInfo | None, ...] = ()

    def nonempty_tables(self) -> Iterator[tuple[str, Table, slice]]:
        """Title, table and rows of every partition that is not empty; the rows are a slice of those of all partitions."""
        first = 0
        for title, table in zip(self.titles, self.tables, strict=True):
            if table.rows:
                yield title, table, slice(first, first + table.rows)
            first += table.rows


@dataclass(frozen=True)
class _PartitionInfo:
    """Rows, columns and types of a partition, which the client gets."""

    rows: int
    columns: int
    names: tuple[str, ...] | None
    sparse: bool
    types: tuple[str, ...]
    labels: tuple[LabelInfo | None, ...]


@dataclass(frozen=True, eq=False)
class ScannedPartitions:
    """The rows of a table on the workers.

    Attributes
    ----------
    tables : list of Future
        A `PartTable` each; every one has rows.
    lengths : int64
        Rows of each.
    input_lengths : list of int
        Rows of each partition of the input that is not empty.
    labels : RawLabels
        The labels of these partitions of the input: a list of futures in place of each array.
    empty_table : Table
        The columns and the number of all rows, without values.
    from_sparse : bool
        Whether they are sparse.
    """

    tables: list[Future]
    lengths: NDArray[np.int64]
    input_lengths: list[int]
    labels: RawLabels
    empty_table: Table
    from_sparse: bool


def scan_partitions(
    client: Client, given: PartitionedInput, names: Any, known: Schema | None, check: TargetCheck | None
) -> ScannedPartitions:
    """Read every partition on its worker, and compare them.

    Parameters
    ----------
    client : Client
        The client, whose workers read.
    given : PartitionedInput
        The partitions.
    names : sequence of str, optional
        Column names, for tables that have none.
    known : Schema, optional
        The columns of a reference or a model.
    check : callable, optional
        A check of the target of each partition.
    """
    titles = [given.title(partition) for partition in range(len(given.X))]
    raw = given.labels
    shared = put(client, (names, known, check, raw.weight_name))
    tables = [
        client.submit(
            read_part, shared, title, X, *(one and one[k] for one in raw.by_name.values()), pure=False
        )
        for k, (X, title) in enumerate(zip(given.X, titles, strict=True))
    ]
    try:
        infos: list[_PartitionInfo] = results(
            client, [client.submit(partition_info, one, pure=False) for one in tables]
        )
    except Exception:
        given.check_computed()
        raise
    _check_consistent(infos, titles)
    nonempty = [k for k, one in enumerate(infos) if one.rows]
    total = sum(one.rows for one in infos)
    names = [raw.weight_name if name == "weight" else name for name in LABEL_NAMES]
    for at, name in enumerate(names):
        check_label_info(name, [infos[k].labels[at] for k in nonempty], [titles[k] for k in nonempty])
    if not nonempty:
        raise DataError(f"{raw.where + ': ' if raw.where else ''}X has no rows; give at least one")
    if total > MOST_ROWS:
        raise DataError(f"X has {total} rows; a Dataset can hold {MOST_ROWS}")
    first = infos[nonempty[0]]
    if first.columns > MOST_COLUMNS:
        raise DataError(f"X has {first.columns} columns; a Dataset can hold {MOST_COLUMNS}")
    rows = [infos[k].rows for k in nonempty]
    ranges = merged_ranges(rows)
    labels: Any = {name: one and [one[k] for k in nonempty] for name, one in raw.by_name.items()}
    tables = [tables[k] for k in nonempty]
    return ScannedPartitions(
        [tables[a] if b - a == 1 else client.submit(merge_parts, tables[a:b], pure=False) for a, b in ranges],
        np.array([sum(rows[a:b]) for a, b in ranges], np.int64),
        rows,
        replace(raw, **labels),
        Table(total, first.columns, first.names, ()),
        first.sparse,
    )


def merged_ranges(rows: list[int]) -> list[tuple[int, int]]:
    """Ranges of partitions that are merged: very many small ones would cost a task each, for each step.

    They depend only on the rows of the partitions, not on the workers.

    Examples
    --------
    >>> merged_ranges([10, 20]), merged_ranges([1] * 128)[:2]
    ([(0, 1), (1, 2)], [(0, 2), (2, 4)])
    """
    if len(rows) <= FEW_PARTITIONS:
        return [(k, k + 1) for k in range(len(rows))]
    enough = min(ENOUGH_ROWS, -(-sum(rows) // FEW_PARTITIONS))
    ends, rows_so_far = [0], 0
    for k, own in enumerate(rows):
        rows_so_far += own
        if rows_so_far >= enough or k + 1 == len(rows):
            ends.append(k + 1)
            rows_so_far = 0
    return list(pairwise(ends))


@as_task
def merge_parts(parts: list[PartTable]) -> PartTable:
    """Task: consecutive partitions as one, without copies."""
    tables = [table for part in parts for table in part.tables]
    return PartTable(tables, [title for part in parts for title in part.titles], parts[0].types)


@as_task
def read_part(
    shared: tuple[Any, Schema | None, TargetCheck | None, str], where: str, X: Any, *labels: Any
) -> PartTable:
    """Task: read a partition. Infinite values, and invalid labels, are errors here, which name the partition and the row."""
    names, known, check, weight_name = shared
    raw = RawLabels(*labels, where=where, weight_name=weight_name)
    with errors_of(where):
        table = read_table(X, names=names, allow_empty=True)
        found = first_infinite(table)
        if found is not None:
            raise DataError(
                f"{describe_column(table, found[1])} holds an infinite value in row {found[0]}, counted from 0; only finite "
                "numbers and NaN (missing) can be used"
            )
        types = column_types(X, table.columns)
        if known is not None:
            table = match_columns(table, known.names, known.columns, model="the reference")
            types = ()  # their order may have changed, and categories are matched one by one
        infos: tuple[LabelInfo | None, ...] = ()
        if table.rows:
            infos = tuple(label_info(values, name) for name, values in raw.by_name.items())
            label_arrays(raw, table.rows)
        else:
            _check_empty(raw.by_name)
    if table.rows and raw.y is not None and check is not None:
        try:
            check(raw.y, table.rows)
        except (DataError, DataTypeError) as error:  # what is wrong with parameters is so in every partition
            raise type(error)(f"{where}: {error}") from None
    return PartTable([table], [where], types, infos)


def label_arrays(raw: RawLabels, rows: int) -> RawLabels:
    """The labels of the rows of a partition as arrays: y, group and qid of any type."""
    y = array_of(raw.y, "y")
    if y is not None and len(y) != rows:
        raise DataError(f"y has {len(y)} values, but X has {rows} rows; give one value for each row")
    queries = read_queries(raw.group, raw.qid, rows)
    weight = read_batch_weight(raw.weight, rows, queries, what=raw.weight_name)
    margin = read_base_margin(raw.base_margin, rows)
    return replace(
        raw, y=y, weight=weight, base_margin=margin, group=array_of(raw.group, "group"), qid=array_of(raw.qid, "qid")
    )  # fmt: skip


@as_task
def partition_info(part: PartTable) -> _PartitionInfo:
    """Task: rows, columns and types of a partition."""
    (table,) = part.tables
    return _PartitionInfo(
        table.rows, table.columns, table.names, table.sparse is not None, part.types, part.labels
    )


def _check_empty(given: dict[str, Any]) -> None:
    for name, values in given.items():
        count = 0 if values is None else len(values)
        if count:
            raise DataError(f"{name} has {count} values, but X has 0 rows; give one value for each row")


def column_types(X: Any, columns: int) -> tuple[str, ...]:
    """The types of the columns of a user's table, as its library names them: one for an array, else one for each column.

    A column without values may have any type; it has "" here.
    """
    if is_sparse(X) or isinstance(X, np.ndarray):
        return (str(X.dtype),)
    if "pandas" in packages_of(X):
        return tuple(
            "" if str(dtype) in ("object", "float64") and _is_empty(X.iloc[:, column]) else str(dtype)
            for column, dtype in enumerate(X.dtypes)
        )
    schema: Any = getattr(X, "schema", None)  # PyArrow's and Polars'
    types = getattr(schema, "types", None) or (schema.dtypes() if hasattr(schema, "dtypes") else ())
    names = (str(one).partition("(")[0] for one in types)
    return tuple("" if name.lower() == "null" else name for name in names) if len(types) == columns else ()


def _is_empty(column: Any) -> bool:
    """Whether a series of pandas holds nothing but missing values."""
    return bool(column.iloc[:1].isna().all() and column.isna().all())


def _check_consistent(infos: list[_PartitionInfo], titles: list[str]) -> None:
    """Raise if partitions differ in columns or types. Types of an empty partition do not matter."""
    first = next((k for k, one in enumerate(infos) if one.rows), 0)
    wanted, earlier = infos[first], list[tuple[_PartitionInfo, str]]()
    for found, title in zip(infos, titles, strict=True):
        if found.columns != wanted.columns:
            raise DataError(
                f"{title} has {found.columns} columns, but {titles[first]} has {wanted.columns}; every partition must have the "
                "same columns"
            )
        if found.names != wanted.names:
            names = wanted.names or ()
            other = next((name for name in found.names or () if name not in names), None)
            how = "in another order, or none" if other is None else f"of other names, such as {other!r}"
            raise DataError(
                f"{title} has columns {how}; every partition must have the columns of {titles[first]}"
            )
        if not found.rows:
            continue
        if found.sparse != wanted.sparse:
            is_ = ("dense", "sparse") if wanted.sparse else ("sparse", "dense")
            raise DataError(f"{title} is {is_[0]}, but {titles[first]} is {is_[1]}; give one kind")
        if len(found.types) != len(wanted.types):
            _raise_types_differ(found, wanted, title, titles[first])
        for column, kind in enumerate(found.types):
            before, its_title = next((one for one in earlier if one[0].types[column]), (found, title))
            if kind and kind != before.types[column]:
                _raise_types_differ(found, before, title, its_title)
        earlier.append((found, title))


def _raise_types_differ(found: _PartitionInfo, wanted: _PartitionInfo, title: str, first: str) -> None:
    pairs = list(zip(found.types, wanted.types, strict=False))
    column = next((k for k, (one, other) in enumerate(pairs) if one != other and one and other), 0)
    one, other = pairs[column] if pairs else ("another kind of table", "a table")
    what = "X" if len(pairs) <= 1 < found.columns else column_title(found.names, column)
    raise DataError(
        f"{title}: {what} is {one}, but {other} in {first}; give every partition the same dtypes, as with X.astype(...)"
    )


register_sizeof(PartTable, Table)
