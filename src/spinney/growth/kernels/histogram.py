"""Histograms: rows of codes → integer sums by code.

Rows are summed into *packed sums* first (see `packing`), a thread's own, SLAB groups at a time so that those in use stay in
the first-level cache. A full block of rows is moved to the thread's `flushed` sums. What is left in the packed sums is unpacked
when a unit's histogram is made (`flush`, or `join` for the sums of all threads). Both are zero again for the next node.

Groups of at most 256 codes have their packed sums at a fixed distance of `SPAN`, which saves a load per row and group; those of
wider groups follow each other. Last come the sums of sparse columns, of which each row has a list.
"""

import numpy as np

from spinney.growth.kernels.packing import GRADIENT_SHIFT, HESSIAN_SHIFT, LOW_HALF, PLANES, SUM_BLOCK
from spinney.growth.kernels.records import Histogram
from spinney.jit import inline, own
from spinney.jit.intrinsics import prefetch, tail

SPAN = 256
PREFETCH_ROWS = 16  # prefetching a leaf's rows nearly halves the time of its histogram
# Groups and rows of one pass. 500 000 rows of 28 columns, one thread, G additions/s: all 28 columns at once 1.75,
# 16 columns 2.09 (their packed sums fill 32 KiB), 12 columns 2.01.
SLAB = 16
PASS = 1024


@inline
def packed_value(entry, small_bag, cells):
    """What one row adds to a packed sum."""
    if small_bag != 0:
        return cells[entry & LOW_HALF]
    gradient = (entry << 32) >> 48
    hessian = entry & 65535
    return (gradient << GRADIENT_SHIFT) + (hessian << HESSIAN_SHIFT) + 1


@inline
def add_wide_rows(rows, begin, end, small_bag, codes, axis, first, last, fetch, packed):
    """`add_rows` for wide groups: two rows at a time, so that the fields of a group are loaded half as often.

    Not loading the group's number where all are in use makes a tree on 12 groups take .93 to .99 of the time.
    """
    entries = rows.entries
    cells = rows.cells
    bins = codes.by_row16
    stride = codes.stride
    groups = axis.used_groups
    starts = axis.starts
    all_used = axis.extent[0].groups == codes.groups
    for i in range(begin, end, 2):
        one = entries[i]
        # The last row of an odd number of rows has no second one.
        other = entries[min(i + 1, end - 1)]
        row = (one >> 32) * stride
        other_row = (other >> 32) * stride
        value = packed_value(one, small_bag, cells)
        other_value = packed_value(other, small_bag, cells) if i + 1 < end else np.int64(0)
        if fetch != 0:
            prefetch(bins, (entries[min(i + PREFETCH_ROWS, end - 1)] >> 32) * stride + groups[first])
            prefetch(bins, (entries[min(i + PREFETCH_ROWS + 1, end - 1)] >> 32) * stride + groups[first])
        if all_used:
            for j in range(first, last):
                at = starts[j]
                packed[at + bins[row + j]] += value
                packed[at + bins[other_row + j]] += other_value
        else:
            for j in range(first, last):
                group = groups[j]
                at = starts[j]
                packed[at + bins[row + group]] += value
                packed[at + bins[other_row + group]] += other_value


@inline
def add_rows(rows, begin, end, small_bag, codes, axis, first, last, fetch, packed):
    """Add the rows of the entries begin..end-1 to the packed sums of the used groups first..last-1."""
    if codes.wide != 0:
        add_wide_rows(rows, begin, end, small_bag, codes, axis, first, last, fetch, packed)
        return
    entries = rows.entries
    cells = rows.cells
    bins = codes.by_row8
    stride = codes.stride
    groups = axis.used_groups
    all_used = axis.extent[0].groups == codes.groups
    for i in range(begin, end):
        entry = entries[i]
        row = (entry >> 32) * stride
        value = packed_value(entry, small_bag, cells)
        if fetch != 0:
            prefetch(bins, (entries[min(i + PREFETCH_ROWS, end - 1)] >> 32) * stride + groups[first])
        if all_used:
            for j in range(first, last):
                packed[j * SPAN + bins[row + j]] += value
        else:
            for j in range(first, last):
                packed[j * SPAN + bins[row + groups[j]]] += value


