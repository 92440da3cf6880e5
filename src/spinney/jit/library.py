"""Finding the compiled kernels, loading and calling them.

Kernels run in one of four ways, chosen at the first call: from a shared library (in the installed package, else in the
user's cache, else built there now), from object files kept in its place where no library can be linked or loaded, by
Numba's JIT where neither can be, or as plain Python. Any but the first is reported to the logger `spinney`. Kernels from outside
of the package, a user's own, stand in no library: Numba's JIT compiles them.

`SPINNEY_KERNELS` overrides the choice: `python`, `jit`, or the CPU level of a library. `NUMBA_DISABLE_JIT=1` means
`python`; `NUMBA_BOUNDSCHECK=1` means `jit`, because a library's pointers have no bounds.

A library is used only if its note has the digest of the present sources (`jit.sources`). It has no tie to Python's ABI, and using
it imports neither Numba nor LLVM.

A library or an object file is built for one CPU level. Where no C compiler links the kernels into a library, the objects of all
parts are kept side by side in one file, and LLVM puts them into memory: the same machine code, loaded in 0.1 s.
`python -m spinney.jit.library PATH` tries it.
"""

from __future__ import annotations

import ctypes
import json
import os
import platform
import struct
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from spinney.errors import KernelBuildError, SpinneyError
from spinney.jit.kernel import Kernel, MachineCode
from spinney.jit.types import ArrayOf, Scalar

CPU_INFO = Path("/proc/cpuinfo")
_V2 = {"cx16", "lahf_lm", "popcnt", "sse4_1", "sse4_2", "ssse3"}
_V3 = _V2 | {"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe", "xsave"}
# Not v4: on a CPU with AVX-512 prediction took more than twice as long as with v3, and training as long.
_LEVELS = {"x86-64-v2": _V2, "x86-64-v3": _V3}


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


def has_machine_code() -> bool:
    """Whether the package's kernels are machine code that can be called by its address."""
    return runtime().handle is not None


def _choose() -> Runtime:
    named = os.environ.get("SPINNEY_KERNELS", "")
    if named == "python" or (not named and os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")):
        return Runtime("python", why="set by the environment")
    if named == "jit" or (not named and os.environ.get("NUMBA_BOUNDSCHECK", "0") not in ("", "0")):
        return Runtime("jit", why="set by the environment")
    if named and named not in supported_levels():
        raise KernelBuildError(
            f"SPINNEY_KERNELS={named!r}: this machine can run {', '.join([*supported_levels(), 'jit', 'python'])}"
        )
    if not supported_levels():
        return Runtime("jit", why=f"this CPU is older than {cpu_levels()[0]}")
    try:
        return _load(named or supported_levels()[-1])
    except KernelBuildError as error:
        if named or find_spec("numba") is None:
            raise
        return Runtime("jit", why=str(error))


def cpu_levels() -> tuple[str, ...]:
    """Levels that the kernel library is built for on this architecture, lowest first."""
    if platform.machine().lower() in {"x86_64", "amd64"}:
        return tuple(_LEVELS)
    # Elsewhere what every CPU of the kind can run, because a library may be carried to another machine.
    return ("generic",)


@cache
def supported_levels() -> tuple[str, ...]:
    """Levels that this CPU can run, lowest first; none on a CPU older than the lowest."""
    if cpu_levels() == ("generic",):
        return cpu_levels()
    flags = _flags()
    if flags is None:
        return cpu_levels()[:1]
    return tuple(level for level in cpu_levels() if flags >= _LEVELS[level])


def _flags() -> set[str] | None:
    """What the CPU can do. Only Linux has a file of it; elsewhere the lowest level is the safe choice."""
    try:
        for line in CPU_INFO.read_text(encoding="ascii", errors="replace").splitlines():
            if line.startswith("flags"):
                return set(line.partition(":")[2].split())
    except OSError:
        pass
    return None


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
        # It is whole, by its note; so the folder or the system forbids it. What LLVM loads needs no such permission.
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


def pack_objects(objects: Sequence[bytes], symbols: Sequence[str]) -> bytes:
    """One file of several objects: a line with their sizes and the functions in them, then the objects."""
    header = {"sizes": [len(code) for code in objects], "symbols": list(symbols)}
    return json.dumps(header).encode() + b"\n" + b"".join(objects)


class Objects:
    """The functions of packed object files, by their symbols, as a `ctypes` library has them.

    All addresses are requested from LLVM at once and never again: a process forked off meanwhile might find its lock held.
    """

    def __init__(self, path: Path) -> None:
        from llvmlite import binding as llvm

        header, _, code = path.read_bytes().partition(b"\n")
        about = json.loads(header)
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        target = llvm.Target.from_triple(llvm.get_process_triple())
        machine = target.create_target_machine(reloc="pic", codemodel="default", jit=True)
        engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)
        begin = 0
        for size in about["sizes"]:
            engine.add_object_file(llvm.ObjectFileRef.from_data(code[begin : begin + size]))
            begin += size
        engine.finalize_object()
        self._addresses: dict[str, int] = {
            symbol: engine.get_function_address(symbol) for symbol in about["symbols"]
        }
        # The code stays in memory for as long as the process lives: a thread may be in it to the very end.
        engine.detach()

    def __getitem__(self, symbol: str) -> Any:
        """A function, its argument types still to be set; AttributeError where there is none of this name."""
        address = self._addresses.get(symbol, 0)
        if address == 0:
            raise AttributeError(symbol)
        return ctypes.CFUNCTYPE(None)(address)


