"""A checksum of values, each mixed with its row and column."""

import numpy as np

from spinney.binning.kernels.records import Block
from spinney.jit import f32, f64, i32, i64, inline, kernel, out, record
from spinney.jit.intrinsics import bits_of, tail
from spinney.sampling.kernels.random import GOLDEN

# Another odd number, so that no row's key is that of a column.
SILVER = -3335678366873096957
MISSING = 9221120237041090560  # the bits of every NaN
LOW = 4294967295  # the lower 32 bits
EVEN_1, EVEN_2 = 2654435768, 3210233708


@record
class StoredLines:
    """Stored values of a sparse table by row, or by column where `by_column` is 1: float32 where `single` is 1, else float64."""

    lines: i64
    stored: i64
    by_column: i64
    single: i64
    starts: i64["lines + 1"]
    places: i32["stored"]
    values32: f32["stored * single"]
    values64: f64["stored * (1 - single)"]


@inline
def key_of(row, column):
    """A number for each row and column of a table."""
    return np.int64(row + 1) * GOLDEN + np.int64(column) * SILVER


@inline
def mixed_value(value, key):
    """A value's bits, mixed with a key. -0.0 counts as 0.0, and every NaN as the same.

    Every step can be undone, so two values of the same place never have the same result. Its products have 32 bits, for which all
    processors have vectors: .4 ns a value, where splitmix64's finaliser takes .7.
    """
    bits = MISSING if value != value else bits_of(value + 0.0)
    z = bits ^ key
    z ^= (z >> 32) & LOW
    z += (z & LOW) * EVEN_1
    z ^= (z >> 29) & 34359738367
    z += (z & LOW) * EVEN_2
    return z ^ ((z >> 32) & LOW)


@inline
def mix_values(values, block, first_row, first_column):
    """Sum over a block, in its order in memory. Loops of step 1 are vectorised."""
    along_rows = (block.columns == 1) | (block.row_step < block.column_step)
    lines = block.columns if along_rows else block.rows
    count = block.rows if along_rows else block.columns
    hop = block.column_step if along_rows else block.row_step
    step = block.row_step if along_rows else block.column_step
    key_step = GOLDEN if along_rows else SILVER
    total = np.int64(0)
    for line in range(lines):
        mine = tail(values, line * hop)
        row = first_row if along_rows else first_row + line
        column = first_column + line if along_rows else first_column
        key = key_of(row, column)
        if step == 1:
            for k in range(count):
                total += mixed_value(float(mine[k]), key + np.int64(k) * key_step)
        else:
            for k in range(count):
                total += mixed_value(float(mine[k * step]), key + np.int64(k) * key_step)
    return total


@kernel
def mix_block(first_row: i64, first_column: i64, block: Block, total: out(i64["1"])):
    """Add the values of a dense block, which begins at a row and a column, to a sum modulo 2^64."""
    if block.span32 > 0:
        total[0] += mix_values(block.values32, block, first_row, first_column)
    else:
        total[0] += mix_values(block.values64, block, first_row, first_column)


@kernel
def mix_lines(first_row: i64, first_column: i64, absent: f64, stored: StoredLines, total: out(i64["1"])):
    """As `mix_block`, for stored values; those equal to the absent value do not count."""
    found = np.int64(0)
    for i in range(stored.lines):
        for k in range(stored.starts[i], stored.starts[i + 1]):
            value = float(stored.values32[k]) if stored.single != 0 else stored.values64[k]
            if (value != absent) & ((value == value) | (absent == absent)):
                place = np.int64(stored.places[k])
                row, column = (place, i) if stored.by_column != 0 else (i, place)
                found += mixed_value(value, key_of(first_row + row, first_column + column))
    total[0] += found
