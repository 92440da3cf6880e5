"""The plan of a binned table: which columns stand alone, share a bundle or are sparse, and what their codes are.

It is made from the bins of the table's columns and which of them mostly are in one (`bin_table`), by exclusive feature bundling.

A column of which one bin, that of 0 or of missing values, holds most rows is listed as entries. Columns whose entries hardly ever
meet are bundled into one group, greedily. A group that has an entry in a quarter of the rows is kept for all rows. A column that
found no such bundle stays sparse: its entries are kept by row, for histograms, and by column, for partition. One-hot columns of a
bundle are searched in runs, all in one go.

Rows that are coded by the cuts of other data, as validation rows are, are never bundled: they may conflict where the others do
not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.binning.cuts import Cuts
from spinney.binning.kernels.bin import ChunkValues, bin_values
from spinney.binning.kernels.bundle import OpenBundles, bundle_columns, count_neighbours
from spinney.binning.kernels.entry import (
    away_in_lines,
    bin_stored,
    count_in_lines,
    keep_away,
    lines_of_entries,
)
from spinney.binning.kernels.records import NO_DEFAULT
from spinney.binning.matrix import (
    SPARSE,
    ColumnLayout,
    DenseColumns,
    SparseEntries,
    block_of,
    code_type,
    stored_of,
)
from spinney.data import Table, describe_column
from spinney.data.table import kernel_blocks, starts_of
from spinney.errors import DataError
from spinney.jit import allocate
from spinney.jit.team import Team


@dataclass(frozen=True, eq=False)
class TableBins:
    """Bins of a table, each column a line or a list of entries."""

    rows: int
    lines: DenseColumns
    entries: SparseEntries
    from_sparse: bool  # whether the table was sparse


def bin_table(table: Table, cuts: Cuts, absent: float, team: Team, list_lines: bool) -> TableBins:
    """Put every value of a table into its bin. An infinite value is an error that names the column.

    Parameters
    ----------
    table : Table
        The values.
    cuts : Cuts
        Where its columns are cut.
    absent : float
        What an entry that a sparse table does not store means: 0, or NaN.
    team : Team
        Threads to work with.
    list_lines : bool
        Whether entries are listed of every column that mostly is in the bin of zero or of missing values. Else only of those that
        mostly are absent from a sparse table.

    Returns
    -------
    TableBins
        The same for any number of threads.
    """
    if table.sparse is None:
        lines, entries = bin_lines(table, cuts, team), SparseEntries.none()
    else:
        lines, entries = bin_entries(table, cuts, absent, team)
    if list_lines and table.columns > 1:
        zeros, missings = count_bins(lines, cuts.bins_of(0.0)[lines.columns], cuts.bins[lines.columns], team)
        default = default_bins_of(cuts, lines.columns, zeros, missings, table.rows)
        picks = np.flatnonzero(default != NO_DEFAULT)
        counts = table.rows - np.maximum(zeros, missings)[picks]
        lines, more = take_lines(lines, picks, default[picks], counts, team)
        entries = entries.join(more)
    return TableBins(table.rows, lines, entries, table.sparse is not None)


def default_bins_of(
    cuts: Cuts, columns: NDArray[np.int64], zeros: NDArray[np.int64], missings: NDArray[np.int64], rows: int
) -> NDArray[np.int64]:
    """The bin, of zero or of missing values, that most rows of each of some columns are in, else NO_DEFAULT.

    Parameters
    ----------
    cuts : Cuts
        Of all columns.
    columns : int64
        The columns. Those of categories have no such bin.
    zeros, missings : int64
        How many rows of each are in the bin of zero, and in that of missing values.
    rows : int
        Rows of the table.
    """
    most = np.maximum(zeros, missings)
    found = (2 * (rows - most) < rows) & (cuts.categorical[columns] == 0)
    bins: NDArray[np.int64] = np.where(zeros >= missings, cuts.bins_of(0.0)[columns], cuts.bins[columns])
    return np.where(found, bins, NO_DEFAULT)


def mostly_absent(away: NDArray[np.int64], rows: int) -> NDArray[np.bool_]:
    """Which columns of a sparse table mostly are in the bin of absent values, `away` rows of each are not."""
    found: NDArray[np.bool_] = 2 * away < rows
    return found


def bin_lines(table: Table, cuts: Cuts, team: Team) -> DenseColumns:
    """Bins of a dense table."""
    lines = _bin_buffer(np.arange(table.columns), table.rows, cuts)
    infinite = np.zeros(table.columns, np.uint8)
    scratch = allocate(ChunkValues, threads=team.size)
    for panel in table.panels:
        for first, block in kernel_blocks(panel):
            team.run(
                bin_values.bind(
                    block_of(block), first, panel.first, cuts.record(), lines.record(), infinite, scratch
                )
            )  # fmt: skip
    _refuse_infinite(table, infinite)
    return lines


def bin_entries(
    table: Table, cuts: Cuts, absent: float, team: Team, listed: NDArray[np.bool_] | None = None
) -> tuple[DenseColumns, SparseEntries]:
    """Bins of a sparse table: entries of the columns that mostly are in the bin of absent ones, lines of the others.

    `listed` chooses instead of which columns entries are wanted.
    """
    stored, away = _stored_bins(table, cuts, absent, team)
    if listed is None:
        listed = mostly_absent(away, table.rows)
    return part_entries(stored, away, listed, table.rows, cuts, team)


def _stored_bins(
    table: Table, cuts: Cuts, absent: float, team: Team
) -> tuple[SparseEntries, NDArray[np.int64]]:
    """Bins of what a sparse table stores, and how many of each column's are not in the bin of absent values."""
    assert table.sparse is not None
    default = cuts.bins_of(absent)
    values = stored_of(table.sparse)
    bins = np.empty(values.stored, np.uint16)
    away, infinite = np.zeros(values.columns, np.int64), np.zeros(values.columns, np.uint8)
    team.run(bin_stored.bind(values, cuts.record(), default, bins, away, infinite))
    # The values are not needed any more, and may be as large as all that follows.
    table.sparse.forget()
    _refuse_infinite(table, infinite)
    return SparseEntries(np.arange(values.columns), values.starts, values.rows, bins, default), away


