"""Values → codes by a plan.

Rows that come some at a time get drafts first: codes with every column by itself. Where some columns share groups or are sparse
in the end, drafts become codes by the plan that is made from all rows.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.binning.cuts import Cuts
from spinney.binning.kernels.bin import WORD, by_rows, transpose_lines
from spinney.binning.kernels.entry import entries_by_row, fill_groups, lines_of_entries
from spinney.binning.kernels.records import NO_DEFAULT, SparseCodes
from spinney.binning.matrix import (
    SPARSE,
    BinnedMatrix,
    ColumnLayout,
    DenseColumns,
    SparseEntries,
    aligned,
    lines_record,
    row_stride,
    split8,
)
from spinney.binning.plan import (
    BinPlan,
    Bundling,
    TableBins,
    bin_entries,
    bin_lines,
    bin_table,
    count_bins,
    default_bins_of,
    make_plan,
    mostly_absent,
    part_entries,
    take_lines,
)
from spinney.data import Table, describe_column
from spinney.data.table import starts_of
from spinney.errors import DataError
from spinney.jit.team import Team


@dataclass(frozen=True, eq=False)
class ColumnCodes:
    """Codes of some rows by column, from which those by row are made.

    Attributes
    ----------
    groups : uint8 or uint16, groups × rows
        Codes of the groups.
    starts : int64[columns + 1]
        Where the entries of each sparse column begin; a column that is not sparse has none.
    rows : int32[entries]
        Their rows, ascending within a column.
    codes : uint16[entries]
        Their codes, counted from 1.
    from_sparse : bool
        Whether the table was sparse.
    """

    groups: NDArray[Any]
    starts: NDArray[np.int64]
    rows: NDArray[np.int32]
    codes: NDArray[np.uint16]
    from_sparse: bool


def plan_and_encode(
    table: Table, cuts: Cuts, team: Team, bundling: Bundling | None = None, absent: float = 0.0
) -> tuple[BinPlan, BinnedMatrix]:
    """Plan a whole table and give its codes. The values are put into bins once."""
    found = bin_table(table, cuts, absent, team, bundling is not None)
    plan = make_plan(found, cuts, absent, bundling)
    return plan, with_rows(arranged(found, plan, team), plan, team)


def encode(table: Table, plan: BinPlan, team: Team) -> BinnedMatrix:
    """Codes of some of the rows that a plan was made from, or of any rows where it has no bundles.

    Parameters
    ----------
    table : Table
        The rows, dense or sparse.
    plan : BinPlan
        Columns and codes.
    team : Team
        Threads to work with.

    Returns
    -------
    BinnedMatrix
        The same as these rows of the whole table's, for any number of threads.
    """
    return with_rows(encode_columns(table, plan, team), plan, team)


def encode_columns(table: Table, plan: BinPlan, team: Team) -> ColumnCodes:
    """The same by column only."""
    found = _as_planned(table, plan, team)
    entries, features = found.entries, plan.features
    last = entries.last_bins()
    unknown = last - (last > entries.default) >= features.codes[entries.columns]
    if unknown.any():
        column = describe_column(table, int(entries.columns[unknown][0]))
        raise DataError(
            f"{column} holds a missing value, but the plan was made from rows that have none in it"
        )
    return arranged(found, plan, team)


def _as_planned(table: Table, plan: BinPlan, team: Team) -> TableBins:
    """Bins of a table, with entries of those columns that the plan lists."""
    default = plan.features.default
    if table.sparse is None:
        lines, entries = bin_lines(table, plan.cuts, team), SparseEntries.none()
    else:
        listed = default == plan.cuts.bins_of(plan.absent)
        lines, entries = bin_entries(table, plan.cuts, plan.absent, team, listed)
    return list_lines(TableBins(table.rows, lines, entries, table.sparse is not None), default, team)


def list_lines(found: TableBins, default: NDArray[np.int64], team: Team) -> TableBins:
    """The same bins, with entries of those lines that have a default bin; `default` has that of every column of the table."""
    lines = found.lines
    wanted = default[lines.columns]
    picks = np.flatnonzero(wanted != NO_DEFAULT)
    if not len(picks):
        return found
    in_default, _ = count_bins(lines, wanted, wanted, team)
    lines, more = take_lines(lines, picks, wanted[picks], found.rows - in_default[picks], team)
    return TableBins(found.rows, lines, found.entries.join(more), found.from_sparse)


def arranged(found: TableBins, plan: BinPlan, team: Team) -> ColumnCodes:
    """Codes of bins. The entries of the bins are used up."""
    features, lines, entries = plan.features, found.lines, found.entries
    if not len(entries.columns):
        return _with_sparse(lines.bins, entries, features, found.from_sparse)
    groups = np.empty((len(features.group_codes), found.rows), plan.dtype)
    groups[features.group[lines.columns]] = lines.bins
    listed, in_group = plan.listed[entries.columns], features.group[entries.columns] != SPARSE
    _fill_alone(entries.take(np.flatnonzero(~listed)), features, groups, team)
    _fill_bundles(entries.take(np.flatnonzero(listed & in_group)), features, groups, team)
    return _with_sparse(groups, entries.take(np.flatnonzero(~in_group)), features, found.from_sparse)


def _fill_alone(entries: SparseEntries, features: ColumnLayout, groups: NDArray[Any], team: Team) -> None:
    """Codes of the columns that stand alone but came as entries; their groups are neighbours, in the same order."""
    if len(entries.columns):
        group = features.group[entries.columns]
        lines = lines_record(groups[group[0] : group[-1] + 1])
        team.run(lines_of_entries.bind(entries.record(), np.arange(len(group)), lines))


def _fill_bundles(entries: SparseEntries, features: ColumnLayout, groups: NDArray[Any], team: Team) -> None:
    """Codes of the bundles, which are the last groups."""
    if len(entries.columns):
        group = features.group[entries.columns]
        first = group.min()
        sizes = np.bincount(group - first)
        team.run(
            fill_groups.bind(
                entries.record(), features.low[entries.columns], starts_of(sizes), np.argsort(group, kind="stable"),
                lines_record(groups[first:]),
            )
        )  # fmt: skip


def _with_sparse(
    groups: NDArray[Any], entries: SparseEntries, features: ColumnLayout, from_sparse: bool
) -> ColumnCodes:
    """Add the codes of the sparse columns."""
    counts = np.zeros(features.columns, np.int64)
    counts[entries.columns] = entries.counts
    above = entries.bins > np.repeat(entries.default.astype(np.uint16), entries.counts)
    codes = entries.bins  # changed in place: the bins are not used any more
    codes += np.uint16(1)
    codes -= above
    return ColumnCodes(groups, starts_of(counts), entries.rows, codes, from_sparse)


def with_rows(codes: ColumnCodes, plan: BinPlan, team: Team) -> BinnedMatrix:
    """Add the copy by rows."""
    count, rows = codes.groups.shape
    by_row = aligned(rows, row_stride(count, codes.groups.dtype), codes.groups.dtype)
    return fill_rows(codes, plan.features, by_row, team)


def _turn(groups: NDArray[Any], by_row: NDArray[Any], team: Team) -> None:
    """Copy codes by column to codes by row, padded with zeros."""
    count, rows = groups.shape
    if groups.dtype == np.uint8 and count and rows % WORD == 0:
        words = groups.reshape(-1).view(np.int64), by_row.reshape(-1).view(np.int64)
        team.run(transpose_lines.bind(rows // WORD, count, by_row.shape[1] // WORD, *words))
    else:
        team.run(by_rows.bind(lines_record(groups), by_row.shape[1], *split8(by_row)))


def fill_rows(codes: ColumnCodes, features: ColumnLayout, by_row: NDArray[Any], team: Team) -> BinnedMatrix:
    """Add the copy by rows in memory that is given, rows × stride."""
    _turn(codes.groups, by_row, team)
    rows, entries = codes.groups.shape[1], len(codes.codes)
    present = int((features.group == SPARSE).any())
    row_starts, row_codes = np.empty((rows + 1) * present, np.int64), np.empty(entries, np.int32)
    if present:
        entries_by_row(
            rows, features.columns, entries, codes.starts, codes.rows, codes.codes, features.low, row_starts, row_codes
        )  # fmt: skip
    sparse = SparseCodes(
        present=present,
        entries=entries,
        axis=features.sparse_codes,
        row_starts=row_starts,
        row_codes=row_codes,
        starts=codes.starts,
        column_rows=codes.rows,
        column_codes=codes.codes,
    )
    return BinnedMatrix(by_row, codes.groups, features, sparse, codes.from_sparse)


def first_plan(cuts: Cuts, absent: float, from_sparse: bool) -> BinPlan:
    """A plan that fits any rows: columns stand alone or, of a sparse table, are all sparse."""
    if not from_sparse:
        return BinPlan(cuts, absent, ColumnLayout.single_column(cuts.bins))
    bins = cuts.bins
    group = np.full(len(bins), SPARSE, np.int64)
    return BinPlan(
        cuts, absent, ColumnLayout(group, starts_of(bins)[:-1], bins.copy(), bins, cuts.bins_of(absent))
    )


@dataclass(eq=False)
class Counts:
    """Counts of each column of drafts: rows in the bins of zero and of missing values, and rows that are not absent."""

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


def count_draft(codes: ColumnCodes, plan: BinPlan, team: Team) -> Counts:
    """Count the rows of a draft, which was coded by `first_plan`."""
    cuts = plan.cuts
    zero, missing = cuts.bins_of(0.0), cuts.bins
    if not codes.from_sparse:
        lines = DenseColumns(np.arange(len(zero)), codes.groups)
        return Counts(*count_bins(lines, zero, missing, team), np.zeros(len(zero), np.int64))
    rows, stored = codes.groups.shape[1], _bins_of(codes, plan)
    zeros, missings = (
        np.where(stored.default == wanted, rows - stored.counts, _count_of(stored, wanted))
        for wanted in (zero, missing)
    )
    return Counts(zeros, missings, stored.counts)


def _count_of(stored: SparseEntries, wanted: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many entries of each column are in a bin."""
    hits = stored.bins == np.repeat(wanted, stored.counts)
    before = np.concatenate([np.zeros(1, np.int64), np.cumsum(hits)])
    found: NDArray[np.int64] = before[stored.starts[1:]] - before[stored.starts[:-1]]
    return found


