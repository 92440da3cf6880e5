"""Which modules hold kernels, and the digest that tells whether a built library still fits them.

A module holds kernels when it is called `kernels.py` or ends in `_kernels.py`.
"""

from __future__ import annotations

import hashlib
import importlib
from collections.abc import Iterator
from pathlib import Path

from spinney.jit.kernel import REGISTRY, Kernel

PACKAGE = Path(__file__).resolve().parent.parent
_COMPILER = ("barrier", "compiler", "intrinsics", "intrinsics_numba", "kernel", "math", "types")


def kernel_modules() -> Iterator[str]:
    """Names of the modules that hold kernels, sorted."""
    for path in _kernel_files():
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        yield ".".join(("spinney", *parts))


def all_kernels() -> list[Kernel]:
    """Every kernel of the package, sorted by name."""
    for name in kernel_modules():
        importlib.import_module(name)
    mine = [entry for entry in REGISTRY.values() if entry.__module__.startswith("spinney.")]
    return sorted(mine, key=lambda entry: entry.name)


def digest() -> str:
    """Digest of the sources that machine code depends on."""
    total = hashlib.sha256()
    files = [*_kernel_files(), *(PACKAGE / "jit" / f"{name}.py" for name in _COMPILER)]
    for path in files:
        total.update(path.relative_to(PACKAGE).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return total.hexdigest()[:24]


def _kernel_files() -> list[Path]:
    rooms = [room for room in PACKAGE.iterdir() if room.is_dir()]
    found = [path for room in rooms for path in room.glob("*kernels.py")]
    return sorted(found)
