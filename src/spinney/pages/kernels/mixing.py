"""A checksum of values, each mixed with its row and column."""

import numpy as np

from spinney.binning.kernels.records import Block
from spinney.jit import f32, f64, i32, i64, inline, kernel, out, record
from spinney.jit.intrinsics import bits_of
from spinney.sampling.kernels.random import GOLDEN, mixed

# Another odd number, so that no row's key is that of a column.
SILVER = -3335678366873096957
MISSING = 9221120237041090560  # the bits of every NaN


@record
class StoredLines:
    """What a sparse table stores of some rows: float32 where `single` is 1, else float64."""

    rows: i64
    stored: i64
    single: i64
    starts: i64["rows + 1"]
    columns: i32["stored"]
    values32: f32["stored * single"]
    values64: f64["stored * (1 - single)"]


@inline
def key_of(row, column):
    """A number for each place of a table."""
    return np.int64(row + 1) * GOLDEN + np.int64(column) * SILVER


@inline
def mixed_value(value, key):
    """A value's bits, mixed with a key. -0.0 counts as 0.0, and every NaN as the same."""
    bits = MISSING if value != value else bits_of(value + 0.0)
    return mixed(bits ^ key)


@inline
def mix_values(values, block, first_row, first_column):
    """Sum over a block, in the order in which it lies in memory."""
    total = np.int64(0)
    if block.row_step < block.column_step:
        for j in range(block.columns):
            for i in range(block.rows):
                value = float(values[i * block.row_step + j * block.column_step])
                total += mixed_value(value, key_of(first_row + i, first_column + j))
    else:
        for i in range(block.rows):
            for j in range(block.columns):
                value = float(values[i * block.row_step + j * block.column_step])
                total += mixed_value(value, key_of(first_row + i, first_column + j))
    return total


@kernel
def mix_block(first_row: i64, first_column: i64, block: Block, total: out(i64["1"])):
    """Add the values of a dense block, which begins at a row and a column, to a sum modulo 2^64."""
    if block.span32 > 0:
        total[0] += mix_values(block.values32, block, first_row, first_column)
    else:
        total[0] += mix_values(block.values64, block, first_row, first_column)


@kernel
def mix_lines(first_row: i64, absent: f64, lines: StoredLines, total: out(i64["1"])):
    """The same for stored values; those that are what an absent one means do not count."""
    found = np.int64(0)
    for i in range(lines.rows):
        for k in range(lines.starts[i], lines.starts[i + 1]):
            value = float(lines.values32[k]) if lines.single != 0 else lines.values64[k]
            if (value != absent) & ((value == value) | (absent == absent)):
                found += mixed_value(value, key_of(first_row + i, lines.columns[k]))
    total[0] += found
