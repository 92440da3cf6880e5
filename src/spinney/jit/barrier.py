"""Where the threads of a team meet.

`sync` is one small array of int64 that all threads of a team share, made by the team. Arrivals and turns are counted on
other cache lines than those that threads waiting for a meeting or for news look at.
"""

from spinney.jit.inline import inline
from spinney.jit.intrinsics import atomic_add, atomic_load, atomic_store, give_way
from spinney.jit.records import record
from spinney.jit.types import i64, item, out

ARRIVED = 0
PHASE = 16
ABORT = 17
DELAY = 32  # not 0: wait a random while before each meeting and each turn (tests look for races with it)
NEWS = 33
TICKET = 48
BUSY = 49
CELLS = 64


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
def meet(sync, size):
    """Wait until all `size` threads have come here. False: the team was told to give up, return at once."""
    if size == 1:
        return True
    if sync[DELAY] != 0:
        wait_a_while(sync)
    phase = atomic_load(sync, PHASE)
    if atomic_add(sync, ARRIVED, 1) == size - 1:
        atomic_store(sync, ARRIVED, 0)
        atomic_add(sync, PHASE, 1)
    elif not wait_for_change(sync, PHASE, phase):
        return False
    return atomic_load(sync, ABORT) == 0


@inline
def wait_for_change(sync, cell, value):
    """Wait until a cell holds something else. False: the team was told to give up."""
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
    """Wait until no other thread is between `take_turn` and `end_turn`. False: the team was told to give up."""
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
    """Wait for later news than those `seen`. False: the team was told to give up."""
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
