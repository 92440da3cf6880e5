"""Codes by column → codes by row, a byte each, eight rows of eight columns at a time."""

from spinney.jit import Member, i64, inline, kernel, out

WORD = 8  # codes
HALVES = 0x00000000FFFFFFFF
QUARTERS = 0x0000FFFF0000FFFF
BYTES = 0x00FF00FF00FF00FF
CHUNK = 64  # words of a column that are turned in one go: their rows stay in cache


@inline
def crossed(one, two, shift, mask):
    """What two words must exchange: the upper parts of the first for the lower parts of the second."""
    return ((one >> shift) ^ two) & mask


@inline
def word_of(lines, column, columns, words, at):
    """Eight codes of a column; a column that is not there has zeros."""
    return lines[column * words + at] if column < columns else 0


@kernel
def turn_lines(
    team: Member, words: i64, columns: i64, row_words: i64,
    lines: i64["words * columns"], rows: out(i64["8 * words * row_words"]),
):
    """Turn lines of 8 * `words` codes into rows of 8 * `row_words` codes; what is behind the last column becomes 0.

    A word holds eight codes. Halves, quarters and bytes of eight words change places until each holds the codes of one row. Time
    against code by code, on 300 000 rows of 28 columns: .31.
    """
    chunks = (words + CHUNK - 1) // CHUNK
    for chunk in range(team.rank, chunks, team.size):
        end = min((chunk + 1) * CHUNK, words)
        for k in range(row_words):
            for at in range(chunk * CHUNK, end):
                c = 8 * k
                a = word_of(lines, c, columns, words, at)
                b = word_of(lines, c + 1, columns, words, at)
                d = word_of(lines, c + 2, columns, words, at)
                e = word_of(lines, c + 3, columns, words, at)
                f = word_of(lines, c + 4, columns, words, at)
                g = word_of(lines, c + 5, columns, words, at)
                h = word_of(lines, c + 6, columns, words, at)
                i = word_of(lines, c + 7, columns, words, at)
                t = crossed(a, f, 32, HALVES)
                a ^= t << 32
                f ^= t
                t = crossed(b, g, 32, HALVES)
                b ^= t << 32
                g ^= t
                t = crossed(d, h, 32, HALVES)
                d ^= t << 32
                h ^= t
                t = crossed(e, i, 32, HALVES)
                e ^= t << 32
                i ^= t
                t = crossed(a, d, 16, QUARTERS)
                a ^= t << 16
                d ^= t
                t = crossed(b, e, 16, QUARTERS)
                b ^= t << 16
                e ^= t
                t = crossed(f, h, 16, QUARTERS)
                f ^= t << 16
                h ^= t
                t = crossed(g, i, 16, QUARTERS)
                g ^= t << 16
                i ^= t
                t = crossed(a, b, 8, BYTES)
                rows[8 * at * row_words + k] = a ^ (t << 8)
                rows[(8 * at + 1) * row_words + k] = b ^ t
                t = crossed(d, e, 8, BYTES)
                rows[(8 * at + 2) * row_words + k] = d ^ (t << 8)
                rows[(8 * at + 3) * row_words + k] = e ^ t
                t = crossed(f, g, 8, BYTES)
                rows[(8 * at + 4) * row_words + k] = f ^ (t << 8)
                rows[(8 * at + 5) * row_words + k] = g ^ t
                t = crossed(h, i, 8, BYTES)
                rows[(8 * at + 6) * row_words + k] = h ^ (t << 8)
                rows[(8 * at + 7) * row_words + k] = i ^ t
