"""New bins for every tree, whose cuts are quantiles of the hessian, chosen among very many fine bins.

Each thread takes columns in turn: it sums the hessians of a column's fine bins, joins neighbours until each of the fewer new bins
has about the same sum, and writes the rows' new codes. Sums are integers. The bin of 0 is not joined where absent entries are 0,
because sparse columns have no code for it.
"""

import numpy as np

from spinney.binning.kernels.records import NO_DEFAULT, Binned
from spinney.data.kernels.records import Gradients
from spinney.growth.kernels.packing import WIDE_LARGEST, WIDE_SUM_LIMIT
from spinney.growth.kernels.quantize import join_sizes, power_scale, sum_sizes
from spinney.growth.kernels.records import Control, PartialSums, Subset
from spinney.jit import Member, i32, i64, inline, kernel, out, own, record, u8, u16
from spinney.jit.barrier import meet
from spinney.jit.intrinsics import tail


@record(per_thread=True)
class JoinedBins:
    """A thread's memory for one column: the mass of each fine bin, and the new bin that it belongs to."""

    mass: out(i64["width + 1"])
    new_bin: out(i32["width + 1"])


@record
class Proposal:
    """The bins of one tree: rules, scratch, and the new positions of codes."""

    control: Control["1"]
    width: i64  # most fine bins of a column
    joined: JoinedBins
    most: i64  # most bins of a column
    wide: i64
    zero: i64["data.features.columns"]
    bins: i64["data.features.columns"]
    low: i64["data.features.columns"]
    partial_sums: PartialSums
    subset: Subset
    masses: out(i64["data.codes.rows"])  # 0 for rows outside the subset
    last: out(i32["data.features.columns * most"])  # fine bin of each bin
    default: out(i64["data.features.columns"])
    places: out(i32["data.sparse.axis"])


@record
class NewCodes:
    """Codes of the new bins by columns."""

    by_column8: out(u8["data.codes.rows * data.codes.groups * (1 - proposal.wide)"])
    by_column16: out(u16["data.codes.rows * data.codes.groups * proposal.wide"])
    sparse: out(u16["data.sparse.entries"])


@inline
def round_masses(team, gradients, output, partial_sums, subset, masses):
    """Hessians of this thread's rows as whole numbers, all in the same steps (after `sum_sizes`)."""
    rows = gradients.rows
    pairs = tail(gradients.pairs, 2 * rows * output)
    _, largest, _, total = join_sizes(team.size, gradients, output, partial_sums)
    scale = power_scale(largest, total, float(rows), WIDE_LARGEST, WIDE_SUM_LIMIT)
    for number in range(rows * team.rank // team.size, rows * (team.rank + 1) // team.size):
        row = np.int64(subset.rows[number]) if subset.some != 0 else np.int64(number)
        masses[row] = np.int64(float(pairs[2 * number + 1]) * scale + 0.5)


@inline
def join_bins(bins, most, zero, mass, new_bin, last):
    """Number the new bins of fine ones, at most `most`, and write the last fine bin of each."""
    total = np.int64(0)
    for b in range(bins):
        total += mass[b]
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
        new_bin[b] = number
        last[number] = b
        before += mass[b]


@inline
def sum_masses(column, data, masses, mass):
    """Sum hessians by fine bin of a column."""
    rows = data.codes.rows
    group = data.features.group_of[column]
    default = data.features.default[column]
    for b in range(data.features.bins[column] + 1):
        mass[b] = 0
    if group >= 0:
        for i in range(rows):
            at = group * rows + i
            code = (
                np.int64(data.codes.by_column16[at])
                if data.codes.wide != 0
                else np.int64(data.codes.by_column8[at])
            )
            mass[code] += masses[i]
        return
    rest = np.int64(0)
    for row in range(rows):
        rest += masses[row]
    sparse = data.sparse
    for i in range(sparse.starts[column], sparse.starts[column + 1]):
        code = np.int64(sparse.column_codes[i]) - 1
        mass[code + (1 if code >= default else 0)] += masses[sparse.column_rows[i]]
        rest -= masses[sparse.column_rows[i]]
    mass[default] += rest


@inline
def write_group(group, codes, new_bin, wide, new_codes):
    """Write the new codes of a group."""
    for i in range(group * codes.rows, (group + 1) * codes.rows):
        if codes.wide != 0:
            code = np.int64(new_bin[codes.by_column16[i]])
        else:
            code = np.int64(new_bin[codes.by_column8[i]])
        if wide != 0:
            new_codes.by_column16[i] = code
        else:
            new_codes.by_column8[i] = code


@inline
def write_sparse(column, data, new_bin, proposal, new_codes):
    """Write the new codes of a sparse column, and the new places of its codes on the axis."""
    features = data.features
    default = features.default[column]
    low = proposal.low[column]
    first = features.low[column]
    new = np.int64(new_bin[default]) if default < NO_DEFAULT else default
    proposal.default[column] = new
    for k in range(features.codes[column]):
        b = np.int64(new_bin[k + (1 if k >= default else 0)])
        proposal.places[first + k] = low + b - (1 if b > new else 0)
    for i in range(data.sparse.starts[column], data.sparse.starts[column + 1]):
        new_codes.sparse[i] = proposal.places[first + data.sparse.column_codes[i] - 1] - low + 1


@kernel
def propose(team: Member, data: Binned, gradients: Gradients, proposal: Proposal, new_codes: NewCodes):
    """Choose the bins of one tree and write the codes of all rows by columns."""
    output = proposal.control[0].output
    sum_sizes(team, gradients, output, proposal.partial_sums)
    if not meet(team, team.size):
        return
    round_masses(team, gradients, output, proposal.partial_sums, proposal.subset, proposal.masses)
    if not meet(team, team.size):
        return
    mine = own(proposal.joined, team.rank)
    mass = mine.mass
    new_bin = mine.new_bin
    for column in range(team.rank, data.features.columns, team.size):
        bins = data.features.bins[column]
        group = data.features.group_of[column]
        sum_masses(column, data, proposal.masses, mass)
        last = tail(proposal.last, column * proposal.most)
        join_bins(bins, proposal.bins[column], proposal.zero[column], mass, new_bin, last)
        # The bin of missing values does not depend on how many new bins there are.
        new_bin[bins] = proposal.bins[column]
        if group >= 0:
            write_group(group, data.codes, new_bin, proposal.wide, new_codes)
        else:
            write_sparse(column, data, new_bin, proposal, new_codes)


@kernel
def move_codes(
    team: Member,
    stored: i64,
    sparse_codes: i64,
    fine: i32["stored"],
    places: i32["sparse_codes"],
    coarse: out(i32["stored"]),
):
    """Places of the stored codes of all rows on the axis of the new ones."""
    for i in range(stored * team.rank // team.size, stored * (team.rank + 1) // team.size):
        coarse[i] = places[fine[i]]
