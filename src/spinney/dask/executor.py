"""Partitions → codes on the workers, those that one `Dataset` of all rows would have: the steps of `ingest` on a cluster.

Cuts come from sampled rows or from quantile sketches, merged in the order of the partitions.
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
from spinney.dask.labels import LabelledPartitions, Learnt
from spinney.dask.partitions import PartTable
from spinney.dask.tasks import as_task, kept, result, results, weighed
from spinney.data import Categories, CategoryCounts, Labels, Schema, Table, encode
from spinney.data.schema import named_categorical
from spinney.data.sources import errors_of
from spinney.data.table import starts_of
from spinney.jit.team import Team
from spinney.params import DataParams


@dataclass(frozen=True, eq=False)
class Form:
    """What all partitions of a data set have in common.

    Attributes
    ----------
    plan : BinPlan
        Cuts, groups and codes.
    schema : Schema
        Columns and categories.
    params : DataParams
        Parameters of the data.
    from_sparse : bool
        Whether they come from sparse tables.
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
    """Rows that follow each other, as a training holds them.

    Attributes
    ----------
    codes : ColumnCodes
        Their codes by column.
    labels : Labels
        Their labels. Queries have the numbers that they have in the whole table.
    """

    codes: ColumnCodes
    labels: Labels

    @property
    def rows(self) -> int:
        """Number of rows."""
        return int(self.codes.groups.shape[1])


@as_task
def draft_part(part: PartTable, schema: Schema, unseen: str, plan: BinPlan) -> ColumnCodes:
    """Task: codes by the first plan, every column by itself."""
    found = []
    with Team(1) as team:
        for title, table, _ in part.pieces():
            with errors_of(title):
                found.append(encode_columns(encode(table, schema.categories, unseen), plan, team))
    return join_codes(found)


@as_task
def count_part(codes: ColumnCodes, plan: BinPlan) -> Counts:
    """Task: what a draft tells of its columns."""
    with Team(1) as team:
        return count_draft(codes, plan, team)


@as_task
def entries_of_part(codes: ColumnCodes, plan: BinPlan, default: NDArray[np.int64]) -> SparseEntries:
    """Task: the entries of the columns that are to be listed."""
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
def recut(parts: list[EncodedPart], ranges: list[tuple[int, int]]) -> EncodedPart:
    """Task: some rows of parts that follow each other as one part; a range of rows of each."""
    pieces = [_between(part, *some) for part, some in zip(parts, ranges, strict=True)]
    labels = Labels.concatenate([piece.labels for piece in pieces])
    return EncodedPart(join_codes([piece.codes for piece in pieces]), labels)


def _between(part: EncodedPart, first: int, last: int) -> EncodedPart:
    """Rows first..last-1 of a part."""
    codes = part.codes
    if (first, last) == (0, part.rows):
        return part
    inside = (codes.rows >= first) & (codes.rows < last)
    before = np.concatenate([np.zeros(1, np.int64), np.cumsum(inside)])
    some = ColumnCodes(
        np.ascontiguousarray(codes.groups[:, first:last]), before[codes.starts], codes.rows[inside] - np.int32(first),
        codes.codes[inside], codes.from_sparse,
    )  # fmt: skip
    return EncodedPart(some, part.labels.between(first, last))


def join_codes(parts: list[ColumnCodes]) -> ColumnCodes:
    """Codes of rows that follow each other as one."""
    if len(parts) == 1:
        return parts[0]
    groups = np.concatenate([part.groups for part in parts], axis=1)
    counts = np.stack([np.diff(part.starts) for part in parts])
    total = starts_of(counts.sum(axis=0))
    rows, codes = np.empty(int(total[-1]), np.int32), np.empty(int(total[-1]), np.uint16)
    at, first = total[:-1].copy(), 0
    for part, own in zip(parts, counts, strict=True):
        to = np.repeat(at - part.starts[:-1], own) + np.arange(len(part.rows))
        rows[to], codes[to] = part.rows + np.int32(first), part.codes
        at += own
        first += part.groups.shape[1]
    return ColumnCodes(groups, total, rows, codes, parts[0].from_sparse)


weighed(ColumnCodes, EncodedPart, SparseEntries)


AT_ONCE = 8  # sketches of a column that are merged by one task
FINEST, COARSEST = 1e-5, 1e-3
OF_BIN = 4  # errors that make up a bin


def sketch_eps(max_bin: int) -> float:
    """Largest error of a sketch: a quarter of a bin, within bounds.

    Examples
    --------
    >>> sketch_eps(255), sketch_eps(2), sketch_eps(65_535)
    (0.000980392156862745, 0.001, 1e-05)
    """
    return min(COARSEST, max(FINEST, 1.0 / (OF_BIN * max_bin)))


