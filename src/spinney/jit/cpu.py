"""Which instruction sets this CPU has, and which of them kernels are built for."""

from __future__ import annotations

import platform
from functools import cache
from pathlib import Path

INFO = Path("/proc/cpuinfo")
_V2 = {"cx16", "lahf_lm", "popcnt", "sse4_1", "sse4_2", "ssse3"}
_V3 = _V2 | {"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe", "xsave"}
# Not v4: on a CPU with AVX-512 prediction took more than twice as long as with v3, and training as long.
_LEVELS = {"x86-64-v2": _V2, "x86-64-v3": _V3}


def levels() -> tuple[str, ...]:
    """Levels that the kernel library is built for on this architecture, lowest first."""
    if platform.machine().lower() in {"x86_64", "amd64"}:
        return tuple(_LEVELS)
    # Elsewhere what every CPU of the kind can run, because a library may be carried to another machine.
    return ("generic",)


@cache
def supported() -> tuple[str, ...]:
    """Levels that this CPU can run, lowest first; none on a CPU older than the lowest."""
    if levels() == ("generic",):
        return levels()
    flags = _flags()
    if flags is None:
        return levels()[:1]
    return tuple(level for level in levels() if flags >= _LEVELS[level])


def _flags() -> set[str] | None:
    """What the CPU can do. Only Linux tells in a file; elsewhere the lowest level is the safe choice."""
    try:
        for line in INFO.read_text(encoding="ascii", errors="replace").splitlines():
            if line.startswith("flags"):
                return set(line.partition(":")[2].split())
    except OSError:
        pass
    return None
