"""What all kernels of the package declare: memory that threads write to does not share cache lines, and no name is undefined."""

import builtins
import dis
import re
from types import FunctionType

import pytest

from spinney.jit import Inline, sources
from spinney.jit.records import is_record
from spinney.jit.types import ArrayOf, open_holes

KERNELS = {kernel.name: kernel for kernel in sources.all_kernels()}
BY_THREAD = re.compile(
    r"\bthreads\b(?! \+ 1$)"
)  # bounds of shares, one more than threads, are written by one thread


def arrays(declared, path=""):
    """The arrays that a kernel takes, those of records too, each with whether a thread has it for itself."""
    for name, kind in declared.items():
        if isinstance(kind, ArrayOf):
            yield path + name, kind
        elif is_record(kind) and not kind.per_thread:
            yield from arrays(kind.fields, f"{path}{name}.")


@pytest.mark.parametrize("name", KERNELS)
def test_what_threads_write_shares_no_cache_line(name):
    for path, array in arrays(KERNELS[name]._declared):
        if array.writable and BY_THREAD.search(array.size):
            assert getattr(array.item, "own_line", False), f"{path}: {array.size}"


def functions_of(function, seen):
    """A function and all that it calls."""
    if id(function) not in seen and isinstance(function, FunctionType):
        seen[id(function)] = function
        for name in function.__code__.co_names:
            value = function.__globals__.get(name)
            if isinstance(value, Inline):
                functions_of(value.function, seen)
    return seen.values()


def test_no_name_in_a_kernel_is_undefined_and_no_hole_is_open():
    seen = {}
    for kernel in KERNELS.values():
        functions_of(kernel.function, seen)
        assert open_holes(kernel.function) == []
    for function in seen.values():
        for step in dis.get_instructions(function):
            if step.opname == "LOAD_GLOBAL":
                known = function.__globals__
                assert step.argval in known or hasattr(builtins, step.argval), (function, step.argval)
