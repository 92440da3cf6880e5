"""Histograms: rows of bins → integer sums per bin.

Rows are summed into packed `cells` first (see `packing`), a thread's own, SLAB columns at a time so that the cells in use stay in
the first-level cache. A full block of rows is flushed into the thread's `shares`; what is left in the cells when the rows are
done is unpacked when the column is collected. Both are left clear for the next node.

Groups of at most 256 codes have cells at a fixed distance of `SPAN`, which saves a load per row and group; wider ones
stand one after another. The cells of sparse columns follow; of these a row has a list.
"""

import numpy as np

from spinney.growth.packing import BLOCK, COUNT_MASK, GRADIENT_SHIFT, HESSIAN_MASK, HESSIAN_SHIFT
from spinney.jit.intrinsics import prefetch
from spinney.jit.kernel import inline

SPAN = 256
AHEAD = 16  # rows; prefetching a leaf's rows nearly halves the time of its histogram
# Columns and rows of one pass. 500 000 rows of 28 columns, one thread, G additions/s: all 28 columns at once 1.75,
# 16 columns 2.09 (their cells fill 32 KiB), 12 columns 2.01.
SLAB = 16
PASS = 1024


@inline
def cell_value(entry):
    """What one row adds to a cell."""
    gradient = (entry << 32) >> 48
    hessian = entry & 65535
    return (gradient << GRADIENT_SHIFT) + (hessian << HESSIAN_SHIFT) + 1


@inline
def add_wide_rows(entries, begin, end, bins, used, first, last, fetch, cells, cells_at):
    """`add_rows` for wide groups: two rows at a time, so that what is known of a group is loaded half as often.

    Not asking for the column where all are in use makes a tree on 12 groups take .93 to .99 of the time.
    """
    _, bins16, _, stride = bins
    columns, starts, contiguous = used
    for i in range(begin, end, 2):
        one = entries[i]
        # The last row of an odd number has nothing beside it.
        other = entries[min(i + 1, end - 1)]
        row = (one >> 32) * stride
        other_row = (other >> 32) * stride
        value = cell_value(one)
        other_value = cell_value(other) if i + 1 < end else np.int64(0)
        if fetch != 0:
            prefetch(bins16, (entries[min(i + AHEAD, end - 1)] >> 32) * stride + columns[first])
            prefetch(bins16, (entries[min(i + AHEAD + 1, end - 1)] >> 32) * stride + columns[first])
        if contiguous != 0:
            for j in range(first, last):
                at = cells_at + starts[j]
                cells[at + bins16[row + j]] += value
                cells[at + bins16[other_row + j]] += other_value
        else:
            for j in range(first, last):
                column = columns[j]
                at = cells_at + starts[j]
                cells[at + bins16[row + column]] += value
                cells[at + bins16[other_row + column]] += other_value


@inline
def add_rows(entries, begin, end, bins, used, first, last, fetch, cells, cells_at):
    """Add the rows of entries[begin:end] to the cells of the used groups first..last-1."""
    bins8, _, wide, stride = bins
    columns, _, contiguous = used
    if wide != 0:
        add_wide_rows(entries, begin, end, bins, used, first, last, fetch, cells, cells_at)
        return
    for i in range(begin, end):
        entry = entries[i]
        row = (entry >> 32) * stride
        value = cell_value(entry)
        if fetch != 0:
            prefetch(bins8, (entries[min(i + AHEAD, end - 1)] >> 32) * stride + columns[first])
        if contiguous != 0:
            for j in range(first, last):
                cells[cells_at + j * SPAN + bins8[row + j]] += value
        else:
            for j in range(first, last):
                cells[cells_at + j * SPAN + bins8[row + columns[j]]] += value


@inline
def add_stored(entries, begin, end, stored, cells, cells_at):
    """Add the rows of entries[begin:end] to the cells of their sparse columns."""
    row_starts, row_codes, _, _, _ = stored
    for i in range(begin, end):
        entry = entries[i]
        row = entry >> 32
        value = cell_value(entry)
        prefetch(row_starts, entries[min(i + 2 * AHEAD, end - 1)] >> 32)
        prefetch(row_codes, row_starts[entries[min(i + AHEAD, end - 1)] >> 32])
        for k in range(row_starts[row], row_starts[row + 1]):
            cells[cells_at + row_codes[k]] += value