def _bins_of(codes: ColumnCodes, plan: BinPlan) -> SparseEntries:
    """Bins of the entries of a table of which every column is sparse."""
    default = plan.features.default
    counts = np.diff(codes.starts)
    bins = codes.codes - np.uint16(1)
    bins += bins >= np.repeat(default, counts)
    return SparseEntries(np.arange(len(default)), codes.starts, codes.rows, bins, default)


def final_defaults(
    plan: BinPlan, counts: Counts, rows: int, from_sparse: bool, bundles: bool
) -> NDArray[np.int64]:
    """The default bin of each column that is to be listed, NO_DEFAULT for others: what `bin_table` of all rows would choose."""
    cuts = plan.cuts
    columns = np.arange(len(cuts.bins))
    default = np.full(len(columns), NO_DEFAULT, np.int64)
    if from_sparse:
        few = mostly_absent(counts.away, rows)
        default[few] = cuts.bins_of(plan.absent)[few]
    if bundles and len(columns) > 1:
        mostly = default_bins_of(cuts, columns, counts.zeros, counts.missings, rows)
        default = np.where(default == NO_DEFAULT, mostly, default)
    return default


def bins_of_draft(codes: ColumnCodes, plan: BinPlan, default: NDArray[np.int64], team: Team) -> TableBins:
    """Bins of a draft, as `bin_table` would give them, with the columns listed that have a final default."""
    rows, from_sparse = codes.groups.shape[1], codes.from_sparse
    if from_sparse:
        stored = _bins_of(codes, plan)
        listed = default == stored.default
        lines, entries = part_entries(stored, stored.counts, listed, rows, plan.cuts, team)
    else:
        lines, entries = DenseColumns(np.arange(len(codes.groups)), codes.groups), SparseEntries.none()
    return list_lines(TableBins(rows, lines, entries, from_sparse), default, team)


def final_plan(
    first: BinPlan,
    default: NDArray[np.int64],
    counts: Counts,
    rows: int,
    from_sparse: bool,
    found: Iterable[tuple[int, SparseEntries]],
    bundling: Bundling | None,
) -> BinPlan:
    """The plan of all rows. Entries of the listed columns are held in memory: 6 bytes each.

    Parameters
    ----------
    first : BinPlan
        What drafts were coded by.
    default : int64
        The final default bin of each column.
    counts : Counts
        Of all rows.
    rows : int
        How many there are.
    from_sparse : bool
        Whether they come from sparse tables.
    found : iterable of (int, SparseEntries)
        Of each draft, in the order of the rows: its first row, and the entries that `bins_of_draft` lists.
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
    entries = SparseEntries(listed, starts, of_rows, bins, default[listed])
    others = DenseColumns(np.flatnonzero(default == NO_DEFAULT), np.empty((0, 0), np.uint8))
    return make_plan(TableBins(rows, others, entries, from_sparse), first.cuts, first.absent, bundling)
