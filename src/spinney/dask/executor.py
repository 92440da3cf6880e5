"""Partitions → codes on the workers, the same as one `Dataset` of all rows would have: the steps of `ingest` on a cluster.

The client gets counts of categories, and of the drafts' default bins. Cuts come from sampled rows (`binning/sample.py`) or from
quantile sketches, merged in the order of the partitions.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from distributed import Client, Future, get_worker
from numpy.typing import NDArray

from spinney.binning.cuts import (
    Cuts,
    CutThinning,
    count_entries,
    cuts_from_sketches,
    find_cuts,
    sample_rows,
)
from spinney.binning.encode import (
    ColumnCodes,
    Counts,
    arranged,
    bins_of_draft,
    count_draft,
    encode_columns,
    final_plan,
)
from spinney.binning.ingest import BatchScan, IngestArgs, Recoding
from spinney.binning.kernels.records import NO_DEFAULT
from spinney.binning.matrix import SparseEntries
from spinney.binning.plan import BinPlan, Bundling
from spinney.binning.sample import sampled, stacked
from spinney.binning.sketch import QuantileSketch
from spinney.dask.labels import JoinedLabels, LabelledPartitions
from spinney.dask.partitions import PartTable
from spinney.dask.tasks import as_task, put, register_sizeof, result, results
from spinney.data import Categories, CategoryCounts, Labels, Schema, Table, encode
from spinney.data.schema import named_categorical
from spinney.data.sources import errors_of
from spinney.data.table import starts_of
from spinney.jit.team import Team
from spinney.params import DataParams


@dataclass(frozen=True, eq=False)
class DatasetMeta:
    """Cuts, columns and parameters, which all parts of a data set have in common.

    Attributes
    ----------
    plan : BinPlan
        Cuts, groups and codes.
    schema : Schema
        Columns and categories.
    params : DataParams
        Parameters of the data.
    from_sparse : bool
        Whether the rows come from sparse tables.
    no_labels : Labels
        The labels of no rows, which have the types and columns of all.
    """

    plan: BinPlan
    schema: Schema
    params: DataParams
    from_sparse: bool
    no_labels: Labels


@dataclass(frozen=True, eq=False)
class EncodedPart:
    """Codes and labels of consecutive rows.

    Attributes
    ----------
    codes : ColumnCodes
        Their codes by column.
    labels : Labels
        Their labels. Queries are numbered as in the whole table.
    """

    codes: ColumnCodes
    labels: Labels

    @property
    def rows(self) -> int:
        """Number of rows."""
        return int(self.codes.groups.shape[1])


@as_task
def draft_part(part: PartTable, schema: Schema, unseen: str, plan: BinPlan) -> ColumnCodes:
    """Task: codes by the first plan, which treats every column by itself."""
    found = []
    with Team(1) as team:
        for title, table, _ in part.nonempty_tables():
            with errors_of(title):
                found.append(encode_columns(encode(table, schema.categories, unseen), plan, team))
    return concatenate_codes(found)


@as_task
def count_part(codes: ColumnCodes, plan: BinPlan) -> Counts:
    """Task: count the values of each column of a draft, as the plan of all rows needs it."""
    with Team(1) as team:
        return count_draft(codes, plan, team)


@as_task
def entries_of_part(codes: ColumnCodes, plan: BinPlan, default: NDArray[np.int64]) -> SparseEntries:
    """Task: the entries of the columns that have a default bin."""
    with Team(1) as team:
        return bins_of_draft(codes, plan, default, team).entries


@as_task
def encode_part(
    codes: ColumnCodes, labels: Labels, first: BinPlan, default: NDArray[np.int64], plan: BinPlan
) -> EncodedPart:
    """Task: codes by the final plan, with the labels of the rows."""
    if codes.from_sparse or (default != NO_DEFAULT).any():
        with Team(1) as team:
            codes = arranged(bins_of_draft(codes, first, default, team), plan, team)
    return EncodedPart(codes, labels)


@as_task
def concatenate_ranges(parts: list[EncodedPart], ranges: list[tuple[int, int]]) -> EncodedPart:
    """Task: one part of a range of rows of each of some consecutive parts."""
    selected = [_rows_between(part, *range_) for part, range_ in zip(parts, ranges, strict=True)]
    labels = Labels.concatenate([part.labels for part in selected])
    return EncodedPart(concatenate_codes([part.codes for part in selected]), labels)


def _rows_between(part: EncodedPart, first: int, last: int) -> EncodedPart:
    """Rows first..last-1 of a part."""
    codes = part.codes
    if (first, last) == (0, part.rows):
        return part
    inside = (codes.rows >= first) & (codes.rows < last)
    before = np.concatenate([np.zeros(1, np.int64), np.cumsum(inside)])
    selected = ColumnCodes(
        np.ascontiguousarray(codes.groups[:, first:last]), before[codes.starts], codes.rows[inside] - np.int32(first),
        codes.codes[inside], codes.from_sparse,
    )  # fmt: skip
    return EncodedPart(selected, part.labels.between(first, last))


def concatenate_codes(parts: list[ColumnCodes]) -> ColumnCodes:
    """Codes of consecutive rows in one."""
    if len(parts) == 1:
        return parts[0]
    groups = np.concatenate([part.groups for part in parts], axis=1)
    counts = np.stack([np.diff(part.starts) for part in parts])
    total = starts_of(counts.sum(axis=0))
    rows, codes = np.empty(int(total[-1]), np.int32), np.empty(int(total[-1]), np.uint16)
    at, first = total[:-1].copy(), 0
    for part, part_counts in zip(parts, counts, strict=True):
        to = np.repeat(at - part.starts[:-1], part_counts) + np.arange(len(part.rows))
        rows[to], codes[to] = part.rows + np.int32(first), part.codes
        at += part_counts
        first += part.groups.shape[1]
    return ColumnCodes(groups, total, rows, codes, parts[0].from_sparse)


register_sizeof(ColumnCodes, EncodedPart, SparseEntries)


MERGED_AT_ONCE = 8  # sketches of a column that are merged by one task
SMALLEST_EPS, LARGEST_EPS = 1e-5, 1e-3
EPS_PER_BIN = 4


def sketch_eps(max_bin: int) -> float:
    """Largest error of a sketch, as a share of the rows: a quarter of a bin, within bounds.

    Examples
    --------
    >>> sketch_eps(255), sketch_eps(2), sketch_eps(65_535)
    (0.000980392156862745, 0.001, 1e-05)
    """
    return min(LARGEST_EPS, max(SMALLEST_EPS, 1.0 / (EPS_PER_BIN * max_bin)))


def cuts_of_sketches(
    client: Client, tables: list[Future], labels: list[Future], schema: Schema, params: DataParams, thinning: CutThinning
) -> Cuts:  # fmt: skip
    """Cuts of all rows. They depend on the partitions, but not on which worker has which."""
    found = [
        client.submit(sketch_part, table, part_labels, schema.categorical, params, pure=False)
        for table, part_labels in zip(tables, labels, strict=True)
    ]
    while len(found) > 1:
        found = [
            client.submit(merge_sketches, found[at : at + MERGED_AT_ONCE], pure=False)
            for at in range(0, len(found), MERGED_AT_ONCE)
        ]
    cuts: Cuts = result(
        client,
        client.submit(cut_sketches, found[0], schema.category_counts, params.max_bin, thinning, pure=False),
    )
    return cuts


@as_task
def sketch_part(
    part: PartTable, labels: Labels, categorical: frozenset[int], params: DataParams
) -> list[bytes]:
    """Task: the bytes of a sketch of every column; sketches of categorical columns stay empty."""
    columns = part.tables[0].columns
    sketches = [QuantileSketch(sketch_eps(params.max_bin), n_jobs=1) for _ in range(columns)]
    for _, table, rows in part.nonempty_tables():
        weight = None if labels.weight is None else labels.weight[rows]
        if table.sparse is not None:
            _add_stored(sketches, table, weight, params.absent_value)
        for panel in table.panels:
            for k in range(panel.columns):
                if panel.first + k not in categorical and panel.categories is None:
                    sketches[panel.first + k].update(np.ascontiguousarray(panel.values[:, k]), weight)
    return [sketch.to_bytes() for sketch in sketches]


def _add_stored(
    sketches: list[QuantileSketch], table: Table, weight: NDArray[np.float64] | None, absent: float
) -> None:
    """Add the entries of a sparse table, and the weight of the rows that have no entry in a column."""
    assert table.sparse is not None
    starts, rows, values = table.sparse.by_column
    total = float(table.rows if weight is None else weight.sum())
    for column, sketch in enumerate(sketches):
        entries = slice(int(starts[column]), int(starts[column + 1]))
        stored = np.ones(entries.stop - entries.start) if weight is None else weight[rows[entries]]
        sketch.update(values[entries], stored)
        left = total - float(stored.sum())
        if left > 0.0 and not np.isnan(absent):
            sketch.update([absent], [left])
    table.sparse.forget()


@as_task
def merge_sketches(parts: list[list[bytes]]) -> list[bytes]:
    """Task: merge the sketches of consecutive rows, column by column."""
    merged = []
    for column in zip(*parts, strict=True):
        first, *others = (QuantileSketch.from_bytes(one, n_jobs=1) for one in column)
        for other in others:
            first.merge(other)
        merged.append(first.to_bytes())
    return merged


@as_task
def cut_sketches(
    sketches: list[bytes], categories: NDArray[np.int64] | None, max_bin: int, thinning: CutThinning
) -> Cuts:
    """Task: the cuts of merged sketches."""
    found = [QuantileSketch.from_bytes(one, n_jobs=1) for one in sketches]
    return cuts_from_sketches(found, max_bin, categories, thinning)


@dataclass(frozen=True, eq=False)
class EncodedRows:
    """Binned rows on the workers.

    Attributes
    ----------
    meta : DatasetMeta
        What their parts have in common.
    parts : list of Future
        An `EncodedPart` of each partition, or of those that share a query.
    lengths : int64
        Rows of each part.
    numbers_as_text : dict
        `CategoryCounts.numbers_as_text()`, where such columns are not an error.
    """

    meta: DatasetMeta
    parts: list[Future]
    lengths: NDArray[np.int64]
    numbers_as_text: dict[int, str]


@dataclass(frozen=True, eq=False)
class DaskExecutor:
    """Bins partitions on the workers that have them.

    Attributes
    ----------
    client : Client
        The client, whose workers have the partitions.
    sketch : bool
        Whether cuts come from sketches of all rows, and not from sampled rows.
    """

    client: Client
    sketch: bool = False

    @contextmanager
    def scan(self, source: LabelledPartitions, args: IngestArgs) -> Iterator[PartitionScan]:
        """Count categories and values of the partitions, where later steps need the counts."""
        yield PartitionScan(self, source, args)


class PartitionScan(BatchScan[EncodedRows]):
    """Partitions that were counted; their drafts and codes stay on the workers."""

    def __init__(self, executor: DaskExecutor, source: LabelledPartitions, args: IngestArgs) -> None:
        self._executor, self._client, self._source, self._args = executor, executor.client, source, args
        self._begins = starts_of(source.summary.lengths)
        self.rows = int(self._begins[-1])
        self.from_sparse, self.absent = source.from_sparse, args.params.absent_value
        self._drafts: list[Future]
        self._first_plan: Future
        self._counts, self._entries = self._count()

    def _count(self) -> tuple[CategoryCounts | None, NDArray[np.int64] | None]:
        """Counts of categories and, where cuts may be thinned, of each column's values that are neither 0 nor missing."""
        args, source = self._args, self._source
        named = named_categorical(args.categorical, source.empty_table, args.known)
        counted_columns, count_values = args.counted_columns, args.may_thin(source.empty_table.columns)
        if counted_columns == () and not count_values:
            return None, None
        found = results(
            self._client,
            [
                self._submit(count_columns, table, labels, named, counted_columns, count_values)
                for table, labels in zip(source.tables, source.labels, strict=True)
            ],
        )
        counts: CategoryCounts = found[0][0]
        for more, title, _ in found[1:]:
            with errors_of(title):
                counts.merge(more)
        return counts, np.sum([entries for _, _, entries in found], axis=0) if count_values else None

    def _submit(self, task: Any, *args: Any) -> Future:
        return self._client.submit(task, *args, pure=False)

    def schema(self) -> Schema:
        """Columns, and the categories that were counted."""
        empty_table = self._source.empty_table
        return self._args.schema_of(empty_table.names, empty_table.columns, self._counts)

    def cuts(self, schema: Schema) -> Cuts:
        """Cuts from sampled rows, or from sketches."""
        args, source = self._args, self._source
        thinning = CutThinning(self.rows, partial(_counted_entries, self._entries), thin=True)
        if self._executor.sketch:
            return cuts_of_sketches(self._client, source.tables, source.labels, schema, args.params, thinning)
        picks = sample_rows(self.rows)
        low = np.searchsorted(picks, self._begins)
        samples = [
            self._submit(sample_part, table, picks[a:b] - begin)
            for table, (a, b), begin in zip(
                source.tables, pairwise(low.tolist()), self._begins.tolist(), strict=False
            )
            if a < b
        ]
        weight = source.joined if source.summary.no_labels.weight is not None else None
        shared = put(self._client, (schema.categories, args.unseen, args.params, thinning))
        cuts: Cuts = result(self._client, self._submit(cut_sample, samples, weight, shared))
        return cuts

    def draft(self, schema: Schema, first: BinPlan) -> Counts:
        """Encode every partition by the first plan."""
        self._first_plan, columns = put(self._client, first), put(self._client, schema)
        self._drafts = [
            self._submit(draft_part, table, columns, self._args.unseen, self._first_plan)
            for table in self._source.tables
        ]
        counts = Counts.none(first.features.columns)
        for found in results(
            self._client, [self._submit(count_part, draft, self._first_plan) for draft in self._drafts]
        ):
            counts.add(found)
        return counts

    def plan(
        self, first: BinPlan, default: NDArray[np.int64], counts: Counts, bundling: Bundling | None
    ) -> BinPlan:
        """The plan of all rows, made on one worker from the entries of every partition."""
        listed = put(self._client, default)
        entries = [self._submit(entries_of_part, draft, self._first_plan, listed) for draft in self._drafts]
        given = self._begins, self._first_plan, listed, counts, self.from_sparse, bundling
        plan: BinPlan = result(self._client, self._submit(plan_entries, entries, *given))
        return plan

    def store(self, schema: Schema, recoding: Recoding) -> EncodedRows:
        """Make codes of the drafts by the plan, in parts that cut no query."""
        default = put(self._client, recoding.default)
        plan = put(self._client, recoding.plan) if recoding.needed else self._first_plan
        parts = [
            self._submit(encode_part, draft, labels, self._first_plan, default, plan)
            for draft, labels in zip(self._drafts, self._source.labels, strict=True)
        ]
        args, source = self._args, self._source
        meta = DatasetMeta(recoding.plan, schema, args.params, self.from_sparse, source.summary.no_labels)
        text = {} if args.strict or self._counts is None else self._counts.numbers_as_text()
        return EncodedRows(meta, *self._repartition(parts), text)

    def _repartition(self, parts: list[Future]) -> tuple[list[Future], NDArray[np.int64]]:
        """The same rows in parts that cut no query."""
        begins, ends = self._begins[:-1], self._begins[1:]
        whole_queries = []
        for first, last in pairwise(self._source.summary.begins.tolist()):
            inside = np.flatnonzero((begins < last) & (ends > first)).tolist()
            ranges = [
                (max(first, int(begins[k])) - int(begins[k]), min(last, int(ends[k])) - int(begins[k]))
                for k in inside
            ]
            same = len(inside) == 1 and (first, last) == (begins[inside[0]], ends[inside[0]])
            whole_queries.append(
                parts[inside[0]]
                if same
                else self._submit(concatenate_ranges, [parts[k] for k in inside], ranges)
            )
        return whole_queries, np.diff(self._source.summary.begins)


