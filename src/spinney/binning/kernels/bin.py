"""Values → bin numbers, by columns and by rows."""

from spinney.binning.kernels.records import BinLines, Block, CutLists
from spinney.jit import Member, f64, i64, inline, kernel, out, u8, u16

CHUNK = 1024  # rows binned at a time: the chunk's values of all columns stay in cache
ROWS_AT_ONCE = 256  # rows copied at a time


@inline
def bin_of(x, cuts, at, count):
    """Number of cuts below x (NaN: all comparisons fail, the caller handles it)."""
    low = at
    left = count
    while left > 1:
        half = left >> 1
        low += half if cuts[low + half - 1] < x else 0
        left -= half
    return low - at + (1 if count > 0 and cuts[low] < x else 0)


@kernel
def bin_values(
    team: Member, block: Block, first_row: i64, first_column: i64, threads: i64, cuts: CutLists, lines: BinLines,
    infinite: out(u8["lines.columns"]), line: out(f64["threads * CHUNK"]),
):
    """Bins of a block's rows, column by column; missing is the number of bins. Marks columns with infinite values."""
    chunks = (block.rows + CHUNK - 1) // CHUNK
    line_at = team.rank * CHUNK
    row_step = block.row_step
    for chunk in range(team.rank, chunks, team.size):
        begin = chunk * CHUNK
        end = min(begin + CHUNK, block.rows)
        for c in range(block.columns):
            column = first_column + c
            at = cuts.starts[column]
            count = cuts.starts[column + 1] - at
            step = c * block.column_step
            if block.span32 > 0:
                for i in range(begin, end):
                    line[line_at + i - begin] = float(block.values32[i * row_step + step])
            else:
                for i in range(begin, end):
                    line[line_at + i - begin] = block.values64[i * row_step + step]
            unbounded = 0
            to = column * lines.rows + first_row
            for i in range(begin, end):
                x = line[line_at + i - begin]
                unbounded |= 1 if x == x and x - x != 0.0 else 0
                b = bin_of(x, cuts.values, at, count)
                b = b if x == x else count + 1
                if lines.wide == 0:
                    lines.lines8[to + i] = b
                else:
                    lines.lines16[to + i] = b
            if unbounded != 0:
                infinite[column] = 1


@kernel
def by_rows(
    team: Member, lines: BinLines, stride: i64,
    rows8: out(u8["lines.rows * stride * (1 - lines.wide)"]), rows16: out(u16["lines.rows * stride * lines.wide"]),
):
    """Copy codes by columns to codes by rows, padded with zeros."""
    rows = lines.rows
    chunks = (rows + ROWS_AT_ONCE - 1) // ROWS_AT_ONCE
    for chunk in range(team.rank, chunks, team.size):
        begin = chunk * ROWS_AT_ONCE
        end = min(begin + ROWS_AT_ONCE, rows)
        for c in range(stride):
            for i in range(begin, end):
                if lines.wide == 0:
                    rows8[i * stride + c] = lines.lines8[c * rows + i] if c < lines.columns else 0
                else:
                    rows16[i * stride + c] = lines.lines16[c * rows + i] if c < lines.columns else 0
