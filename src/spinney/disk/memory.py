"""How much memory pages may take."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import NamedTuple

import numpy as np

from spinney.errors import ParameterError, ParameterTypeError
from spinney.messages import shown

_UNITS = {"": 1, "B": 1, "KB": 1000, "MB": 1000**2, "GB": 1000**3, "TB": 1000**4}
_UNITS |= {"KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}
_AMOUNT = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*", re.ASCII)
SHARE = 0.5  # of what is free; the rest is for scores, gradients, histograms and everybody else
FALLBACK = 2 * 1000**3  # where the system does not give what is free


class _Form(NamedTuple):
    """How a version of Linux' control groups gives memory."""

    controller: str
    limit: str
    used: str
    cached: str


_GROUPS = (
    _Form("", "memory.max", "memory.current", "inactive_file"),
    _Form("memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
)


def memory_bytes(given: str | int | None) -> int | None:
    """Bytes that `memory` stands for; None for None: `spare_memory` finds it when it is needed.

    Examples
    --------
    >>> memory_bytes("2GB"), memory_bytes("1.5 MiB"), memory_bytes(4096)
    (2000000000, 1572864, 4096)
    """
    if given is None:
        return None
    if isinstance(given, bool) or not isinstance(given, int | np.integer | str):
        raise ParameterTypeError(f"memory={shown(given)} must be bytes, or text such as '2GB'")
    if not isinstance(given, str):
        if given < 0:
            raise ParameterError(f"memory={given} must be 0 or more bytes")
        return int(given)
    found = _AMOUNT.fullmatch(given)
    unit = None if found is None else _UNITS.get(found[2].upper())
    if found is None or unit is None:
        raise ParameterError(
            f"memory={shown(given)} must be a number with a unit, B, KB, MB, GB, TB or KiB to TiB: '2GB'"
        )
    return int(Decimal(found[1]) * unit)


def spare_memory() -> int:
    """Bytes that pages may take where the user gives no number: half of what is free now."""
    return int(SHARE * free_memory())


def free_memory(root: Path = Path("/")) -> int:
    """Bytes that the system, and every control group that the process is in, have to give. What caches files is free."""
    free = [_available(root), *_group_rests(root)]
    return min((bytes_ for bytes_ in free if bytes_ is not None), default=FALLBACK)


def _available(root: Path) -> int | None:
    found = re.search(r"^MemAvailable:\s+(\d+) kB", _text(root / "proc/meminfo"), re.MULTILINE)
    return None if found is None else int(found[1]) * 1024


def _group_rests(root: Path) -> Iterator[int | None]:
    """What is left of the limits of the process's control group, as a container has, and of those that it is in."""
    fields = [line.split(":", 2) for line in _text(root / "proc/self/cgroup").splitlines()]
    for form in _GROUPS:
        place = next(
            (parts[2] for parts in fields if len(parts) == 3 and form.controller in parts[1].split(",")), "/"
        )
        top = root / "sys/fs/cgroup" / form.controller
        inner = top / place.lstrip("/")
        # In a container the group may be called by a path that is only there outside; its own folder is then the top one.
        for folder in (inner, *inner.parents):
            yield _rest(folder, form)
            if folder == top:
                break


def _rest(folder: Path, form: _Form) -> int | None:
    limit, used = (_text(folder / name).strip() for name in (form.limit, form.used))
    if not (limit.isdigit() and used.isdigit()):
        return None
    cached = re.search(rf"^{form.cached} (\d+)$", _text(folder / "memory.stat"), re.MULTILINE)
    return max(int(limit) - int(used) + (0 if cached is None else int(cached[1])), 0)


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""
