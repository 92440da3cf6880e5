"""Kernels → machine code, by Numba and LLVM. Numba's inner names are used here and in `intrinsics_numba` alone.

`object_codes` compiles kernels for some CPU levels and returns one relocatable object for each; `dispatcher` compiles one
for this process only.

Much of the time goes into typing the functions, so that is done once for all levels. For each level LLVM then optimises the
code, with all but the entry points internal. `build` links the objects into a shared library without any tie to Python's ABI.

`fastmath` and the contraction of products and sums are off, so all CPU levels give the same bits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dis import get_instructions
from types import FunctionType
from typing import Any

import numba
from llvmlite import binding as llvm
from numba.core import types
from numba.core.codegen import CPUCodeLibrary, JITCodeLibrary
from numba.core.compiler_lock import global_compiler_lock
from numba.core.cpu import CPUContext

from spinney.jit import intrinsics_numba, vectors_numba
from spinney.jit.kernel import Kernel
from spinney.jit.records import is_record, named
from spinney.jit.types import ArrayOf, Inline, Intrinsic, Item, Scalar

_OPTIONS: dict[str, Any] = {"error_model": "numpy", "nogil": True, "fastmath": False}
_dispatchers: dict[Kernel | Inline, Any] = {}


def dispatcher(item: Kernel | Inline) -> Any:
    """Numba's compiled form of a kernel or of a function it calls, for arrays."""
    found = _dispatchers.get(item)
    if found is None:
        if isinstance(item, Intrinsic):
            found = _instructions(item.function.__name__)
        else:
            found = numba.njit(no_cpython_wrapper=isinstance(item, Inline), **_OPTIONS)(
                _with_dispatchers(item.function)
            )
        _dispatchers[item] = found
    return found


def _instructions(name: str) -> Any:
    """The compiled side of an intrinsic function."""
    side = vectors_numba if hasattr(vectors_numba, name) else intrinsics_numba
    return getattr(side, name)


def _with_dispatchers(function: Callable[..., Any]) -> FunctionType:
    """Copy a function so that the kernel functions it calls by name are their compiled forms."""
    assert isinstance(function, FunctionType)
    names = dict(function.__globals__)
    # Only what is read as a global: an attribute may have the name of a function.
    read = {step.argval for step in get_instructions(function) if step.opname == "LOAD_GLOBAL"}
    for name in sorted(read):
        value = names.get(name)
        if isinstance(value, Inline):
            names[name] = dispatcher(value)
        elif value is not None and is_record(value):
            names[name] = named(value)
    copy = FunctionType(function.__code__, names, function.__name__, function.__defaults__)
    copy.__qualname__ = function.__qualname__
    copy.__module__ = function.__module__
    return copy


def array_signature(kernel: Kernel) -> tuple[Any, ...]:
    """Numba types of a kernel's arguments when arrays are passed as arrays."""
    return tuple(_numba_type(kind, as_pointer=False) for kind in kernel.arguments.values())


def _numba_type(kind: Scalar | ArrayOf, *, as_pointer: bool) -> Any:
    if isinstance(kind, Scalar):
        return getattr(types, kind.name)
    if isinstance(kind.item, Item):
        dtype: Any = kind.item.dtype
        item = numba.from_dtype(dtype)
        return intrinsics_numba.ItemPointer(item) if as_pointer else types.Array(item, 1, "C")
    item = getattr(types, kind.item.name)
    return types.CPointer(item) if as_pointer else types.Array(item, 1, "C")


def object_codes(
    kernels: Iterable[Kernel], cpus: Sequence[str], progress: Callable[[str, str], None]
) -> list[bytes]:
    """Compile kernels into one position-independent object file for each CPU; `progress` is called with CPU and kernel.

    For a process of its own: while it runs, functions that Numba compiles cannot be called.
    """
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    target = llvm.Target.from_triple(llvm.get_process_triple())
    machines = [
        target.create_target_machine(cpu=cpu, opt=3, reloc="pic", codemodel="default") for cpu in cpus
    ]
    modules: list[Any] = [None] * len(cpus)
    with _unfinished():
        for kernel in kernels:
            text = _internal_ir(kernel)
            for place, (cpu, machine) in enumerate(zip(cpus, machines, strict=True)):
                module = _optimized(text, kernel.symbol, machine)
                if modules[place] is None:
                    modules[place] = module
                else:
                    modules[place].link_in(module)
                progress(cpu, kernel.name)
    return [bytes(machine.emit_object(module)) for machine, module in zip(machines, modules, strict=True)]


