"""How many rows are predicted in one go.

Python serves a signal, such as that of Ctrl-C, only between two calls of a kernel. So a table is predicted in stretches of rows,
each the work of a moment.
"""

from __future__ import annotations

# Steps of walks, and values looked at, of one thread in one stretch: 50 ms of predicting with 100 trees of 255 leaves, 110 where
# leaves are numbered. To call a kernel takes .05 ms, to meet the other threads .1.
WORK = 20_000_000
FEWEST_ROWS = 256  # for each thread: what kernels share out among threads


def stretch(work: int, threads: int) -> int:
    """Rows in one stretch, given the work that one row takes at most.

    Examples
    --------
    >>> stretch(1_000, 2), stretch(10**9, 2)
    (40000, 512)
    """
    return threads * max(WORK // max(work, 1), FEWEST_ROWS)
