"""Histograms: rows of bins → integer sums per bin."""

from spinney.growth.packing import (
    BLOCK,
    COUNT_MASK,
    GRADIENT_SHIFT,
    HESSIAN_MASK,
    HESSIAN_SHIFT,
)
from spinney.jit.intrinsics import prefetch
from spinney.jit.kernel import inline

AHEAD = 16  # rows; prefetching a leaf's rows nearly halves the time of its histogram
SLAB = 64  # columns summed in one pass: one cache line of bins a row, 128 KiB of cells


@inline
def cell_value(entry):
    """What one row adds to a cell."""
    gradient = (entry << 32) >> 48
    hessian = entry & 65535
    return (gradient << GRADIENT_SHIFT) + (hessian << HESSIAN_SHIFT) + 1


@inline
def add_rows(entries, begin, end, bins, used, first, last, cells, cells_at):
    """Add the rows of entries[begin:end] to the packed cells of the used columns first..last-1."""
    bins8, bins16, wide, stride = bins
    columns, starts, contiguous = used
    for i in range(begin, end):
        entry = entries[i]
        row = (entry >> 32) * stride
        ahead = (entries[min(i + AHEAD, end - 1)] >> 32) * stride + columns[first]
        value = cell_value(entry)
        if wide != 0:
            prefetch(bins16, ahead)
            for j in range(first, last):
                cells[cells_at + starts[j] + bins16[row + columns[j]]] += value
        elif contiguous != 0:
            prefetch(bins8, ahead)
            for j in range(first, last):
                cells[cells_at + starts[j] + bins8[row + j]] += value
        else:
            prefetch(bins8, ahead)
            for j in range(first, last):
                cells[cells_at + starts[j] + bins8[row + columns[j]]] += value


@inline
def flush(cells, cells_at, planes, plane_at, total, begin, end):
    """Add packed cells begin..end-1 to the three planes and clear them."""
    for c in range(begin, end):
        value = cells[cells_at + c]
        cells[cells_at + c] = 0
        planes[plane_at + c] += value >> GRADIENT_SHIFT
        planes[plane_at + total + c] += (value >> HESSIAN_SHIFT) & HESSIAN_MASK
        planes[plane_at + 2 * total + c] += value & COUNT_MASK


@inline
def clear(planes, plane_at, total, begin, end):
    """Set cells begin..end-1 of the three planes to 0."""
    for c in range(begin, end):
        planes[plane_at + c] = 0
        planes[plane_at + total + c] = 0
        planes[plane_at + 2 * total + c] = 0


@inline
def sum_blocks(entries, begin, end, bins, used, first, last, cells, cells_at, planes, plane_at, total):
    """Add rows to planes, slab by slab, a block of rows at a time. `cells` must be clear, and is left clear."""
    starts = used[1]
    slab = first
    while slab < last:
        slab_end = min(slab + SLAB, last)
        block = begin
        while block < end:
            block_end = min(block + BLOCK, end)
            add_rows(entries, block, block_end, bins, used, slab, slab_end, cells, cells_at)
            flush(cells, cells_at, planes, plane_at, total, starts[slab], starts[slab_end])
            block = block_end
        slab = slab_end


@inline
def merge_column(shares, threads, share_size, planes, plane_at, total, begin, end):
    """Planes of one column = the sum of what each thread collected over its share of the rows; clears the shares."""
    for c in range(begin, end):
        planes[plane_at + c] = shares[c]
        planes[plane_at + total + c] = shares[total + c]
        planes[plane_at + 2 * total + c] = shares[2 * total + c]
    clear(shares, 0, total, begin, end)
    for t in range(1, threads):
        at = t * share_size
        for c in range(begin, end):
            planes[plane_at + c] += shares[at + c]
            planes[plane_at + total + c] += shares[at + total + c]
            planes[plane_at + 2 * total + c] += shares[at + 2 * total + c]
        clear(shares, at, total, begin, end)


@inline
def subtract(planes, from_at, less_at, total, begin, end):
    """Larger child = parent - smaller child, in the parent's place."""
    for c in range(begin, end):
        planes[from_at + c] -= planes[less_at + c]
        planes[from_at + total + c] -= planes[less_at + total + c]
        planes[from_at + 2 * total + c] -= planes[less_at + 2 * total + c]