def part_entries(
    stored: SparseEntries,
    away: NDArray[np.int64],
    listed: NDArray[np.bool_],
    rows: int,
    cuts: Cuts,
    team: Team,
) -> tuple[DenseColumns, SparseEntries]:
    """Entries of all columns → lines of those that are not to be listed, and entries of the others.

    Parameters
    ----------
    stored : SparseEntries
        Of all columns; some may be in the default bin.
    away : int64
        How many entries of each column are not.
    listed : bool
        Which columns are to be listed.
    rows : int
        Rows of the table.
    cuts : Cuts
        Where columns are cut.
    team : Team
        Threads to work with.
    """
    few, many = np.flatnonzero(listed), np.flatnonzero(~listed)
    starts = starts_of(away[few])
    kept = int(starts[-1])
    lines = _bin_buffer(many, rows, cuts)
    if kept == len(stored.bins) and not len(many):
        return lines, stored
    kept_rows, kept_bins = np.empty(kept, np.int32), np.empty(kept, np.uint16)
    team.run(keep_away.bind(stored.record(), len(few), kept, few, starts, kept_rows, kept_bins))
    team.run(lines_of_entries.bind(stored.record(), many, lines.record()))
    return lines, SparseEntries(few, starts, kept_rows, kept_bins, stored.default[few])