def prepare(kernel: Kernel, arguments: list[Any]) -> Callable[..., None]:
    """Turn a kernel and its checked arguments into a function of the leading arguments a team adds."""
    how = runtime()
    if how.kind == "python":
        return _python_call(kernel, arguments)
    if how.handle is not None and kernel.in_package:
        return _LibraryCall(_functions.get(kernel) or _find(how.handle, kernel), kernel, arguments)
    return _jit_call(kernel, arguments)


_IGNORED = (ctypes.c_void_p * 2)()  # where Numba's calling convention wants its result and its exception
_IGNORED_RESULT = ctypes.addressof(_IGNORED)
_IGNORED_ERROR = _IGNORED_RESULT + ctypes.sizeof(ctypes.c_void_p)


# Those, then rank, size, meeting place and packed arguments.
_ARGUMENTS = [
    ctypes.c_void_p,
    ctypes.c_void_p,
    ctypes.c_int64,
    ctypes.c_int64,
    ctypes.c_void_p,
    ctypes.c_void_p,
]


class _Function(NamedTuple):
    """The library's function behind a kernel: to be called, its address, and how its arguments are packed."""

    call: Any
    address: int
    packing: struct.Struct


_functions: dict[Kernel, _Function] = {}


def _find(handle: ctypes.CDLL | Objects, kernel: Kernel) -> _Function:
    """The library's function behind a kernel."""
    try:
        function = handle[kernel.symbol]
    except AttributeError:
        raise KernelBuildError(
            f"the kernel library has no {kernel.symbol}: a source changed while this process was running; start it again"
        ) from None
    function.restype = ctypes.c_int32
    function.argtypes = _ARGUMENTS
    packing = struct.Struct("=" + "".join(map(_packed_as, kernel.packed.values())))
    found = _Function(function, ctypes.cast(function, ctypes.c_void_p).value or 0, packing)
    _functions[kernel] = found
    return found


def _packed_as(kind: Scalar | ArrayOf) -> str:
    """How an argument is packed into 64 bits, in the letters of `struct`."""
    if isinstance(kind, ArrayOf):
        return "Q"
    return "d" if kind.dtype.kind == "f" else "Q" if kind.dtype == np.uint64 else "q"


class _LibraryCall:
    """Calls machine code with packed arguments."""

    __slots__ = ("_function", "_name", "_packed", "machine_code")

    def __init__(self, function: _Function, kernel: Kernel, arguments: list[Any]) -> None:
        self._function, self._name = function.call, kernel.name
        packed = function.packing.pack(
            *(
                value.__array_interface__["data"][0] if isinstance(value, np.ndarray) else value
                for value in arguments
            )
        )
        self._packed = np.frombuffer(packed, np.int64).copy()  # aligned, as bytes need not be
        self.machine_code = MachineCode(function.address, self._packed.__array_interface__["data"][0])

    def __call__(self, rank: int = 0, size: int = 1, sync: Any = None) -> None:
        cells = None if sync is None else sync.__array_interface__["data"][0]
        if self._function(_IGNORED_RESULT, _IGNORED_ERROR, rank, size, cells, self.machine_code.words) != 0:
            raise SpinneyError(f"kernel {self._name} failed")


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


def main(path: str) -> None:
    """Load packed object files and look for every kernel. LLVM ends a process where something cannot be loaded."""
    from spinney.jit import sources

    loaded = Objects(Path(path))
    for kernel in sources.all_kernels():
        loaded[kernel.symbol]


if __name__ == "__main__":
    main(sys.argv[1])
