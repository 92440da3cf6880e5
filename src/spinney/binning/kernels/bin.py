"""Bins of values, and codes by row from codes by column."""

from spinney.binning.kernels.records import BinLines, Block, CutLists
from spinney.jit import Member, f64, i64, inline, kernel, out, own, record, u8, u16
from spinney.jit.intrinsics import bits_of, tail

# --- Values → bin numbers, by columns and by rows


ROW_CHUNK = 1024  # rows binned at a time: the chunk's values of all columns stay in cache
ROWS_AT_ONCE = 256  # rows copied at a time


@inline
def bin_of(x, cuts, count):
    """Number of cuts below x, of the first `count`; not defined for NaN, which the caller handles.

    The sign of a difference shows whether a cut is below x: a comparison would become a branch, which is mispredicted half of the
    time. 254 cuts and random values, ns a value: 14 instead of 40.
    """
    wanted = float(x)
    low = 0
    left = count
    while left > 1:
        half = left >> 1
        low += half & (bits_of(float(cuts[low + half - 1]) - wanted) >> 63)
        left -= half
    return low + (1 if count > 0 and cuts[low] < wanted else 0)


@record(per_thread=True)
class ChunkValues:
    """A thread's memory: the values of a chunk of rows in one column."""

    values: out(f64["ROW_CHUNK"])


@kernel
def bin_values(
    team: Member,
    block: Block,
    first_row: i64,
    first_column: i64,
    cuts: CutLists,
    lines: BinLines,
    infinite: out(u8["lines.columns"]),
    scratch: ChunkValues,
):
    """Bins of a block's rows, column by column; missing values have the number of bins. Marks columns with infinite values."""
    chunks = (block.rows + ROW_CHUNK - 1) // ROW_CHUNK
    values = own(scratch, team.rank).values
    step = block.row_step
    for chunk in range(team.rank, chunks, team.size):
        begin = chunk * ROW_CHUNK
        count = min(ROW_CHUNK, block.rows - begin)
        for c in range(block.columns):
            column = first_column + c
            at = begin * step + c * block.column_step
            if block.span32 > 0:
                for i in range(count):
                    values[i] = float(block.values32[at + i * step])
            else:
                for i in range(count):
                    values[i] = block.values64[at + i * step]
            column_cuts = tail(cuts.values, cuts.starts[column])
            made = cuts.starts[column + 1] - cuts.starts[column]
            to = column * lines.rows + first_row + begin
            unbounded = 0
            for i in range(count):
                x = values[i]
                unbounded |= 1 if x == x and x - x != 0.0 else 0
                b = bin_of(x, column_cuts, made)
                b = b if x == x else made + 1
                if lines.wide == 0:
                    lines.lines8[to + i] = b
                else:
                    lines.lines16[to + i] = b
            if unbounded != 0:
                infinite[column] = 1


@kernel
def by_rows(
    team: Member,
    lines: BinLines,
    stride: i64,
    rows8: out(u8["lines.rows * stride * (1 - lines.wide)"]),
    rows16: out(u16["lines.rows * stride * lines.wide"]),
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


# --- Transposing codes by column to codes by row, a byte each, eight rows of eight columns at a time


WORD = 8  # codes
HALVES = 0x00000000FFFFFFFF
QUARTERS = 0x0000FFFF0000FFFF
BYTES = 0x00FF00FF00FF00FF
WORD_CHUNK = 64  # words of a column that are transposed together: their rows stay in cache


@inline
def exchanged_bits(one, two, shift, mask):
    """The bits that two words exchange: the upper parts of the first for the lower parts of the second."""
    return ((one >> shift) ^ two) & mask


@inline
def word_of(lines, column, columns, words, at):
    """Eight codes of a column; zeros behind the last column."""
    return lines[column * words + at] if column < columns else 0


@kernel
def transpose_lines(
    team: Member,
    words: i64,
    columns: i64,
    row_words: i64,
    lines: i64["words * columns"],
    rows: out(i64["8 * words * row_words"]),
):
    """Transpose columns of 8 * `words` codes to rows of 8 * `row_words` codes; codes behind the last column are 0.

    A word has eight codes. Halves, quarters and bytes of eight words are exchanged until each has the codes of one row. Time
    relative to code by code, on 300 000 rows of 28 columns: .31.
    """
    chunks = (words + WORD_CHUNK - 1) // WORD_CHUNK
    for chunk in range(team.rank, chunks, team.size):
        end = min((chunk + 1) * WORD_CHUNK, words)
        for k in range(row_words):
            for at in range(chunk * WORD_CHUNK, end):
                c = 8 * k
                a = word_of(lines, c, columns, words, at)
                b = word_of(lines, c + 1, columns, words, at)
                d = word_of(lines, c + 2, columns, words, at)
                e = word_of(lines, c + 3, columns, words, at)
                f = word_of(lines, c + 4, columns, words, at)
                g = word_of(lines, c + 5, columns, words, at)
                h = word_of(lines, c + 6, columns, words, at)
                i = word_of(lines, c + 7, columns, words, at)
                t = exchanged_bits(a, f, 32, HALVES)
                a ^= t << 32
                f ^= t
                t = exchanged_bits(b, g, 32, HALVES)
                b ^= t << 32
                g ^= t
                t = exchanged_bits(d, h, 32, HALVES)
                d ^= t << 32
                h ^= t
                t = exchanged_bits(e, i, 32, HALVES)
                e ^= t << 32
                i ^= t
                t = exchanged_bits(a, d, 16, QUARTERS)
                a ^= t << 16
                d ^= t
                t = exchanged_bits(b, e, 16, QUARTERS)
                b ^= t << 16
                e ^= t
                t = exchanged_bits(f, h, 16, QUARTERS)
                f ^= t << 16
                h ^= t
                t = exchanged_bits(g, i, 16, QUARTERS)
                g ^= t << 16
                i ^= t
                t = exchanged_bits(a, b, 8, BYTES)
                rows[8 * at * row_words + k] = a ^ (t << 8)
                rows[(8 * at + 1) * row_words + k] = b ^ t
                t = exchanged_bits(d, e, 8, BYTES)
                rows[(8 * at + 2) * row_words + k] = d ^ (t << 8)
                rows[(8 * at + 3) * row_words + k] = e ^ t
                t = exchanged_bits(f, g, 8, BYTES)
                rows[(8 * at + 4) * row_words + k] = f ^ (t << 8)
                rows[(8 * at + 5) * row_words + k] = g ^ t
                t = exchanged_bits(h, i, 8, BYTES)
                rows[(8 * at + 6) * row_words + k] = h ^ (t << 8)
                rows[(8 * at + 7) * row_words + k] = i ^ t
