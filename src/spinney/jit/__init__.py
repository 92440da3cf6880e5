"""Everything about compiling and running kernels.

Enters: Python functions with a declared signature. Leaves: machine code, called without the GIL by a team of threads.
Knows nothing of trees. Numba is imported only here, and only while something is compiled; LLVM also where it loads object files.
"""

from spinney.jit.kernel import Bound, Inline, Kernel, inline, kernel
from spinney.jit.types import f32, f64, i32, i64, out, u8, u16, u64

__all__ = [
    "Bound",
    "Inline",
    "Kernel",
    "f32",
    "f64",
    "i32",
    "i64",
    "inline",
    "kernel",
    "out",
    "u8",
    "u16",
    "u64",
]