@inline
def add_sparse(rows, begin, end, small_bag, sparse, packed):
    """Add the rows of the entries begin..end-1 to the packed sums of their sparse columns."""
    entries = rows.entries
    cells = rows.cells
    row_starts = sparse.row_starts
    row_codes = sparse.row_codes
    for i in range(begin, end):
        entry = entries[i]
        row = entry >> 32
        value = packed_value(entry, small_bag, cells)
        prefetch(row_starts, entries[min(i + 2 * PREFETCH_ROWS, end - 1)] >> 32)
        prefetch(row_codes, row_starts[entries[min(i + PREFETCH_ROWS, end - 1)] >> 32])
        for k in range(row_starts[row], row_starts[row + 1]):
            packed[row_codes[k]] += value


@inline
def fields_of(packing):
    """Shifts and masks of packed sums, for `unpacked`: loaded once, not for every sum."""
    return packing.gradient_shift, packing.hessian_shift, packing.hessian_mask, packing.count_mask


@inline
def unpacked(value, fields):
    """Gradient, hessian and count of a packed sum."""
    gradient_shift, hessian_shift, hessian_mask, count_mask = fields
    return value >> gradient_shift, (value >> hessian_shift) & hessian_mask, value & count_mask


@inline
def unpack(packed, at, packing, histogram, begin, end):
    """Add packed sums to those of the codes begin..end-1 and clear them."""
    fields = fields_of(packing)
    for c in range(begin, end):
        value = packed[at + c - begin]
        packed[at + c - begin] = 0
        g, h, count = unpacked(value, fields)
        histogram.g[c] += g
        histogram.h[c] += h
        histogram.count[c] += count


@inline
def packed_of(j, codes, axis):
    """Where the packed sums of the used group j begin."""
    return axis.starts[j] if codes.wide != 0 else j * SPAN


@inline
def histogram_at(sums, at, total):
    """The three planes of sums that begin at a place."""
    return Histogram(tail(sums, at), tail(sums, at + total), tail(sums, at + 2 * total))


@inline
def histogram_of(slot, sums, axis):
    """A slot's histogram."""
    return histogram_at(sums.histograms, slot * PLANES * axis.total, axis.total)


@inline
def flushed_of(thread, sums, axis):
    """The flushed sums of a thread."""
    return histogram_at(own(sums.by_thread, thread).flushed, np.int64(0), axis.total)


@inline
def empty(codes, sparse, axis, first, last, packed, packing, histogram):
    """Move the packed sums of the used groups first..last-1 and of all sparse columns to a histogram."""
    for j in range(first, last):
        unpack(packed, packed_of(j, codes, axis), packing, histogram, axis.starts[j], axis.starts[j + 1])
    if sparse.axis > 0:
        sparse_at = axis.extent[0].sparse_at
        unpack(packed, axis.extent[0].sparse_packed, packing, histogram, sparse_at, sparse_at + sparse.axis)


@inline
def sum_rows(rows, begin, end, held, codes, sparse, axis, first, last, packed, packing, flushed):
    """Sum rows into the packed sums of some groups and of all sparse columns, which already have `held` rows.

    Returns how many rows they have then. Full sums are flushed first.
    """
    small_bag = packing.small_bag
    sparse_packed = axis.extent[0].sparse_packed
    at = begin
    while at < end:
        if held == SUM_BLOCK:
            empty(codes, sparse, axis, first, last, packed, packing, flushed)
            held = 0
        to = min(min(at + PASS, end), at + SUM_BLOCK - held)
        slab = first
        while slab < last:
            slab_end = min(slab + SLAB, last)
            # The first slab of a cache line of codes fetches it for the others.
            fetch = 1 if slab == first or (slab & 63) < SLAB else 0
            add_rows(rows, at, to, small_bag, codes, axis, slab, slab_end, fetch, packed)
            slab = slab_end
        if sparse.axis > 0:
            add_sparse(rows, at, to, small_bag, sparse, tail(packed, sparse_packed))
        held += to - at
        at = to
    return held


