"""Finding the compiled kernels and calling them.

Kernels run in one of four ways, chosen at the first call: from a shared library (in the installed package, else in the
user's cache, else built there now), from object files kept in its place where no library can be linked or loaded, by
Numba's JIT where neither can be, or as plain Python. Any but the first is told to the logger `spinney`. Kernels from outside
of the package, a user's own, stand in no library: Numba's JIT compiles them.

`SPINNEY_KERNELS` overrides the choice: `python`, `jit`, or the CPU level of a library. `NUMBA_DISABLE_JIT=1` means
`python`; `NUMBA_BOUNDSCHECK=1` means `jit`, because a library's pointers have no bounds.
"""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from spinney.errors import KernelBuildError, SpinneyError
from spinney.jit import cpu
from spinney.jit.kernel import Kernel
from spinney.jit.objects import Objects
from spinney.jit.types import ArrayOf, Scalar


@dataclass(frozen=True)
class Runtime:
    """How kernels run in this process."""

    kind: str  # "library", "objects", "jit" or "python"
    level: str | None = None
    path: Path | None = None
    handle: ctypes.CDLL | Objects | None = None
    why: str = ""

    def __str__(self) -> str:
        text = HOW[self.kind] if self.path is None else f"{HOW[self.kind]}: {self.path}"
        return f"{text}; {self.why}" if self.why else text


HOW = {
    "library": "from a compiled library",
    "objects": "from object files, which LLVM loads",
    "jit": "compiled in each process by Numba, a minute for all of them",
    "python": "as plain Python",
}


_lock = threading.RLock()
_runtime: Runtime | None = None


def _forget_lock() -> None:
    """Give a forked process a lock of its own: the thread that held the old one is not in it."""
    global _lock
    _lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_lock)


def runtime() -> Runtime:
    """How kernels run in this process; decides, and loads or builds the library, at the first call."""
    global _runtime
    if _runtime is None:
        with _lock:
            if _runtime is None:
                _runtime = _choose()
                if _runtime.kind != "library":
                    import logging

                    logging.getLogger("spinney").info("kernels run %s", _runtime)
    return _runtime


def runs_as_python() -> bool:
    """Whether kernels run as plain Python, where a team is one thread."""
    return runtime().kind == "python"