def _counted_entries(entries: NDArray[np.int64] | None) -> NDArray[np.int64]:
    """How many values of each column are neither 0 nor missing."""
    assert entries is not None, "they are counted wherever cuts may be thinned"
    return entries


@as_task
def count_columns(
    part: PartTable,
    labels: Labels,
    named: set[int],
    counted_columns: tuple[int, ...] | None,
    count_values: bool,
) -> tuple[CategoryCounts, str, NDArray[np.int64] | None]:
    """Task: count the categories of partitions and, if wanted, their values; the title of the first is for messages."""
    first = part.tables[0]
    counts = CategoryCounts(first.names, first.columns, named, counted_columns)
    entries = np.zeros(first.columns, np.int64) if count_values else None
    for title, table, rows in part.nonempty_tables():
        with errors_of(title):
            counts.add(table, None if labels.weight is None else labels.weight[rows])
        if entries is not None:
            entries += count_entries(table)
    return counts, part.titles[0], entries


@as_task
def sample_part(part: PartTable, picks: NDArray[np.int64]) -> list[Table]:
    """Task: the sampled rows of partitions."""
    found = (sampled(table, rows.start, picks) for _, table, rows in part.nonempty_tables())
    return [sample for sample in found if sample.rows]


@as_task
def cut_sample(
    samples: list[list[Table]],
    joined: JoinedLabels | None,
    shared: tuple[tuple[Categories | None, ...] | None, str, DataParams, CutThinning],
) -> Cuts:
    """Task: the cuts of sampled rows."""
    categories, unseen, params, thinning = shared
    sample = stacked([table for tables in samples for table in tables], categories, unseen)
    weight = None if joined is None else joined.labels.weight
    if weight is not None:
        weight = weight[sample_rows(len(weight))]
    counts = Schema(None, sample.columns, categories).category_counts
    with Team(get_worker().state.nthreads) as team:
        return find_cuts(sample, weight, params.max_bin, team, params.absent_value, counts, thinning=thinning)


@as_task
def plan_entries(
    entries: list[SparseEntries],
    begins: NDArray[np.int64],
    first: BinPlan,
    default: NDArray[np.int64],
    counts: Counts,
    from_sparse: bool,
    bundling: Bundling | None,
) -> BinPlan:
    """Task: the plan of all rows, from the entries of every partition."""
    found = zip(begins[:-1].tolist(), entries, strict=True)
    return final_plan(first, default, counts, int(begins[-1]), from_sparse, found, bundling)
