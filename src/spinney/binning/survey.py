"""Bins of a table: those of its columns, and which of them mostly are in one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spinney.binning.cuts import Cuts
from spinney.binning.entries import Entries, Lines
from spinney.binning.features import code_type
from spinney.binning.given import block_of, stored_of
from spinney.binning.kernels.bin import ChunkValues, bin_values
from spinney.binning.kernels.entry import (
    away_in_lines,
    bin_stored,
    count_in_lines,
    keep_away,
    lines_of_entries,
)
from spinney.binning.kernels.records import NO_DEFAULT
from spinney.data import Table, describe_column
from spinney.data.table import kernel_blocks, starts_of
from spinney.errors import DataError
from spinney.jit import allocate
from spinney.jit.team import Team


@dataclass(frozen=True, eq=False)
class TableBins:
    """Bins of a table, each column a line or a list of entries."""

    rows: int
    lines: Lines
    entries: Entries
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
        lines, entries = bin_lines(table, cuts, team), Entries.none()
    else:
        lines, entries = bin_entries(table, cuts, absent, team)
    if list_lines and table.columns > 1:
        zeros, missings = count_bins(lines, cuts.bins_of(0.0)[lines.columns], cuts.bins[lines.columns], team)
        default = mostly_in(cuts, lines.columns, zeros, missings, table.rows)
        picks = np.flatnonzero(default != NO_DEFAULT)
        counts = table.rows - np.maximum(zeros, missings)[picks]
        lines, more = take_lines(lines, picks, default[picks], counts, team)
        entries = entries.join(more)
    return TableBins(table.rows, lines, entries, table.sparse is not None)


def mostly_in(
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


def bin_lines(table: Table, cuts: Cuts, team: Team) -> Lines:
    """Bins of a dense table."""
    lines = _room_for_lines(np.arange(table.columns), table.rows, cuts)
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
) -> tuple[Lines, Entries]:
    """Bins of a sparse table: entries of the columns that mostly are in the bin of absent ones, lines of the others.

    `listed` says instead of which columns entries are wanted.
    """
    stored, away = _stored_bins(table, cuts, absent, team)
    if listed is None:
        listed = mostly_absent(away, table.rows)
    return part_entries(stored, away, listed, table.rows, cuts, team)


def _stored_bins(table: Table, cuts: Cuts, absent: float, team: Team) -> tuple[Entries, NDArray[np.int64]]:
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
    return Entries(np.arange(values.columns), values.starts, values.rows, bins, default), away


def part_entries(
    stored: Entries, away: NDArray[np.int64], listed: NDArray[np.bool_], rows: int, cuts: Cuts, team: Team
) -> tuple[Lines, Entries]:
    """Entries of all columns → lines of those that are not to be listed, and entries of the others.

    Parameters
    ----------
    stored : Entries
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
    lines = _room_for_lines(many, rows, cuts)
    if kept == len(stored.bins) and not len(many):
        return lines, stored
    kept_rows, kept_bins = np.empty(kept, np.int32), np.empty(kept, np.uint16)
    team.run(keep_away.bind(stored.record(), len(few), kept, few, starts, kept_rows, kept_bins))
    team.run(lines_of_entries.bind(stored.record(), many, lines.record()))
    return lines, Entries(few, starts, kept_rows, kept_bins, stored.default[few])


def count_bins(
    lines: Lines, one: NDArray[np.int64], other: NDArray[np.int64], team: Team
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """How many rows of each line are in either of two bins."""
    found, more = np.zeros(len(lines.columns), np.int64), np.zeros(len(lines.columns), np.int64)
    team.run(count_in_lines.bind(lines.record(), one, other, found, more))
    return found, more


def take_lines(
    lines: Lines, picks: NDArray[np.int64], default: NDArray[np.int64], counts: NDArray[np.int64], team: Team
) -> tuple[Lines, Entries]:
    """Turn some lines into entries: the `counts` rows of each that are not in its default bin."""
    if not len(picks):
        return lines, Entries.none()
    starts = starts_of(counts)
    kept = int(starts[-1])
    rows, bins = np.empty(kept, np.int32), np.empty(kept, np.uint16)
    team.run(away_in_lines.bind(lines.record(), len(picks), kept, picks, default, starts, rows, bins))
    rest = np.setdiff1d(np.arange(len(lines.columns)), picks)
    return Lines(lines.columns[rest], lines.bins[rest]), Entries(
        lines.columns[picks], starts, rows, bins, default
    )


def _room_for_lines(columns: NDArray[np.int64], rows: int, cuts: Cuts) -> Lines:
    """Lines of bins that are still to be written; missing values have a number too."""
    kind = code_type(int(cuts.bins.max(initial=0)) + 1)
    return Lines(columns, np.empty((len(columns), rows), kind))


def _refuse_infinite(table: Table, infinite: NDArray[np.uint8]) -> None:
    if infinite.any():
        column = int(np.flatnonzero(infinite)[0])
        raise DataError(
            f"{describe_column(table, column)} holds an infinite value; only finite numbers and NaN (missing) can be used: "
            "Input X contains infinity or a value too large"
        )
