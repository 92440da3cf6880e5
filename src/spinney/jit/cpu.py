"""Which instruction sets this CPU has, and which of them kernels are built for."""

from __future__ import annotations

import platform
from functools import cache

_V2 = {"cx16", "lahf_lm", "popcnt", "sse4_1", "sse4_2", "ssse3"}
_V3 = _V2 | {"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe", "xsave"}
_V4 = _V3 | {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}
_LEVELS = {"x86-64-v4": _V4, "x86-64-v3": _V3, "x86-64-v2": _V2}


def levels() -> tuple[str, ...]:
    """Levels that the kernel library is built for on this architecture, lowest first."""
    if platform.machine().lower() in {"x86_64", "amd64"}:
        return tuple(reversed(_LEVELS))
    return ("host",)


@cache
def supported() -> tuple[str, ...]:
    """Levels that this CPU can run, lowest first."""
    if levels() == ("host",):
        return ("host",)
    flags = _flags()
    found = tuple(level for level in levels() if flags >= _LEVELS[level])
    return found or levels()[:1]


def _flags() -> set[str]:
    # Only Linux tells in a file; elsewhere the lowest level is the safe choice.
    try:
        with open("/proc/cpuinfo", encoding="ascii", errors="replace") as info:
            for line in info:
                if line.startswith("flags"):
                    return set(line.split(":", 1)[1].split())
    except OSError:
        pass
    return set()
