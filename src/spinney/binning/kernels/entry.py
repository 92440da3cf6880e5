"""Sparse tables and columns: stored values → cuts and bins, bins → entries, entries → codes by column and by row."""

import numpy as np

from spinney.binning.kernels.bin import bin_of
from spinney.binning.kernels.cut import (
    MISSING,
    Keys,
    SortBuffers,
    key_of,
    merge_equal,
    place_cuts,
    sort_keys,
    sort_masses,
    spread_masses,
)  # fmt: skip
from spinney.binning.kernels.records import BinLines, CutLists, EntryLists, StoredValues
from spinney.jit import Member, f64, i32, i64, inline, kernel, out, own, u8, u16
from spinney.jit.intrinsics import tail


@inline
def insert_zero(keys, mass, distinct, rest):
    """Add the mass of rows without an entry to the value 0; returns the number of distinct values then."""
    place = 0
    while place < distinct and keys[place] < 0:
        place += 1
    if place < distinct and keys[place] == 0:
        mass[place] += rest
        return distinct
    for back in range(distinct - place):
        i = distinct - back
        keys[i] = keys[i - 1]
        mass[i] = mass[i - 1]
    keys[place] = 0
    mass[place] = rest
    return distinct + 1


@kernel
def cut_stored(
    team: Member,
    values: StoredValues,
    all_rows: i64,
    most: i64,
    spread: i64,
    absent: f64,
    total_mass: f64,
    mass_of: f64["all_rows"],
    buffers: SortBuffers,
    keys: Keys,
    cuts: out(f64["values.columns * most"]),
    made: out(i64["values.columns"]),
):
    """Cuts of each column from its stored values in rows of positive mass; the rest of the mass is at 0, or missing.

    Buffers have one place more than the stored values of any column. Masses are whole numbers, so sums do not depend on their
    order; without weights they are 0 and 1.
    """
    mine, column = own(buffers, team.rank), own(keys, team.rank).keys
    mass = mine.mass
    for c in range(team.rank, values.columns, team.size):
        count = 0
        seen = 0.0
        for k in range(values.starts[c], values.starts[c + 1]):
            m = mass_of[values.rows[k]]
            if m > 0.0:
                seen += m
                key = key_of(float(values.values32[k]) if values.single != 0 else values.values64[k])
                if key != MISSING:
                    column[count] = key
                    if buffers.weighted != 0:
                        mass[count] = m
                    count += 1
        distinct = 0
        if count > 0:
            sort_keys(column, count, mine, 0)
            if buffers.weighted != 0:
                sort_masses(mass, count, mine)
            distinct = merge_equal(column, count, mine)
        if seen < total_mass and absent == 0.0:
            distinct = insert_zero(column, mass, distinct, total_mass - seen)
        if spread != 0 and distinct > most:
            spread_masses(column, mass, distinct)
        made[c] = place_cuts(column, mass, distinct, most, tail(cuts, c * most)) if distinct > 0 else 0


@kernel
def bin_stored(
    team: Member,
    values: StoredValues,
    cuts: CutLists,
    absent: i64["values.columns"],
    bins: out(u16["values.stored"]),
    away: out(i64["values.columns"]),
    infinite: out(u8["values.columns"]),
):
    """Bins of the stored values, and how many values of each column are not in the bin of absent ones."""
    for c in range(team.rank, values.columns, team.size):
        column_cuts = tail(cuts.values, cuts.starts[c])
        count = cuts.starts[c + 1] - cuts.starts[c]
        other = 0
        for k in range(values.starts[c], values.starts[c + 1]):
            x = float(values.values32[k]) if values.single != 0 else values.values64[k]
            if x == x and x - x != 0.0:
                infinite[c] = 1
            b = bin_of(x, column_cuts, count) if x == x else count + 1
            bins[k] = b
            other += 1 if b != absent[c] else 0
        away[c] = other


@kernel
def keep_away(
    team: Member,
    lists: EntryLists,
    chosen: i64,
    kept: i64,
    picks: i64["chosen"],
    to_starts: i64["chosen + 1"],
    to_rows: out(i32["kept"]),
    to_bins: out(u16["kept"]),
):
    """Entries of some of the columns, without those in the default bin."""
    for j in range(team.rank, chosen, team.size):
        to = to_starts[j]
        default = lists.default[picks[j]]
        for k in range(lists.starts[picks[j]], lists.starts[picks[j] + 1]):
            if lists.bins[k] != default:
                to_rows[to] = lists.rows[k]
                to_bins[to] = lists.bins[k]
                to += 1


