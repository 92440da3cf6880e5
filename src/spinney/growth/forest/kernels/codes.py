"""The codes of a node's rows in a column, which records hold or which are looked up in the table."""

from spinney.growth.forest.kernels.access import row_of
from spinney.growth.forest.kernels.entries import entries_of
from spinney.growth.forest.kernels.records import BYTES, MOVED, RANKS
from spinney.jit.inline import inline


@inline
def read_sparse(column, begin, end, data, rows, mine):
    """Bins of a node's rows in a sparse column: the default one, but for rows that have an entry."""
    default = data.features.default[column]
    first, found = entries_of(column, begin, end, data, rows, mine)
    for k in range(end - begin):
        mine.line[k] = default
    for k in range(first, first + found):
        mine.line[mine.entry_places[k]] = mine.entry_bins[k]


@inline
def read_codes(column, begin, end, data, others, rules, rows, mine):
    """Codes of some records in a column, one after another."""
    group = data.features.group_of[column]
    line = mine.line
    if rules.access == RANKS:
        for k in range(end - begin):
            line[k] = others.ranks[row_of(begin + k, rows) * others.columns + column]
    elif rules.access == MOVED:
        for k in range(end - begin):
            line[k] = rows.bytes[(begin + k) * rows.words * 8 + group]
    elif group < 0:
        read_sparse(column, begin, end, data, rows, mine)
    elif rules.access == BYTES:
        for k in range(end - begin):
            line[k] = data.codes.by_row8[row_of(begin + k, rows) * data.codes.stride + group]
    else:
        for k in range(end - begin):
            line[k] = data.codes.by_row16[row_of(begin + k, rows) * data.codes.stride + group]
