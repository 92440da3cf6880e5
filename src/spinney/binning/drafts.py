"""Codes of rows that come some at a time: first with every column by itself, then, where some share groups or are sparse, as the
plan says that is made from all of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spinney.binning.bundle import Bundling
from spinney.binning.cuts import Cuts
from spinney.binning.encode import ColumnCodes, list_lines
from spinney.binning.entries import Entries, Lines
from spinney.binning.features import SPARSE, Features
from spinney.binning.kernels.records import NO_DEFAULT
from spinney.binning.plan import Plan, make_plan
from spinney.binning.survey import TableBins, count_bins, mostly_absent, mostly_in, part_entries
from spinney.data.table import starts_of
from spinney.jit.team import Team


def first_plan(cuts: Cuts, absent: float, from_sparse: bool) -> Plan:
    """A plan that fits any rows: columns stand alone or, of a sparse table, are all sparse."""
    if not from_sparse:
        return Plan(cuts, absent, Features.lone(cuts.bins))
    bins = cuts.bins
    group = np.full(len(bins), SPARSE, np.int64)
    return Plan(cuts, absent, Features(group, starts_of(bins)[:-1], bins.copy(), bins, cuts.bins_of(absent)))


@dataclass(eq=False)
class Counts:
    """What drafts tell of each column: rows in the bins of zero and of missing values, and rows that are not absent."""

    zeros: NDArray[np.int64]
    missings: NDArray[np.int64]
    away: NDArray[np.int64]

    @classmethod
    def none(cls, columns: int) -> Counts:
        """Those of no rows."""
        return cls(*(np.zeros(columns, np.int64) for _ in range(3)))

    def add(self, other: Counts) -> None:
        """Count the rows of another draft too."""
        self.zeros += other.zeros
        self.missings += other.missings
        self.away += other.away


def count_draft(codes: ColumnCodes, plan: Plan, team: Team) -> Counts:
    """Count what a draft tells, which was coded by `first_plan`."""
    cuts = plan.cuts
    zero, missing = cuts.bins_of(0.0), cuts.bins
    if not codes.from_sparse:
        lines = Lines(np.arange(len(zero)), codes.groups)
        return Counts(*count_bins(lines, zero, missing, team), np.zeros(len(zero), np.int64))
    rows, stored = codes.groups.shape[1], _bins_of(codes, plan)
    zeros, missings = (
        np.where(stored.default == wanted, rows - stored.counts, _count_of(stored, wanted))
        for wanted in (zero, missing)
    )
    return Counts(zeros, missings, stored.counts)


def _count_of(stored: Entries, wanted: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many entries of each column are in a bin."""
    hits = stored.bins == np.repeat(wanted, stored.counts)
    before = np.concatenate([np.zeros(1, np.int64), np.cumsum(hits)])
    found: NDArray[np.int64] = before[stored.starts[1:]] - before[stored.starts[:-1]]
    return found


def _bins_of(codes: ColumnCodes, plan: Plan) -> Entries:
    """Bins of the entries of a table of which every column is sparse."""
    default = plan.features.default
    counts = np.diff(codes.starts)
    bins = codes.codes - np.uint16(1)
    bins += bins >= np.repeat(default, counts)
    return Entries(np.arange(len(default)), codes.starts, codes.rows, bins, default)


def final_defaults(
    plan: Plan, counts: Counts, rows: int, from_sparse: bool, bundles: bool
) -> NDArray[np.int64]:
    """The default bin of each column that is to be listed, NO_DEFAULT for others: what a survey of all rows would choose."""
    cuts = plan.cuts
    columns = np.arange(len(cuts.bins))
    default = np.full(len(columns), NO_DEFAULT, np.int64)
    if from_sparse:
        few = mostly_absent(counts.away, rows)
        default[few] = cuts.bins_of(plan.absent)[few]
    if bundles and len(columns) > 1:
        mostly = mostly_in(cuts, columns, counts.zeros, counts.missings, rows)
        default = np.where(default == NO_DEFAULT, mostly, default)
    return default


def survey_draft(codes: ColumnCodes, plan: Plan, default: NDArray[np.int64], team: Team) -> TableBins:
    """Bins of a draft, as a survey of its rows would give them, with the columns listed that have a final default."""
    rows, from_sparse = codes.groups.shape[1], codes.from_sparse
    if from_sparse:
        stored = _bins_of(codes, plan)
        listed = default == stored.default
        lines, entries = part_entries(stored, stored.counts, listed, rows, plan.cuts, team)
    else:
        lines, entries = Lines(np.arange(len(codes.groups)), codes.groups), Entries.none()
    return list_lines(TableBins(rows, lines, entries, from_sparse), default, team)


def final_plan(
    first: Plan,
    default: NDArray[np.int64],
    counts: Counts,
    rows: int,
    from_sparse: bool,
    found: Iterable[tuple[int, Entries]],
    bundling: Bundling | None,
) -> Plan:
    """The plan of all rows. Entries of the listed columns are held in memory: 6 bytes each.

    Parameters
    ----------
    first : Plan
        What drafts were coded by.
    default : int64
        The final default bin of each column.
    counts : Counts
        Of all rows.
    rows : int
        How many there are.
    from_sparse : bool
        Whether they come from sparse tables.
    found : iterable of (int, Entries)
        Of each draft, in the order of the rows: its first row, and the entries that `survey_draft` lists.
    bundling : Bundling, optional
        How to bundle columns.
    """
    listed = np.flatnonzero(default != NO_DEFAULT)
    in_default = np.where(default == first.cuts.bins, counts.missings, counts.zeros)
    starts = starts_of((rows - in_default)[listed])
    of_rows, bins = np.empty(int(starts[-1]), np.int32), np.empty(int(starts[-1]), np.uint16)
    at = starts[:-1].copy()
    for begin, some in found:
        to = np.repeat(at - some.starts[:-1], some.counts) + np.arange(len(some.rows))
        of_rows[to], bins[to] = some.rows + np.int32(begin), some.bins
        at += some.counts
    entries = Entries(listed, starts, of_rows, bins, default[listed])
    others = Lines(np.flatnonzero(default == NO_DEFAULT), np.empty((0, 0), np.uint8))
    return make_plan(TableBins(rows, others, entries, from_sparse), first.cuts, first.absent, bundling)
