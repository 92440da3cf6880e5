"""Codes in as few bits as they need.

A line of codes is packed from its lowest bit on, code after code without gaps; the last byte is filled up with zeros. So a
line of `rows` codes of `width` bits takes (rows * width + 7) >> 3 bytes.
"""

import numpy as np

from spinney.binning.kernels.records import BinLines
from spinney.jit import Member, i64, inline, kernel, out, record, u8
from spinney.jit.intrinsics import tail

BYTE = 8


@record
class PackedLines:
    """Packed lines, one after another: where each begins, and how many bits a code of it has, 1 to 16."""

    lines: i64
    bytes: i64
    widths: i64["lines"]
    starts: i64["lines + 1"]
    packed: out(u8["bytes"])


@inline
def pack_line(codes, rows, width, packed):
    """Pack the codes of a line."""
    held = 0
    bits = 0
    to = 0
    for i in range(rows):
        held |= np.int64(codes[i]) << bits
        bits += width
        while bits >= BYTE:
            packed[to] = held & 255
            to += 1
            held >>= BYTE
            bits -= BYTE
    if bits > 0:
        packed[to] = held


@inline
def unpack_line(packed, rows, width, codes):
    """Unpack the codes of a line; returns the largest."""
    held = 0
    bits = 0
    at = 0
    largest = 0
    mask = (1 << width) - 1
    for i in range(rows):
        while bits < width:
            held |= np.int64(packed[at]) << bits
            at += 1
            bits += BYTE
        code = held & mask
        held >>= width
        bits -= width
        largest = max(largest, code)
        codes[i] = code
    return largest


@inline
def copy_line(packed, rows, codes):
    """Copy codes of a byte each; returns the largest."""
    largest = 0
    for i in range(rows):
        code = np.int64(packed[i])
        largest = max(largest, code)
        codes[i] = code
    return largest


@kernel
def pack_lines(team: Member, lines: BinLines, to: PackedLines):
    """Pack lines of codes."""
    for j in range(team.rank, lines.columns, team.size):
        packed = tail(to.packed, to.starts[j])
        if lines.wide != 0:
            pack_line(tail(lines.lines16, j * lines.rows), lines.rows, to.widths[j], packed)
        else:
            pack_line(tail(lines.lines8, j * lines.rows), lines.rows, to.widths[j], packed)


@kernel
def unpack_lines(team: Member, packed: PackedLines, lines: BinLines, largest: out(i64["lines.columns"])):
    """Unpack lines of codes, and tell the largest code of each."""
    for j in range(team.rank, lines.columns, team.size):
        line = tail(packed.packed, packed.starts[j])
        if lines.wide != 0:
            largest[j] = unpack_line(line, lines.rows, packed.widths[j], tail(lines.lines16, j * lines.rows))
        elif packed.widths[j] == BYTE:
            largest[j] = copy_line(line, lines.rows, tail(lines.lines8, j * lines.rows))
        else:
            largest[j] = unpack_line(line, lines.rows, packed.widths[j], tail(lines.lines8, j * lines.rows))
