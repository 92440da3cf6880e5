"""Partition: the rows of a leaf → the rows of its two children, in the same order as before.

Every thread owns some of the rows for the whole tree: blocks of `OWNED` rows, dealt out in turn, so that any node's
rows are spread evenly. Its rows of a node are one stretch of `entries`, and it partitions them in place, without
asking anybody:

    entries  | left child's →        | right child's         |
    spare    | the smaller child's rows on their way |

The rows of the larger child move within `entries`; only those of the smaller one take the detour.
"""

from spinney.jit.intrinsics import prefetch
from spinney.jit.kernel import inline

AHEAD = 24
OWNED = 512


@inline
def owned_rows(count, rank, size):
    """How many of `count` rows a thread owns."""
    whole = count // OWNED
    rest = count - whole * OWNED
    blocks = (whole - rank + size - 1) // size
    return blocks * OWNED + (rest if whole % size == rank else 0)


@inline
def bin_of_row(column, row):
    """Bin of a row in the split column."""
    columns8, columns16, wide, at = column
    return int(columns16[at + row]) if wide != 0 else int(columns8[at + row])


@inline
def fetch_row(column, row):
    """Ask for a bin that will soon be read."""
    columns8, columns16, wide, at = column
    if wide != 0:
        prefetch(columns16, at + row)
    else:
        prefetch(columns8, at + row)


@inline
def goes_left(b, cut, missing, default_left):
    """1 if a row in bin b goes left, else 0."""
    by_cut = 1 if b <= cut else 0
    return default_left if b == missing else by_cut


@inline
def split_rows(entries, spare, begin, end, column, cut, missing, default_left, left_is_larger):
    """Partition entries[begin:end]; returns how many went left.

    Both places are written for every row, and one of them counts: a branch on the side would be mispredicted half of the time.
    """
    moved = 0
    if left_is_larger:
        to = begin
        for i in range(begin, end):
            entry = entries[i]
            fetch_row(column, entries[min(i + AHEAD, end - 1)] >> 32)
            left = goes_left(bin_of_row(column, entry >> 32), cut, missing, default_left)
            entries[to] = entry
            spare[begin + moved] = entry
            to += left
            moved += 1 - left
        for i in range(moved):
            entries[to + i] = spare[begin + i]
        return to - begin
    to = end - 1
    for back in range(end - begin):
        i = end - 1 - back
        entry = entries[i]
        fetch_row(column, entries[max(i - AHEAD, begin)] >> 32)
        left = goes_left(bin_of_row(column, entry >> 32), cut, missing, default_left)
        entries[to] = entry
        spare[begin + moved] = entry
        to -= 1 - left
        moved += left
    for i in range(moved):
        entries[begin + i] = spare[begin + moved - 1 - i]
    return moved
