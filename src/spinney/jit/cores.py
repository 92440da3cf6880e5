"""How many cores this process may use: CPU affinity, the cgroup's quota and OMP_NUM_THREADS all count."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path, PurePosixPath

import numpy as np

from spinney.errors import ParameterError, ParameterTypeError

MEMBERSHIP = Path("/proc/self/cgroup")  # in which control groups this process is
GROUPS = Path("/sys/fs/cgroup")
MEMORY = Path("/proc/self/statm")  # in pages; the first number is that of the address space

# Threads that a core of the machine may have, and that any machine may: more only wait for each other, and each has memory.
OF_CORE = 4
OF_MACHINE = 16
OF_SHARE = 8
# Address space of a thread: a stack of 8 MB and what malloc sets apart for it, 64 MB.
OF_THREAD = 72 * 2**20


def available_cores() -> int:
    """Cores that this process may use.

    Examples
    --------
    >>> available_cores() >= 1
    True
    """
    affinity = getattr(os, "sched_getaffinity", None)
    cores = len(affinity(0)) if affinity else os.cpu_count() or 1
    cores = min(cores, _quota(MEMBERSHIP, GROUPS))
    # Not our own knob, but joblib's workers, Dask and batch systems say with it how many cores are theirs. A list is
    # for nested levels of parallel regions; its first number is that of the outermost.
    told = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    if told.isdecimal() and int(told) > 0:
        cores = min(cores, int(told))
    return max(1, cores)


def threads_for(n_jobs: int | None, most: int = sys.maxsize) -> int:
    """Number of threads to start for an `n_jobs` parameter: None and -1 are all cores, -2 all but one.

    At most so many that all have something to do, and no more than the machine can run. Where the address space of the process
    is limited, they take half of what is left of it: what they work on needs room, too.

    Examples
    --------
    >>> threads_for(3), threads_for(3, most=2), threads_for(-1) == available_cores()
    (3, 2, True)
    """
    _check(n_jobs)
    if most <= 1:
        return 1  # and the system is not asked, which takes as long as a prediction for one row
    wanted = min(_asked(n_jobs), most, max(OF_MACHINE, OF_CORE * (os.cpu_count() or 1)))
    return min(wanted, 1 + address_space() // 2 // OF_THREAD) if wanted > 1 else 1


def address_space() -> int:
    """Bytes of address space that this process may still ask for (`ulimit -v`).

    Examples
    --------
    >>> address_space() > 0
    True
    """
    try:
        import resource  # not on Windows

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        if limit == resource.RLIM_INFINITY:
            return sys.maxsize
        taken = int(MEMORY.read_text(encoding="ascii").split()[0]) * resource.getpagesize()
    except (ImportError, OSError, ValueError):
        return sys.maxsize
    return max(0, limit - taken)


def most_for(work: int, share: int) -> int:
    """How many threads have something to do.

    Parameters
    ----------
    work : int
        How much there is to do, in whatever is counted.
    share : int
        From how much on two threads were measured to be faster than one. Less is left to one thread; that much is shared by
        eight at most, and more of it by more of them.

    Examples
    --------
    >>> most_for(99, 100), most_for(100, 100), most_for(1000, 100)
    (1, 8, 83)
    """
    return work // max(1, share // OF_SHARE) if work >= share else 1


def _check(n_jobs: int | None) -> None:
    if n_jobs is None:
        return
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, int | np.integer):
        raise ParameterTypeError(f"n_jobs must be a whole number or None, got {type(n_jobs).__name__}")
    if n_jobs == 0:
        raise ParameterError("n_jobs = 0 has no meaning: give a number of threads, or None for all cores")


def _asked(n_jobs: int | None) -> int:
    if n_jobs is None:
        return available_cores()
    return int(n_jobs) if n_jobs > 0 else max(1, available_cores() + 1 + n_jobs)


@cache  # reading the files takes 0.3 ms, a prediction for one row less
def _quota(membership: Path, groups: Path) -> int:
    """Whole cores that the control groups of this process allow."""
    return int(min(_quotas(membership, groups), default=1e9))


def _quotas(membership: Path, groups: Path) -> Iterator[float]:
    """CPU quotas, in cores, of the process's control group and of all groups around it."""
    try:
        lines = membership.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return
    for line in lines:
        number, _, rest = line.partition(":")
        controllers, _, group = rest.partition(":")
        if number == "0" and not controllers:
            roots, quota_of = [groups, groups / "unified"], _quota_v2
        elif "cpu" in controllers.split(","):
            roots, quota_of = [groups / "cpu", groups / controllers], _quota_v1
        else:
            continue
        # A container may see only its own group, mounted at the root; the path then leads nowhere and the root counts.
        inside = PurePosixPath(group.lstrip("/"))
        for root in roots:
            for folder in (root / inside, *(root / parent for parent in inside.parents)):
                quota = quota_of(folder)
                if quota is not None:
                    yield quota


def _quota_v2(folder: Path) -> float | None:
    try:
        quota, period = (folder / "cpu.max").read_text(encoding="ascii").split()
        return None if quota == "max" else int(quota) / int(period)
    except (OSError, ValueError, ZeroDivisionError):
        return None


def _quota_v1(folder: Path) -> float | None:
    try:
        quota = int((folder / "cpu.cfs_quota_us").read_text(encoding="ascii"))
        period = int((folder / "cpu.cfs_period_us").read_text(encoding="ascii"))
        return quota / period if quota > 0 else None
    except (OSError, ValueError, ZeroDivisionError):
        return None
