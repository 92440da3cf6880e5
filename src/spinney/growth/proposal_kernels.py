"""New bins for every tree: the cuts to try are quantiles of the hessian, found among very many fine bins.

Each thread takes columns in turn: it sums the hessians of a column's fine bins, joins neighbours until each of the few new bins
has about the same sum, and writes the rows' new codes. Sums are integers. The bin of 0 stays apart where absent entries are 0,
because sparse columns have no code for it.
"""

import numpy as np

from spinney.binning.features import NO_DEFAULT
from spinney.growth.layout import CLASS, STAT_MAX_H, STAT_SUM_H, STATS
from spinney.growth.quantize_kernels import power_scale
from spinney.jit import f32, f64, i32, i64, inline, kernel, out, u8, u16
from spinney.jit.barrier import meet

LARGEST = 2147483000.0  # a little below 2**31
SUM_LIMIT = 4.5e15  # a little below 2**52


@inline
def round_masses(rank, size, rows, output, blocks, pairs, stats, masses):
    """Hessians of this thread's rows as whole numbers; all by the same steps."""
    largest = 0.0
    total = 0.0
    for b in range(blocks):
        at = STATS * (blocks * output + b)
        largest = max(largest, stats[at + STAT_MAX_H])
        total += stats[at + STAT_SUM_H]
    scale = power_scale(largest, total, float(rows), LARGEST, SUM_LIMIT)
    for row in range(rows * rank // size, rows * (rank + 1) // size):
        masses[row] = np.int64(float(pairs[2 * (rows * output + row) + 1]) * scale + 0.5)


@inline
def join_bins(bins, most, zero, mass, mass_at, lut, lut_at, last, last_at):
    """Number the new bins, `most` of them, that fine ones belong to, and note each one's last fine bin."""
    total = np.int64(0)
    for b in range(bins):
        total += mass[mass_at + b]
    parts = most - 2 if 0 <= zero < bins else most
    before = np.int64(0)
    number = np.int64(0)
    part = np.int64(0)
    for b in range(bins):
        share = float(before) / float(total) if total > 0 else float(b) / float(bins)
        now = min(np.int64(share * parts), parts - 1)
        if b > 0 and (bins <= most or now != part or b == zero or b - 1 == zero):
            number += 1
        part = now
        lut[lut_at + b] = number
        last[last_at + number] = b
        before += mass[mass_at + b]


@kernel
def propose(
    rank: i64, size: i64, sync: out(i64["32"]),
    rows: i64, columns: i64, groups: i64, outputs: i64, blocks: i64, threads: i64, fine_wide: i64, wide: i64, width: i64,
    most: i64, stored: i64, sparse_codes: i64,
    fine8: u8["rows * groups * (1 - fine_wide)"], fine16: u16["rows * groups * fine_wide"],
    group_of: i64["columns"], fine_bins: i64["columns"], fine_default: i64["columns"], fine_low: i64["columns"],
    fine_codes: i64["columns"], zero_of: i64["columns"], bins_of: i64["columns"], low_of: i64["columns"],
    stored_starts: i64["columns + 1"], stored_rows: i32["stored"], fine_stored: u16["stored"],
    pairs: f32["2 * rows * outputs"], stats: f64["4 * blocks * outputs"], control: i64["8"],
    masses: out(i64["rows"]), mass: out(i64["threads * (width + 1)"]), lut: out(i32["threads * (width + 1)"]),
    last: out(i32["columns * most"]), default_of: out(i64["columns"]), places: out(i32["sparse_codes"]),
    coarse8: out(u8["rows * groups * (1 - wide)"]), coarse16: out(u16["rows * groups * wide"]),
    codes: out(u16["stored"]),
):
    """Choose the bins of one tree and write the codes of all rows by columns."""
    round_masses(rank, size, rows, control[CLASS], blocks, pairs, stats, masses)
    if not meet(sync, size):
        return
    at = rank * (width + 1)
    for column in range(rank, columns, size):
        bins = fine_bins[column]
        group = group_of[column]
        default = fine_default[column]
        for b in range(bins + 1):
            mass[at + b] = 0
        if group >= 0:
            for i in range(group * rows, (group + 1) * rows):
                code = np.int64(fine16[i]) if fine_wide != 0 else np.int64(fine8[i])
                mass[at + code] += masses[i - group * rows]
        else:
            rest = np.int64(0)
            for row in range(rows):
                rest += masses[row]
            for i in range(stored_starts[column], stored_starts[column + 1]):
                code = np.int64(fine_stored[i]) - 1
                mass[at + code + (1 if code >= default else 0)] += masses[stored_rows[i]]
                rest -= masses[stored_rows[i]]
            mass[at + default] += rest
        join_bins(bins, bins_of[column], zero_of[column], mass, at, lut, at, last, column * most)
        # Whatever the number of bins that came out, missing values keep theirs.
        missing = bins_of[column]
        lut[at + bins] = missing
        if group >= 0:
            for i in range(group * rows, (group + 1) * rows):
                if fine_wide != 0:
                    code = np.int64(lut[at + fine16[i]])
                else:
                    code = np.int64(lut[at + fine8[i]])
                if wide != 0:
                    coarse16[i] = code
                else:
                    coarse8[i] = code
        else:
            default_of[column] = lut[at + default] if default < NO_DEFAULT else default
            new = default_of[column]
            for k in range(fine_codes[column]):
                b = np.int64(lut[at + k + (1 if k >= default else 0)])
                places[fine_low[column] + k] = low_of[column] + b - (1 if b > new else 0)
            for i in range(stored_starts[column], stored_starts[column + 1]):
                codes[i] = places[fine_low[column] + fine_stored[i] - 1] - low_of[column] + 1


@kernel
def move_codes(
    rank: i64, size: i64, sync: out(i64["32"]), stored: i64, sparse_codes: i64,
    fine: i32["stored"], places: i32["sparse_codes"], coarse: out(i32["stored"]),
):
    """Places of the stored codes of all rows on the axis of the new ones."""
    for i in range(stored * rank // size, stored * (rank + 1) // size):
        coarse[i] = places[fine[i]]
