"""Sparse columns: values → bins, entries → codes by column and by row."""

import numpy as np

from spinney.binning.bin_kernels import bin_of
from spinney.binning.cut_kernels import BUCKETS, DIGITS, MISSING, key_of, merge_equal, place_cuts, sort_keys
from spinney.jit import f32, f64, i32, i64, inline, kernel, out, u8, u16
from spinney.jit.intrinsics import bits_of


@inline
def insert_zero(keys, at, mass, mass_at, distinct, rest):
    """Add the mass of rows without an entry to the value 0; returns the number of distinct values then."""
    place = 0
    while place < distinct and keys[at + place] < 0:
        place += 1
    if place < distinct and keys[at + place] == 0:
        mass[mass_at + place] += rest
        return distinct
    for back in range(distinct - place):
        i = distinct - back
        keys[at + i] = keys[at + i - 1]
        mass[mass_at + i] = mass[mass_at + i - 1]
    keys[at + place] = 0
    mass[mass_at + place] = rest
    return distinct + 1


@kernel
def cut_stored(
    rank: i64, size: i64, sync: out(i64["32"]), columns: i64, stored: i64, all_rows: i64, longest: i64, threads: i64,
    most: i64, weighted: i64, single: i64, absent_missing: i64, total_mass: f64,
    starts: i64["columns + 1"], rows: i32["stored"], values32: f32["stored * single"], values64: f64["stored * (1 - single)"],
    mass_of: f64["all_rows"], keys: out(i64["threads * longest"]), spare: out(i64["threads * longest"]),
    order: out(i32["2 * threads * longest * weighted"]), mass: out(f64["threads * longest"]),
    heads: out(i32["threads * 12288"]), cuts: out(f64["columns * most"]), made: out(i64["columns"]),
):
    """Cuts of each column from its stored entries in rows of positive mass; the rest of the mass is at 0, or missing.

    `longest` is one more than the entries of any column. Masses are whole numbers, so sums do not depend on their order;
    without weights they are 0 and 1.
    """
    for c in range(rank, columns, size):
        at = rank * longest
        count = 0
        seen = 0.0
        for k in range(starts[c], starts[c + 1]):
            m = mass_of[rows[k]]
            if m > 0.0:
                seen += m
                key = key_of(float(values32[k]) if single != 0 else values64[k])
                if key != MISSING:
                    keys[at + count] = key
                    if weighted != 0:
                        mass[at + count] = m
                    count += 1
        distinct = 0
        if count > 0:
            sort_keys(keys, at, count, spare, at, order, 2 * at, weighted, heads, rank * DIGITS * BUCKETS, 0)
            if weighted != 0:
                for i in range(count):
                    spare[at + i] = bits_of(mass[at + order[2 * at + i]])
            distinct = merge_equal(keys, at, count, spare, at, weighted, mass, at)
        if seen < total_mass and absent_missing == 0:
            distinct = insert_zero(keys, at, mass, at, distinct, total_mass - seen)
        made[c] = place_cuts(keys, at, mass, at, distinct, most, cuts, c * most) if distinct > 0 else 0


@kernel
def bin_stored(
    rank: i64, size: i64, sync: out(i64["32"]), columns: i64, stored: i64, single: i64, cut_total: i64,
    starts: i64["columns + 1"], values32: f32["stored * single"], values64: f64["stored * (1 - single)"],
    cuts: f64["cut_total"], cut_starts: i64["columns + 1"], absent: i64["columns"],
    bins: out(u16["stored"]), away: out(i64["columns"]), infinite: out(u8["columns"]),
):
    """Bins of the stored entries, and how many of each column's are not in the bin of absent ones."""
    for c in range(rank, columns, size):
        at = cut_starts[c]
        count = cut_starts[c + 1] - at
        other = 0
        for k in range(starts[c], starts[c + 1]):
            x = float(values32[k]) if single != 0 else values64[k]
            if x == x and x - x != 0.0:
                infinite[c] = 1
            b = bin_of(x, cuts, at, count) if x == x else count + 1
            bins[k] = b
            other += 1 if b != absent[c] else 0
        away[c] = other


@kernel
def keep_away(
    rank: i64, size: i64, sync: out(i64["32"]), columns: i64, chosen: i64, stored: i64, kept: i64,
    starts: i64["columns + 1"], rows: i32["stored"], bins: u16["stored"], picks: i64["chosen"], default: i64["chosen"],
    to_starts: i64["chosen + 1"], to_rows: out(i32["kept"]), to_bins: out(u16["kept"]),
):
    """Entries of some columns that are not in the default bin."""
    for j in range(rank, chosen, size):
        to = to_starts[j]
        for k in range(starts[picks[j]], starts[picks[j] + 1]):
            if bins[k] != default[j]:
                to_rows[to] = rows[k]
                to_bins[to] = bins[k]
                to += 1