def cuts_of_sketches(
    client: Client, tables: list[Future], labels: list[Future], schema: Schema, params: DataParams, thinning: CutThinning
) -> Cuts:  # fmt: skip
    """Cuts of all rows. They depend on the partitions, but not on which worker holds which."""
    found = [
        client.submit(sketch_part, table, own, schema.categorical, params, pure=False)
        for table, own in zip(tables, labels, strict=True)
    ]
    while len(found) > 1:
        found = [
            client.submit(merge_sketches, found[at : at + AT_ONCE], pure=False)
            for at in range(0, len(found), AT_ONCE)
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
    """Task: the bytes of a sketch of every column; those of categories have none of their values."""
    columns = part.tables[0].columns
    sketches = [QuantileSketch(sketch_eps(params.max_bin), n_jobs=1) for _ in range(columns)]
    for _, table, own in part.pieces():
        weight = None if labels.weight is None else labels.weight[own]
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
    """Add what a sparse table stores, and the weight of the rows that each column does not list."""
    assert table.sparse is not None
    starts, rows, values = table.sparse.by_column
    total = float(table.rows if weight is None else weight.sum())
    for column, sketch in enumerate(sketches):
        own = slice(int(starts[column]), int(starts[column + 1]))
        stored = np.ones(own.stop - own.start) if weight is None else weight[rows[own]]
        sketch.update(values[own], stored)
        left = total - float(stored.sum())
        if left > 0.0 and not np.isnan(absent):
            sketch.update([absent], [left])
    table.sparse.forget()


@as_task
def merge_sketches(parts: list[list[bytes]]) -> list[bytes]:
    """Task: the sketches of rows that follow each other as one."""
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
    """Rows of a cluster that were binned.

    Attributes
    ----------
    form : Form
        What their parts have in common.
    parts : list of Future
        An `EncodedPart` of each partition, or of those that share a query.
    lengths : int64
        Rows of each part.
    numbers_as_text : dict
        What `CategoryCounts` calls so, where that is not refused.
    """

    form: Form
    parts: list[Future]
    lengths: NDArray[np.int64]
    numbers_as_text: dict[int, str]


@dataclass(frozen=True, eq=False)
class DaskExecutor:
    """Bins partitions on the workers that hold them.

    Attributes
    ----------
    client : Client
        Whose workers hold the partitions.
    sketch : bool
        Whether cuts come from sketches of all rows, and not from sampled rows.
    """

    client: Client
    sketch: bool = False

    @contextmanager
    def scan(self, source: LabelledPartitions, args: IngestArgs) -> Iterator[PartitionScan]:
        """Count what the partitions hold, where it must be known."""
        yield PartitionScan(self, source, args)


class PartitionScan(BatchScan[EncodedRows]):
    """Partitions that were looked at; their drafts and codes stay on the workers."""

    def __init__(self, executor: DaskExecutor, source: LabelledPartitions, args: IngestArgs) -> None:
        self._executor, self._client, self._source, self._args = executor, executor.client, source, args
        self._begins = starts_of(source.summary.lengths)
        self.rows = int(self._begins[-1])
        self.from_sparse, self.absent = source.from_sparse, args.params.absent_value
        self._drafts: list[Future]
        self._first: Future
        self._counts, self._entries = self._counted()

    def _counted(self) -> tuple[CategoryCounts | None, NDArray[np.int64] | None]:
        """Counts of categories and, with many columns, of the values of each that are neither 0 nor missing."""
        args, source = self._args, self._source
        named = named_categorical(args.categorical, source.outline, args.known)
        among, thins = args.counted_columns, args.may_thin(source.outline.columns)
        if among == () and not thins:
            return None, None
        found = results(
            self._client,
            [
                self._submit(count_columns, table, own, named, among, thins)
                for table, own in zip(source.tables, source.labels, strict=True)
            ],
        )
        counts: CategoryCounts = found[0][0]
        for more, title, _ in found[1:]:
            with errors_of(title):
                counts.merge(more)
        return counts, np.sum([entries for _, _, entries in found], axis=0) if thins else None

    def _submit(self, task: Any, *args: Any) -> Future:
        return self._client.submit(task, *args, pure=False)

    def schema(self) -> Schema:
        """Columns, and the categories that were counted."""
        outline = self._source.outline
        return self._args.schema_of(outline.names, outline.columns, self._counts)

    def cuts(self, schema: Schema) -> Cuts:
        """Cuts of sampled rows, or of sketches."""
        args, source = self._args, self._source
        thinning = CutThinning(self.rows, partial(_known, self._entries), thin=True)
        if self._executor.sketch:
            return cuts_of_sketches(self._client, source.tables, source.labels, schema, args.params, thinning)
        picks = sample_rows(self.rows)
        low = np.searchsorted(picks, self._begins)
        pieces = [
            self._submit(sample_part, table, picks[a:b] - begin)
            for table, (a, b), begin in zip(
                source.tables, pairwise(low.tolist()), self._begins.tolist(), strict=False
            )
            if a < b
        ]
        weight = source.joined if source.summary.no_labels.weight is not None else None
        shared = kept(self._client, (schema.categories, args.unseen, args.params, thinning))
        cuts: Cuts = result(self._client, self._submit(cut_sample, pieces, weight, shared))
        return cuts

    def draft(self, schema: Schema, first: BinPlan) -> Counts:
        """Code every partition by the first plan."""
        self._first, columns = kept(self._client, first), kept(self._client, schema)
        self._drafts = [
            self._submit(draft_part, table, columns, self._args.unseen, self._first)
            for table in self._source.tables
        ]
        counts = Counts.none(first.features.columns)
        for found in results(
            self._client, [self._submit(count_part, draft, self._first) for draft in self._drafts]
        ):
            counts.add(found)
        return counts

    def plan(
        self, first: BinPlan, default: NDArray[np.int64], counts: Counts, bundling: Bundling | None
    ) -> BinPlan:
        """The plan of all rows, made on one worker of the entries of every partition."""
        listed = kept(self._client, default)
        entries = [self._submit(entries_of_part, draft, self._first, listed) for draft in self._drafts]
        given = self._begins, self._first, listed, counts, self.from_sparse, bundling
        plan: BinPlan = result(self._client, self._submit(plan_entries, entries, *given))
        return plan

    def store(self, schema: Schema, recoding: Recoding) -> EncodedRows:
        """Make the drafts codes by the plan, in parts that cut no query."""
        default = kept(self._client, recoding.default)
        plan = kept(self._client, recoding.plan) if recoding.needed else self._first
        parts = [
            self._submit(encode_part, draft, own, self._first, default, plan)
            for draft, own in zip(self._drafts, self._source.labels, strict=True)
        ]
        args, source = self._args, self._source
        form = Form(recoding.plan, schema, args.params, self.from_sparse, source.summary.no_labels)
        text = {} if args.strict or self._counts is None else self._counts.numbers_as_text()
        return EncodedRows(form, *self._recut(parts), text)

    def _recut(self, parts: list[Future]) -> tuple[list[Future], NDArray[np.int64]]:
        """The same rows in parts that cut no query."""
        begins, ends = self._begins[:-1], self._begins[1:]
        whole = []
        for first, last in pairwise(self._source.summary.begins.tolist()):
            inside = np.flatnonzero((begins < last) & (ends > first)).tolist()
            ranges = [
                (max(first, int(begins[k])) - int(begins[k]), min(last, int(ends[k])) - int(begins[k]))
                for k in inside
            ]
            same = len(inside) == 1 and (first, last) == (begins[inside[0]], ends[inside[0]])
            whole.append(
                parts[inside[0]] if same else self._submit(recut, [parts[k] for k in inside], ranges)
            )
        return whole, np.diff(self._source.summary.begins)


def _known(entries: NDArray[np.int64] | None) -> NDArray[np.int64]:
    """Values of each column that are neither 0 nor missing."""
    assert entries is not None, "asked for only where bins are many"
    return entries


@as_task
def count_columns(
    part: PartTable, labels: Labels, named: set[int], among: tuple[int, ...] | None, many: bool
) -> tuple[CategoryCounts, str, NDArray[np.int64] | None]:
    """Task: count the categories of partitions, and with many columns entries; tells their title."""
    first = part.tables[0]
    counts = CategoryCounts(first.names, first.columns, named, among)
    entries = np.zeros(first.columns, np.int64) if many else None
    for title, table, own in part.pieces():
        with errors_of(title):
            counts.add(table, None if labels.weight is None else labels.weight[own])
        if entries is not None:
            entries += count_entries(table)
    return counts, part.titles[0], entries


@as_task
def sample_part(part: PartTable, picks: NDArray[np.int64]) -> list[Table]:
    """Task: the sampled rows of partitions."""
    found = (sampled(table, own.start, picks) for _, table, own in part.pieces())
    return [piece for piece in found if piece.rows]


@as_task
def cut_sample(
    pieces: list[list[Table]],
    learnt: Learnt | None,
    shared: tuple[tuple[Categories | None, ...] | None, str, DataParams, CutThinning],
) -> Cuts:
    """Task: the cuts of sampled rows."""
    categories, unseen, params, thinning = shared
    sample = stacked([one for some in pieces for one in some], categories, unseen)
    weight = None if learnt is None else learnt.labels.weight
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
