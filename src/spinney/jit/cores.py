"""How many threads to start: by the cores that this process may use, by `n_jobs`, and by the work that there is.

CPU affinity, the quota of control groups and OMP_NUM_THREADS all limit the cores, and a limited address space the threads.
"""

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

# Threads that a core may have. More than one wait for each other at barriers: trees of 255 leaves on 500 000 rows take 8 threads
# on two cores 1.6 times the processor time of one thread (AMD EPYC), and the model is the same.
THREADS_PER_CORE = 1
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
    # OMP_NUM_THREADS is how joblib's workers, Dask and batch systems set the number of cores of a process. A list is for nested
    # parallel regions; its first number is that of the outermost.
    limit = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    return min(_granted_cores(), int(limit)) if limit.isdecimal() and int(limit) > 0 else _granted_cores()


def _granted_cores() -> int:
    """Cores that the system lets this process use."""
    affinity = getattr(os, "sched_getaffinity", None)
    cores = len(affinity(0)) if affinity else os.cpu_count() or 1
    return max(1, min(cores, _quota(MEMBERSHIP, GROUPS)))


def threads_for(n_jobs: int | None, most: int = sys.maxsize) -> int:
    """Number of threads to start for an `n_jobs` parameter: None and -1 are all cores, -2 all but one.

    At most so many that all have something to do, and that each has a core of those that the system lets this process use;
    OMP_NUM_THREADS does not limit a number that was given. Where the address space of the process is limited, the threads take
    half of what is left of it, because their data need memory too.

    Examples
    --------
    >>> threads_for(1), threads_for(-1, most=1), threads_for(-1) == available_cores()
    (1, 1, True)
    """
    _check(n_jobs)
    if most <= 1:
        return 1  # reading the system's limits takes as long as a prediction for one row
    wanted = min(_requested(n_jobs), most)
    if wanted <= 1:
        return 1
    return min(wanted, THREADS_PER_CORE * _granted_cores(), 1 + address_space() // 2 // OF_THREAD)


def address_space() -> int:
    """Bytes of address space that this process may still take (`ulimit -v`).

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


def _requested(n_jobs: int | None) -> int:
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