@kernel
def lines_of_entries(team: Member, lists: EntryLists, picks: i64["lines.columns"], lines: BinLines):
    """Bins of some of the columns for all rows."""
    for j in range(team.rank, lines.columns, team.size):
        at = j * lines.rows
        default = lists.default[picks[j]]
        if lines.wide != 0:
            for i in range(lines.rows):
                lines.lines16[at + i] = default
            for k in range(lists.starts[picks[j]], lists.starts[picks[j] + 1]):
                lines.lines16[at + lists.rows[k]] = lists.bins[k]
        else:
            for i in range(lines.rows):
                lines.lines8[at + i] = default
            for k in range(lists.starts[picks[j]], lists.starts[picks[j] + 1]):
                lines.lines8[at + lists.rows[k]] = lists.bins[k]


@kernel
def away_in_lines(
    team: Member,
    lines: BinLines,
    chosen: i64,
    kept: i64,
    picks: i64["chosen"],
    default: i64["chosen"],
    to_starts: i64["chosen + 1"],
    to_rows: out(i32["kept"]),
    to_bins: out(u16["kept"]),
):
    """Entries of some columns given as lines: the rows that are not in the default bin."""
    for j in range(team.rank, chosen, team.size):
        to = to_starts[j]
        at = picks[j] * lines.rows
        for i in range(lines.rows):
            b = np.int64(lines.lines16[at + i]) if lines.wide != 0 else np.int64(lines.lines8[at + i])
            if b != default[j]:
                to_rows[to] = i
                to_bins[to] = b
                to += 1


@kernel
def count_in_lines(
    team: Member,
    lines: BinLines,
    zero: i64["lines.columns"],
    missing: i64["lines.columns"],
    zeros: out(i64["lines.columns"]),
    missings: out(i64["lines.columns"]),
):
    """How many rows of each line are in the bin of zero, and in that of missing values."""
    for j in range(team.rank, lines.columns, team.size):
        at = j * lines.rows
        found = 0
        gone = 0
        if lines.wide != 0:
            for i in range(lines.rows):
                found += 1 if lines.lines16[at + i] == zero[j] else 0
                gone += 1 if lines.lines16[at + i] == missing[j] else 0
        else:
            for i in range(lines.rows):
                found += 1 if lines.lines8[at + i] == zero[j] else 0
                gone += 1 if lines.lines8[at + i] == missing[j] else 0
        zeros[j] = found
        missings[j] = gone


@kernel
def fill_groups(
    team: Member,
    lists: EntryLists,
    low: i64["lists.columns"],
    group_starts: i64["lines.columns + 1"],
    members: i64["lists.columns"],
    lines: BinLines,
):
    """Codes of bundles for all rows, a line each. Where members conflict, the first one in the bundle counts."""
    for g in range(team.rank, lines.columns, team.size):
        at = g * lines.rows
        for i in range(lines.rows):
            if lines.wide != 0:
                lines.lines16[at + i] = 0
            else:
                lines.lines8[at + i] = 0
        for back in range(group_starts[g + 1] - group_starts[g]):
            j = members[group_starts[g + 1] - 1 - back]
            for k in range(lists.starts[j], lists.starts[j + 1]):
                b = np.int64(lists.bins[k])
                code = low[j] + b - (1 if b > lists.default[j] else 0)
                if lines.wide != 0:
                    lines.lines16[at + lists.rows[k]] = code
                else:
                    lines.lines8[at + lists.rows[k]] = code


@kernel
def entries_by_row(
    all_rows: i64,
    columns: i64,
    entries: i64,
    starts: i64["columns + 1"],
    rows: i32["entries"],
    codes: u16["entries"],
    low: i64["columns"],
    row_starts: out(i64["all_rows + 1"]),
    row_codes: out(i32["entries"]),
):
    """Lists of the places of each row's codes on the sparse axis, ascending. (Codes count from 1.)"""
    for i in range(all_rows + 1):
        row_starts[i] = 0
    for k in range(entries):
        row_starts[rows[k] + 1] += 1
    for i in range(all_rows):
        row_starts[i + 1] += row_starts[i]
    for c in range(columns):
        for k in range(starts[c], starts[c + 1]):
            row = rows[k]
            row_codes[row_starts[row]] = low[c] + np.int64(codes[k]) - 1
            row_starts[row] += 1
    # Each start has moved to that of the next row.
    for back in range(all_rows):
        i = all_rows - back
        row_starts[i] = row_starts[i - 1]
    row_starts[0] = 0