@contextmanager
def _unfinished() -> Iterator[None]:
    """Let Numba type and lower functions, but neither optimise them nor make machine code of them."""
    instead: dict[tuple[Any, str], Any] = {
        (CPUCodeLibrary, "_optimize_functions"): lambda self, module: None,
        (CPUCodeLibrary, "_optimize_final_module"): lambda self: None,
        (JITCodeLibrary, "_finalize_specific"): lambda self: None,
        # Numba finds functions by this object: a new one each, which is never called.
        (CPUContext, "get_executable"): lambda self, library, description, environment: [].append,
    }
    kept = {place: getattr(*place) for place in instead}
    for (owner, name), function in instead.items():
        setattr(owner, name, function)
    try:
        yield
    finally:
        for (owner, name), function in kept.items():
            setattr(owner, name, function)


def _optimized(text: str, symbol: str, machine: Any) -> Any:
    """One kernel for one CPU, all of it internal but its entry."""
    module = llvm.parse_assembly(text)
    module.verify()
    for function in module.functions:
        if not function.is_declaration and function.name != symbol:
            function.linkage = llvm.Linkage.internal
    # Numba's environments are not used, and their long names would fill half of the library.
    for variable in module.global_variables:
        if variable.name.startswith("_ZN08NumbaEnv"):
            variable.linkage = llvm.Linkage.internal
    # Functions are vectorised one by one before they are inlined: in a whole kernel fewer loops would be.
    for threshold in (0, 225):
        options = llvm.create_pipeline_tuning_options(speed_level=3)
        options.loop_vectorization = options.slp_vectorization = True
        options.inlining_threshold = threshold
        builder = llvm.create_pass_builder(machine, options)
        builder.getModulePassManager().run(module, builder)
    return module


def _with_packed_arguments(kernel: Kernel) -> FunctionType:
    """A function of rank, size, meeting place and packed arguments that calls a kernel.

    So all kernels are called alike, by Python and by threads that have no Python, and a call does not pass a hundred arguments.
    """
    body = numba.njit(no_cpython_wrapper=True, **_OPTIONS)(_with_dispatchers(kernel.function))
    names: dict[str, Any] = {"body": body, "__name__": kernel.__module__}
    given = ["rank", "size", "sync"] if kernel.is_team else []
    for place, kind in enumerate(kernel.packed.values()):
        names[f"load_{place}"] = intrinsics_numba.loaded_as(_numba_type(kind, as_pointer=True))
        given.append(f"load_{place}(words, {place})")
    text = f"def {kernel.name}(rank, size, sync, words):\n    body({', '.join(given)})\n"
    exec(compile(text, f"<packed arguments of {kernel.name}>", "exec"), names)
    made: FunctionType = names[kernel.name]
    return made


def _internal_ir(kernel: Kernel) -> str:
    """LLVM's text of one kernel that takes packed arguments, its entry renamed to `symbol`."""
    compiled = numba.njit(no_cpython_wrapper=True, no_cfunc_wrapper=True, **_OPTIONS)(
        _with_packed_arguments(kernel)
    )
    words = types.CPointer(types.int64)
    signature = (types.int64, types.int64, words, words)
    compiled.compile(signature)
    result = compiled.overloads[signature]
    with global_compiler_lock:
        result.library._ensure_finalized()
    text: str = result.library.get_llvm_str()
    entry = result.fndesc.llvm_func_name
    return text.replace(f'@"{entry}"', f"@{kernel.symbol}").replace(f"@{entry}", f"@{kernel.symbol}")
