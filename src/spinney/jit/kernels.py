"""How the threads of a team take up jobs without Python: they look for the next one for a while before they sleep.

A job is machine code and its packed arguments, whose addresses stand in the meeting place. Thread 0 announces it, does its own
part and waits for the others (`lead_job`), which are in `serve_jobs`. Taking up a job so costs a team about as much as a meeting,
and needs no lock of the interpreter, which threads would have to take one after another.
"""

import numpy as np

from spinney.jit.barrier import ABORT, CODE, DONE, FAILED, JOB, SIZE, SPINS, WORDS, Member
from spinney.jit.intrinsics import atomic_add, atomic_load, atomic_store, call_code, give_way
from spinney.jit.kernel import kernel
from spinney.jit.types import i64, inline, out


@inline
def do_part(code, rank, sync):
    """Do one thread's part of a job."""
    if call_code(code, rank, sync[SIZE], sync, sync[WORDS]) != 0:
        atomic_store(sync, FAILED, 1)
        atomic_store(sync, ABORT, 1)


@kernel
def announce_job(team: Member):
    """Let the other threads see what stands in the meeting place: a job, or that there is no code to run."""
    atomic_add(team.sync, JOB, 1)


@kernel
def lead_job(team: Member):
    """Announce a job, do thread 0's part of it, and wait until the others have done theirs."""
    sync = team.sync
    # Read once: a team that is being closed takes the code away.
    code = atomic_load(sync, CODE)
    if code == 0:
        return
    atomic_store(sync, DONE, 0)
    atomic_add(sync, JOB, 1)
    do_part(code, np.int64(0), sync)
    spins = 0
    while atomic_load(sync, DONE) < sync[SIZE] - 1:
        spins += 1
        if spins > SPINS:
            give_way()


@kernel
def serve_jobs(team: Member, most_looks: i64, seen: out(i64["1"])):
    """Do this thread's part of each new job, until it has looked for one so often in vain, or there is no code to run.

    `seen` is the number of the latest job that the thread has seen. A thread beyond the team's size has no part in it.
    """
    sync = team.sync
    looks = 0
    while looks <= most_looks:
        number = atomic_load(sync, JOB)
        if number == seen[0]:
            looks += 1
            if looks > SPINS:
                give_way()
            continue
        seen[0] = number
        # Read once: a team that is being closed takes the code away.
        code = atomic_load(sync, CODE)
        if code == 0 or team.rank >= sync[SIZE]:
            return
        do_part(code, team.rank, sync)
        atomic_add(sync, DONE, 1)
        looks = 0
