"""Which modules hold kernels, and their digest, by which a built library is found to fit them or not.

A module holds kernels when it stands in a folder called `kernels`, or is called so itself. The digest covers these, the
compiler, and the modules that kernels take their constants from.
"""

from __future__ import annotations

import hashlib
import importlib
import re
from collections.abc import Iterator
from pathlib import Path

from spinney.jit.kernel import REGISTRY, Kernel

PACKAGE = Path(__file__).resolve().parent.parent
_COMPILER = (
    "barrier",
    "compiler",
    "intrinsics",
    "intrinsics_numba",
    "kernel",
    "math",
    "records",
    "types",
    "vectors_numba",
)
_IMPORT = re.compile(r"^from spinney\.([\w.]+) import (\([^)]*\)|[^\n]*)", re.MULTILINE)


def kernel_modules() -> Iterator[str]:
    """Names of the modules that hold kernels, sorted."""
    for path in _kernel_files():
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        yield ".".join(("spinney", *parts))


def all_kernels() -> list[Kernel]:
    """Every kernel of the package, sorted by name."""
    for name in kernel_modules():
        importlib.import_module(name)
    mine = [entry for entry in REGISTRY.values() if entry.in_package]
    return sorted(mine, key=lambda entry: entry.name)


def shares(parts: int) -> list[list[Kernel]]:
    """All kernels in so many parts that take about as long to compile, as estimated by the number of arguments."""
    found: list[list[Kernel]] = [[] for _ in range(parts)]
    cost = [0] * parts
    for kernel in sorted(all_kernels(), key=lambda entry: -len(entry.arguments)):
        part = cost.index(min(cost))
        found[part].append(kernel)
        cost[part] += len(kernel.arguments) ** 2
    return found


def digest() -> str:
    """Digest of the sources that machine code depends on."""
    total = hashlib.sha256()
    for path in source_files():
        total.update(path.relative_to(PACKAGE).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return total.hexdigest()[:24]


def source_files() -> list[Path]:
    """Files that machine code depends on, sorted."""
    found = {PACKAGE / "jit" / f"{name}.py" for name in _COMPILER}
    waiting = _kernel_files()
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.add(path)
            waiting += _imported(path)
    return sorted(found)


def _imported(path: Path) -> Iterator[Path]:
    """Modules of other packages that a module imports from; those of `jit` are in `_COMPILER`."""
    for module, names in _IMPORT.findall(path.read_text(encoding="utf-8")):
        place = PACKAGE.joinpath(*module.split("."))
        if module.split(".")[0] == "jit":
            continue
        if place.is_dir():
            inner = (place / f"{name}.py" for name in re.findall(r"\w+", names))
            yield from (file for file in (place / "__init__.py", *inner) if file.is_file())
        else:
            yield place.with_suffix(".py")


def _kernel_files() -> list[Path]:
    patterns = ("*/kernels.py", "*/kernels/*.py", "*/*/kernels/*.py")
    return sorted(path for pattern in patterns for path in PACKAGE.glob(pattern))
