"""Partition: the rows of a leaf → the rows of its two children, in the same order as before.

A thread reads its share of the leaf's entries and writes those that go left upwards from the start of its share of
`spare`, those that go right downwards from the end:

    entries  | share of thread 0     | share of thread 1     |
    spare    | left→     ←right      | left→       ←right    |
    entries  | left 0 | left 1  | right 0 | right 1          |

Then every thread copies what it set apart to its final place. A single thread writes the left part straight to its place.
"""

from spinney.jit.intrinsics import prefetch
from spinney.jit.kernel import inline

AHEAD = 24


@inline
def goes_left(b, cut, missing, default_left):
    """Whether a row in bin b goes left."""
    return (b <= cut) if b != missing else (default_left != 0)


@inline
def split_alone(entries, spare, begin, end, column8, column16, wide, column_at, cut, missing, default_left):
    """Partition entries[begin:end] on one thread; returns how many went left."""
    left = begin
    right = 0
    for i in range(begin, end):
        entry = entries[i]
        ahead = column_at + (entries[min(i + AHEAD, end - 1)] >> 32)
        if wide == 0:
            prefetch(column8, ahead)
            b = int(column8[column_at + (entry >> 32)])
        else:
            prefetch(column16, ahead)
            b = int(column16[column_at + (entry >> 32)])
        go = 1 if goes_left(b, cut, missing, default_left) else 0
        entries[left] = entry
        spare[begin + right] = entry
        left += go
        right += 1 - go
    for i in range(right):
        entries[left + i] = spare[begin + i]
    return left - begin


@inline
def split_apart(entries, spare, begin, end, column8, column16, wide, column_at, cut, missing, default_left):
    """First half of a shared partition: set this thread's share apart in `spare`; returns how many go left."""
    left = begin
    right = end - 1
    for i in range(begin, end):
        entry = entries[i]
        ahead = column_at + (entries[min(i + AHEAD, end - 1)] >> 32)
        if wide == 0:
            prefetch(column8, ahead)
            b = int(column8[column_at + (entry >> 32)])
        else:
            prefetch(column16, ahead)
            b = int(column16[column_at + (entry >> 32)])
        go = 1 if goes_left(b, cut, missing, default_left) else 0
        spare[left] = entry
        if go == 0:
            spare[right] = entry
        left += go
        right -= 1 - go
    return left - begin


@inline
def bring_together(entries, spare, begin, end, left_count, left_to, right_to):
    """Second half: copy this thread's share from `spare` to its final places."""
    for i in range(left_count):
        entries[left_to + i] = spare[begin + i]
    for i in range(end - begin - left_count):
        entries[right_to + i] = spare[end - 1 - i]
