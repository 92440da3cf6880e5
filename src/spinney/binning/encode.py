"""Values → codes, as a plan says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.binning.bundle import Bundling
from spinney.binning.cuts import Cuts
from spinney.binning.entries import Entries, lines_record, split8
from spinney.binning.features import SPARSE, Features
from spinney.binning.kernels.bin import WORD, by_rows, transpose_lines
from spinney.binning.kernels.entry import entries_by_row, fill_groups, lines_of_entries
from spinney.binning.kernels.records import NO_DEFAULT, SparseCodes
from spinney.binning.matrix import BinnedMatrix, aligned, row_stride
from spinney.binning.plan import Plan, make_plan
from spinney.binning.survey import TableBins, bin_entries, bin_lines, bin_table, count_bins, take_lines
from spinney.data import Table, describe_column
from spinney.data.table import starts_of
from spinney.errors import DataError
from spinney.jit.team import Team


@dataclass(frozen=True, eq=False)
class ColumnCodes:
    """Codes of some rows by column: all that is needed to tell those by row.

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
) -> tuple[Plan, BinnedMatrix]:
    """Plan a whole table and give its codes. The values are put into bins once."""
    found = bin_table(table, cuts, absent, team, bundling is not None)
    plan = make_plan(found, cuts, absent, bundling)
    return plan, with_rows(arranged(found, plan, team), plan, team)


def encode(table: Table, plan: Plan, team: Team) -> BinnedMatrix:
    """Codes of some of the rows that a plan was made from, or of any rows where it has no bundles.

    Parameters
    ----------
    table : Table
        The rows, dense or sparse.
    plan : Plan
        Columns and codes.
    team : Team
        Threads to work with.

    Returns
    -------
    BinnedMatrix
        The same as these rows of the whole table's, for any number of threads.
    """
    return with_rows(encode_columns(table, plan, team), plan, team)


def encode_columns(table: Table, plan: Plan, team: Team) -> ColumnCodes:
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


def _as_planned(table: Table, plan: Plan, team: Team) -> TableBins:
    """Bins of a table, with entries of those columns that the plan lists."""
    default = plan.features.default
    if table.sparse is None:
        lines, entries = bin_lines(table, plan.cuts, team), Entries.none()
    else:
        listed = default == plan.cuts.bins_of(plan.absent)
        lines, entries = bin_entries(table, plan.cuts, plan.absent, team, listed)
    return list_lines(TableBins(table.rows, lines, entries, table.sparse is not None), default, team)


def list_lines(found: TableBins, default: NDArray[np.int64], team: Team) -> TableBins:
    """The same bins, with entries of those lines that have a default bin; `default` tells that of every column of the table."""
    lines = found.lines
    wanted = default[lines.columns]
    picks = np.flatnonzero(wanted != NO_DEFAULT)
    if not len(picks):
        return found
    in_default, _ = count_bins(lines, wanted, wanted, team)
    lines, more = take_lines(lines, picks, wanted[picks], found.rows - in_default[picks], team)
    return TableBins(found.rows, lines, found.entries.join(more), found.from_sparse)


def arranged(found: TableBins, plan: Plan, team: Team) -> ColumnCodes:
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


def _fill_alone(entries: Entries, features: Features, groups: NDArray[Any], team: Team) -> None:
    """Codes of the columns that stand alone but came as entries; their groups are neighbours, in the same order."""
    if len(entries.columns):
        group = features.group[entries.columns]
        lines = lines_record(groups[group[0] : group[-1] + 1])
        team.run(lines_of_entries.bind(entries.record(), np.arange(len(group)), lines))


def _fill_bundles(entries: Entries, features: Features, groups: NDArray[Any], team: Team) -> None:
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
    groups: NDArray[Any], entries: Entries, features: Features, from_sparse: bool
) -> ColumnCodes:
    """Add the codes of the sparse columns."""
    counts = np.zeros(features.columns, np.int64)
    counts[entries.columns] = entries.counts
    above = entries.bins > np.repeat(entries.default.astype(np.uint16), entries.counts)
    codes = entries.bins  # changed in place: nobody asks for the bins any more
    codes += np.uint16(1)
    codes -= above
    return ColumnCodes(groups, starts_of(counts), entries.rows, codes, from_sparse)


def with_rows(codes: ColumnCodes, plan: Plan, team: Team) -> BinnedMatrix:
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


def fill_rows(codes: ColumnCodes, features: Features, by_row: NDArray[Any], team: Team) -> BinnedMatrix:
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