def _choose() -> Runtime:
    asked = os.environ.get("SPINNEY_KERNELS", "")
    if asked == "python" or (not asked and os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")):
        return Runtime("python", why="asked for by the environment")
    if asked == "jit" or (not asked and os.environ.get("NUMBA_BOUNDSCHECK", "0") not in ("", "0")):
        return Runtime("jit", why="asked for by the environment")
    if asked and asked not in cpu.supported():
        raise KernelBuildError(
            f"SPINNEY_KERNELS={asked!r}: this machine can run {', '.join([*cpu.supported(), 'jit', 'python'])}"
        )
    if not cpu.supported():
        return Runtime("jit", why=f"this CPU is older than {cpu.levels()[0]}")
    try:
        return _load(asked or cpu.supported()[-1])
    except KernelBuildError as error:
        if asked or find_spec("numba") is None:
            raise
        return Runtime("jit", why=str(error))


def _load(level: str) -> Runtime:
    """Load the package's library, or the cache's where that is missing, stale, damaged or unfit for this system."""
    from spinney.jit import build

    path = build.packaged(level)
    if path is not None:
        try:
            return _open(level, path)
        except OSError:
            pass
    try:
        return _open(level, build.cached(level))
    except OSError as error:
        # It is whole, as its note says; so the folder or the system forbids it. What LLVM loads needs no such permission.
        return _open(level, build.cached(level, unlinked=f"the kernel library cannot be loaded: {error}"))


def _open(level: str, path: Path) -> Runtime:
    from spinney.jit import build

    if path.suffix != build.OBJECTS:
        return Runtime("library", level, path, ctypes.CDLL(str(path)))
    try:
        why = build.note_of(path).get("why", "")  # then; there may be a C compiler now
        return Runtime("objects", level, path, Objects(path), why=why and f"when they were built: {why}")
    except (ImportError, OSError, RuntimeError, ValueError) as error:
        raise KernelBuildError(f"the object files of the kernels cannot be loaded: {error}") from error


def prepare(kernel: Kernel, arguments: list[Any]) -> Callable[..., None]:
    """Turn a kernel and its checked arguments into a function of the leading arguments a team adds."""
    how = runtime()
    if how.kind == "python":
        return _python_call(kernel, arguments)
    if how.handle is not None and kernel.in_package:
        return _library_call(how.handle, kernel, arguments)
    return _jit_call(kernel, arguments)


_IGNORED = (ctypes.c_void_p * 2)()
# Where Numba's calling convention wants its result and its exception.
_IGNORED_RESULT = ctypes.c_void_p.from_param(ctypes.addressof(_IGNORED))
_IGNORED_ERROR = ctypes.c_void_p.from_param(ctypes.addressof(_IGNORED) + ctypes.sizeof(ctypes.c_void_p))


_functions: dict[Kernel, Any] = {}


def _find(handle: ctypes.CDLL | Objects, kernel: Kernel) -> Any:
    """The library's function behind a kernel; what it is given are parameters of C."""
    try:
        function = handle[kernel.symbol]
    except AttributeError:
        raise KernelBuildError(
            f"the kernel library has no {kernel.symbol}: a source changed while this process was running; start it again"
        ) from None
    function.restype = ctypes.c_int32
    _functions[kernel] = function
    return function


def _library_call(handle: ctypes.CDLL | Objects, kernel: Kernel, arguments: list[Any]) -> Callable[..., None]:
    function = _functions.get(kernel) or _find(handle, kernel)
    kinds = list(kernel.arguments.values())
    skip = len(kinds) - len(arguments)
    added = kinds[:skip]
    # Made here and not by `argtypes` in each call: a call with the 171 arguments that grow a tree takes 3 µs, not 11.
    fixed = [_for_c(kind, value) for kind, value in zip(kinds[skip:], arguments, strict=True)]

    def call(*leading: Any) -> None:
        if function(_IGNORED_RESULT, _IGNORED_ERROR, *map(_for_c, added, leading), *fixed) != 0:
            raise SpinneyError(f"kernel {kernel.name} failed")

    return call


def _for_c(kind: Scalar | ArrayOf, value: Any) -> Any:
    """An argument as a parameter of a function in C."""
    if isinstance(kind, ArrayOf):
        return ctypes.c_void_p.from_param(value.ctypes.data)
    ctype: Any = kind.ctype
    return ctype.from_param(value)


def _jit_call(kernel: Kernel, arguments: list[Any]) -> Callable[..., None]:
    from spinney.jit import compiler

    with _lock:
        function = compiler.dispatcher(kernel)
        function.compile(compiler.array_signature(kernel))
    kinds = list(kernel.arguments.values())
    skip = len(kinds) - len(arguments)
    fixed = [_for_numba(kind, value) for kind, value in zip(kinds[skip:], arguments, strict=True)]
    return lambda *leading: function(*leading, *fixed)


def _for_numba(kind: Scalar | ArrayOf, value: Any) -> Any:
    if isinstance(kind, Scalar):
        return kind.dtype.type(value)
    flat = value.reshape(-1)
    if flat.flags.writeable:
        return flat
    # To Numba a read-only array is another type. The kernel declares that it does not write to this one.
    if flat.size == 0:
        return np.empty(0, flat.dtype)
    memory = (ctypes.c_char * flat.nbytes).from_address(flat.ctypes.data)
    return np.frombuffer(memory, dtype=flat.dtype)


class _Memory:
    """An array as a compiled kernel sees it: flat, with nothing at an index below 0, whole numbers of 64 bits."""

    __slots__ = ("_array", "_small")

    def __init__(self, array: Any) -> None:
        self._array = array.reshape(-1) if array.dtype.names is None else array.reshape(-1).view(np.recarray)
        self._small = array.dtype.kind in "iu" and array.dtype.itemsize < 8

    def __getitem__(self, index: Any) -> Any:
        if type(index) is slice and index.start >= 0:
            return _Memory(self._array[index])
        if index < 0:
            raise IndexError(f"index {index} is below 0")
        value = self._array[index]
        return np.int64(value) if self._small else value

    def __setitem__(self, index: int, value: Any) -> None:
        if index < 0:
            raise IndexError(f"index {index} is below 0")
        self._array[index] = value


def _for_python(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return _Memory(value)
    return np.float64(value) if isinstance(value, float) else value


def _python_call(kernel: Kernel, arguments: list[Any]) -> Callable[..., None]:
    fixed = [_for_python(value) for value in arguments]

    def call(*leading: Any) -> None:
        with np.errstate(all="ignore"):
            kernel.function(*map(_for_python, leading), *fixed)

    return call