@inline
def flush_column(cells, from_at, shares, shares_at, total, begin, end):
    """Add the packed cells of one column to a thread's share and clear them."""
    for c in range(begin, end):
        value = cells[from_at + c - begin]
        cells[from_at + c - begin] = 0
        shares[shares_at + c] += value >> GRADIENT_SHIFT
        shares[shares_at + total + c] += (value >> HESSIAN_SHIFT) & HESSIAN_MASK
        shares[shares_at + 2 * total + c] += value & COUNT_MASK


@inline
def cells_of(j, wide, starts):
    """Where the cells of the used group j begin."""
    return starts[j] if wide != 0 else j * SPAN


@inline
def sum_rows(entries, begin, end, held, bins, used, first, last, stored, cells, cells_at, shares, shares_at, total):
    """Sum rows into the cells of some groups and of all sparse columns, which hold `held` rows already.

    Returns how many they hold then. Cells that are full are flushed first.
    """
    wide = bins[2]
    starts = used[1]
    _, _, sparse, sparse_at, sparse_cells = stored
    at = begin
    while at < end:
        if held == BLOCK:
            for j in range(first, last):
                from_at = cells_at + cells_of(j, wide, starts)
                flush_column(cells, from_at, shares, shares_at, total, starts[j], starts[j + 1])
            if sparse > 0:
                from_at = cells_at + sparse_cells
                flush_column(cells, from_at, shares, shares_at, total, sparse_at, sparse_at + sparse)
            held = 0
        to = min(min(at + PASS, end), at + BLOCK - held)
        slab = first
        while slab < last:
            slab_end = min(slab + SLAB, last)
            # The first slab of a cache line of bins fetches it for the others.
            fetch = 1 if slab == first or (slab & 63) < SLAB else 0
            add_rows(entries, at, to, bins, used, slab, slab_end, fetch, cells, cells_at)
            slab = slab_end
        if sparse > 0:
            add_stored(entries, at, to, stored, cells, cells_at + sparse_cells)
        held += to - at
        at = to
    return held


@inline
def collect_column(cells, cells_at, cells_size, shares, share_size, flushed, first, last, planes, plane_at, total, begin, end):
    """Planes of one column: what threads first..last-1 hold in their cells and shares, which are cleared."""
    for t in range(first, last):
        from_at = t * cells_size + cells_at - begin
        if t == first:
            for c in range(begin, end):
                value = cells[from_at + c]
                cells[from_at + c] = 0
                planes[plane_at + c] = value >> GRADIENT_SHIFT
                planes[plane_at + total + c] = (value >> HESSIAN_SHIFT) & HESSIAN_MASK
                planes[plane_at + 2 * total + c] = value & COUNT_MASK
        else:
            flush_column(cells, from_at + begin, planes, plane_at, total, begin, end)
        if flushed != 0:
            at = t * share_size
            for c in range(begin, end):
                planes[plane_at + c] += shares[at + c]
                planes[plane_at + total + c] += shares[at + total + c]
                planes[plane_at + 2 * total + c] += shares[at + 2 * total + c]
                shares[at + c] = 0
                shares[at + total + c] = 0
                shares[at + 2 * total + c] = 0


@inline
def clear_cells(cells, cells_at, cells_size, shares, share_size, flushed, first, last, total, begin, end):
    """Clear what threads first..last-1 hold of a stretch that nobody will ask for."""
    for t in range(first, last):
        from_at = t * cells_size + cells_at - begin
        for c in range(begin, end):
            cells[from_at + c] = 0
        if flushed != 0:
            for plane in range(t * share_size, t * share_size + 3 * total, total):
                for c in range(begin, end):
                    shares[plane + c] = 0


@inline
def subtract(planes, from_at, less_at, total, begin, end):
    """Larger child = parent - smaller child, in the parent's place."""
    for c in range(begin, end):
        planes[from_at + c] -= planes[less_at + c]
        planes[from_at + total + c] -= planes[less_at + total + c]
        planes[from_at + 2 * total + c] -= planes[less_at + 2 * total + c]