@inline
def add_flushed(begin, end, flushed, histogram):
    """Add flushed sums of the codes begin..end-1 to a histogram."""
    for c in range(begin, end):
        histogram.g[c] += flushed.g[c]
        histogram.h[c] += flushed.h[c]
        histogram.count[c] += flushed.count[c]


@inline
def clear_sums(begin, end, histogram):
    """Clear the sums of the codes begin..end-1."""
    for c in range(begin, end):
        histogram.g[c] = 0
        histogram.h[c] = 0
        histogram.count[c] = 0


@inline
def flush(unit, flushed_too, rank, sums, axis, packing, histogram):
    """Write a unit's part of a histogram from a thread's packed and flushed sums, which are cleared."""
    begin = unit.begin
    end = unit.end
    fields = fields_of(packing)
    packed = tail(own(sums.by_thread, rank).packed, unit.packed)
    for c in range(begin, end):
        value = packed[c - begin]
        packed[c - begin] = 0
        g, h, count = unpacked(value, fields)
        histogram.g[c] = g
        histogram.h[c] = h
        histogram.count[c] = count
    if flushed_too != 0:
        flushed = flushed_of(rank, sums, axis)
        add_flushed(begin, end, flushed, histogram)
        clear_sums(begin, end, flushed)


@inline
def join(unit, flushed_too, threads, sums, axis, packing, histogram):
    """Add the packed and flushed sums that all threads have of a unit to a histogram.

    Each thread clears its own sums afterwards (`clear_own`): clearing those of another thread would take its cache lines away.
    """
    begin = unit.begin
    fields = fields_of(packing)
    for t in range(threads):
        packed = tail(own(sums.by_thread, t).packed, unit.packed)
        for c in range(begin, unit.end):
            g, h, count = unpacked(packed[c - begin], fields)
            histogram.g[c] += g
            histogram.h[c] += h
            histogram.count[c] += count
        if flushed_too != 0:
            add_flushed(begin, unit.end, flushed_of(t, sums, axis), histogram)


@inline
def clear(unit, flushed_too, rank, sums, axis):
    """Clear a thread's sums of a unit that is not searched."""
    packed = own(sums.by_thread, rank).packed
    for c in range(unit.end - unit.begin):
        packed[unit.packed + c] = 0
    if flushed_too != 0:
        clear_sums(unit.begin, unit.end, flushed_of(rank, sums, axis))


@inline
def clear_own(rank, first, last, flushed_too, codes, sparse, axis, sums):
    """Clear a thread's sums of the used groups first..last-1 and of all sparse columns."""
    packed = own(sums.by_thread, rank).packed
    for c in range(packed_of(first, codes, axis), packed_of(last, codes, axis)):
        packed[c] = 0
    extent = axis.extent[0]
    for c in range(extent.sparse_packed, extent.sparse_packed + sparse.axis):
        packed[c] = 0
    if flushed_too != 0:
        flushed = flushed_of(rank, sums, axis)
        clear_sums(axis.starts[first], axis.starts[last], flushed)
        clear_sums(extent.sparse_at, extent.sparse_at + sparse.axis, flushed)


@inline
def derive(unit, parent, sibling):
    """Histogram subtraction: larger child = parent - smaller child, written over the parent."""
    for c in range(unit.begin, unit.end):
        parent.g[c] -= sibling.g[c]
        parent.h[c] -= sibling.h[c]
        parent.count[c] -= sibling.count[c]
