"""Where the threads of a team meet, and where they find their jobs.

`sync` is one small array of int64 that all threads of a team share, made by the team. What threads write while others wait
stands on other cache lines than what those look at.

Threads meet in groups: each counts itself in at its group, and the last one of a group at the team. So no counter is taken from
core to core by more than `GROUP` threads, however large the team is. A waiting thread spins a little, then gives up its
processor. Every barrier watches a flag (`ABORT`), so that a thread that fails, or an interrupt, frees the others.
"""

from spinney.jit.intrinsics import atomic_add, atomic_load, atomic_store, give_way
from spinney.jit.records import record
from spinney.jit.types import LINE, i64, inline, item, out

APART = LINE // 8  # cells from one cache line to the next
PHASE = 0
ABORT = 1
DELAY = APART  # not 0: wait a random while before each meeting and each turn (tests look for races with it)
NEWS = APART + 1
TICKET = 2 * APART
BUSY = 2 * APART + 1
JOB = 3 * APART  # the number of the latest job
CODE = JOB + 1  # the address of its machine code, 0 for none
WORDS = JOB + 2  # that of its arguments
SIZE = JOB + 3  # the threads that do it
DONE = 4 * APART  # threads that have done their part of it
FAILED = 4 * APART + 1  # not 0: the machine code of one of them failed
ARRIVED = 5 * APART  # groups of which all threads have arrived
FIRST_GROUP = 6 * APART  # threads of each group that have arrived, a line each

GROUP = 8  # threads, in a team of up to GROUP * GROUPS
GROUPS = 32
CELLS = FIRST_GROUP + GROUPS * APART


@item(own_line=True)
class Counter:
    """A number to which several threads add; each has a cache line of its own."""

    value: i64


@record
class Member:
    """A thread as a member of its team: its rank, how many there are, and where they meet. The first argument of a kernel."""

    rank: i64
    size: i64
    sync: out(i64["CELLS"])


# Spins before a waiting thread gives up its processor. With two threads on two idle cores a meeting takes 1-2 µs,
# about 300 spins; on shared cores waiting longer only takes time from the thread that is being waited for.
SPINS = 500


@inline
def meet(team, size):
    """Wait until all threads have come here, `size` of them: the team's, or one. False: the team gives up, return at once."""
    if size == 1:
        return True
    sync = team.sync
    if sync[DELAY] != 0:
        wait_a_while(sync)
    phase = atomic_load(sync, PHASE)
    if arrives_last(team.rank, size, sync):
        atomic_add(sync, PHASE, 1)
    elif not wait_for_change(sync, PHASE, phase):
        return False
    return atomic_load(sync, ABORT) == 0


@inline
def arrives_last(rank, size, sync):
    """Count a thread in. True: it is the last one, and the counters are 0 again."""
    groups = min((size + GROUP - 1) // GROUP, GROUPS)
    group = rank % groups
    members = (size - group + groups - 1) // groups
    cell = FIRST_GROUP + group * APART
    if atomic_add(sync, cell, 1) != members - 1:
        return False
    atomic_store(sync, cell, 0)
    if groups == 1:
        return True
    if atomic_add(sync, ARRIVED, 1) != groups - 1:
        return False
    atomic_store(sync, ARRIVED, 0)
    return True


@inline
def wait_for_change(sync, cell, value):
    """Wait until a cell holds something else. False: the team gives up."""
    spins = 0
    while atomic_load(sync, cell) == value:
        if atomic_load(sync, ABORT) != 0:
            return False
        spins += 1
        if spins > SPINS:
            give_way()
    return True


@inline
def take_turn(sync):
    """Wait until no other thread is between `take_turn` and `end_turn`. False: the team gives up."""
    if sync[DELAY] != 0:
        wait_a_while(sync)
    spins = 0
    while atomic_load(sync, ABORT) == 0:
        if atomic_load(sync, BUSY) == 0:
            if atomic_add(sync, BUSY, 1) == 0:
                return True
            atomic_add(sync, BUSY, -1)
        spins += 1
        if spins > SPINS:
            give_way()
    return False


@inline
def end_turn(sync, news):
    """Let the next thread have its turn; with news, those that wait for some go on. Gives the number of the latest news."""
    seen = atomic_add(sync, NEWS, 1) + 1 if news else atomic_load(sync, NEWS)
    atomic_add(sync, BUSY, -1)
    return seen


@inline
def wait_for_news(sync, seen):
    """Wait for later news than those `seen`. False: the team gives up."""
    return wait_for_change(sync, NEWS, seen)


@inline
def wait_a_while(sync):
    """Spin for a pseudo-random number of turns."""
    ticket = atomic_add(sync, TICKET, 1)
    turns = ((ticket + sync[DELAY]) * 2654435761 >> 7) % 3000
    for turn in range(turns):
        if atomic_load(sync, ABORT) != 0:
            return
        if turn % 64 == 0:
            give_way()