def count_bins(
    lines: DenseColumns, one: NDArray[np.int64], other: NDArray[np.int64], team: Team
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """How many rows of each line are in either of two bins."""
    found, more = np.zeros(len(lines.columns), np.int64), np.zeros(len(lines.columns), np.int64)
    team.run(count_in_lines.bind(lines.record(), one, other, found, more))
    return found, more


def take_lines(
    lines: DenseColumns,
    picks: NDArray[np.int64],
    default: NDArray[np.int64],
    counts: NDArray[np.int64],
    team: Team,
) -> tuple[DenseColumns, SparseEntries]:
    """Turn some lines into entries: the `counts` rows of each that are not in its default bin."""
    if not len(picks):
        return lines, SparseEntries.none()
    starts = starts_of(counts)
    kept = int(starts[-1])
    rows, bins = np.empty(kept, np.int32), np.empty(kept, np.uint16)
    team.run(away_in_lines.bind(lines.record(), len(picks), kept, picks, default, starts, rows, bins))
    rest = np.setdiff1d(np.arange(len(lines.columns)), picks)
    return DenseColumns(lines.columns[rest], lines.bins[rest]), SparseEntries(
        lines.columns[picks], starts, rows, bins, default
    )


def _bin_buffer(columns: NDArray[np.int64], rows: int, cuts: Cuts) -> DenseColumns:
    """Lines of bins that are still to be written; missing values have a number too."""
    kind = code_type(int(cuts.bins.max(initial=0)) + 1)
    return DenseColumns(columns, np.empty((len(columns), rows), kind))


def _refuse_infinite(table: Table, infinite: NDArray[np.uint8]) -> None:
    if infinite.any():
        column = int(np.flatnonzero(infinite)[0])
        raise DataError(
            f"{describe_column(table, column)} holds an infinite value; only finite numbers and NaN (missing) can be used: "
            "Input X contains infinity or a value too large"
        )


MARK_BYTES = 64 * 2**20  # for the marks of all open bundles
MOST_OPEN = 256  # bundles that a column is tried in
NARROW, WIDE = 256, 65_535  # codes of a bundle where bins are uint8, or uint16
# Beside so many single columns, bundles are kept narrow: a wide one would double the bytes of every column.
MANY_SINGLE = 64
SAMPLE_ROWS = 10_000  # for the graph of conflicts
GRAPH_PAIRS = 20_000_000  # most pairs of entries in one row that are looked at, over all sampled rows
GRAPH_COLUMNS = 4_096  # more columns are ordered by their entries, unless `bundle_order` is given
PIECE = 2**20  # entries looked at in one go
GRAPH_BLOCK = 16 * 2**20  # bytes of the part of the graph that is held at a time


@dataclass(frozen=True)
class Bundling:
    """How to bundle."""

    order: str  # "degree", "nonzero" or "auto"
    max_conflict_rate: float


@dataclass(frozen=True, eq=False)
class Bundles:
    """The bundle of each column that was looked at, -1 for none, and the conflicts in each bundle.

    A conflict is an entry that is lost, because an entry of another member is in the same row.
    """

    bundle: NDArray[np.int64]
    conflicts: NDArray[np.int64]


def find_bundles(
    entries: SparseEntries, codes: NDArray[np.int64], rows: int, single: int, rules: Bundling
) -> Bundles:
    """Put columns that are rarely away from their default bins together into bundles, greedily.

    Parameters
    ----------
    entries : SparseEntries
        The columns that may be bundled.
    codes : int64
        Codes that each of them needs.
    rows : int
        Rows of the table.
    single : int
        Columns that stand alone.
    rules : Bundling
        Order, and how many conflicts a bundle may have, as a share of the rows.

    Returns
    -------
    Bundles
        Of all columns; the same for any number of threads.
    """
    columns, words = len(entries.columns), (rows + 63) // 64
    most_open = max(1, min(columns, MOST_OPEN, MARK_BYTES // (8 * words)))
    open_bundles = allocate(OpenBundles, most=most_open, words=words)
    bundle = np.full(columns, -1, np.int64)
    bundle_columns(
        entries.record(), rows, int(rules.max_conflict_rate * rows), NARROW if single > MANY_SINGLE else WIDE, codes,
        _order(entries, rows, rules.order), open_bundles, bundle,
    )  # fmt: skip
    return Bundles(bundle, open_bundles.conflicts)


def _order(entries: SparseEntries, rows: int, order: str) -> NDArray[np.int64]:
    """Columns in the order in which they look for a bundle: the hardest to place first."""
    columns = len(entries.columns)
    if order == "nonzero" or (order == "auto" and columns > GRAPH_COLUMNS):
        return np.argsort(-entries.counts, kind="stable")
    return np.lexsort((np.arange(columns), -entries.counts, -_degrees(entries, rows)))


def _places_of_rows(entries: SparseEntries, step: int) -> NDArray[np.int64]:
    """Places of the entries of every `step`-th row. They are found piece by piece, so that scratch memory stays small."""
    pieces = [
        first + np.flatnonzero(entries.rows[first : first + PIECE] % step == 0)
        for first in range(0, len(entries.rows), PIECE)
    ]
    return np.concatenate([np.zeros(0, np.int64), *pieces])


def _degrees(entries: SparseEntries, rows: int) -> NDArray[np.int64]:
    """How many other columns share a row with each column, on a sample of the rows."""
    columns = len(entries.columns)
    step = max(1, rows // SAMPLE_ROWS)
    while True:
        chosen = _places_of_rows(entries, step)
        lengths = np.bincount(entries.rows[chosen] // step, minlength=(rows - 1) // step + 1)
        if (lengths.astype(np.float64) ** 2).sum() <= GRAPH_PAIRS or step >= rows:
            break
        step *= 2
    by_row = np.argsort(entries.rows[chosen], kind="stable")
    members = (np.searchsorted(entries.starts, chosen[by_row], side="right") - 1).astype(np.int32)
    degree = np.zeros(columns, np.int64)
    block = max(1, min(columns, GRAPH_BLOCK // columns))
    for first in range(0, columns, block):
        count_neighbours(
            columns, len(lengths), len(members), first, block, starts_of(lengths), members,
            np.zeros(block * columns, np.uint8), degree,
        )  # fmt: skip
    return degree


# Share of the rows from which a group is kept for all rows, instead of the rows with an entry only.
DENSE_SHARE = 0.25


@dataclass(frozen=True, eq=False)
class BinPlan:
    """How values become codes: made from the bins of a whole table, good for its rows in blocks of any size.

    Attributes
    ----------
    cuts : Cuts
        Where columns are cut into bins.
    absent : float
        What an entry that a sparse table does not store means: 0, or NaN.
    features : ColumnLayout
        Groups, and the codes of each column.
    conflicts : int
        Entries that bundles lose.
    """

    cuts: Cuts
    absent: float
    features: ColumnLayout
    conflicts: int = 0

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the codes of groups."""
        return code_type(int(self.features.group_codes.max(initial=0)))

    @property
    def listed(self) -> NDArray[np.bool_]:
        """Columns that have codes for their entries only: those of bundles, and sparse ones."""
        found: NDArray[np.bool_] = self.features.default != NO_DEFAULT
        return found


def make_plan(found: TableBins, cuts: Cuts, absent: float, bundling: Bundling | None) -> BinPlan:
    """Give each column of entries a place: in a bundle, alone, or among the sparse ones.

    Parameters
    ----------
    found : TableBins
        What was found in the table.
    cuts, absent
        What the table was binned with.
    bundling : Bundling, optional
        How to bundle columns. Without it they stand alone or are sparse, which any rows can be coded by.

    Returns
    -------
    Plan
        The same for any number of threads.
    """
    entries, bins = found.entries, cuts.bins
    if not len(entries.columns):
        return BinPlan(cuts, absent, ColumnLayout.single_column(bins))
    own_bins = bins[entries.columns]
    # A missing value has a code only where there is one.
    has_missing = (entries.last_bins() == own_bins) | (entries.default == own_bins)
    codes = own_bins - ~has_missing
    bundle, conflicts = np.arange(len(codes)), np.zeros(len(codes), np.int64)
    if bundling is not None:
        bundles = find_bundles(entries, codes, found.rows, len(found.lines.columns), bundling)
        bundle, conflicts = bundles.bundle, bundles.conflicts
    shared, alone = _dense_bundles(bundle, entries.counts, found.rows)
    features = _place(found.lines.columns, entries, bins, codes, shared, alone)
    return BinPlan(cuts, absent, features, int(conflicts[np.unique(bundle[shared >= 0])].sum()))


def _dense_bundles(
    bundle: NDArray[np.int64], counts: NDArray[np.int64], rows: int
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Number the bundles that are worth being kept for all rows; also which columns are so on their own."""
    alone = (counts >= DENSE_SHARE * rows) & (bundle < 0)
    shared = np.full(len(bundle), -1, np.int64)
    bundled = bundle >= 0
    if bundled.any():
        size = np.bincount(bundle[bundled])
        filled = np.bincount(bundle[bundled], weights=counts[bundled])
        full = filled >= DENSE_SHARE * rows
        alone[bundled] = (full & (size == 1))[bundle[bundled]]
        number = np.cumsum(full & (size > 1)) - 1
        shared[bundled] = np.where((full & (size > 1))[bundle[bundled]], number[bundle[bundled]], -1)
    return shared, alone


def _place(
    lines: NDArray[np.int64],
    entries: SparseEntries,
    bins: NDArray[np.int64],
    codes: NDArray[np.int64],
    shared: NDArray[np.int64],
    alone: NDArray[np.bool_],
) -> ColumnLayout:
    """Groups: first the columns that came as lines, then those that stand alone, then the bundles."""
    single = ColumnLayout.single_column(bins)
    group, low, count, default = single.group, single.low, single.codes, single.default
    group[lines] = np.arange(len(lines))
    group[entries.columns[alone]] = len(lines) + np.arange(int(alone.sum()))
    first = len(lines) + int(alone.sum())
    group[entries.columns[shared >= 0]] = first + shared[shared >= 0]
    for chosen, start in ((shared >= 0, 1), (~alone & (shared < 0), 0)):
        columns = entries.columns[chosen]
        count[columns], default[columns] = codes[chosen], entries.default[chosen]
        if start == 0:
            group[columns] = SPARSE
        # Members of a bundle stand side by side, of those with one code the ones with most entries first: search soon leaves
        # the others alone. Sparse columns keep their order, in which rows list their entries.
        rank = np.where((count[columns] == 1) & (start == 1), -entries.counts[chosen], -np.inf)
        order = np.lexsort((columns, rank, group[columns]))
        ends = np.cumsum(count[columns][order])
        begins = ends - count[columns][order]
        new = np.diff(group[columns][order], prepend=-2) != 0
        low[columns[order]] = start + begins - np.maximum.accumulate(np.where(new, begins, 0))
    return ColumnLayout(group, low, count, bins, default)
