"""How much memory pages may take."""

from __future__ import annotations

import re
from pathlib import Path

from spinney.errors import ParameterError, ParameterTypeError

_UNITS = {"": 1, "B": 1, "KB": 1000, "MB": 1000**2, "GB": 1000**3, "TB": 1000**4}
_UNITS |= {"KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}
_AMOUNT = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*", re.ASCII)
SHARE = 0.5  # of what is free; the rest is for scores, gradients, histograms and everybody else
FALLBACK = 2 * 1000**3  # where the system does not tell what is free


def memory_bytes(given: str | int | None) -> int:
    """Bytes that `memory` stands for; None is half of what is free.

    Examples
    --------
    >>> memory_bytes("2GB"), memory_bytes("1.5 MiB"), memory_bytes(4096)
    (2000000000, 1572864, 4096)
    """
    if given is None:
        return int(SHARE * free_memory())
    if isinstance(given, bool) or not isinstance(given, int | str):
        raise ParameterTypeError(f"memory={given!r:.60} must be bytes, or text such as '2GB'")
    if isinstance(given, int):
        if given < 0:
            raise ParameterError(f"memory={given} must be 0 or more bytes")
        return given
    found = _AMOUNT.fullmatch(given)
    unit = None if found is None else _UNITS.get(found[2].upper())
    if found is None or unit is None:
        raise ParameterError(
            f"memory={given!r:.60} must be a number with a unit, B, KB, MB, GB, TB or KiB to TiB: '2GB'"
        )
    return int(float(found[1]) * unit)


def free_memory(root: Path = Path("/")) -> int:
    """Bytes that the system, or the control group that the process is in, has to give."""
    free = [_available(root / "proc/meminfo"), _group_rest(root / "sys/fs/cgroup")]
    return min((bytes_ for bytes_ in free if bytes_ is not None), default=FALLBACK)


def _available(path: Path) -> int | None:
    try:
        found = re.search(r"^MemAvailable:\s+(\d+) kB", path.read_text(), re.MULTILINE)
    except OSError:
        return None
    return None if found is None else int(found[1]) * 1024


def _group_rest(folder: Path) -> int | None:
    """What is left of the limit of a control group, which a container has; None without a limit."""
    try:
        limit, used = ((folder / name).read_text().strip() for name in ("memory.max", "memory.current"))
    except OSError:
        return None
    return max(int(limit) - int(used), 0) if limit.isdigit() and used.isdigit() else None
