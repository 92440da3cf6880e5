"""Histograms on their way to other ranks: as few bits as they need, in integers whose sums are those of the histograms.

A histogram of at most BLOCK rows of all ranks has 8 bytes a code: gradient, hessian and count side by side, as in packed sums.
Others have 12: gradient and hessian in one integer, and the counts of two codes in another. Hessians and counts are never below
0, and the sums of all ranks fit their fields, so no field runs into the next.
"""

from spinney.growth.kernels.histogram import fields_of, histogram_of, unpacked
from spinney.growth.kernels.records import Axis, Packing, Sums
from spinney.growth.packing import HALF, LOW_HALF
from spinney.jit import Member, i64, inline, kernel, out, record
from spinney.jit.intrinsics import tail

import numpy as np


@record
class Travel:
    """Histograms, and the integers that travel in their place."""

    count: i64
    used: i64  # codes of the axis that are in use
    length: i64
    slots: i64["count"]
    small: i64["count"]  # 1: has at most BLOCK rows
    begins: i64["count"]  # where its integers begin
    packing: Packing["1"]
    cells: out(i64["length"])


@inline
def pack_small(histogram, used, packing, cells):
    """Gradient, hessian and count of each code in one integer."""
    gradient_shift = packing.gradient_shift
    hessian_shift = packing.hessian_shift
    for c in range(used):
        cells[c] = (
            (np.int64(histogram.g[c]) << gradient_shift) + (np.int64(histogram.h[c]) << hessian_shift)
            + np.int64(histogram.count[c])
        )  # fmt: skip


@inline
def unpack_small(histogram, used, packing, cells):
    """The histogram of such integers."""
    fields = fields_of(packing)
    for c in range(used):
        g, h, count = unpacked(cells[c], fields)
        histogram.g[c] = g
        histogram.h[c] = h
        histogram.count[c] = count


@inline
def pack_large(histogram, used, cells):
    """Gradient and hessian of each code in one integer, then the counts of every two."""
    for c in range(used):
        cells[c] = (np.int64(histogram.g[c]) << HALF) + np.int64(histogram.h[c])
    counts = tail(cells, used)
    for pair in range(used // 2):
        counts[pair] = (np.int64(histogram.count[2 * pair]) << HALF) + np.int64(histogram.count[2 * pair + 1])
    if used % 2 == 1:
        counts[used // 2] = np.int64(histogram.count[used - 1]) << HALF


@inline
def unpack_large(histogram, used, cells):
    """The histogram of such integers."""
    for c in range(used):
        histogram.g[c] = cells[c] >> HALF
        histogram.h[c] = cells[c] & LOW_HALF
    counts = tail(cells, used)
    for pair in range(used // 2):
        histogram.count[2 * pair] = counts[pair] >> HALF
        histogram.count[2 * pair + 1] = counts[pair] & LOW_HALF
    if used % 2 == 1:
        histogram.count[used - 1] = counts[used // 2] >> HALF


@kernel
def pack_histograms(team: Member, travel: Travel, axis: Axis, sums: Sums):
    """Write the integers of this thread's share of the histograms."""
    for k in range(team.rank, travel.count, team.size):
        histogram = histogram_of(travel.slots[k], sums, axis)
        if travel.small[k] != 0:
            pack_small(histogram, travel.used, travel.packing[0], tail(travel.cells, travel.begins[k]))
        else:
            pack_large(histogram, travel.used, tail(travel.cells, travel.begins[k]))


@kernel
def unpack_histograms(team: Member, travel: Travel, axis: Axis, sums: Sums):
    """Write this thread's share of the histograms from their integers."""
    for k in range(team.rank, travel.count, team.size):
        histogram = histogram_of(travel.slots[k], sums, axis)
        if travel.small[k] != 0:
            unpack_small(histogram, travel.used, travel.packing[0], tail(travel.cells, travel.begins[k]))
        else:
            unpack_large(histogram, travel.used, tail(travel.cells, travel.begins[k]))
