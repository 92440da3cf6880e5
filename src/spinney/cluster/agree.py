"""Categories, cuts and groups that all partitions agree on: those that one `Dataset` of all rows would have."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from distributed import Client, Future, get_worker
from numpy.typing import NDArray

from spinney.binning.cuts import Cuts, CutThinning, count_entries, find_cuts, may_thin, sample_rows
from spinney.binning.encode import Counts, final_defaults, final_plan, first_plan
from spinney.binning.kernels.records import NO_DEFAULT
from spinney.binning.matrix import SparseEntries
from spinney.binning.plan import BinPlan, Bundling
from spinney.binning.sample import sampled, stacked
from spinney.cluster.encode import (
    Form,
    count_part,
    draft_part,
    encode_part,
    entries_of_part,
    recut,
)
from spinney.cluster.labels import LabelledPartitions, Learnt
from spinney.cluster.opening import PartTable
from spinney.cluster.sketches import cuts_of_sketches
from spinney.cluster.telling import result, results, telling
from spinney.cluster.travel import kept
from spinney.data import Categories, CategoryCounts, Labels, Schema, Table
from spinney.data.sources import errors_of
from spinney.data.table import starts_of
from spinney.jit.team import Team
from spinney.params import DataParams


@dataclass(frozen=True, eq=False)
class BinningRules:
    """How rows are to be binned.

    Attributes
    ----------
    params : DataParams
        The parameters of the data.
    named : set of int
        Columns whose numbers are categories.
    known : Schema, optional
        The columns, where a reference or a model tells them.
    cuts : Cuts, optional
        Those of a reference.
    sketch : bool
        Whether cuts come from sketches of all rows, and not from sampled rows.
    strict : bool
        Whether text that all reads as numbers is refused where nobody said that it stands for categories.
    """

    params: DataParams
    named: set[int]
    known: Schema | None
    cuts: Cuts | None
    sketch: bool
    strict: bool = True

    @property
    def unseen(self) -> str:
        """What an unknown category means; where categories are learnt, only rows of weight 0 can hold one."""
        return "missing" if self.known is None else self.params.unseen


class Agreement:
    """Makes codes of partitions, step by step.

    Parameters
    ----------
    client : Client
        Whose workers hold the partitions.
    rows : LabelledPartitions
        The partitions.
    rules : BinningRules
        How they are to be binned.

    Attributes
    ----------
    numbers_as_text : dict
        What `CategoryCounts` calls so, where that is not refused.
    """

    def __init__(self, client: Client, rows: LabelledPartitions, rules: BinningRules) -> None:
        self._client, self._rows, self._rules = client, rows, rules
        self._begins = starts_of(rows.summary.lengths)
        self._total = int(self._begins[-1])
        self._entries: NDArray[np.int64] | None = None
        self.numbers_as_text: dict[int, str] = {}

    def encoded(self) -> tuple[Form, list[Future], NDArray[np.int64]]:
        """The form of the codes, an `EncodedPart` of each partition or of those that share a query, and the rows of each."""
        rows, rules = self._rows, self._rules
        schema = self._schema()
        cuts = self._cuts(schema) if rules.cuts is None else rules.cuts
        first = first_plan(cuts, rules.params.absent_value, rows.from_sparse)
        told, columns = kept(self._client, first), kept(self._client, schema)
        drafts = [self._submit(draft_part, table, columns, rules.unseen, told) for table in rows.tables]
        default, plan = self._plan(first, told, drafts)
        ways = (told, kept(self._client, default), told if plan is first else kept(self._client, plan))
        parts = [
            self._submit(encode_part, draft, own, *ways)
            for draft, own in zip(drafts, rows.labels, strict=True)
        ]
        form = Form(plan, schema, rules.params, rows.from_sparse, rows.summary.no_labels)
        return form, *self._recut(parts)

    def _submit(self, task: Any, *args: Any) -> Future:
        return self._client.submit(task, *args, pure=False)

    def _schema(self) -> Schema:
        rules, rows = self._rules, self._rows
        known, outline = rules.known, rows.outline
        many = rules.cuts is None and may_thin(outline.columns, rules.params.max_bin)
        among = None if known is None else known.empty
        if known is not None and not many and (rules.cuts is not None or not among):
            return known
        found = results(
            self._client,
            [
                self._submit(count_columns, table, own, rules.named, among, many)
                for table, own in zip(rows.tables, rows.labels, strict=True)
            ],
        )
        counts: CategoryCounts = found[0][0]
        for more, title, _ in found[1:]:
            with errors_of(title):
                counts.merge(more)
        if many:
            self._entries = np.sum([entries for _, _, entries in found], axis=0)
        self.numbers_as_text = {} if rules.strict else counts.numbers_as_text()
        categories = counts.found(rules.params.max_bin, strict=rules.strict)
        if known is not None:
            return known.filled(categories)
        return Schema(outline.names, outline.columns, categories)

    def _cuts(self, schema: Schema) -> Cuts:
        rules, rows = self._rules, self._rows
        thinning = CutThinning(self._total, partial(_known, self._entries), thin=True)
        if rules.sketch:
            return cuts_of_sketches(self._client, rows.tables, rows.labels, schema, rules.params, thinning)
        picks = sample_rows(self._total)
        low = np.searchsorted(picks, self._begins)
        pieces = [
            self._submit(sample_part, table, picks[a:b] - begin)
            for table, (a, b), begin in zip(
                rows.tables, pairwise(low.tolist()), self._begins.tolist(), strict=False
            )
            if a < b
        ]
        weight = rows.joined if rows.summary.no_labels.weight is not None else None
        told = kept(self._client, (schema.categories, rules.unseen, rules.params, thinning))
        cuts: Cuts = result(self._client, self._submit(cut_sample, pieces, weight, told))
        return cuts

    def _plan(self, first: BinPlan, told: Future, drafts: list[Future]) -> tuple[NDArray[np.int64], BinPlan]:
        """The default bin of each column that is to be listed, and the final plan."""
        rules, from_sparse = self._rules, self._rows.from_sparse
        bundles = rules.cuts is None and rules.params.bundle
        counts = Counts.none(first.features.columns)
        for found in results(self._client, [self._submit(count_part, one, told) for one in drafts]):
            counts.add(found)
        default = final_defaults(first, counts, self._total, from_sparse, bundles)
        if not from_sparse and (default == NO_DEFAULT).all():
            return default, first
        bundling = Bundling(rules.params.bundle_order, rules.params.max_conflict_rate) if bundles else None
        listed = kept(self._client, default)
        entries = [self._submit(entries_of_part, draft, told, listed) for draft in drafts]
        plan: BinPlan = result(
            self._client,
            self._submit(plan_entries, entries, self._begins, told, listed, counts, from_sparse, bundling),
        )
        return default, plan

    def _recut(self, parts: list[Future]) -> tuple[list[Future], NDArray[np.int64]]:
        """The same rows in parts that cut no query."""
        begins, ends = self._begins[:-1], self._begins[1:]
        whole = []
        for first, last in pairwise(self._rows.summary.begins.tolist()):
            inside = np.flatnonzero((begins < last) & (ends > first)).tolist()
            ranges = [
                (max(first, int(begins[k])) - int(begins[k]), min(last, int(ends[k])) - int(begins[k]))
                for k in inside
            ]
            same = len(inside) == 1 and (first, last) == (begins[inside[0]], ends[inside[0]])
            whole.append(
                parts[inside[0]] if same else self._submit(recut, [parts[k] for k in inside], ranges)
            )
        return whole, np.diff(self._rows.summary.begins)


def _known(entries: NDArray[np.int64] | None) -> NDArray[np.int64]:
    """Values of each column that are neither 0 nor missing."""
    assert entries is not None, "asked for only where bins are many"
    return entries


@telling
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


@telling
def sample_part(part: PartTable, picks: NDArray[np.int64]) -> list[Table]:
    """Task: the sampled rows of partitions."""
    found = (sampled(table, own.start, picks) for _, table, own in part.pieces())
    return [piece for piece in found if piece.rows]


@telling
def cut_sample(
    pieces: list[list[Table]],
    learnt: Learnt | None,
    told: tuple[tuple[Categories | None, ...] | None, str, DataParams, CutThinning],
) -> Cuts:
    """Task: the cuts of sampled rows."""
    categories, unseen, params, thinning = told
    sample = stacked([one for some in pieces for one in some], categories, unseen)
    weight = None if learnt is None else learnt.labels.weight
    if weight is not None:
        weight = weight[sample_rows(len(weight))]
    counts = Schema(None, sample.columns, categories).category_counts
    with Team(get_worker().state.nthreads) as team:
        return find_cuts(sample, weight, params.max_bin, team, params.absent_value, counts, thinning=thinning)


@telling
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