@kernel
def lines_of_stored(
    rank: i64, size: i64, sync: out(i64["32"]), all_rows: i64, columns: i64, chosen: i64, stored: i64, wide: i64,
    starts: i64["columns + 1"], rows: i32["stored"], bins: u16["stored"], picks: i64["chosen"], default: i64["chosen"],
    lines8: out(u8["chosen * all_rows * (1 - wide)"]), lines16: out(u16["chosen * all_rows * wide"]),
):
    """Bins of some columns for all rows."""
    for j in range(rank, chosen, size):
        at = j * all_rows
        if wide != 0:
            for i in range(all_rows):
                lines16[at + i] = default[j]
            for k in range(starts[picks[j]], starts[picks[j] + 1]):
                lines16[at + rows[k]] = bins[k]
        else:
            for i in range(all_rows):
                lines8[at + i] = default[j]
            for k in range(starts[picks[j]], starts[picks[j] + 1]):
                lines8[at + rows[k]] = bins[k]


@kernel
def away_in_lines(
    rank: i64, size: i64, sync: out(i64["32"]), all_rows: i64, columns: i64, chosen: i64, kept: i64, wide: i64,
    lines8: u8["columns * all_rows * (1 - wide)"], lines16: u16["columns * all_rows * wide"],
    picks: i64["chosen"], default: i64["chosen"], to_starts: i64["chosen + 1"],
    to_rows: out(i32["kept"]), to_bins: out(u16["kept"]),
):
    """Entries of some columns given as lines: the rows that are not in the default bin."""
    for j in range(rank, chosen, size):
        to = to_starts[j]
        at = picks[j] * all_rows
        for i in range(all_rows):
            b = np.int64(lines16[at + i]) if wide != 0 else np.int64(lines8[at + i])
            if b != default[j]:
                to_rows[to] = i
                to_bins[to] = b
                to += 1


@kernel
def count_in_lines(
    rank: i64, size: i64, sync: out(i64["32"]), all_rows: i64, columns: i64, wide: i64,
    lines8: u8["columns * all_rows * (1 - wide)"], lines16: u16["columns * all_rows * wide"],
    zero: i64["columns"], missing: i64["columns"], zeros: out(i64["columns"]), missings: out(i64["columns"]),
):
    """How many rows of each line are in the bin of zero, and in that of missing values."""
    for j in range(rank, columns, size):
        at = j * all_rows
        found = 0
        gone = 0
        if wide != 0:
            for i in range(all_rows):
                found += 1 if lines16[at + i] == zero[j] else 0
                gone += 1 if lines16[at + i] == missing[j] else 0
        else:
            for i in range(all_rows):
                found += 1 if lines8[at + i] == zero[j] else 0
                gone += 1 if lines8[at + i] == missing[j] else 0
        zeros[j] = found
        missings[j] = gone


@kernel
def fill_groups(
    rank: i64, size: i64, sync: out(i64["32"]), all_rows: i64, columns: i64, stored: i64, groups: i64, wide: i64,
    starts: i64["columns + 1"], rows: i32["stored"], bins: u16["stored"], default: i64["columns"], low: i64["columns"],
    group_starts: i64["groups + 1"], members: i64["columns"],
    lines8: out(u8["groups * all_rows * (1 - wide)"]), lines16: out(u16["groups * all_rows * wide"]),
):
    """Codes of bundles for all rows. Where members conflict, the first one in the bundle counts."""
    for g in range(rank, groups, size):
        at = g * all_rows
        for i in range(all_rows):
            if wide != 0:
                lines16[at + i] = 0
            else:
                lines8[at + i] = 0
        for back in range(group_starts[g + 1] - group_starts[g]):
            j = members[group_starts[g + 1] - 1 - back]
            for k in range(starts[j], starts[j + 1]):
                b = np.int64(bins[k])
                code = low[j] + b - (1 if b > default[j] else 0)
                if wide != 0:
                    lines16[at + rows[k]] = code
                else:
                    lines8[at + rows[k]] = code


@kernel
def entries_by_row(
    all_rows: i64, columns: i64, stored: i64, starts: i64["columns + 1"], rows: i32["stored"], codes: u16["stored"],
    low: i64["columns"], row_starts: out(i64["all_rows + 1"]), row_codes: out(i32["stored"]),
):
    """Lists of the places that each row has on the sparse axis, ascending. (Codes count from 1.)"""
    for i in range(all_rows + 1):
        row_starts[i] = 0
    for k in range(stored):
        row_starts[rows[k] + 1] += 1
    for i in range(all_rows):
        row_starts[i + 1] += row_starts[i]
    for c in range(columns):
        for k in range(starts[c], starts[c + 1]):
            row = rows[k]
            row_codes[row_starts[row]] = low[c] + np.int64(codes[k]) - 1
            row_starts[row] += 1
    # Each start has moved to the next row's.
    for back in range(all_rows):
        i = all_rows - back
        row_starts[i] = row_starts[i - 1]
    row_starts[0] = 0
