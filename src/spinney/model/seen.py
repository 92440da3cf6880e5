"""What a team of threads has met among the values of a table."""

from __future__ import annotations

from spinney.jit import allocate
from spinney.jit.records import of_thread
from spinney.jit.team import Team
from spinney.model.kernels.records import ValueFlags


def nothing_seen(threads: int) -> ValueFlags:
    """A note of each thread, in which nothing stands yet."""
    return allocate(ValueFlags, threads=threads)


def met_by(team: Team, seen: ValueFlags) -> int:
    """What some thread of a team has met: the bits of all their notes.

    Examples
    --------
    >>> seen = nothing_seen(2)
    >>> of_thread(seen, 1).flags[0] = 2
    >>> met_by(Team(2), seen)
    2
    """
    met = 0
    for rank in range(team.size):
        met |= int(of_thread(seen, rank).flags[0])
    return met
