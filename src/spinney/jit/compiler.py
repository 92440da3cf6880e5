"""Kernels → machine code, by Numba and LLVM. The only module that knows Numba's inner names.

`object_code` compiles kernels for the CPU level of this process and returns one relocatable object;
`dispatcher` compiles one for this process only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from types import FunctionType
from typing import Any

import numba
from llvmlite import binding as llvm
from numba.core import types

from spinney.jit import intrinsics_numba
from spinney.jit.kernel import Inline, Intrinsic, Kernel
from spinney.jit.types import ArrayOf, Scalar

_OPTIONS: dict[str, Any] = {"error_model": "numpy", "nogil": True, "fastmath": False}
_dispatchers: dict[Kernel | Inline, Any] = {}


def dispatcher(item: Kernel | Inline) -> Any:
    """Numba's compiled form of a kernel or of a function it calls, for arrays."""
    found = _dispatchers.get(item)
    if found is None:
        if isinstance(item, Intrinsic):
            found = getattr(intrinsics_numba, item.function.__name__)
        else:
            found = numba.njit(**_OPTIONS)(_with_dispatchers(item.function))
        _dispatchers[item] = found
    return found


def _with_dispatchers(function: Callable[..., Any]) -> FunctionType:
    """Copy a function so that the kernel functions it calls by name are their compiled forms."""
    assert isinstance(function, FunctionType)
    names = dict(function.__globals__)
    for name in function.__code__.co_names:
        value = names.get(name)
        if isinstance(value, Inline):
            names[name] = dispatcher(value)
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
    item = getattr(types, kind.item.name)
    return types.CPointer(item) if as_pointer else types.Array(item, 1, "C")


def object_code(kernels: Iterable[Kernel], cpu: str, progress: Callable[[str], None]) -> bytes:
    """Compile kernels into one position-independent object file for a CPU.

    The process must have been started with `NUMBA_CPU_NAME` set to the same CPU, so that Numba vectorises for it.
    """
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    target = llvm.Target.from_triple(llvm.get_process_triple())
    machine = target.create_target_machine(cpu=cpu, opt=3, reloc="pic", codemodel="default")
    whole = None
    for kernel in kernels:
        module = llvm.parse_assembly(_internal_ir(kernel))
        module.verify()
        for function in module.functions:
            if not function.is_declaration and function.name != kernel.symbol:
                function.linkage = llvm.Linkage.internal
        _drop_dead_code(module, machine)
        if whole is None:
            whole = module
        else:
            whole.link_in(module)
        progress(kernel.name)
    assert whole is not None
    return bytes(machine.emit_object(whole))


def _internal_ir(kernel: Kernel) -> str:
    """LLVM's text of one kernel with pointers for arrays, its entry renamed to `symbol`."""
    compiled = numba.njit(no_cpython_wrapper=True, no_cfunc_wrapper=True, **_OPTIONS)(
        _with_dispatchers(kernel.function)
    )
    signature = tuple(_numba_type(kind, as_pointer=True) for kind in kernel.arguments.values())
    compiled.compile(signature)
    result = compiled.overloads[signature]
    text: str = result.library.get_llvm_str()
    entry = result.fndesc.llvm_func_name
    return text.replace(f'@"{entry}"', f"@{kernel.symbol}").replace(f"@{entry}", f"@{kernel.symbol}")


def _drop_dead_code(module: Any, machine: Any) -> None:
    builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=0))
    passes = llvm.create_new_module_pass_manager()
    passes.add_global_dead_code_eliminate_pass()
    passes.run(module, builder)
