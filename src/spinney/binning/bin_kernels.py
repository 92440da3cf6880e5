"""Values → bin numbers, by columns and by rows."""

from spinney.jit import f32, f64, i64, inline, kernel, out, u8, u16

CHUNK = 1024  # rows binned at a time: the chunk's values of all columns stay in cache


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
    rank: i64, size: i64, sync: out(i64["32"]), rows: i64, first_row: i64, all_rows: i64, columns: i64, first_column: i64,
    all_columns: i64, row_step: i64, column_step: i64, span32: i64, span64: i64, wide: i64, cut_total: i64, threads: i64,
    values32: f32["span32"], values64: f64["span64"], cuts: f64["cut_total"], cut_starts: i64["all_columns + 1"],
    columns8: out(u8["all_rows * all_columns * (1 - wide)"]), columns16: out(u16["all_rows * all_columns * wide"]),
    infinite: out(u8["all_columns"]), line: out(f64["threads * 1024"]),
):
    """Bins of a panel's rows, column by column; missing is the number of bins. Marks columns with infinite values."""
    chunks = (rows + CHUNK - 1) // CHUNK
    line_at = rank * CHUNK
    for chunk in range(rank, chunks, size):
        begin = chunk * CHUNK
        end = min(begin + CHUNK, rows)
        for c in range(columns):
            column = first_column + c
            at = cut_starts[column]
            count = cut_starts[column + 1] - at
            if span32 > 0:
                for i in range(begin, end):
                    line[line_at + i - begin] = float(values32[i * row_step + c * column_step])
            else:
                for i in range(begin, end):
                    line[line_at + i - begin] = values64[i * row_step + c * column_step]
            unbounded = 0
            to = column * all_rows + first_row
            for i in range(begin, end):
                x = line[line_at + i - begin]
                unbounded |= 1 if x == x and x - x != 0.0 else 0
                b = bin_of(x, cuts, at, count)
                b = b if x == x else count + 1
                if wide == 0:
                    columns8[to + i] = b
                else:
                    columns16[to + i] = b
            if unbounded != 0:
                infinite[column] = 1


@kernel
def by_rows(
    rank: i64, size: i64, sync: out(i64["32"]), rows: i64, columns: i64, stride: i64, wide: i64,
    columns8: u8["rows * columns * (1 - wide)"], columns16: u16["rows * columns * wide"],
    rows8: out(u8["rows * stride * (1 - wide)"]), rows16: out(u16["rows * stride * wide"]),
):
    """Copy column-major bins to row-major ones, padded with zeros."""
    chunks = (rows + 255) // 256
    for chunk in range(rank, chunks, size):
        begin = chunk * 256
        end = min(begin + 256, rows)
        for c in range(stride):
            for i in range(begin, end):
                if wide == 0:
                    rows8[i * stride + c] = columns8[c * rows + i] if c < columns else 0
                else:
                    rows16[i * stride + c] = columns16[c * rows + i] if c < columns else 0
