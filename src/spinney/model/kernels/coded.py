"""Rows as codes.

The code of a number is how many cuts of its column are below it, so it goes left at cut k where its code is at most k. The code
of a category is its number. Where a value of a table is missing, every column has two places: the first is for splits that
send missing values left, where a missing number has code 0, the second for those that send them right, where it has the
top code. So no step of a walk asks whether a number is missing. A missing category has the top code at both places.
"""

import numpy as np

from spinney.jit import Member, i32, inline, kernel, own
from spinney.jit.intrinsics import bits_of
from spinney.model.kernels.compact_records import BLOCK, Codes, Cuts, Search
from spinney.model.kernels.records import Seen, StoredRows, Values
from spinney.model.kernels.walk import look_at


@inline
def below(x, begin, end, cut):
    """How many of ascending cuts are below a number."""
    first = begin
    left = end - begin
    while left > 0:
        half = (left + 1) >> 1
        first += half if cut[first + half - 1] < x else 0
        left -= half
    return first - begin


@inline
def code_of(x, c, cuts):
    """Code of a value of asked column c, -1 where it is missing."""
    if x != x:
        return np.int64(-1)
    if cuts.categorical[c] != 0:
        return np.int64(x)
    return below(x, cuts.start[c], cuts.start[c + 1], cuts.cut)


@inline
def put(code, c, at, room, cuts, codes):
    """Write the code of asked column c, -1 for a missing value, into a row that begins at `at`."""
    if room.copies == 1:
        codes[at + c] = code
    elif code >= 0:
        codes[at + 2 * c] = code
        codes[at + 2 * c + 1] = code
    else:
        codes[at + 2 * c] = room.top if cuts.categorical[c] != 0 else 0
        codes[at + 2 * c + 1] = room.top


@inline
def code_block(begin, end, table, values, cuts, room, codes, mine):
    """Codes of a block of rows, column by column, all rows of the block one step of the search at a time.

    Searching row by row takes several times as long.
    """
    x = mine.values
    first = mine.first
    rows = end - begin
    for c in range(cuts.asked):
        start = cuts.start[c]
        column = begin * table.row_step + np.int64(cuts.column[c]) * table.column_step
        for i in range(rows):
            x[i] = float(values[column + i * table.row_step])
            first[i] = start
        left = cuts.start[c + 1] - start
        while left > 0:
            half = (left + 1) >> 1
            for i in range(rows):
                # The sign of the difference, as a mask: a comparison would become a branch, mispredicted every other time.
                first[i] += half & (bits_of(cuts.cut[first[i] + half - 1] - x[i]) >> 63)
            left -= half
        if cuts.categorical[c] != 0:
            for i in range(rows):
                first[i] += np.int64(x[i]) if x[i] == x[i] else 0
        for i in range(rows):
            put(first[i] - start if x[i] == x[i] else np.int64(-1), c, (begin + i) * room.width, room, cuts, codes)


@kernel
def look_rows(team: Member, table: Values, seen: Seen):
    """Write to the thread's `met` 1 if a value of its rows is missing, plus 2 if one is infinite."""
    met = own(seen, team.rank).met
    for begin in range(team.rank * BLOCK, table.rows, team.size * BLOCK):
        end = min(begin + BLOCK, table.rows)
        if table.span32 > 0:
            met[0] |= look_at(begin, end, table, table.values32)
        else:
            met[0] |= look_at(begin, end, table, table.values64)


@inline
def code_blocks(team, table, values, cuts, room, codes, search):
    """Codes of the thread's blocks."""
    mine = own(search, team.rank)
    for begin in range(team.rank * BLOCK, table.rows, team.size * BLOCK):
        code_block(begin, min(begin + BLOCK, table.rows), table, values, cuts, room, codes, mine)


@kernel
def code_rows(team: Member, table: Values, cuts: Cuts, room: Codes, search: Search):
    """Write the codes of all rows. Categories come as float64."""
    if table.span32 > 0:
        if room.span8 > 0:
            code_blocks(team, table, table.values32, cuts, room, room.codes8, search)
        elif room.span16 > 0:
            code_blocks(team, table, table.values32, cuts, room, room.codes16, search)
        else:
            code_blocks(team, table, table.values32, cuts, room, room.codes32, search)
    else:
        if room.span8 > 0:
            code_blocks(team, table, table.values64, cuts, room, room.codes8, search)
        elif room.span16 > 0:
            code_blocks(team, table, table.values64, cuts, room, room.codes16, search)
        else:
            code_blocks(team, table, table.values64, cuts, room, room.codes32, search)


@inline
def code_lines(team, table, values, cuts, absent, room, codes):
    """Codes of the thread's rows of stored entries."""
    for begin in range(team.rank * BLOCK, table.rows, team.size * BLOCK):
        for i in range(begin, min(begin + BLOCK, table.rows)):
            at = i * room.width
            for c in range(cuts.asked):
                put(np.int64(absent[c]), c, at, room, cuts, codes)
            for k in range(table.row_starts[i], table.row_starts[i + 1]):
                c = np.int64(table.place[table.indices[k]])
                if c >= 0:
                    put(code_of(float(values[k]), c, cuts), c, at, room, cuts, codes)


@kernel
def code_entries(team: Member, table: StoredRows, cuts: Cuts, absent: i32["cuts.asked"], room: Codes):
    """Write the codes of all rows of stored entries; `absent` are those of what is not stored, -1 for a missing value."""
    if table.span32 > 0:
        if room.span8 > 0:
            code_lines(team, table, table.values32, cuts, absent, room, room.codes8)
        elif room.span16 > 0:
            code_lines(team, table, table.values32, cuts, absent, room, room.codes16)
        else:
            code_lines(team, table, table.values32, cuts, absent, room, room.codes32)
    else:
        if room.span8 > 0:
            code_lines(team, table, table.values64, cuts, absent, room, room.codes8)
        elif room.span16 > 0:
            code_lines(team, table, table.values64, cuts, absent, room, room.codes16)
        else:
            code_lines(team, table, table.values64, cuts, absent, room, room.codes32)
